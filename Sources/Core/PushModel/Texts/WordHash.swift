/// A 64-bit hash of bytes that reads 8-byte words, and multiplies once for 16 bytes.
///
/// Fixed seeds give the same hash in every run, and a client that knows them can construct collisions: a table with
/// such a hash must detect these, as the scanner's tables do. The seeds of this process are secret.
public struct WordHash: Sendable {
    @usableFromInline let first: UInt64
    @usableFromInline let second: UInt64

    /// Sets the seeds. `first` has bytes that never occur in UTF-8, so that its factor of the product is never zero.
    @inlinable
    init(first: UInt64, second: UInt64) {
        self.first = first
        self.second = second
    }

    /// The hash of JSON keys. Its seeds are fixed, so that the compiler can hash the names in the source.
    @inlinable
    static var keys: WordHash { WordHash(first: 0xF9C1_A5F5_C0E3_9BFF, second: 0xC1F7_E9B5_8D3F_FAC5) }

    /// The hash of stored digests. Its seeds never change.
    @inlinable
    static var digests: WordHash { WordHash(first: 0xFE65_B7FD_9CC1_F3A7, second: 0xF893_C0D7_FB5F_E1C9) }

    /// A hash with random seeds for each process: no stored value may depend on it.
    public static let ofThisProcess: WordHash = {
        // The standard library seeds `Hasher` at random; two numbers give two seeds.
        func random(_ number: UInt8) -> UInt64 {
            var hasher = Hasher()
            hasher.combine(number)
            return UInt64(truncatingIfNeeded: hasher.finalize())
        }
        return WordHash(first: random(1) | 0xC0 << 56, second: random(2))
    }()

    /// Returns the hash of the bytes.
    @inlinable
    @inline(__always)
    public func callAsFunction(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt64 {
        guard let start = bytes.baseAddress else { return ofShort(0, 0, count: 0) }
        return callAsFunction(start, count: bytes.count)
    }

    /// Returns the hash of `count` bytes from `start` on.
    @inlinable
    @inline(__always)
    public func callAsFunction(_ start: UnsafePointer<UInt8>, count: Int) -> UInt64 {
        if count > 16 { return ofLong(UnsafeRawPointer(start), count: count) }
        let raw = UnsafeRawPointer(start)
        guard count < 8 else {
            let unused = UInt64(truncatingIfNeeded: 16 &- count) &* 8
            return ofShort(word(raw), unused == 64 ? 0 : word(raw + (count &- 8)) &>> unused, count: count)
        }
        if count >= 4 {
            let last = halfWord(raw + (count &- 4)) &<< (UInt64(truncatingIfNeeded: count &- 4) &* 8)
            return ofShort(halfWord(raw) | last, 0, count: count)
        }
        guard count > 0 else { return ofShort(0, 0, count: 0) }
        let middle = UInt64(start[count / 2]) &<< (UInt64(truncatingIfNeeded: count / 2) &* 8)
        let last = UInt64(start[count &- 1]) &<< (UInt64(truncatingIfNeeded: count &- 1) &* 8)
        return ofShort(UInt64(start[0]) | middle | last, 0, count: count)
    }

    /// The hash of two numbers, which depends on all bits of both.
    @inlinable
    @inline(__always)
    public func joined(_ one: UInt64, _ other: UInt64) -> UInt64 { Self.fold(one ^ first, other ^ second) }

    /// The hash of at most 16 bytes in two numbers, the first byte in the lowest bits, with zeros for missing bytes.
    @inlinable
    @inline(__always)
    func ofShort(_ low: UInt64, _ high: UInt64, count: Int) -> UInt64 {
        Self.fold(low ^ first, high ^ seed(count))
    }

    @usableFromInline
    func ofLong(_ start: UnsafeRawPointer, count: Int) -> UInt64 {
        var sum = seed(count)
        var position = start
        let last = start + (count - 16)
        while position < last {
            sum = Self.fold(word(position) ^ first, word(position + 8) ^ sum)
            position += 16
        }
        return Self.fold(word(last) ^ first, word(last + 8) ^ sum)
    }

    @inlinable
    @inline(__always)
    func seed(_ count: Int) -> UInt64 { second &+ UInt64(truncatingIfNeeded: count) &* 0x9E37_79B9_7F4A_7C15 }

    /// Both halves of the product, combined by XOR: every bit depends on all bits of both factors.
    @inlinable
    @inline(__always)
    static func fold(_ one: UInt64, _ other: UInt64) -> UInt64 {
        let product = one.multipliedFullWidth(by: other)
        return product.high ^ product.low
    }

    @inlinable
    @inline(__always)
    func word(_ start: UnsafeRawPointer) -> UInt64 { UInt64(littleEndian: start.loadUnaligned(as: UInt64.self)) }

    @inlinable
    @inline(__always)
    func halfWord(_ start: UnsafeRawPointer) -> UInt64 {
        UInt64(UInt32(littleEndian: start.loadUnaligned(as: UInt32.self)))
    }
}

/// A digest of bytes that is the same in every run (FNV-1a, 64 bits).
public func stableDigest(_ bytes: some Sequence<UInt8>) -> UInt64 {
    var digest: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in bytes { digest = (digest ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    return digest
}
