import Glibc
import PushModel
import Store

/// A producer's name for a request: an idempotency key within its user.
typealias RequestKey = Lookup.Key

/// The ids of producers that the daemon knows without asking the ledger.
///
/// The result is exact: the ledger is asked for ids that may be known, after it has the batch that they may come with.
struct IdentifierIndex {
    /// The knowledge about an id.
    enum Membership {
        /// No request has it.
        case new
        /// A request with this id, or with another of the same hash, is not in the ledger yet: it comes with that
        /// batch.
        case pending(inBatch: UInt64)
        /// The ledger must be asked.
        case unclear
    }

    /// The ids of the ledger and those accepted since; `nil` before it is built.
    private var filter: IdentifierFilter?
    /// A filter that is being built: it has the ids accepted since it was begun, and page by page those of the ledger.
    private var nextFilter: IdentifierFilter?
    /// The accepted ids that the ledger does not have yet, by hash, with the batch of each. In 64 shards, so that a
    /// dictionary that grows moves few ids at a time.
    private var coming = [[UInt64: UInt64]](repeating: [:], count: 64)
    /// The same ids by batch.
    private var batches = Queue<(number: UInt64, hashes: [UInt64])>()
    private var lastBatch: (number: UInt64, hashes: [UInt64]) = (0, [])

    /// The size of the filters in bytes.
    var byteCount: Int { [filter, nextFilter].count { $0 != nil } * IdentifierFilter.byteCount }

    /// Whether a filter should be built from the ledger: there is none, or it has too many ids.
    var needsBuilding: Bool { nextFilter == nil && (filter?.isCrowded ?? true) }

    /// Returns the knowledge about an id.
    func membership(of hash: UInt64) -> Membership {
        guard filter?.mayContain(hash) ?? true else { return .new }
        if let batch = coming[Int(hash >> 58)][hash] { return .pending(inBatch: batch) }
        return .unclear
    }

    /// Adds the id of a request that was accepted with a batch.
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

    /// Drops the ids of batches that the ledger has.
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

    /// Begins to build a filter for the ids of the ledger.
    mutating func beginBuilding() {
        let filter = IdentifierFilter()
        // Inserts the ids on their way to the ledger: one may reach a page of the ledger that was read already.
        for shard in coming { for hash in shard.keys { filter.insert(hash) } }
        nextFilter = filter
    }

    /// Adds ids of the ledger to the filter that is being built.
    mutating func build(_ hashes: [UInt64]) {
        for hash in hashes { nextFilter?.insert(hash) }
    }

    /// Drops the filter that is being built: the ledger's ids cannot be read now.
    mutating func cancelBuilding() { nextFilter = nil }

    /// Puts the new filter into use: it has all ids of the ledger.
    mutating func finishBuilding() {
        nextFilter?.finish()
        filter = nextFilter
        nextFilter = nil
    }
}

/// A Bloom filter of producers' ids, in blocks of 64 bytes, one for each id: it recognizes most new ids without a read
/// from the disk.
///
/// With two million ids, 16 bits for each, 1 of 400 new ids looks known; with ten million, 3.4 bits for each, 1 of 4. The
/// ledger is asked for ids that look known.
///
/// The system gives its memory page by page as ids come, so a young filter is small. A filter that grew with the ids would
/// have to read all ids of the ledger again at each size.
final class IdentifierFilter {
    /// Its size in bytes.
    static let byteCount = 4 << 20
    private static let wordsInBlock = 8
    private static let bitsSet = 4

    private let words: UnsafeMutableBufferPointer<UInt64>
    /// The number of ids added.
    private(set) var count = 0
    /// The number of ids that the ledger had when the filter was built.
    private var countAtFirst = 0

    /// With more ids than this the filter is poor.
    private let many: Int

    /// Makes an empty filter.
    init(many: Int = 5_000_000) {
        self.many = many
        let count = Self.byteCount / MemoryLayout<UInt64>.stride
        guard let memory = calloc(count, MemoryLayout<UInt64>.stride) else {
            preconditionFailure("no memory for 4 MiB")
        }
        words = UnsafeMutableBufferPointer(start: memory.bindMemory(to: UInt64.self, capacity: count), count: count)
    }

    deinit { free(words.baseAddress) }

    /// Whether a new filter, without the ids that the ledger has deleted, would be better.
    var isCrowded: Bool { count > 2 * max(countAtFirst, many) }

    /// Adds an id.
    ///
    /// - Parameter hash: the hash of the id; all of its bits count.
    func insert(_ hash: UInt64) {
        count += 1
        let block = block(of: hash)
        for place in 0..<Self.bitsSet {
            let bit = Self.bit(place, of: hash)
            words[block + bit >> 6] |= 1 << UInt64(bit & 63)
        }
    }

    /// Notes that the filter has all ids of the ledger.
    func finish() { countAtFirst = count }

    /// Whether an id may have been added; `false` is certain.
    func mayContain(_ hash: UInt64) -> Bool {
        let block = block(of: hash)
        return (0..<Self.bitsSet).allSatisfy { place in
            let bit = Self.bit(place, of: hash)
            return words[block + bit >> 6] & 1 << UInt64(bit & 63) != 0
        }
    }

    private func block(of hash: UInt64) -> Int {
        let blocks = UInt64(words.count / Self.wordsInBlock)
        return Int(((hash >> 32) * blocks) >> 32) * Self.wordsInBlock
    }

    /// The index, below 512, of one of the bits that a hash sets in its block.
    private static func bit(_ place: Int, of hash: UInt64) -> Int { Int(hash >> (9 * UInt64(place)) & 511) }
}
