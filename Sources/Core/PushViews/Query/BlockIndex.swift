public import PushModel

/// A fact of a request that an index has.
public struct IndexedFact: Hashable, Sendable {
    /// The words whose facts are indexed.
    public static let words: Set<QueryWord> = [.app, .device, .user, .campaign, .id, .outcome, .handler]

    /// The word that asks for it.
    public let word: QueryWord
    /// The whole value.
    public let value: String
    /// The digest that the filters have.
    let hash: UInt64
    /// The request that an `id:` names by its number: an index needs no filter to find it.
    public let seq: SequenceNumber?

    /// - Parameters:
    ///   - word: one of ``words``.
    ///   - value: the whole value.
    public init(_ word: QueryWord, _ value: String) {
        var hash = stableDigest(value.utf8) &+ stableDigest(word.rawValue.utf8) &* 0x9E37_79B9_7F4A_7C15
        // The lower bits of FNV depend on the lower bits of the text alone.
        hash ^= hash >> 29
        hash = hash &* 0xBF58_476D_1CE4_E5B9
        (self.word, self.value, self.hash) = (word, value, hash ^ hash >> 32)
        seq = word == .id ? Int64(value).map { SequenceNumber($0) } : nil
    }
}

/// Says which blocks of requests cannot have what a query asks for, so that a search skips them: a Bloom filter for each block.
///
/// The filters have no values, so nothing of an erased person is in them. They are in memory, and each run of the program that
/// searches builds them anew.
public struct BlockIndex: Sendable {
    /// How many numbers of requests a block has.
    public static let blockLength: Int64 = 256
    /// Bits of a filter. A block has up to 256 x 3 facts of its requests alone: 6 of 1,000 questions get a wrong yes.
    private static let bits = 1 << 13
    private static let probes = 7

    private var filters: [Int64: [UInt64]] = [:]
    /// The blocks that ``next(in:)`` returned; `nil`: none.
    private var returned: ClosedRange<Int64>?
    /// Blocks that were returned and had an undecided request, the one that waited longest first.
    private var postponed: [Int64] = []
    /// How many filters are kept, of 1 KiB each.
    private let limit: Int

    /// - Parameter bytes: how much memory the filters may take. 40 MiB hold ten million requests.
    public init(bytes: Int = 42 << 20) { limit = max(1, bytes / (Self.bits / 8 + 64)) }

    /// The block that has a request.
    public static func block(of seq: SequenceNumber) -> Int64 { seq.value / blockLength }

    private var hasRoom: Bool { filters.count < limit }

    /// Whether a block is left that ``next(in:)`` never returned.
    ///
    /// - Parameter blocks: those that are complete.
    public func isIncomplete(in blocks: ClosedRange<Int64>) -> Bool { fresh(in: blocks) != nil }

    /// The block to read next: new blocks first, then older ones, then postponed ones; `nil`: each block has a filter.
    ///
    /// - Parameter blocks: those that are complete.
    public mutating func next(in blocks: ClosedRange<Int64>) -> Int64? {
        guard let block = fresh(in: blocks) else { return postponed.isEmpty ? nil : postponed.removeFirst() }
        returned = min(returned?.lowerBound ?? block, block)...max(returned?.upperBound ?? block, block)
        return block
    }

    private func fresh(in blocks: ClosedRange<Int64>) -> Int64? {
        guard let returned else { return blocks.upperBound }
        if returned.upperBound < blocks.upperBound { return returned.upperBound + 1 }
        // A full index has no room for an older block.
        return returned.lowerBound > blocks.lowerBound && hasRoom ? returned.lowerBound - 1 : nil
    }

    /// Keeps a block for later: one of its requests is undecided.
    public mutating func postpone(_ block: Int64) { postponed.append(block) }

    /// Adds a block whose requests are all decided. Without room it takes the place of the oldest block.
    ///
    /// - Parameter facts: all facts of all its requests.
    public mutating func add(_ block: Int64, _ facts: some Sequence<IndexedFact>) {
        if !hasRoom, let oldest = filters.keys.min(), oldest < block { filters[oldest] = nil }
        guard hasRoom else { return }
        var filter = [UInt64](repeating: 0, count: Self.bits / 64)
        for fact in facts {
            for probe in 0..<Self.probes {
                let place = Self.place(probe, of: fact)
                filter[place / 64] |= 1 << UInt64(place % 64)
            }
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
                if let seq = fact.seq, Self.block(of: seq) == block { return true }
                for probe in 0..<Self.probes {
                    let place = Self.place(probe, of: fact)
                    if filter[place / 64] & 1 << UInt64(place % 64) == 0 { return false }
                }
                return true
            }
        }
    }

    private static func place(_ probe: Int, of fact: IndexedFact) -> Int {
        Int(truncatingIfNeeded: (fact.hash &+ UInt64(probe) &* (fact.hash >> 32 | 1)) % UInt64(bits))
    }
}
