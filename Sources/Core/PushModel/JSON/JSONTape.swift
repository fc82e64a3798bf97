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

extension JSONTape {
    /// Throws if two keys of the object at `index`, whose members end the tape, have the same text. For an object with
    /// many keys it also builds their table behind them; the tape must have room for it.
    ///
    /// - Throws: the error for the first repeated key.
    func indexKeys(ofObjectAt index: Int, members: Int, in text: UnsafePointer<UInt8>) throws(JSONError) {
        if members > JSONKeyTable.membersWithout {
            return try makeTable(ofObjectAt: index, members: members, in: text)
        }
        // A key whose bit is not set is new; most objects need no comparison at all.
        var seen: UInt64 = 0
        var key = index &+ 1
        for _ in 0..<members {
            let bit: UInt64 = 1 << UInt64(entries[key].link & 63)
            if seen & bit != 0 { try refuse(key, equalTo: index &+ 1, in: text) }
            seen |= bit
            key = next(after: key)
        }
    }

    /// The key after the value of `key`.
    @inline(__always)
    private func next(after key: Int) -> Int { key &+ 1 &+ Int(entries[key &+ 1].link) }

    /// Throws if a key equals one of the earlier ones from `first` on.
    private func refuse(_ key: Int, equalTo first: Int, in text: UnsafePointer<UInt8>) throws(JSONError) {
        var earlier = first
        while earlier < key {
            if isSame(earlier, key, in: text) { throw duplicate(key, in: text) }
            earlier = next(after: earlier)
        }
    }

    /// Whether two keys have the same text.
    @inline(__always)
    private func isSame(_ one: Int, _ other: Int, in text: UnsafePointer<UInt8>) -> Bool {
        guard entries[one].link == entries[other].link else { return false }
        return JSONText(entries[one], in: text).isSame(as: JSONText(entries[other], in: text))
    }

    private func makeTable(ofObjectAt index: Int, members: Int, in text: UnsafePointer<UInt8>) throws(JSONError) {
        let table = JSONKeyTable(at: next, members: members)
        if try fill(table, ofObjectAt: index, members: members, in: text, stepsMax: 4 * members + 64) { return }
        // Far more keys collide than by chance: a client does it on purpose. It does not know the seeds of this
        // process.
        var key = index + 1
        for _ in 0..<members {
            let name = JSONText(entries[key], in: text)
            entries[key].link = name.withBytes { UInt32(truncatingIfNeeded: WordHash.ofThisProcess($0)) }
            key = next(after: key)
        }
        entries[index].markReseeded()
        _ = try fill(table, ofObjectAt: index, members: members, in: text, stepsMax: .max)
    }

    /// Inserts all keys into a table; returns false once it takes more than `stepsMax` steps.
    private func fill(
        _ table: JSONKeyTable, ofObjectAt index: Int, members: Int, in text: UnsafePointer<UInt8>, stepsMax: Int
    ) throws(JSONError) -> Bool {
        table.clear()
        var steps = 0
        var key = index &+ 1
        for _ in 0..<members {
            var slot = table.home(entries[key].link)
            while table[slot] != 0 {
                if isSame(index &+ table[slot], key, in: text) { throw duplicate(key, in: text) }
                slot = table.next(slot)
                steps &+= 1
            }
            guard steps <= stepsMax else { return false }
            table[slot] = key &- index
            key = next(after: key)
        }
        return true
    }

    private func duplicate(_ key: Int, in text: UnsafePointer<UInt8>) -> JSONError {
        let name = JSONText(entries[key], in: text).string
        let shown = name.count > 40 ? "\(name.prefix(40))..." : name
        return JSONError(
            .duplicateKey, at: Int(entries[key].start), "the key \"\(shown)\" comes twice in one object")
    }
}
