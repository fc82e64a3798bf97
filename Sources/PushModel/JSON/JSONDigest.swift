extension JSONNode {
    /// A digest that is equal for values that are equivalent (`isEquivalent`), whatever the order of their members, and
    /// the same in every run. Different values have different ones but for chance. Does not recurse.
    public var digest: UInt64 {
        // A sum does not depend on the order; what is added for a value depends on its place.
        var sum: UInt64 = 0
        var pending: [(node: JSONNode, place: UInt64)] = [(self, 0)]
        while let (node, place) = pending.popLast() {
            switch node.kind {
            case .null, .bool, .number: sum &+= mix(place, stableDigest(node.rawBytes))
            case .string: sum &+= mix(place, stableDigest((node.string ?? "").utf8) ^ 1)
            case .array:
                sum &+= mix(place, 2)
                for (index, element) in node.elements.enumerated() {
                    pending.append((element, mix(place ^ 3, UInt64(index))))
                }
            case .object:
                sum &+= mix(place, 4)
                for (key, value) in node.members { pending.append((value, mix(place ^ 5, stableDigest(key.utf8)))) }
            }
        }
        return sum
    }
}

/// A digest of members that does not depend on their order, the same in every run.
public func stableDigest(ofMembers members: some Sequence<(key: String, value: JSONNode)>) -> UInt64 {
    members.reduce(0) { sum, member in sum &+ mix(stableDigest(member.key.utf8), member.value.digest) }
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
