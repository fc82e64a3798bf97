import PushModel

/// A text for people with quoted parts in backticks. It becomes comments in a configuration file, or mdoc(7) source of
/// a manual page.
struct ManualText {
    private let text: String

    init(_ text: String) { self.text = text }

    /// The first sentence as lines of comments.
    var comment: String {
        var sentence = ""
        var isQuoted = false
        for character in text {
            if character == " ", !isQuoted, sentence.last == "." { break }
            if character == "`" { isQuoted.toggle() }
            sentence.append(character)
        }
        return Self.filled(sentence.split(separator: " ").map(Self.commentWord), prefix: "# ", width: 118)
    }

    /// The whole text as lines of a manual page, each sentence and each macro on lines of its own.
    var manual: String {
        var lines: [String] = []
        var words: [String] = []
        func end() {
            if !words.isEmpty { lines.append(Self.filled(words, prefix: "", width: 118)) }
            words = []
        }
        let parts = text.split(separator: "`", omittingEmptySubsequences: false)
        // Text directly behind a quoted part belongs to its line.
        var opening = ""
        for (index, part) in parts.enumerated() {
            guard index % 2 == 0 else {
                end()
                lines.append(".\(Self.macro(of: part))\(opening) \(Self.argument(part))")
                continue
            }
            var rest = part
            if index > 0 {
                while let mark = rest.first, ".,;:)".contains(mark) {
                    lines[lines.count - 1] += " \(mark)"
                    rest = rest.dropFirst()
                }
            }
            opening = ""
            for word in rest.split(separator: " ") {
                if word == "(" {
                    opening = " ("
                } else if let macro = Self.reference(word) {
                    end()
                    lines.append(macro)
                } else {
                    words.append(Self.escaped(word))
                    if word.last == "." { end() }
                }
            }
        }
        end()
        return lines.joined(separator: "\n")
    }

    /// Returns the words in lines of at most `width` characters.
    private static func filled(_ words: [some StringProtocol], prefix: String, width: Int) -> String {
        var lines: [String] = []
        var line = prefix
        for word in words {
            if line.count > prefix.count, line.count + 1 + word.count > width {
                lines.append(line)
                line = prefix
            }
            line += (line.count > prefix.count ? " " : "") + word
        }
        return (lines + [line]).joined(separator: "\n")
    }

    /// Returns a word of a comment, with quotes for backticks; the name of a key has no quotes.
    private static func commentWord(_ word: Substring) -> String {
        let isKey = word.has("=`")
        return word.split(separator: "`", omittingEmptySubsequences: false).joined(separator: isKey ? "" : "\"")
    }

    private static func macro(of quoted: Substring) -> String {
        let isVariable = quoted.utf8.allSatisfy { 0x41...0x5A ~= $0 || $0 == UInt8(ascii: "_") }
        if isVariable, quoted.utf8.contains(UInt8(ascii: "_")), quoted.last != "_" { return "Ev" }
        return quoted.last == "=" ? "Cm" : "Ql"
    }

    /// Returns the macro of a manual page or a path, with the punctuation behind it.
    private static func reference(_ word: Substring) -> String? {
        var (bare, marks) = (word, "")
        while let mark = bare.last,
            ".,;:".contains(mark) || mark == ")" && bare.count(where: { $0 == ")" }) > bare.count(where: { $0 == "(" })
        {
            marks = " \(mark)" + marks
            bare = bare.dropLast()
        }
        if bare.last == ")", let open = bare.firstIndex(of: "("), open > bare.startIndex {
            return ".Xr \(bare[..<open]) \(bare[open...].dropFirst().dropLast())\(marks)"
        }
        let isPath =
            bare.first == "/" || bare.first == "$" || [".sock", ".service", ".conf"].contains { bare.hasSuffix($0) }
        return isPath ? ".Pa \(bare)\(marks)" : nil
    }

    /// Escapes a quoted part; a single character could be taken for punctuation by mdoc(7).
    private static func argument(_ quoted: Substring) -> String {
        let text = escaped(quoted)
        return quoted.count == 1 ? "\\&" + text : text
    }

    private static func escaped(_ word: Substring) -> String {
        let text = word.split(separator: "\\", omittingEmptySubsequences: false).joined(separator: "\\e")
        return text.first == "." || text.first == "'" ? "\\&" + text : text
    }
}
