import PushModel

/// JSON that is printed in another notation: a text with escapes, base64, or the hexadecimal digits of an `NSData`.
enum PrintedBytes {
    /// Returns the index at which such a notation of an object begins in a line; `nil` if there is none.
    static func begin(in text: ArraySlice<UInt8>) -> Int? {
        // {" in each notation.
        if text.starts(with: #""{\""#.utf8) || text.starts(with: #""{""#.utf8) && isEscaped(text.dropFirst(2))
            || text.starts(with: "eyJ".utf8) && !text.contains(UInt8(ascii: "."))
        {
            return text.startIndex
        }
        for mark in ["<7b22", "<7b0a"] {
            if let place = text.indices.first(where: { text[$0...].starts(with: mark.utf8) }) { return place }
        }
        return nil
    }

    /// Whether the text behind a brace begins with a key in quotation marks that have escapes.
    static func isEscaped(_ text: ArraySlice<UInt8>) -> Bool {
        var rest = text
        while ["\\n", "\\r", "\\t", " "].contains(where: { rest.starts(with: $0.utf8) }) {
            rest = rest.dropFirst(rest.first == UInt8(ascii: " ") ? 1 : 2)
        }
        return rest.starts(with: #"\""#.utf8) || isDoubled(rest)
    }

    /// Whether a text begins with a key whose quotation marks are doubled, as C#, Visual Basic and CSV write them.
    private static func isDoubled(_ text: ArraySlice<UInt8>) -> Bool {
        let rest = text.drop(while: \.isJSONWhiteSpace)
        return rest.starts(with: #""""#.utf8) && rest.dropFirst(2).first.map { (95...122).contains($0 | 0x20) } == true
    }

    /// Returns the text up to its end with one quotation mark for two.
    private static func undoubled(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var (result, rest) = ([UInt8](), text)
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\"") {
                guard rest.first == byte else { return result }
                rest = rest.dropFirst()
            }
            result.append(byte)
        }
        return result
    }

    /// Returns the object in the notation as JSON; `nil` if it has none.
    static func json(in text: ArraySlice<UInt8>) -> [UInt8]? {
        let first = text.first
        let decoded: [UInt8]?
        if first == UInt8(ascii: "<") || text.has("bytes = 0x7b".utf8) {
            decoded = hexadecimal(text)
        } else if isDoubled((first == UInt8(ascii: "\"") ? text.dropFirst() : text).dropFirst()) {
            decoded = undoubled(first == UInt8(ascii: "\"") ? text.dropFirst() : text)
        } else if first == UInt8(ascii: "e") {
            decoded = base64(text.filter { !$0.isJSONWhiteSpace })
        } else {
            // Source code has more behind the quotation mark that ends the text.
            let text = first == UInt8(ascii: "\"") ? text.dropFirst() : text
            let end = text.indices.first { place in
                text[place] == UInt8(ascii: "\"") && (place == text.startIndex || text[place - 1] != UInt8(ascii: "\\"))
            }
            let quoted = [UInt8(ascii: "\"")] + text[..<(end ?? text.endIndex)] + [UInt8(ascii: "\"")]
            let string = try? JSONDocument(scanning: quoted).root.string
            decoded = string.map { Array($0.utf8) }
        }
        if let decoded, isObject(decoded) { return decoded }
        let pieces = joinedPieces(first == UInt8(ascii: "\"") ? text.dropFirst() : text)
        let string = try? JSONDocument(scanning: [UInt8(ascii: "\"")] + pieces + [UInt8(ascii: "\"")]).root.string
        guard let joined = string.map({ Array($0.utf8) }), isObject(joined) else { return nil }
        return joined
    }

    private static func isObject(_ text: [UInt8]) -> Bool {
        (try? JSONDocument(scanning: text, limits: JSONLimits(depth: .max)))?.root.kind == .object
    }

    /// Joins the pieces of a text with escapes that source code puts together with `+` or `.`: an expression between two
    /// pieces is a text, `<token>`.
    private static func joinedPieces(_ text: ArraySlice<UInt8>) -> [UInt8] {
        var (result, rest) = ([UInt8](), text)
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), let next = rest.popFirst() {
                result += [byte, next]
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                var isOperator = false
                var expression: [UInt8] = []
                while let next = rest.popFirst(), next != byte {
                    if next == UInt8(ascii: "/"), rest.first == next {
                        rest = rest.drop { $0 != UInt8(ascii: "\n") }
                    } else if expression.isEmpty, "+.".utf8.contains(next) {
                        isOperator = true
                    } else if !next.isJSONWhiteSpace {
                        guard isOperator else { return result }
                        expression.append(next)
                    }
                }
                guard isOperator else { return result }
                while expression.last.map({ "+.".utf8.contains($0) }) == true { expression.removeLast() }
                guard !expression.isEmpty else { continue }
                let marked = Array("<".utf8) + expression.filter { !"\"\\".utf8.contains($0) } + Array(">".utf8)
                let quote = Array("\\\"".utf8)
                result += result.suffix(2).elementsEqual(quote) ? marked : quote + marked + quote
            } else {
                result.append(byte)
            }
        }
        return result
    }

    private static func hexadecimal(_ text: ArraySlice<UInt8>) -> [UInt8] {
        let begin = text.indices.first { text[$0...].starts(with: "7b".utf8) } ?? text.endIndex
        let digits = text[begin...].prefix { $0 == UInt8(ascii: " ") || hexadecimalValue(of: $0) != nil }
            .compactMap(hexadecimalValue)
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    private static func base64(_ text: [UInt8]) -> [UInt8]? {
        var (bytes, bits, count): ([UInt8], UInt32, Int) = ([], 0, 0)
        for byte in text where byte != UInt8(ascii: "=") {
            let value: UInt8
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = byte - UInt8(ascii: "A")
            case UInt8(ascii: "a")...UInt8(ascii: "z"): value = byte - UInt8(ascii: "a") + 26
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = byte - UInt8(ascii: "0") + 52
            case UInt8(ascii: "+"), UInt8(ascii: "-"): value = 62
            case UInt8(ascii: "/"), UInt8(ascii: "_"): value = 63
            default: return nil
            }
            bits = bits << 6 | UInt32(value)
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        }
        return bytes
    }

    /// Returns a text without its line feeds, and without the indentation behind them.
    static func joined(_ text: String) -> String {
        var bytes: [UInt8] = []
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            bytes += bytes.isEmpty ? Array(line) : Array(line.drop(while: \.isJSONWhiteSpace))
            while bytes.last?.isJSONWhiteSpace == true { bytes.removeLast() }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns a text without its escapes. Two halves of a surrogate pair, as an `NSDictionary` prints them, make one
    /// character.
    static func unescaped(_ text: ArraySlice<UInt8>) -> String {
        var units: [UInt16] = []
        var result = ""
        var rest = text
        func flush() {
            result += String(decoding: units, as: UTF16.self)
            units = []
        }
        while !rest.isEmpty {
            let plain = rest.prefix { $0 != UInt8(ascii: "\\") }
            if !plain.isEmpty {
                flush()
                result += String(decoding: plain, as: UTF8.self)
                rest = rest[plain.endIndex...]
                continue
            }
            rest = rest.dropFirst()
            guard let letter = rest.popFirst() else { break }
            switch letter {
            case UInt8(ascii: "u"), UInt8(ascii: "U"), UInt8(ascii: "x"):
                let length = letter == UInt8(ascii: "x") ? 2 : 4
                let digits = rest.prefix(length)
                if digits.count == length, let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16) {
                    units.append(unit)
                    rest = rest.dropFirst(length)
                    continue
                }
                units.append(UInt16(letter))
            case UInt8(ascii: "n"): units.append(10)
            case UInt8(ascii: "t"): units.append(9)
            case UInt8(ascii: "r"): units.append(13)
            default: units.append(UInt16(letter))
            }
        }
        flush()
        return result
    }
}
