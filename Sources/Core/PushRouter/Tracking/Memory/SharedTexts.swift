import PushModel

/// Reference-counted texts that many entries share; each is stored once under a number.
struct SharedTexts: Sendable {
    private struct Entry: Sendable {
        var text: String
        var uses: Int
    }

    /// The number for no text.
    static let none = UInt32.max

    private var entries = Slab<Entry>()
    private var index = HashIndex()

    /// The number of texts.
    var count: Int { entries.count }

    /// Returns the text of a number; `nil` for `none`.
    subscript(number: UInt32) -> String? { number == Self.none ? nil : entries[number].text }

    /// Returns the number of a text in use; `nil` if it is unused.
    func find(_ text: String?) -> UInt32? {
        guard let text else { return Self.none }
        return index.find(slotHash(0, text)) { entries[$0].text.isSame(as: text) }
    }

    /// Adds one use of a text, and returns its number.
    mutating func retain(_ text: String?) -> UInt32 {
        guard let text else { return Self.none }
        if let number = find(text) {
            entries[number].uses += 1
            return number
        }
        let number = entries.insert(Entry(text: text, uses: 1))
        index.insert(number, slotHash(0, text))
        return number
    }

    /// Adds one use of a number's text.
    mutating func retain(_ number: UInt32) {
        if number != Self.none { entries[number].uses += 1 }
    }

    /// Removes one use.
    mutating func release(_ number: UInt32) {
        guard number != Self.none else { return }
        entries[number].uses -= 1
        guard entries[number].uses == 0 else { return }
        index.remove(number, slotHash(0, entries[number].text))
        entries.remove(number, leaving: Entry(text: "", uses: 0))
    }
}
