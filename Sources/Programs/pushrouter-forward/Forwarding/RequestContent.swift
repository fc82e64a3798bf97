import PushModel
import PushRouter
import PushSettings

/// The entries of one request to `/users/track`; the program writes it as JSON.
struct RequestContent: Hashable, Sendable {
    /// The elements of the array `attributes`, in order.
    var attributes: [ClaimedEntry] = []
    /// The elements of the array `events`, in order.
    var events: [ClaimedEntry] = []

    /// The most bytes of a body. The provider documents no limit. Its servers and the proxies in between surely accept
    /// 1 MiB, and twenty entries of the maximum size of 50 KB fit in it.
    static let maximumLength = 1 << 20

    /// The length of a body without elements, `{"attributes":[],"events":[]}`, rounded up.
    static let frameLength = 64
}

extension ClaimedEntry {
    /// Whether the entry goes into `events`; other kinds go into `attributes`.
    var isEvent: Bool { kind == .customEvent }

    /// The most bytes that the entry takes in a request: data, escaped texts, member names.
    var lengthInRequest: Int {
        let texts: [String] =
            switch identifier {
            case .externalID(let id), .brazeID(let id): [id]
            case .alias(let name, let label): [name, label]
            }
        return (texts + [name ?? ""]).reduce(data.count + 160) { $0 + escapedLength($1) }
    }
}

/// Returns the length of a text in JSON, without its quotes.
private func escapedLength(_ text: String) -> Int {
    text.utf8.reduce(0) { length, byte in
        length + (byte < 0x20 ? 6 : byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") ? 2 : 1)
    }
}
