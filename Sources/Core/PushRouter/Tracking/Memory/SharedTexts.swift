public import PushModel

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

/// The buttons of a delivery as bytes: for each the code of its action, the length of its id, and the id.
public struct ButtonList: Hashable, Sendable {
    /// The order must never change: ledgers store the indices.
    private static let actions: [ButtonAction] = [.uri, .deepLink, .none, .close]

    /// The limit in bytes: a payload has four kilobytes, and the ids of its buttons are short.
    private static let lengthMax = 4096

    /// The bytes.
    public private(set) var bytes: [UInt8] = []

    /// Creates an empty list.
    init() {}

    /// Takes the buttons that fit.
    init(_ buttons: [TrackedDelivery.Button]) {
        for button in buttons { button.id.withBytes { append($0, button.action) } }
    }

    /// Appends a button, unless its id is longer than 255 bytes, or the list is full.
    ///
    /// - Parameters:
    ///   - id: its id in UTF-8.
    ///   - action: its action.
    public mutating func append(_ id: UnsafeBufferPointer<UInt8>, _ action: ButtonAction) {
        guard let code = Self.actions.firstIndex(of: action), id.count <= 255,
            bytes.count + id.count + 2 <= Self.lengthMax
        else { return }
        // Most notifications have two or three buttons with short ids.
        if bytes.isEmpty { bytes.reserveCapacity(64) }
        bytes.append(UInt8(code))
        bytes.append(UInt8(id.count))
        bytes.append(contentsOf: id)
    }

    /// Whether no further button fits, however short its id.
    public var isFull: Bool { bytes.count + 2 > Self.lengthMax }

    /// The buttons in order.
    public var all: [TrackedDelivery.Button] {
        var buttons: [TrackedDelivery.Button] = []
        Self.forEach(in: bytes) { id, action in
            buttons.append(TrackedDelivery.Button(id: String(decoding: id, as: UTF8.self), action: action))
            return false
        }
        return buttons
    }

    /// Returns the action of the button with this id; the first such button counts.
    static func action(of id: String, in bytes: [UInt8]) -> ButtonAction? {
        var found: ButtonAction?
        forEach(in: bytes) { other, action in
            if other.elementsEqual(id.utf8) { found = action }
            return found != nil
        }
        return found
    }

    /// Calls `isEnough` with each button until it returns true. The bytes may be from another version, or from a broken
    /// ledger.
    private static func forEach(in bytes: [UInt8], until isEnough: (ArraySlice<UInt8>, ButtonAction) -> Bool) {
        var start = 0
        while start + 2 <= bytes.count {
            let end = min(start + 2 + Int(bytes[start + 1]), bytes.count)
            let code = Int(bytes[start])
            if actions.indices.contains(code), isEnough(bytes[start + 2..<end], actions[code]) { return }
            start = end
        }
    }
}

extension ButtonList: ExpressibleByArrayLiteral {
    /// Takes the buttons that fit.
    public init(arrayLiteral buttons: TrackedDelivery.Button...) { self.init(buttons) }
}
