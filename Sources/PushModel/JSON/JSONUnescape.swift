/// The text between the quotes of a string that passed the scan, with its escapes replaced.
func unescape(_ content: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    // No escape is shorter than what it stands for.
    [UInt8](unsafeUninitializedCapacity: content.count) { buffer, count in
        count = unescape(content, into: buffer)
    }
}

/// Writes the unescaped text to `buffer`, which has room for all of `content`, and returns its length.
func unescape(_ content: UnsafeBufferPointer<UInt8>, into buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
    var read = 0
    var written = 0
    func write(_ byte: UInt8) {
        buffer[written] = byte
        written += 1
    }
    func readUnit() -> UInt32 {
        defer { read += 6 }
        return content[read + 2..<read + 6].reduce(0) { $0 << 4 | UInt32(hexadecimalValue(of: $1) ?? 0) }
    }
    while read < content.count {
        guard content[read] == UInt8(ascii: "\\") else {
            write(content[read])
            read += 1
            continue
        }
        guard content[read + 1] == UInt8(ascii: "u") else {
            write(unescaped(content[read + 1]))
            read += 2
            continue
        }
        var value = readUnit()
        if value & 0xFC00 == 0xD800 { value = 0x10000 + (value & 0x3FF) << 10 + (readUnit() & 0x3FF) }
        // The scan lets no lone surrogate pass, so the value is a scalar.
        UTF8.encode(Unicode.Scalar(value) ?? "\u{FFFD}")?.forEach(write)
    }
    return written
}

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
