extension JSONScanner {
    /// Scans the number at the cursor if it is a whole number of at most 20 digits, without a sign, followed by a comma
    /// or a closing bracket. The tape must have room for its entry.
    ///
    /// - Parameter first: the byte at the cursor.
    @inline(__always)
    mutating func scanUsualNumber(_ first: UInt8) -> Bool {
        guard first >= UInt8(ascii: "0"), end - cursor > 20 else { return false }
        var stop = cursor + 1
        while stop.pointee.isDigit, stop - cursor < 20 { stop += 1 }
        switch stop.pointee {
        case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"): break
        default: return false
        }
        guard first > UInt8(ascii: "0") || stop - cursor == 1 else { return false }
        let start = cursor
        cursor = stop
        append(.number, from: start)
        return true
    }

    /// Scans the number at the cursor.
    @inline(__always)
    mutating func scanNumber() throws(JSONError) {
        let start = cursor
        if byte == UInt8(ascii: "-") { cursor += 1 }
        let first = cursor
        if byte == UInt8(ascii: "0") {
            cursor += 1
            if byte.isDigit { throw location.leadingZero }
        } else {
            try scanDigits("a digit is expected after '-'")
        }
        // A number below 10^308 is always finite as a double; few numbers have more digits or an exponent.
        var mayBeInfinite = cursor - first > 308
        if byte == UInt8(ascii: ".") {
            cursor += 1
            try scanDigits("a digit is expected after the decimal point")
        }
        if byte | 0x20 == UInt8(ascii: "e") {
            cursor += 1
            if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { cursor += 1 }
            try scanDigits("a digit is expected in the exponent")
            mayBeInfinite = true
        }
        if mayBeInfinite, !isFinite(UnsafeBufferPointer(start: first, count: cursor - first)) {
            throw location(start).infiniteNumber
        }
        append(.number, from: start)
    }

    @inline(__always)
    private mutating func scanDigits(_ expectation: StaticString) throws(JSONError) {
        guard byte.isDigit else { throw location.unexpected(expectation.description) }
        repeat { cursor += 1 } while byte.isDigit
    }
}

/// Whether the double nearest to an unsigned literal is finite.
private func isFinite(_ literal: UnsafeBufferPointer<UInt8>) -> Bool {
    let mantissa = literal.prefix { $0 | 0x20 != UInt8(ascii: "e") }
    guard let leading = mantissa.firstIndex(where: { $0 != UInt8(ascii: "0") && $0 != UInt8(ascii: ".") })
    else { return true }
    let point = mantissa.firstIndex(of: UInt8(ascii: ".")) ?? mantissa.endIndex
    // The value is below 10^magnitude, and at least a tenth of it.
    let magnitude = point - leading + (point > leading ? 0 : 1) + exponent(literal[mantissa.endIndex...])
    return magnitude < 309 || magnitude == 309 && Double(String(decoding: literal, as: UTF8.self))?.isFinite == true
}

/// The value of an exponent like `e+12`; 0 if it is missing. Saturates far beyond the length of any text.
private func exponent(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> Int {
    let value = digits.reduce(0) { $1.isDigit ? min($0 * 10 + Int($1 & 0xF), 1 << 40) : $0 }
    return digits.contains(UInt8(ascii: "-")) ? -value : value
}
