public import PushModel

/// What goes into one request to `/users/track`; the program writes it as JSON.
public struct RequestContent: Hashable, Sendable {
    /// The elements of the array `attributes`, in order.
    public var attributes: [ClaimedEntry]
    /// The elements of the array `events`, in order.
    public var events: [ClaimedEntry]

    public init(attributes: [ClaimedEntry] = [], events: [ClaimedEntry] = []) {
        (self.attributes, self.events) = (attributes, events)
    }

    /// The most bytes of a body. The provider documents no limit; 1 MiB is what its servers and the proxies between are
    /// sure to take, and at 50 KB an entry still twenty of the largest.
    static let maximumLength = 1 << 20

    /// What a body has beside its elements: `{"attributes":[],"events":[]}`, generously.
    static let frameLength = 64
}

extension ClaimedEntry {
    /// Whether it goes into `events`; the others go into `attributes`.
    var isEvent: Bool { kind == .customEvent }

    /// How many bytes the entry takes in a request at most: its data, the texts with their escapes, the names of the members.
    var lengthInRequest: Int {
        let texts: [String] =
            switch identifier {
            case .externalID(let id), .brazeID(let id): [id]
            case .alias(let name, let label): [name, label]
            }
        return (texts + [name ?? ""]).reduce(data.count + 160) { $0 + escapedLength($1) }
    }
}

/// How long a text is in JSON, without its quotes.
private func escapedLength(_ text: String) -> Int {
    text.utf8.reduce(0) { length, byte in
        length + (byte < 0x20 ? 6 : byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") ? 2 : 1)
    }
}
