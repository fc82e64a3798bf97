extension JSONScanner {
    /// Scans the string at the cursor. The tape must have room for its entry.
    @inline(__always)
    mutating func scanString() throws(JSONError) {
        if let next = scanUsualString(cursor, end, text, tape.next) {
            cursor = next
        } else {
            cursor = try location.scanString(to: tape.next, isKey: false)
        }
        tape.didFillNext()
    }

    /// Scans a short key at the cursor and the colon behind it; returns false for any other. The tape must have room
    /// for its entry.
    @inline(__always)
    mutating func scanShortKeyAndColon() -> Bool {
        guard let next = scanShortKey(cursor, end, text, tape.next) else { return false }
        cursor = next
        tape.didFillNext()
        return true
    }

    /// Scans the key at the cursor. The tape must have room for its entry.
    @inline(__always)
    mutating func scanKey() throws(JSONError) {
        if let next = scanUsualKey(cursor, end, text, tape.next) {
            cursor = next
        } else {
            cursor = try location.scanString(to: tape.next, isKey: true)
        }
        tape.didFillNext()
    }
}

/// Scans a key of less than 16 plain bytes with the colon behind its closing quote, and writes its entry.
///
/// - Parameters:
///   - start: the opening quote.
///   - end: the end of the text.
///   - text: the text, the base of offsets.
///   - entry: the memory for the entry.
/// - Returns: the byte after the colon; `nil` for any other key.
@inline(never)
private func scanShortKey(
    _ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, _ text: UnsafePointer<UInt8>,
    _ entry: UnsafeMutablePointer<JSONEntry>
) -> UnsafePointer<UInt8>? {
    guard end - start > 17, start[1] != UInt8(ascii: "\\") else { return nil }
    let bytes = load16(start + 1)
    let words = unsafeBitCast(bytes, to: SIMD2<UInt64>.self)
    let (low, high) = marks(in: bytes)
    let count: Int
    let hash: UInt64
    // The hash covers the bytes before the first mark, with zeros for the others.
    if low != 0 {
        count = low.trailingZeroBitCount / 8
        hash = WordHash.keys.ofShort(UInt64(littleEndian: words[0]) & bitsBelow(low), 0, count: count)
    } else if high != 0 {
        count = 8 &+ high.trailingZeroBitCount / 8
        let last = UInt64(littleEndian: words[1]) & bitsBelow(high)
        hash = WordHash.keys.ofShort(UInt64(littleEndian: words[0]), last, count: count)
    } else {
        return nil
    }
    let stop = start + 1 + count
    // These two reads stay within the 17 bytes from the opening quote on: the key has at most 15 bytes.
    guard stop.pointee == UInt8(ascii: "\""), stop[1] == UInt8(ascii: ":") else { return nil }
    entry.initialize(
        to: JSONEntry(
            stringFrom: start - text, to: stop + 1 - text, escapes: JSONEscapes(),
            link: UInt32(truncatingIfNeeded: hash)))
    return stop + 2
}

/// Scans a string value of ASCII with usual escapes, and writes its entry; parameters as above.
///
/// - Returns: the byte after the closing quote; `nil` for any other value.
@inline(never)
private func scanUsualString(
    _ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, _ text: UnsafePointer<UInt8>,
    _ entry: UnsafeMutablePointer<JSONEntry>
) -> UnsafePointer<UInt8>? {
    var escapes = JSONEscapes()
    var cursor = start + 1
    repeat {
        cursor = endOfPlainASCII(from: cursor, to: end)
        guard end - cursor >= 4, cursor.pointee == UInt8(ascii: "\\") else { break }
        repeat {
            guard JSONEscapes.isUsual(cursor[1]) else { return nil }
            escapes.addUsual()
            cursor += 2
            // Escapes often follow each other, with no or one character between them.
            if cursor[1] == UInt8(ascii: "\\"), isPlainASCII(cursor.pointee) { cursor += 1 }
        } while cursor.pointee == UInt8(ascii: "\\") && end - cursor >= 4
        // The string often ends after an escape.
    } while cursor.pointee != UInt8(ascii: "\"")
    guard cursor < end, cursor.pointee == UInt8(ascii: "\"") else { return nil }
    entry.initialize(
        to: JSONEntry(stringFrom: start - text, to: cursor + 1 - text, escapes: escapes, link: 1))
    return cursor + 1
}

/// Scans a key, and writes its entry; parameters and result as for `scanUsualString`.
@inline(never)
private func scanUsualKey(
    _ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>, _ text: UnsafePointer<UInt8>,
    _ entry: UnsafeMutablePointer<JSONEntry>
) -> UnsafePointer<UInt8>? {
    var escapes = JSONEscapes()
    var cursor = start + 1
    while true {
        while end - cursor >= 6, cursor.pointee == UInt8(ascii: "\\") {
            if JSONEscapes.isUsual(cursor[1]) {
                escapes.addUsual()
                cursor += 2
            } else if cursor[1] == UInt8(ascii: "u"), let unit = hexadecimalUnit(at: cursor + 2),
                unit & 0xF800 != 0xD800, unit > 0
            {
                escapes.addUnusual(saving: unit < 0x80 ? 5 : unit < 0x800 ? 4 : 3)
                cursor += 6
            } else {
                return nil
            }
        }
        guard cursor < end else { return nil }
        if cursor.pointee == UInt8(ascii: "\"") { break }
        if cursor.pointee >= 0x80 {
            let length = multibyteLength(cursor, end)
            guard length > 0 else { return nil }
            cursor += length
        } else {
            guard isPlainASCII(cursor.pointee) else { return nil }
            cursor = endOfPlainASCII(from: cursor + 1, to: end)
        }
    }
    entry.initialize(
        to: JSONEntry(
            stringFrom: start - text, to: cursor + 1 - text, escapes: escapes,
            link: keyHash(start + 1, cursor, escapes)))
    return cursor + 1
}

/// The hash of the key between these two positions.
@inline(never)
func keyHash(_ start: UnsafePointer<UInt8>, _ stop: UnsafePointer<UInt8>, _ escapes: JSONEscapes) -> UInt32 {
    let content = UnsafeBufferPointer(start: start, count: stop - start)
    let hash = escapes.saved > 0 ? withUnescaped(content) { WordHash.keys($0) } : WordHash.keys(content)
    return UInt32(truncatingIfNeeded: hash)
}

/// A summary of the escapes of a string.
struct JSONEscapes {
    /// The bytes by which they are longer than their characters; bit 32 is the flag of unusual ones.
    private var value: UInt64 = 0

    private static let flag: UInt64 = 1 << 32

    /// The bytes by which the escapes are longer than their characters in UTF-8.
    @inline(__always)
    var saved: UInt32 { UInt32(truncatingIfNeeded: value) }

    /// Whether any of them is unusual.
    @inline(__always)
    var areUnusual: Bool { value >= Self.flag }

    /// Whether the letter after a backslash makes a usual escape: two bytes, for a character that JSON demands to
    /// escape.
    @inline(__always)
    static func isUsual(_ letter: UInt8) -> Bool {
        // A bit for each of \ b f n r t, at its distance from the backslash.
        let letters: UInt32 = 1 << 0 | 1 << 6 | 1 << 10 | 1 << 18 | 1 << 22 | 1 << 24
        let place = letter &- UInt8(ascii: "\\")
        return letter == UInt8(ascii: "\"") || place < 32 && letters & 1 << UInt32(place & 31) != 0
    }

    @inline(__always)
    mutating func addUsual() { value &+= 1 }

    @inline(__always)
    mutating func addUnusual(saving saved: Int) { value = (value &+ UInt64(truncatingIfNeeded: saved)) | Self.flag }
}

// MARK: Sixteen bytes at a time

/// The position of the next quote, backslash, control character or non-ASCII byte.
@inline(__always)
func endOfPlainASCII(from start: UnsafePointer<UInt8>, to end: UnsafePointer<UInt8>) -> UnsafePointer<UInt8> {
    var cursor = start
    while end - cursor >= 16 {
        let (low, high) = marks(in: load16(cursor))
        if low | high != 0 {
            return cursor + (low != 0 ? low.trailingZeroBitCount / 8 : 8 &+ high.trailingZeroBitCount / 8)
        }
        cursor += 16
    }
    while cursor < end, isPlainASCII(cursor.pointee) { cursor += 1 }
    return cursor
}

@inline(__always)
private func load16(_ start: UnsafePointer<UInt8>) -> SIMD16<Int8> {
    UnsafeRawPointer(start).loadUnaligned(as: SIMD16<Int8>.self)
}

/// Sets all bits of each of 16 bytes that a JSON string cannot contain as plain ASCII, in two numbers of eight bytes:
/// the first byte is the lowest of the first.
@inline(__always)
private func marks(in bytes: SIMD16<Int8>) -> (low: UInt64, high: UInt64) {
    // All operands are vectors of one type: a comparison with a scalar takes fifty times as long.
    let spaces = SIMD16<Int8>(repeating: 0x20)
    let quotes = SIMD16<Int8>(repeating: 0x22)
    let backslashes = SIMD16<Int8>(repeating: 0x5C)
    // As signed numbers, non-ASCII bytes are below a space, as control characters are.
    let special = (bytes .< spaces) .| (bytes .== quotes) .| (bytes .== backslashes)
    let words = unsafeBitCast(special, to: SIMD2<UInt64>.self)
    return (UInt64(littleEndian: words[0]), UInt64(littleEndian: words[1]))
}

/// All bits below the lowest set bit.
@inline(__always)
private func bitsBelow(_ mark: UInt64) -> UInt64 { (mark &- 1) & ~mark }

/// Whether a byte is plain ASCII in a JSON string.
@inline(__always)
func isPlainASCII(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte < 0x80 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
}

/// The length of the well-formed multi-byte character at `start`, 2 to 4 (Unicode, table 3-7); 0 for anything else.
@inline(__always)
func multibyteLength(_ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Int {
    @inline(__always)
    func isNext(_ distance: Int, in range: ClosedRange<UInt8> = 0x80...0xBF) -> Bool {
        end - start > distance && range.contains(start[distance])
    }
    switch start.pointee {
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
