extension JSONTape {
    /// Refuses the object at `index`, whose members end the tape, if it has a key twice. If it has many keys, makes
    /// their table after them; there must be room.
    ///
    /// - Throws: the error for the first repeated key.
    func indexKeys(ofObjectAt index: Int, members: Int, in text: UnsafePointer<UInt8>) throws(JSONError) {
        if members > JSONKeyTable.membersWithout {
            return try makeTable(ofObjectAt: index, members: members, in: text)
        }
        // A key whose bit is not set is new; most objects need no comparison.
        var seen: UInt64 = 0
        var key = index &+ 1
        for _ in 0..<members {
            let bit: UInt64 = 1 << UInt64(entries[key].link & 63)
            if seen & bit != 0 { try refuse(key, equalTo: index &+ 1, in: text) }
            seen |= bit
            key = next(after: key)
        }
    }

    /// Returns the key after the value of a key.
    @inline(__always)
    private func next(after key: Int) -> Int { key &+ 1 &+ Int(entries[key &+ 1].link) }

    /// Refuses a key that equals an earlier one from `first` on.
    private func refuse(_ key: Int, equalTo first: Int, in text: UnsafePointer<UInt8>) throws(JSONError) {
        var earlier = first
        while earlier < key {
            if isSame(earlier, key, in: text) { throw duplicate(key, in: text) }
            earlier = next(after: earlier)
        }
    }

    /// Whether two keys are the same text.
    @inline(__always)
    private func isSame(_ one: Int, _ other: Int, in text: UnsafePointer<UInt8>) -> Bool {
        guard entries[one].link == entries[other].link else { return false }
        return JSONText(entries[one], in: text).isSame(as: JSONText(entries[other], in: text))
    }

    private func makeTable(ofObjectAt index: Int, members: Int, in text: UnsafePointer<UInt8>) throws(JSONError) {
        let table = JSONKeyTable(at: next, members: members)
        if try fill(table, ofObjectAt: index, members: members, in: text, stepsMax: 4 * members + 64) { return }
        // Far more keys collide than by chance, so a client chose them. It does not know the seeds of the process.
        var key = index + 1
        for _ in 0..<members {
            let name = JSONText(entries[key], in: text)
            entries[key].link = name.withBytes { UInt32(truncatingIfNeeded: WordHash.ofThisProcess($0)) }
            key = next(after: key)
        }
        entries[index].markReseeded()
        _ = try fill(table, ofObjectAt: index, members: members, in: text, stepsMax: .max)
    }

    /// Puts all keys into a table; returns false if that takes more than `stepsMax` steps.
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
