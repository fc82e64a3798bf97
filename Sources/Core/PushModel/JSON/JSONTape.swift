/// The entries of a text while the scan writes them: growing memory that the document takes over.
///
/// The owner of a tape frees its memory once or passes the tape on: the scan frees it on an error, and a document in
/// its `deinit`.
struct JSONTape {
    /// The first entry.
    private(set) var entries: UnsafeMutablePointer<JSONEntry>
    /// The place of the next entry.
    private(set) var next: UnsafeMutablePointer<JSONEntry>
    /// The end of the memory.
    private var end: UnsafeMutablePointer<JSONEntry>

    /// Makes an empty tape.
    ///
    /// - Parameter capacity: the expected number of entries; it grows as needed.
    init(capacity: Int) {
        entries = .allocate(capacity: capacity)
        next = entries
        end = entries + capacity
    }

    /// The number of entries that fit into the memory.
    var capacity: Int { end - entries }

    func free() { entries.deallocate() }

    /// The number of entries; each has 16 bytes.
    @inline(__always)
    var count: Int { (Int(bitPattern: next) &- Int(bitPattern: entries)) &>> 4 }

    /// Whether there is room for this many more entries.
    @inline(__always)
    func hasRoom(for room: Int) -> Bool { Int(bitPattern: end) &- Int(bitPattern: next) >= room &<< 4 }

    /// Appends an entry, for which there must be room.
    @inline(__always)
    mutating func append(_ entry: JSONEntry) {
        next.initialize(to: entry)
        next += 1
    }

    /// Counts entries that were written from `next` on.
    @inline(__always)
    mutating func didFillNext(_ count: Int = 1) { next += count }

    /// Returns the tape with more memory, and frees the old memory.
    ///
    /// - Parameters:
    ///   - room: the number of further entries that must fit.
    ///   - most: the largest capacity; the further entries must be within it.
    ///   - share: the part of the text that has been read, to estimate the number of entries of the rest, so that most
    ///     texts copy their entries once.
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
