import PushModel

/// Texts that many have in common, each held once under a number, for as long as somebody uses it.
struct SharedTexts: Sendable {
    private struct Entry: Sendable {
        var text: String
        var uses: Int
    }

    /// The number that stands for no text.
    static let none = UInt32.max

    private var entries = Slab<Entry>()
    private var index = HashIndex()

    /// How many texts there are.
    var count: Int { entries.count }

    /// The text of a number; `nil` for `none`.
    subscript(number: UInt32) -> String? { number == Self.none ? nil : entries[number].text }

    /// The number of a text that somebody uses; `nil` when nobody does.
    func find(_ text: String?) -> UInt32? {
        guard let text else { return Self.none }
        return index.find(slotHash(0, text)) { entries[$0].text.isSame(as: text) }
    }

    /// One more use of a text.
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

    /// One more use of the text of a number.
    mutating func retain(_ number: UInt32) {
        if number != Self.none { entries[number].uses += 1 }
    }

    /// One use less.
    mutating func release(_ number: UInt32) {
        guard number != Self.none else { return }
        entries[number].uses -= 1
        guard entries[number].uses == 0 else { return }
        index.remove(number, slotHash(0, entries[number].text))
        entries.remove(number, leaving: Entry(text: "", uses: 0))
    }
}
