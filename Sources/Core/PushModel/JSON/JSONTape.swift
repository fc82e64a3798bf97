/// The entries of a text while the scan writes them: memory that grows, and that the document takes over.
///
/// Whoever has a tape frees its memory once, or hands the tape on: the scan frees it where it fails, and a document
/// when it goes.
struct JSONTape {
    /// The first entry.
    private(set) var entries: UnsafeMutablePointer<JSONEntry>
    /// Where the next entry goes.
    private(set) var next: UnsafeMutablePointer<JSONEntry>
    /// The end of the memory.
    private var end: UnsafeMutablePointer<JSONEntry>

    /// An empty tape.
    ///
    /// - Parameter capacity: how many entries are expected; it grows when it must.
    init(capacity: Int) {
        entries = .allocate(capacity: capacity)
        next = entries
        end = entries + capacity
    }

    /// For how many there is room.
    var capacity: Int { end - entries }

    func free() { entries.deallocate() }

    /// How many entries there are; each has 16 bytes.
    @inline(__always)
    var count: Int { (Int(bitPattern: next) &- Int(bitPattern: entries)) &>> 4 }

    /// Whether there is room for that many entries.
    @inline(__always)
    func hasRoom(for room: Int) -> Bool { Int(bitPattern: end) &- Int(bitPattern: next) >= room &<< 4 }

    /// Appends an entry, for which there must be room.
    @inline(__always)
    mutating func append(_ entry: JSONEntry) {
        next.initialize(to: entry)
        next += 1
    }

    /// Notes that so many entries were written from `next` on.
    @inline(__always)
    mutating func didFillNext(_ count: Int = 1) { next += count }

    /// The same tape with more memory; the old memory is free.
    ///
    /// - Parameters:
    ///   - room: for how many entries more there has to be room.
    ///   - most: how many entries it may have in all; there is room for those that come.
    ///   - share: how much of the text has been read, for a guess at how many entries the rest has: what is copied is copied
    ///     once for most texts.
    @inline(never)
    func grown(by room: Int, atMost most: Int, having share: (read: Int, of: Int)) -> JSONTape {
        let guess = count / 8 * 9 * share.of / max(share.read, 1)
        var larger = JSONTape(capacity: min(min(max(guess, capacity / 2 * 3), capacity * 8) + room, most))
        larger.entries.moveInitialize(from: entries, count: count)
        larger.next += count
        free()
        return larger
    }
}
