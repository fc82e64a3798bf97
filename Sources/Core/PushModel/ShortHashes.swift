/// A set of hashes that is told in one look, and may seem to have others too. 8 KiB, however many there are.
public struct ShortHashes: Sendable {
    private var bits = ContiguousArray<UInt64>(repeating: 0, count: 1024)

    /// - Parameter hashes: its members.
    public init(_ hashes: some Sequence<UInt32>) {
        for hash in hashes { bits[Int(hash >> 6 & 1023)] |= 1 << UInt64(hash & 63) }
    }

    /// False only for what is no member.
    public func mayHave(_ hash: UInt32) -> Bool { bits[Int(hash >> 6 & 1023)] & 1 << UInt64(hash & 63) != 0 }
}
