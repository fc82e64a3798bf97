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
