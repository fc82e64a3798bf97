/// A file in the syntax of systemd.syntax(7), split into sections, keys and values.
///
/// The input may be any bytes. Lines outside the syntax are reported and left out.
struct INIFile {
    /// One `[Section]` header and the assignments up to the next one.
    struct Section {
        var name: String
        var line: Int
        var assignments: [Assignment] = []
    }

    /// One `Key=value`, continuation lines joined, white space around key and value removed.
    struct Assignment {
        var key: String
        var value: String
        /// The number of its first line.
        var line: Int
    }

    /// More than any real configuration; bounds the work and the messages for a wrong file.
    static let lengthMax = 1 << 20

    /// In the order of the file; a name may occur several times.
    private(set) var sections: [Section] = []

    /// Returns `nil` if the file is not text: then no part of it is reliable.
    init?(parsing bytes: [UInt8], report: inout FileReport) {
        guard bytes.count <= Self.lengthMax else {
            report.error("longer than 1 MiB; this is not a configuration file")
            return nil
        }
        var line = Line()
        for (index, physical) in bytes.split(separator: .lineFeed, omittingEmptySubsequences: false).enumerated() {
            guard physical.isText else {
                report.error("not UTF-8 text, or with a NUL byte; save the file as UTF-8", line: index + 1)
                return nil
            }
            if physical.isComment { continue }
            if line.isEmpty { line.number = index + 1 }
            line.append(index == 0 ? physical.withoutByteOrderMark : physical)
            if line.isContinued { continue }
            take(line, report: &report)
            line = Line()
        }
        // The last line may end in a backslash too.
        take(line, report: &report)
    }

    private mutating func take(_ line: Line, report: inout FileReport) {
        let text = line.bytes[...].trimmed
        if text.isEmpty { return }
        if text.first == UInt8(ascii: "[") {
            open(text, at: line.number, report: &report)
        } else if let equals = text.firstIndex(of: UInt8(ascii: "=")), equals > text.startIndex {
            let assignment = Assignment(
                key: text[..<equals].trimmed.text, value: text[(equals + 1)...].trimmed.text, line: line.number)
            guard !sections.isEmpty else {
                report.error("\(printable(assignment.key))= is in no [Section]; put it below one", line: line.number)
                return
            }
            sections[sections.count - 1].assignments.append(assignment)
        } else {
            let shown = printable(text.text, limit: 60)
            report.error("\"\(shown)\" is neither a [Section], nor Key=value, nor a comment", line: line.number)
        }
    }

    private mutating func open(_ header: ArraySlice<UInt8>, at line: Int, report: inout FileReport) {
        let name = header.dropFirst().dropLast()
        guard header.last == UInt8(ascii: "]"), !name.isEmpty, !name.contains(UInt8(ascii: "]")) else {
            let shown = printable(header.text, limit: 60)
            report.error("\"\(shown)\" is not a section header; write [Name] and nothing else on the line", line: line)
            return
        }
        sections.append(Section(name: name.text, line: line))
    }
}

/// A logical line: physical lines joined by backslashes at their ends.
private struct Line {
    /// The number of its first physical line.
    var number = 0
    private(set) var bytes: [UInt8] = []
    private(set) var isContinued = false

    var isEmpty: Bool { bytes.isEmpty }

    /// Adds a physical line; an unescaped backslash at its end becomes a space.
    mutating func append(_ physical: ArraySlice<UInt8>) {
        bytes += physical.last == .carriageReturn ? physical.dropLast() : physical
        let backslashes = bytes.reversed().prefix { $0 == .backslash }.count
        isContinued = backslashes % 2 == 1
        if isContinued { bytes[bytes.count - 1] = .space }
    }
}

extension ArraySlice<UInt8> {
    fileprivate var isText: Bool {
        // Most configurations are ASCII, which needs no conversion to a string.
        allSatisfy { $0 != 0 && $0 < 0x80 } || !contains(0) && String(validating: self, as: UTF8.self) != nil
    }

    fileprivate var isComment: Bool {
        let first = first { !$0.isWhitespace }
        return first == UInt8(ascii: "#") || first == UInt8(ascii: ";")
    }

    fileprivate var withoutByteOrderMark: ArraySlice<UInt8> { starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self }
}

/// Splits a value into words as systemd does for `ExecStart=`: white space separates words, single and double quotes
/// hold words together, C escapes apply inside and outside of quotes. There are no shell characters: no `$`, `*`, `|`,
/// `>`.
public struct QuotedWords {
    private var rest: ArraySlice<UInt8>

    /// - Parameter value: the text after `=`.
    public init(_ value: String) { rest = Array(value.utf8)[...].trimmed }

    /// Returns whether the next word is `word`, neither quoted nor escaped.
    public func isNext(bare word: String) -> Bool {
        rest.starts(with: word.utf8) && (rest.dropFirst(word.utf8.count).first?.isWhitespace ?? true)
    }

    /// Takes the next word if it is `word`, neither quoted nor escaped.
    public mutating func take(bare word: String) -> Bool {
        guard isNext(bare: word) else { return false }
        rest = rest.dropFirst(word.utf8.count).trimmed
        return true
    }

    /// The rest of the value, unchanged.
    public var remaining: String { rest.text }

    /// Whether the next word begins with a quote.
    public var isNextQuoted: Bool { rest.first == UInt8(ascii: "\"") || rest.first == UInt8(ascii: "'") }

    /// Takes the next word; `nil` at the end. Resolves quotes and escapes, and turns `%%` into `%`.
    public mutating func next() throws(ValueError) -> String? {
        guard !rest.isEmpty else { return nil }
        var word: [UInt8] = []
        var quote: UInt8?
        while let byte = rest.popFirst() {
            if byte == .backslash {
                word += try takeEscape()
            } else if let open = quote {
                if byte == open { quote = nil } else { word.append(byte) }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte.isWhitespace {
                break
            } else {
                word.append(byte)
            }
        }
        if let quote { throw ValueError("a quote \(Unicode.Scalar(quote)) is not closed") }
        rest = rest.trimmed
        guard let text = String(validating: word, as: UTF8.self) else {
            throw ValueError("its escapes give bytes that are not UTF-8")
        }
        return try withoutSpecifiers(text)
    }

    /// Takes the rest of an escape, whose backslash has been taken, and returns its bytes.
    private mutating func takeEscape() throws(ValueError) -> [UInt8] {
        guard let letter = rest.popFirst() else {
            throw ValueError("it ends in a backslash; write \\\\ for one")
        }
        if let byte = simpleEscapes[letter] { return [byte] }
        let code: UInt32?
        switch letter {
        case UInt8(ascii: "x"): code = number(2, radix: 16)
        case UInt8(ascii: "u"): code = number(4, radix: 16)
        case UInt8(ascii: "U"): code = number(8, radix: 16)
        case UInt8(ascii: "0")...UInt8(ascii: "3"):
            code = number(2, radix: 8).map { UInt32(letter - UInt8(ascii: "0")) << 6 | $0 }
        default: code = nil
        }
        guard let code, code != 0, let scalar = Unicode.Scalar(code) else {
            let shown = letter < 0x80 ? printable(String(Unicode.Scalar(letter))) : "..."
            throw ValueError("\\\(shown) is not an escape here; write \\\\ for a backslash")
        }
        let isCharacter = letter == UInt8(ascii: "u") || letter == UInt8(ascii: "U")
        return isCharacter ? Array(String(scalar).utf8) : [UInt8(code)]
    }

    /// Takes a number of exactly this many digits; `nil` if there are fewer.
    private mutating func number(_ digits: Int, radix: Int) -> UInt32? {
        let text = rest.prefix(digits)
        guard text.count == digits, text.first != UInt8(ascii: "+"), text.first != UInt8(ascii: "-") else { return nil }
        rest = rest.dropFirst(digits)
        return UInt32(text.text, radix: radix)
    }

    private func withoutSpecifiers(_ word: String) throws(ValueError) -> String {
        guard word.utf8.contains(UInt8(ascii: "%")) else { return word }
        var result = String.UnicodeScalarView()
        var scalars = word.unicodeScalars[...]
        while let scalar = scalars.popFirst() {
            result.append(scalar)
            guard scalar == "%" else { continue }
            guard scalars.popFirst() == "%" else {
                throw ValueError("systemd's specifiers are not replaced here; write %% for a percent sign")
            }
        }
        return String(result)
    }
}

private let simpleEscapes: [UInt8: UInt8] = [
    UInt8(ascii: "a"): 0x07, UInt8(ascii: "b"): 0x08, UInt8(ascii: "f"): 0x0C, UInt8(ascii: "n"): 0x0A,
    UInt8(ascii: "r"): 0x0D, UInt8(ascii: "t"): 0x09, UInt8(ascii: "v"): 0x0B, UInt8(ascii: "s"): 0x20,
    UInt8(ascii: "\\"): 0x5C, UInt8(ascii: "\""): 0x22, UInt8(ascii: "'"): 0x27,
]

// Text is cut as bytes. In `Character`s, a line feed behind a carriage return, or an accent behind a space, would merge
// with it.

extension UInt8 {
    static let lineFeed = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")
    static let space = UInt8(ascii: " ")
    static let backslash = UInt8(ascii: "\\")

    /// White space as in systemd.
    public var isWhitespace: Bool {
        self == .space || self == UInt8(ascii: "\t") || self == .lineFeed || self == .carriageReturn
    }

    /// An ASCII lower case letter.
    public var isLowercaseLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }

    /// An ASCII letter.
    public var isLetter: Bool { isLowercaseLetter || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) }
}

extension ArraySlice<UInt8> {
    /// The slice without white space at both ends.
    public var trimmed: ArraySlice<UInt8> {
        let start = drop(while: \.isWhitespace)
        return start.prefix(start.count - start.reversed().prefix(while: \.isWhitespace).count)
    }

    /// The bytes as text, with U+FFFD for invalid UTF-8.
    public var text: String { String(decoding: self, as: UTF8.self) }

    /// Removes and returns the longest beginning whose bytes all satisfy `condition`.
    public mutating func take(while condition: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        let taken = prefix(while: condition)
        self = dropFirst(taken.count)
        return taken
    }
}
