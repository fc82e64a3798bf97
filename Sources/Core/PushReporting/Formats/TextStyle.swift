/// How a terminal shows a report.
public struct TextStyle: Hashable, Sendable {
    /// How many characters a line may have; `nil`: any number.
    public var width: Int?
    /// Whether bars are drawn with block characters; otherwise with `#`.
    public var usesUnicode: Bool

    /// Joins the two.
    public init(width: Int? = nil, usesUnicode: Bool = true) {
        self.width = width
        self.usesUnicode = usesUnicode
    }

    /// A bar of at most `length` characters.
    /// - Parameters:
    ///   - part: what it shows; never more than `whole`.
    ///   - whole: what a full bar shows.
    func bar(_ part: Int, of whole: Int, length: Int) -> String {
        guard whole > 0, part > 0 else { return "" }
        let eighths = max(1, Int(Double(min(part, whole)) / Double(whole) * Double(length * 8)))
        guard usesUnicode else { return String(repeating: "#", count: max(1, (eighths + 4) / 8)) }
        let blocks = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
        return String(repeating: "█", count: eighths / 8) + blocks[eighths % 8]
    }

    /// A chart of one line, a character for each value as far as there is room for the last ones: `▁` for nothing, `█` for the
    /// largest. Empty where there is room for too few.
    static func sparkline(_ values: [Int], length: Int) -> String {
        let shown = values.suffix(max(0, length))
        guard shown.count >= 8 else { return "" }
        let (levels, largest) = (Array("▁▂▃▄▅▆▇█"), shown.max() ?? 0)
        return String(
            shown.map { value in
                // The smallest that is something is above nothing.
                value == 0 ? levels[0] : levels[max(1, value * (levels.count - 1) / largest)]
            })
    }

    /// `text` in lines of the width, broken between words; what goes on is indented by `indent` spaces.
    func wrapped(_ text: String, indent: Int = 4) -> [String] {
        guard let width, text.count > width else { return [text] }
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            if !line.isEmpty, line.count + 1 + word.count > width, line.contains(where: { $0 != " " }) {
                lines.append(line)
                line = String(repeating: " ", count: indent) + word
            } else {
                line += line.isEmpty && lines.isEmpty && !text.hasPrefix(" ") ? String(word) : " " + word
            }
        }
        return lines + [line]
    }
}
