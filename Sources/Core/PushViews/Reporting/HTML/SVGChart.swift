/// An SVG drawing with a title and a description for screen readers.
struct SVGChart {
    private let id: String
    private let title: String
    private let description: String
    private let width: Int
    private let height: Int
    private var content = ""

    init(id: String, title: String, description: String, width: Int, height: Int) {
        self.id = id
        self.title = title
        self.description = description
        self.width = width
        self.height = height
    }

    /// Adds a filled rectangle; the label shows while the pointer rests on it.
    mutating func rectangle(
        _ x: Double, _ y: Double, _ width: Double, _ height: Double, _ kind: String, label: String? = nil
    ) {
        let place = "x=\"\(number(x))\" y=\"\(number(y))\" width=\"\(number(width))\" height=\"\(number(height))\""
        content += "<rect class=\"\(kind)\" \(place)"
        content += label.map { "><title>\(markup($0))</title></rect>\n" } ?? "/>\n"
    }

    mutating func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ kind: String) {
        content +=
            "<line class=\"\(kind)\" x1=\"\(number(x1))\" y1=\"\(number(y1))\" x2=\"\(number(x2))\" y2=\"\(number(y2))\"/>\n"
    }

    mutating func text(_ x: Double, _ y: Double, _ text: String, anchor: String = "start", kind: String? = nil) {
        let style = kind.map { " class=\"\($0)\"" } ?? ""
        content +=
            "<text\(style) x=\"\(number(x))\" y=\"\(number(y))\" text-anchor=\"\(anchor)\">\(markup(text))</text>\n"
    }

    /// The markup.
    var markupText: String {
        "<svg role=\"img\" aria-labelledby=\"\(id)-title \(id)-text\" viewBox=\"0 0 \(width) \(height)\" "
            + "xmlns=\"http://www.w3.org/2000/svg\">\n<title id=\"\(id)-title\">\(markup(title))</title>\n"
            + "<desc id=\"\(id)-text\">\(markup(description))</desc>\n\(content)</svg>\n"
    }

    /// The markup of a wide drawing. On a small screen it scrolls, so that its text stays readable.
    var wideText: String {
        "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"\(markup(title))\"><div class=\"chart\">"
            + "\(markupText)</div></div>\n"
    }

    private func number(_ value: Double) -> String { rounded(value, decimals: 1) }
}
