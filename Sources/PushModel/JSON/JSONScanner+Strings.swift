extension JSONScanner {
    /// Scans the string that begins at the position.
    mutating func scanString(isKey: Bool) throws(JSONError) {
        let start = position
        position += 1
        var hasEscapes = false
        while true {
            skipPlainASCII()
            guard position < text.count else {
                throw JSONError(at: position, "the text ends within the string that begins at byte \(start)")
            }
            switch text[position] {
            case UInt8(ascii: "\""):
                return append(.string, from: start, to: position + 1, hasEscapes: hasEscapes)
            case UInt8(ascii: "\\"):
                hasEscapes = true
                try scanEscape(isKey: isKey)
            case 0x80...:
                try scanMultibyteCharacters()
            case let control:
                throw JSONError(
                    at: position, "a raw control character in a string; write \\u\(hexadecimal(control, digits: 4))")
            }
        }
    }

    /// Goes to the next byte that is a quote, a backslash, a control character or not ASCII, eight bytes at a time.
    @inline(__always)
    private mutating func skipPlainASCII() {
        while position + 8 <= text.count {
            let eight = UnsafeRawBufferPointer(text).loadUnaligned(fromByteOffset: position, as: UInt64.self)
            let special = specialBytes(UInt64(littleEndian: eight))
            guard special == 0 else {
                position += special.trailingZeroBitCount / 8
                return
            }
            position += 8
        }
        while position < text.count, isPlainASCII(text[position]) { position += 1 }
    }

    /// Scans the escape at the position, a pair of surrogates as one.
    private mutating func scanEscape(isKey: Bool) throws(JSONError) {
        let start = position
        guard start + 1 < text.count else { throw JSONError(at: text.count, "the text ends within an escape") }
        switch text[start + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 2
        case UInt8(ascii: "u"):
            let unit = try scanEscapedUnit()
            if unit == 0, isKey {
                throw JSONError(at: start, "\\u0000 in a key; programs that end a text there would read another key")
            }
            guard unit & 0xF800 == 0xD800 else { return }
            guard unit < 0xDC00, byte == UInt8(ascii: "\\"), position + 1 < text.count,
                text[position + 1] == UInt8(ascii: "u"), try scanEscapedUnit() & 0xFC00 == 0xDC00
            else { throw JSONError(at: start, "half of a surrogate pair stands alone") }
        default:
            position += 1
            throw unexpected("an escape is one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\uXXXX")
        }
    }

    /// Scans `\uXXXX` at the position and gives its value.
    private mutating func scanEscapedUnit() throws(JSONError) -> UInt16 {
        position += 2
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = hexadecimalValue(of: byte) else {
                throw unexpected("four hexadecimal digits are expected after \\u")
            }
            unit = unit << 4 | UInt16(digit)
            position += 1
        }
        return unit
    }

    private mutating func scanMultibyteCharacters() throws(JSONError) {
        repeat {
            let length = multibyteLength(at: position)
            guard length > 0 else { throw notUTF8() }
            position += length
        } while byte >= 0x80
    }

    /// The length of the well-formed character of two to four bytes at `start` (Unicode, table 3-7); 0 for anything else.
    func multibyteLength(at start: Int) -> Int {
        func isNext(_ distance: Int, in range: ClosedRange<UInt8> = 0x80...0xBF) -> Bool {
            start + distance < text.count && range.contains(text[start + distance])
        }
        switch text[start] {
        case 0xC2...0xDF: return isNext(1) ? 2 : 0
        case 0xE0: return isNext(1, in: 0xA0...0xBF) && isNext(2) ? 3 : 0
        case 0xED: return isNext(1, in: 0x80...0x9F) && isNext(2) ? 3 : 0
        case 0xE1...0xEF: return isNext(1) && isNext(2) ? 3 : 0
        case 0xF0: return isNext(1, in: 0x90...0xBF) && isNext(2) && isNext(3) ? 4 : 0
        case 0xF1...0xF3: return isNext(1) && isNext(2) && isNext(3) ? 4 : 0
        case 0xF4: return isNext(1, in: 0x80...0x8F) && isNext(2) && isNext(3) ? 4 : 0
        default: return 0
        }
    }
}

/// Whether a byte stands for itself in a JSON string.
@inline(__always)
func isPlainASCII(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte < 0x80 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
}

/// Marks with its top bit the lowest of eight bytes that does not stand for itself in a JSON string; 0 when all do.
/// Bits above the lowest mark mean nothing: a borrow may have set them.
@inline(__always)
func specialBytes(_ bytes: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quotes = bytes ^ (ones &* 0x22)
    let backslashes = bytes ^ (ones &* 0x5C)
    let found =
        ((bytes &- ones &* 0x20) & ~bytes) | ((quotes &- ones) & ~quotes) | ((backslashes &- ones) & ~backslashes)
        | bytes
    return found & (ones &* 0x80)
}
