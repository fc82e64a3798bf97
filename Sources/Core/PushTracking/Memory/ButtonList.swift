public import PushModel

/// The buttons of a delivery as bytes: for each what it does, how long its id is, and the id.
public struct ButtonList: Hashable, Sendable {
    /// Fixed for good: ledgers hold it.
    private static let actions: [ButtonAction] = [.uri, .deepLink, .none, .close]

    /// At most this many bytes: a payload has four kilobytes, ids of buttons a few.
    private static let lengthMax = 4096

    /// The bytes.
    public private(set) var bytes: [UInt8] = []

    /// No buttons.
    public init() {}

    /// These buttons, as far as there is room for them.
    public init(_ buttons: [TrackedDelivery.Button]) {
        for button in buttons { button.id.withBytes { append($0, button.action) } }
    }

    /// Adds a button, unless its id is too long to be one, or there is no room for it.
    ///
    /// - Parameters:
    ///   - id: its id in UTF-8.
    ///   - action: what it does.
    public mutating func append(_ id: UnsafeBufferPointer<UInt8>, _ action: ButtonAction) {
        guard let code = Self.actions.firstIndex(of: action), id.count <= 255,
            bytes.count + id.count + 2 <= Self.lengthMax
        else { return }
        // Most notifications have two or three, and short ids.
        if bytes.isEmpty { bytes.reserveCapacity(64) }
        bytes.append(UInt8(code))
        bytes.append(UInt8(id.count))
        bytes.append(contentsOf: id)
    }

    /// Whether there is no room for another button, whatever its id.
    public var isFull: Bool { bytes.count + 2 > Self.lengthMax }

    /// The buttons, in their order.
    public var all: [TrackedDelivery.Button] {
        var buttons: [TrackedDelivery.Button] = []
        Self.forEach(in: bytes) { id, action in
            buttons.append(TrackedDelivery.Button(id: String(decoding: id, as: UTF8.self), action: action))
            return false
        }
        return buttons
    }

    /// What the button with this id does; the first one counts.
    static func action(of id: String, in bytes: [UInt8]) -> ButtonAction? {
        var found: ButtonAction?
        forEach(in: bytes) { other, action in
            if other.elementsEqual(id.utf8) { found = action }
            return found != nil
        }
        return found
    }

    /// Shows each button, until `isEnough` says so. The bytes may be of another version, or come from a broken ledger.
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
    /// These buttons, as far as there is room for them.
    public init(arrayLiteral buttons: TrackedDelivery.Button...) { self.init(buttons) }
}
