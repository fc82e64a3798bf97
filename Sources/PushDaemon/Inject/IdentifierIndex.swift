import PushModel
import Store

/// A producer's name for a request: an idempotency key within its user.
typealias RequestKey = Lookup.Key

/// What the daemon knows of producers' ids without asking the ledger.
///
/// Exact in the end: what may be known is asked of the ledger, and what the ledger cannot know yet is waited for.
struct IdentifierIndex {
    /// What is known of an id.
    enum Knowledge {
        /// No request has it.
        case new
        /// A request that is not in the ledger yet has it, or one with the same hash: it is there with that batch.
        case comes(inBatch: UInt64)
        /// The ledger has to be asked.
        case unclear
    }

    /// The ids of the ledger and those that were accepted since; `nil` before it is built.
    private var filter: IdentifierFilter?
    /// A filter on its way: it has what was accepted since it was begun, and page by page what the ledger has.
    private var nextFilter: IdentifierFilter?
    /// The ids that are accepted and not in the ledger yet, by their hashes: the batch that has them. In shards, so that
    /// growing moves few at a time.
    private var coming = [[UInt64: UInt64]](repeating: [:], count: 64)
    /// The same by batch.
    private var batches = Queue<(number: UInt64, hashes: [UInt64])>()
    private var lastBatch: (number: UInt64, hashes: [UInt64]) = (0, [])

    /// How many bytes the filters take.
    var byteCount: Int { (filter?.byteCount ?? 0) + (nextFilter?.byteCount ?? 0) }

    /// Whether a filter is to be built from the ledger: none is there, or it has too many ids.
    var needsBuilding: Bool { nextFilter == nil && (filter?.isCrowded ?? true) }

    /// What is known of an id.
    func knowledge(of hash: UInt64) -> Knowledge {
        guard filter?.mayContain(hash) ?? true else { return .new }
        if let batch = coming[Int(hash >> 58)][hash] { return .comes(inBatch: batch) }
        return .unclear
    }

    /// Notes that a request was accepted, which is to be written with a batch.
    mutating func accept(_ hash: UInt64, inBatch number: UInt64) {
        filter?.insert(hash)
        nextFilter?.insert(hash)
        coming[Int(hash >> 58)][hash] = number
        if lastBatch.number != number {
            if !lastBatch.hashes.isEmpty { batches.append(lastBatch) }
            lastBatch = (number, [])
        }
        lastBatch.hashes.append(hash)
    }

    /// Notes that the ledger has everything up to a batch.
    mutating func applied(through number: UInt64) {
        while let first = batches.first, first.number <= number {
            _ = batches.popFirst()
            forget(first)
        }
        if lastBatch.number <= number {
            forget(lastBatch)
            lastBatch = (0, [])
        }
    }

    private mutating func forget(_ batch: (number: UInt64, hashes: [UInt64])) {
        for hash in batch.hashes where coming[Int(hash >> 58)][hash] == batch.number {
            coming[Int(hash >> 58)][hash] = nil
        }
    }

    // MARK: Building

    /// Begins a filter for the ids of the ledger.
    ///
    /// - Parameter count: how many there are, about.
    mutating func beginBuilding(for count: Int) {
        // More than any ledger has ids; a number that is far too high is not to overflow.
        var filter = IdentifierFilter(capacity: 4 * min(count, 1 << 40))
        // They may get to the ledger behind the page that is read then.
        for shard in coming { for hash in shard.keys { filter.insert(hash) } }
        nextFilter = filter
    }

    /// Adds ids of the ledger to the filter that is on its way.
    mutating func build(_ hashes: [UInt64]) {
        for hash in hashes { nextFilter?.insert(hash) }
    }

    /// The ids of the ledger cannot be had now.
    mutating func giveUpBuilding() { nextFilter = nil }

    /// All ids of the ledger have been added: the new filter is used.
    mutating func finishBuilding() {
        nextFilter?.finish()
        filter = nextFilter
        nextFilter = nil
    }
}
