extension UnsafeBufferPointer<UInt8> {
    /// Whether both have the same bytes. Compares eight bytes at a time.
    @inlinable
    public func isSame(as other: UnsafeBufferPointer<UInt8>) -> Bool {
        guard count == other.count, let one = baseAddress, let two = other.baseAddress else {
            return count == other.count
        }
        return areEqual(one, two, count: count)
    }

    /// The index of the first such byte from `start` on, or `nil`. Compares 16 bytes at a time.
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

    /// Whether it contains these bytes as a contiguous run.
    fileprivate func has(_ bytes: [UInt8]) -> Bool {
        guard let first = bytes.first else { return true }
        var place = 0
        while let found = firstIndex(of: first, from: place), count - found >= bytes.count {
            if self[found...].starts(with: bytes) { return true }
            place = found + 1
        }
        return false
    }
}

/// Whether `count` bytes are the same at both addresses.
@inlinable
@inline(__always)
func areEqual(_ one: UnsafePointer<UInt8>, _ other: UnsafePointer<UInt8>, count: Int) -> Bool {
    let (left, right) = (UnsafeRawPointer(one), UnsafeRawPointer(other))
    @inline(__always)
    func isSame<Word: FixedWidthInteger & BitwiseCopyable>(_ type: Word.Type, at place: Int) -> Bool {
        left.loadUnaligned(fromByteOffset: place, as: type) == right.loadUnaligned(fromByteOffset: place, as: type)
    }
    // The last word overlaps the one before it, so that no tail of single bytes remains.
    if count >= 8 {
        var place = 0
        while place < count &- 8 {
            guard isSame(UInt64.self, at: place) else { return false }
            place &+= 8
        }
        return isSame(UInt64.self, at: count &- 8)
    }
    if count >= 4 { return isSame(UInt32.self, at: 0) && isSame(UInt32.self, at: count &- 4) }
    guard count > 0 else { return true }
    return one[0] == other[0] && one[count / 2] == other[count / 2] && one[count &- 1] == other[count &- 1]
}

extension UInt8 {
    /// Whether it is an ASCII digit.
    @inlinable
    @inline(__always)
    public var isDigit: Bool { self &- UInt8(ascii: "0") < 10 }
}

extension Sequence {
    /// Its elements in order, as the standard library's `sorted(by:)`, which this one hides in all modules that import
    /// this one. That one is compiled once for each type and closure (2.4 kB each, 290 kB in a program); this one is
    /// compiled once, and its comparison takes several times as long. `sort(by:)` is for elements that are many, or that
    /// each send has.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    public func sorted(by areInIncreasingOrder: (Element, Element) throws -> Bool) rethrows -> [Element] {
        var elements = Array(self)
        try elements.sort(by: areInIncreasingOrder)
        return elements
    }
}

extension Sequence where Element: Comparable {
    /// Its elements in order; see `sorted(by:)`.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    public func sorted() -> [Element] { sorted(by: <) }
}

extension Collection<UInt8> {
    /// Whether it contains these bytes as a contiguous run. `contains(_:)` of the standard library would link its
    /// regular expression engine into each program.
    public func has(_ bytes: some Collection<UInt8>) -> Bool {
        // The bytes themselves are several hundred times as fast as the indices of an unknown collection.
        withContiguousStorageIfAvailable { $0.has(Array(bytes)) } ?? Array(self).has(Array(bytes))
    }
}

extension StringProtocol {
    /// Whether it contains a text, compared by bytes.
    public func has(_ text: String) -> Bool { utf8.has(text.utf8) }
}

extension String {
    /// Whether both have the same UTF-8 bytes. `==` takes canonically equivalent spellings for equal; on the wire and
    /// in the ledger they are two names.
    @inlinable
    public func isSame(as other: String) -> Bool {
        withBytes { one in other.withBytes { one.isSame(as: $0) } }
    }

    /// Calls `body` with the UTF-8 bytes, which are valid only during the call. Copies only a text without contiguous
    /// storage.
    @inlinable
    @inline(__always)
    public func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let result = utf8.withContiguousStorageIfAvailable(body) { return result }
        var text = self
        return text.withUTF8(body)
    }
}

extension Optional<String> {
    /// Whether both are `nil`, or have the same UTF-8 bytes.
    @inlinable
    public func isSame(as other: String?) -> Bool {
        guard let self, let other else { return (self == nil) == (other == nil) }
        return self.isSame(as: other)
    }
}

extension String {
    /// Decodes percent escapes, as the paths, queries and forms of HTTP have them (RFC 3986, section 2.1).
    ///
    /// - Parameters:
    ///   - text: bytes with escapes.
    ///   - plusIsSpace: whether a plus stands for a space, as in `application/x-www-form-urlencoded`.
    /// - Returns: `nil` for a percent sign without two hexadecimal digits, and for bytes that are no UTF-8.
    public init?(percentDecoding text: some Collection<UInt8>, plusIsSpace: Bool) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.next().flatMap(hexadecimalValue(of:)),
                    let low = rest.next().flatMap(hexadecimalValue(of:))
                else { return nil }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
            default: bytes.append(byte)
            }
        }
        self.init(validating: bytes, as: UTF8.self)
    }
}
