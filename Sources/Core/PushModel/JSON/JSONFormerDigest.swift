// The digest that ledgers have from before there was a second version of it. It reads byte by byte: only what looks for
// a delivery of that time needs it.

extension JSONView {
    /// The first version of ``digest``.
    public var formerDigest: UInt64 {
        // A sum does not depend on the order; what is added for a value depends on its place.
        var sum: UInt64 = 0
        var pending: [(value: JSONView, place: UInt64)] = [(self, 0)]
        while let (value, place) = pending.popLast() {
            switch value.kind {
            case .null, .bool, .number: sum &+= mix(place, stableDigest(value.rawBytes))
            case .string: sum &+= mix(place, value.formerTextDigest ^ 1)
            case .array:
                sum &+= mix(place, 2)
                for (index, element) in value.elements.enumerated() {
                    pending.append((element, mix(place ^ 3, UInt64(index))))
                }
            case .object:
                sum &+= mix(place, 4)
                for (key, value) in value.members { pending.append((value, mix(place ^ 5, key.formerTextDigest))) }
            }
        }
        return sum
    }

    /// The first version of ``digest(with:)``.
    public func formerDigest(with value: JSONView) -> UInt64 { mix(formerTextDigest, value.formerDigest) }

    private var formerTextDigest: UInt64 { withText { stableDigest($0) } }
}

/// A digest of bytes that is the same in every run (FNV-1a, 64 bits).
public func stableDigest(_ bytes: some Sequence<UInt8>) -> UInt64 {
    var digest: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in bytes { digest = (digest ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    return digest
}

/// Joins two digests so that every bit depends on all of both (the finalizer of SplitMix64).
private func mix(_ one: UInt64, _ other: UInt64) -> UInt64 {
    var mixed = one &* 0x9E37_79B9_7F4A_7C15 &+ other
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
}
