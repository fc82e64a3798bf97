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

    /// How many entries there are.
    @inline(__always)
    var count: Int { next - entries }

    /// Makes room for that many entries.
    @inline(__always)
    mutating func makeRoom(for room: Int) {
        if end - next < room { self = grown(by: room) }
    }

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
    @inline(never)
    private func grown(by room: Int) -> JSONTape {
        var larger = JSONTape(capacity: max((end - entries) * 2, count + room))
        larger.entries.moveInitialize(from: entries, count: count)
        larger.next += count
        free()
        return larger
    }
}
