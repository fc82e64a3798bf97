/// Tells of most producers' ids that they are new, without asking the disk: a Bloom filter in blocks of 64 bytes, one of
/// which an id looks at.
///
/// With 16 bits an id, one of 400 new ids looks known; a filter of 4 MiB that holds ten million ids has 3.4 bits for
/// each, and one of four does. Whatever looks known is asked of the ledger.
struct IdentifierFilter {
    /// The most memory that a filter takes, in bytes.
    static let longest = 4 << 20
    private static let shortest = 64 << 10
    private static let bitsForEach = 16
    private static let wordsInBlock = 8
    private static let bitsSet = 4

    private var words: [UInt64]
    /// How many ids were added.
    private(set) var count = 0
    /// How many of them the ledger had when it was made.
    private var countAtFirst = 0

    /// More ids than these make a filter of the most memory a poor one.
    private let many: Int

    /// A filter that is good for so many ids, as far as the most memory allows.
    init(capacity: Int, many: Int = 5_000_000) {
        self.many = many
        let wanted = capacity / 8 * Self.bitsForEach
        var bytes = Self.shortest
        while bytes < min(wanted, Self.longest) { bytes *= 2 }
        words = [UInt64](repeating: 0, count: bytes / 8)
    }

    /// How many bytes it takes.
    var byteCount: Int { words.count * 8 }

    /// Whether another one, made of the ids that the ledger has by now, would be better: a larger one, or where none is
    /// larger, one without the ids that are gone from the ledger.
    var isCrowded: Bool {
        byteCount < Self.longest ? count > byteCount * 8 / Self.bitsForEach : count > 2 * max(countAtFirst, many)
    }

    /// Adds an id.
    ///
    /// - Parameter hash: of the id; all of its bits count.
    mutating func insert(_ hash: UInt64) {
        count += 1
        let block = block(of: hash)
        for place in 0..<Self.bitsSet {
            let bit = Self.bit(place, of: hash)
            words[block + bit >> 6] |= 1 << UInt64(bit & 63)
        }
    }

    /// All ids that the ledger has are in it.
    mutating func finish() { countAtFirst = count }

    /// Whether an id may have been added; `false` is sure.
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

    /// One of the bits of its block that stand for a hash, of 512.
    private static func bit(_ place: Int, of hash: UInt64) -> Int { Int(hash >> (9 * UInt64(place)) & 511) }
}
