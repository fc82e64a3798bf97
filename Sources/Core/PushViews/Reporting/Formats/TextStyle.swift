/// The capabilities of a terminal that shows a report.
public struct TextStyle: Hashable, Sendable {
    /// The most characters in a line; `nil`: unlimited.
    public var width: Int?
    /// Whether bars use block characters; otherwise they use `#`.
    public var usesUnicode: Bool

    /// Joins the fields.
    public init(width: Int? = nil, usesUnicode: Bool = true) {
        self.width = width
        self.usesUnicode = usesUnicode
    }

    /// Returns a bar of at most `length` characters.
    /// - Parameters:
    ///   - part: the value; at most `whole`.
    ///   - whole: the value of a full bar.
    func bar(_ part: Int, of whole: Int, length: Int) -> String {
        guard whole > 0, part > 0 else { return "" }
        let eighths = max(1, Int(Double(min(part, whole)) / Double(whole) * Double(length * 8)))
        guard usesUnicode else { return String(repeating: "#", count: max(1, (eighths + 4) / 8)) }
        let blocks = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
        return String(repeating: "█", count: eighths / 8) + blocks[eighths % 8]
    }

    /// Returns a chart of one line with a character for each of the last values that fit: `▁` for 0, `█` for the
    /// largest value. Empty if fewer than eight fit.
    static func sparkline(_ values: [Int], length: Int) -> String {
        let shown = values.suffix(max(0, length))
        guard shown.count >= 8 else { return "" }
        let (levels, largest) = (Array("▁▂▃▄▅▆▇█"), shown.max() ?? 0)
        return String(
            shown.map { value in
                // Any value above 0 gets a higher character than 0.
                value == 0 ? levels[0] : levels[max(1, value * (levels.count - 1) / largest)]
            })
    }

    /// Wraps `text` between words to the width; continuation lines are indented by `indent` spaces.
    func wrapped(_ text: String, indent: Int = 4) -> [String] {
        guard let width, text.count > width else { return [text] }
        var lines: [String] = []
        var line = ""
        for (place, word) in text.split(separator: " ", omittingEmptySubsequences: false).enumerated() {
            if !line.isEmpty, line.count + 1 + word.count > width, line.contains(where: { $0 != " " }) {
                lines.append(line)
                line = String(repeating: " ", count: indent) + word
            } else {
                line += place == 0 ? String(word) : " " + word
            }
        }
        return lines + [line]
    }
}
