import PushModel
import PushRouter
import PushSettings

/// An entry that waits to be sent.
struct WaitingEntry: Sendable {
    var entry: ClaimedEntry
    /// The most bytes that the entry takes in a request.
    var length: Int
    /// When the daemon handed the entry over: `Flush=` counts from here.
    var since: Instant

    init(_ entry: ClaimedEntry, since: Instant) {
        self.entry = entry
        self.since = since
        length = entry.lengthInRequest
    }
}

/// The entries of one request.
///
/// The endpoint processes the attributes of a request before its events. So attributes never join a request that
/// already has an event of the same user: a user's entries take effect in their order.
struct Batch {
    /// In the order of the request's array.
    private(set) var attributes: [WaitingEntry] = []
    private(set) var events: [WaitingEntry] = []
    /// Whether an entry did not fit, or no further entry fits: then the request does not wait for `Flush=`.
    private(set) var isFull = false

    private var length = RequestContent.frameLength
    private var usersWithEvents: Set<UserIdentifier> = []

    /// Chooses among the waiting entries, in their order. After a skipped entry it skips all later entries of the same
    /// user.
    ///
    /// - Parameters:
    ///   - waiting: in the order of their numbers.
    ///   - busy: users that have entries under way.
    ///   - settings: the limits.
    init(from waiting: [WaitingEntry], busy: Set<UserIdentifier>, settings: ForwardingSettings) {
        var passed = busy
        for candidate in waiting where !passed.contains(candidate.entry.identifier) {
            if !hasRoom(for: candidate, settings) {
                isFull = true
                passed.insert(candidate.entry.identifier)
            } else if !candidate.entry.isEvent, usersWithEvents.contains(candidate.entry.identifier) {
                passed.insert(candidate.entry.identifier)
            } else {
                append(candidate)
                if count == settings.mostInRequest { break }
            }
        }
        if [attributes.count, events.count].contains(settings.batchSize) || count == settings.mostInRequest {
            isFull = true
        }
    }

    var isEmpty: Bool { count == 0 }
    var count: Int { attributes.count + events.count }
    var entries: [WaitingEntry] { attributes + events }

    /// The users of these entries.
    var users: Set<UserIdentifier> { Set(entries.map(\.entry.identifier)) }

    /// The time since which the oldest entry waits.
    var since: Instant? { entries.map(\.since).min() }

    var content: RequestContent { RequestContent(attributes: attributes.map(\.entry), events: events.map(\.entry)) }

    /// Removes all entries except these.
    mutating func keep(_ numbers: Set<EntryNumber>) {
        attributes.removeAll { !numbers.contains($0.entry.number) }
        events.removeAll { !numbers.contains($0.entry.number) }
    }

    private func hasRoom(for candidate: WaitingEntry, _ settings: ForwardingSettings) -> Bool {
        let ofItsKind = candidate.entry.isEvent ? events.count : attributes.count
        // An entry that is longer than a body goes alone: the endpoint decides about it.
        return ofItsKind < settings.batchSize
            && (isEmpty || length + candidate.length <= RequestContent.maximumLength)
    }

    private mutating func append(_ candidate: WaitingEntry) {
        length += candidate.length
        if candidate.entry.isEvent {
            events.append(candidate)
            usersWithEvents.insert(candidate.entry.identifier)
        } else {
            attributes.append(candidate)
        }
    }
}

extension ForwardingSettings {
    /// The most elements in one request.
    var mostInRequest: Int { min(2 * batchSize, combinedLimit ?? .max) }

    /// The most entries that are held: one request for each connection, and one that is being filled.
    var heldMax: Int { (connections + 1) * mostInRequest }
}
