/// The entries of a text while the scan writes them: growing memory that the document takes over.
///
/// The owner of a tape frees its memory once, or hands the tape on: the scan frees it on an error, a document in its
/// `deinit`.
struct JSONTape {
    /// The first entry.
    private(set) var entries: UnsafeMutablePointer<JSONEntry>
    /// The address of the next entry.
    private(set) var next: UnsafeMutablePointer<JSONEntry>
    /// The end of the memory.
    private var end: UnsafeMutablePointer<JSONEntry>

    /// Creates an empty tape.
    ///
    /// - Parameter capacity: the expected number of entries.
    init(capacity: Int) {
        entries = .allocate(capacity: capacity)
        next = entries
        end = entries + capacity
    }

    /// The number of entries that the memory has room for.
    var capacity: Int { end - entries }

    func free() { entries.deallocate() }

    /// The number of entries; each has 16 bytes.
    @inline(__always)
    var count: Int { (Int(bitPattern: next) &- Int(bitPattern: entries)) &>> 4 }

    /// Whether there is room for `room` more entries.
    @inline(__always)
    func hasRoom(for room: Int) -> Bool { Int(bitPattern: end) &- Int(bitPattern: next) >= room &<< 4 }

    /// Appends an entry; there must be room for it.
    @inline(__always)
    mutating func append(_ entry: JSONEntry) {
        next.initialize(to: entry)
        next += 1
    }

    /// Notes that the caller wrote `count` entries from `next` on.
    @inline(__always)
    mutating func didFillNext(_ count: Int = 1) { next += count }

    /// Returns the same tape with more memory, and frees the old memory.
    ///
    /// - Parameters:
    ///   - room: the number of further entries that need room.
    ///   - most: the limit of entries; the caller has checked that the further ones are within it.
    ///   - share: the part of the text that the scan has read, from which it estimates the entries of the rest: most
    ///     texts need only one copy.
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
