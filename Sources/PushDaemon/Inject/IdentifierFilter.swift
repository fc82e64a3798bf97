/// A Bloom filter of producers' ids, in blocks of 64 bytes, one for each id: it recognizes most new ids without a read
/// from the disk.
///
/// With 16 bits for each id, 1 of 400 new ids looks known. A filter of 4 MiB with ten million ids has 3.4 bits for
/// each, and 1 of 4 looks known. The ledger is asked for ids that look known.
struct IdentifierFilter {
    /// The largest size of a filter, in bytes.
    static let longest = 4 << 20
    private static let shortest = 64 << 10
    private static let bitsForEach = 16
    private static let wordsInBlock = 8
    private static let bitsSet = 4

    private var words: [UInt64]
    /// The number of ids added.
    private(set) var count = 0
    /// The number of ids that the ledger had when the filter was built.
    private var countAtFirst = 0

    /// With more ids than this a filter of the largest size is poor.
    private let many: Int

    /// Makes a filter that suits a number of ids, within the largest size.
    init(capacity: Int, many: Int = 5_000_000) {
        self.many = many
        let wanted = capacity / 8 * Self.bitsForEach
        var bytes = Self.shortest
        while bytes < min(wanted, Self.longest) { bytes *= 2 }
        words = [UInt64](repeating: 0, count: bytes / 8)
    }

    /// Its size in bytes.
    var byteCount: Int { words.count * 8 }

    /// Whether a new filter of the ledger's ids would be better: a larger one, or, at the largest size, one without the
    /// ids that the ledger has deleted.
    var isCrowded: Bool {
        byteCount < Self.longest ? count > byteCount * 8 / Self.bitsForEach : count > 2 * max(countAtFirst, many)
    }

    /// Adds an id.
    ///
    /// - Parameter hash: the hash of the id; all of its bits count.
    mutating func insert(_ hash: UInt64) {
        count += 1
        let block = block(of: hash)
        for place in 0..<Self.bitsSet {
            let bit = Self.bit(place, of: hash)
            words[block + bit >> 6] |= 1 << UInt64(bit & 63)
        }
    }

    /// Notes that the filter has all ids of the ledger.
    mutating func finish() { countAtFirst = count }

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
