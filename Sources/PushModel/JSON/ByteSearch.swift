extension UnsafeBufferPointer<UInt8> {
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
