public import PushModel

/// A fact of a request that an index has.
public struct IndexedFact: Hashable, Sendable {
    /// The words whose facts are indexed.
    public static let words: Set<QueryWord> = [.app, .device, .user, .campaign, .id, .outcome, .handler]

    let hash: UInt64

    /// - Parameters:
    ///   - word: one of ``words``.
    ///   - value: the whole value.
    public init(_ word: QueryWord, _ value: String) {
        // FNV-1a: the same in every run, and good enough for a filter.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        word.rawValue.utf8.forEach(add)
        add(0x3A)
        value.utf8.forEach(add)
        // Its upper bits are the better ones.
        hash ^= hash >> 29
        self.hash = hash &* 0x9E37_79B9_7F4A_7C15
    }
}

/// Says which blocks of requests cannot have what a query asks for, so that a search passes over them: a Bloom filter for each
/// block. It has no values, so nothing of an erased person is in it.
///
/// It is kept in memory, and built anew by each run of the program that searches.
public struct BlockIndex: Sendable {
    /// As many numbers of requests as a block has.
    public static let blockLength: Int64 = 2048
    /// Bits of a filter. A block has some 2048 x 4 facts: 1 of 40 questions gets a wrong yes.
    private static let bits = 1 << 16
    private static let probes = 4

    private var filters: [Int64: [UInt64]] = [:]
    /// As many filters as are kept: 8 KiB each.
    private let limit: Int

    /// - Parameter bytes: how much memory it may take.
    public init(bytes: Int = 40 << 20) { limit = max(1, bytes / (Self.bits / 8 + 64)) }

    /// The block that has a request.
    public static func block(of seq: SequenceNumber) -> Int64 { seq.value / blockLength }

    /// How many blocks have a filter.
    public var count: Int { filters.count }

    /// Whether there is room for another block.
    public var hasRoom: Bool { filters.count < limit }

    /// Whether a block has a filter.
    public func has(_ block: Int64) -> Bool { filters[block] != nil }

    /// Adds a block whose requests are all decided. Without room the oldest block goes.
    ///
    /// - Parameter facts: all facts of all its requests.
    public mutating func add(_ block: Int64, _ facts: some Sequence<IndexedFact>) {
        if !hasRoom, let oldest = filters.keys.min(), oldest < block { filters[oldest] = nil }
        guard hasRoom else { return }
        var filter = [UInt64](repeating: 0, count: Self.bits / 64)
        for fact in facts {
            for place in Self.places(of: fact) { filter[place / 64] |= 1 << UInt64(place % 64) }
        }
        filters[block] = filter
    }

    /// Whether a block may have a match; `nil`: it has no filter.
    ///
    /// - Parameter alternatives: of each element one fact must be there.
    public func mayHave(_ block: Int64, _ alternatives: [[IndexedFact]]) -> Bool? {
        guard let filter = filters[block] else { return nil }
        return alternatives.allSatisfy { facts in
            facts.contains { fact in
                Self.places(of: fact).allSatisfy { filter[$0 / 64] & 1 << UInt64($0 % 64) != 0 }
            }
        }
    }

    private static func places(of fact: IndexedFact) -> [Int] {
        let (first, step) = (fact.hash, fact.hash >> 32 | 1)
        return (0..<UInt64(probes)).map { Int((first &+ $0 &* step) % UInt64(bits)) }
    }
}
