extension UnsafeBufferPointer<UInt8> {
    /// Whether both have the same bytes; compares eight at a time.
    @inlinable
    public func isSame(as other: UnsafeBufferPointer<UInt8>) -> Bool {
        guard count == other.count, let one = baseAddress, let two = other.baseAddress else {
            return count == other.count
        }
        return areEqual(one, two, count: count)
    }

    /// The first place from `start` on that has this byte; `nil` when none has. Looks at 16 bytes at a time.
    public func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        guard let base = baseAddress else { return nil }
        let wanted = SIMD16<UInt8>(repeating: byte)
        var place = start
        while count &- place >= 16 {
            let bytes = UnsafeRawPointer(base + place).loadUnaligned(as: SIMD16<UInt8>.self)
            let found = unsafeBitCast(bytes .== wanted, to: SIMD2<UInt64>.self)
            let (low, high) = (UInt64(littleEndian: found[0]), UInt64(littleEndian: found[1]))
            if low | high != 0 {
                return place &+ (low != 0 ? low.trailingZeroBitCount / 8 : 8 &+ high.trailingZeroBitCount / 8)
            }
            place &+= 16
        }
        while place < count {
            if base[place] == byte { return place }
            place &+= 1
        }
        return nil
    }
}

/// Whether so many bytes are the same at both places.
@inlinable
@inline(__always)
func areEqual(_ one: UnsafePointer<UInt8>, _ other: UnsafePointer<UInt8>, count: Int) -> Bool {
    var index = 0
    let (one, other) = (UnsafeRawPointer(one), UnsafeRawPointer(other))
    while index &+ 8 <= count {
        guard
            one.loadUnaligned(fromByteOffset: index, as: UInt64.self)
                == other.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        else { return false }
        index &+= 8
    }
    while index < count {
        guard one.load(fromByteOffset: index, as: UInt8.self) == other.load(fromByteOffset: index, as: UInt8.self)
        else { return false }
        index &+= 1
    }
    return true
}

extension String {
    /// Shows the text in UTF-8, which must not be used afterwards. Copies nothing but a short text.
    @inlinable
    @inline(__always)
    public func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let result = utf8.withContiguousStorageIfAvailable(body) { return result }
        var text = self
        return text.withUTF8(body)
    }
}
