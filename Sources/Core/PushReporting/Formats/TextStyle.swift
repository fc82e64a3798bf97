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

/// One line of a report for a terminal.
public struct ReportLine: Hashable, Sendable {
    /// What a line is, from which the terminal's colour follows.
    public enum Tone: Sendable { case plain, heading, good, bad }

    /// The line, without colour and without its line feed.
    public let text: String
    /// What it is.
    public let tone: Tone

    init(_ text: String, _ tone: Tone = .plain) {
        self.text = text
        self.tone = tone
    }
}
