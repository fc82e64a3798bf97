/// Calls `body` with the unescaped text of a string that passed the scan.
///
/// - Parameters:
///   - content: the bytes between the quotes.
///   - body: the closure that gets the text, which is valid only during the call.
@inlinable
@inline(__always)
func withUnescaped<Result>(
    _ content: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Result
) -> Result {
    // An escape is at least as long as its character.
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: content.count) { buffer in
        body(UnsafeBufferPointer(rebasing: buffer[..<unescape(content, into: buffer)]))
    }
}

/// Writes the unescaped text to `buffer`, which has room for all of `content`, and returns its length.
@usableFromInline
func unescape(_ content: UnsafeBufferPointer<UInt8>, into buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
    guard let source = content.baseAddress, let target = buffer.baseAddress else { return 0 }
    let (from, to) = (UnsafeRawPointer(source), UnsafeMutableRawPointer(target))
    let count = content.count
    var read = 0
    var written = 0
    while read < count {
        if read &+ 8 <= count {
            // Copies eight bytes at a time; later writes replace the surplus. The output is never longer than the
            // input, so the buffer has room.
            let word = from.loadUnaligned(fromByteOffset: read, as: UInt64.self)
            to.storeBytes(of: word, toByteOffset: written, as: UInt64.self)
            let plain = bytesBeforeBackslash(word)
            read &+= plain
            written &+= plain
            if plain == 8 { continue }
        } else if read &+ 4 <= count, bytesBeforeBackslash(UInt64(loadFour(source + read)) | ~0 << 32) >= 4 {
            to.storeBytes(
                of: from.loadUnaligned(fromByteOffset: read, as: UInt32.self), toByteOffset: written, as: UInt32.self)
            read &+= 4
            written &+= 4
            continue
        } else if source[read] != UInt8(ascii: "\\") {
            target[written] = source[read]
            read &+= 1
            written &+= 1
            continue
        }
        let letter = source[read &+ 1]
        if letter == UInt8(ascii: "u") {
            let unit = unescapedUnit(source + read)
            read &+= unit.length
            if unit.value < 0x80 {
                target[written] = UInt8(truncatingIfNeeded: unit.value)
                written &+= 1
            } else {
                written &+= encode(unit.value, to: target + written)
            }
        } else {
            target[written] = unescaped(letter)
            read &+= 2
            written &+= 1
            // One character between two escapes: the eight-byte copy would not pay.
            if read &+ 2 < count, source[read &+ 1] == UInt8(ascii: "\\"), source[read] != UInt8(ascii: "\\") {
                target[written] = source[read]
                read &+= 1
                written &+= 1
            }
        }
    }
    return written
}

/// Whether the unescaped text of a string that passed the scan begins with `prefix`.
///
/// Reads no further than to the first difference: a payload may have thousands of keys with escapes, and each rule looks
/// at them.
///
/// - Parameter content: the bytes between the quotes; unescaped at least as long as the prefix.
@inline(never)
func unescaped(_ content: UnsafeBufferPointer<UInt8>, startsWith prefix: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let source = content.baseAddress else { return prefix.isEmpty }
    var place = 0
    for wanted in prefix {
        var byte = source[place]
        if byte != UInt8(ascii: "\\") {
            place &+= 1
        } else if source[place &+ 1] == UInt8(ascii: "u") {
            let unit = unescapedUnit(source + place)
            guard unit.value < 0x80 else {
                return withUnescaped(content) { $0.prefix(prefix.count).elementsEqual(prefix) }
            }
            byte = UInt8(truncatingIfNeeded: unit.value)
            place &+= unit.length
        } else {
            byte = unescaped(source[place &+ 1])
            place &+= 2
        }
        guard byte == wanted else { return false }
    }
    return true
}

/// The first byte of the character that an escape stands for.
@inline(never)
func firstUnescaped(_ escape: UnsafePointer<UInt8>) -> UInt8 {
    guard escape[1] == UInt8(ascii: "u") else { return unescaped(escape[1]) }
    let value = unescapedUnit(escape).value
    if value < 0x80 { return UInt8(truncatingIfNeeded: value) }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 4) { buffer in
        guard let start = buffer.baseAddress else { return 0 }
        _ = encode(value, to: start)
        return start[0]
    }
}

/// The number of bytes before the first backslash of eight; 8 without one.
@inline(__always)
private func bytesBeforeBackslash(_ bytes: UInt64) -> Int {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let word = UInt64(littleEndian: bytes) ^ (ones &* UInt64(UInt8(ascii: "\\")))
    // Sets the top bit of each zero byte; exact up to the first one.
    let found = (word &- ones) & ~word & (ones &* 0x80)
    return found.trailingZeroBitCount / 8
}

/// The scalar of an escape `\uXXXX`, with its partner if it is half of a surrogate pair, and the length of the escape.
@inline(__always)
private func unescapedUnit(_ escape: UnsafePointer<UInt8>) -> (value: UInt32, length: Int) {
    let first = valueOfHexadecimal(loadFour(escape + 2))
    // The scan refuses lone surrogates.
    guard first & 0xFC00 == 0xD800 else { return (first, 6) }
    return (0x10000 + (first & 0x3FF) << 10 + (valueOfHexadecimal(loadFour(escape + 8)) & 0x3FF), 12)
}

/// Returns the value of four hexadecimal digits; `nil` for anything else.
@inline(__always)
func hexadecimalUnit(at start: UnsafePointer<UInt8>) -> UInt32? {
    let word = loadFour(start)
    let ones: UInt32 = 0x0101_0101
    let tops = ones &* 0x80
    // The top bit of each byte is the answer for that byte; no sum carries into the next byte.
    let digit = ~((word ^ ones &* 0x30) &+ ones &* (0x80 - 10))
    let place = (word | ones &* 0x20) ^ ones &* 0x60
    let letter = (place &+ ones &* (0x80 - 1)) & ~(place &+ ones &* (0x80 - 7))
    guard word & tops == 0, (digit | letter) & tops == tops else { return nil }
    return valueOfHexadecimal(word)
}

/// Four bytes, the first in the lowest bits.
@inline(__always)
private func loadFour(_ start: UnsafePointer<UInt8>) -> UInt32 {
    UInt32(littleEndian: UnsafeRawPointer(start).loadUnaligned(as: UInt32.self))
}

/// The value of four hexadecimal digits, the first in the lowest bits.
@inline(__always)
private func valueOfHexadecimal(_ digits: UInt32) -> UInt32 {
    let values = ((digits & 0x0F0F_0F0F) &+ ((digits &>> 6) & 0x0101_0101) &* 9).byteSwapped
    let pairs = (values | values &>> 4) & 0x00FF_00FF
    return (pairs | pairs &>> 8) & 0xFFFF
}

/// Writes a non-ASCII scalar in UTF-8, and returns its length.
private func encode(_ value: UInt32, to target: UnsafeMutablePointer<UInt8>) -> Int {
    let length = value < 0x800 ? 2 : value < 0x10000 ? 3 : 4
    var rest = value
    for index in (1..<length).reversed() {
        target[index] = UInt8(truncatingIfNeeded: rest & 0x3F | 0x80)
        rest >>= 6
    }
    // The first byte begins with as many set bits as the scalar has bytes.
    target[0] = UInt8(truncatingIfNeeded: 0xF00 >> UInt32(length) & 0xFF | rest)
    return length
}

@inline(__always)
private func unescaped(_ letter: UInt8) -> UInt8 {
    switch letter {
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "f"): 0x0C
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "r"): 0x0D
    case UInt8(ascii: "t"): 0x09
    default: letter
    }
}
