import PushModel

/// An entry that waits to be sent.
struct WaitingEntry: Sendable {
    var entry: ClaimedEntry
    /// How many bytes it takes in a request at most.
    var length: Int
    /// When the daemon handed it over: `Flush=` counts from here.
    var since: Instant

    init(_ entry: ClaimedEntry, since: Instant) {
        self.entry = entry
        self.since = since
        length = entry.lengthInRequest
    }
}

/// What goes into one request.
///
/// The endpoint takes the attributes of a request before its events. So that a user's entries still take effect in their
/// order, attributes never join a request that has an event of the same user already.
struct Batch {
    /// In the order of the request's arrays.
    private(set) var attributes: [WaitingEntry] = []
    private(set) var events: [WaitingEntry] = []
    /// Whether something had no room, or nothing more has: it is not worth waiting.
    private(set) var isFull = false

    private var length = RequestContent.frameLength
    private var usersWithEvents: Set<UserIdentifier> = []

    /// Chooses among the entries that wait, in their order. After an entry that is not taken, no later entry of the same user is
    /// taken either.
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

    /// The users whose entries these are.
    var users: Set<UserIdentifier> { Set(entries.map(\.entry.identifier)) }

    /// Since when the first of them waits.
    var since: Instant? { entries.map(\.since).min() }

    var content: RequestContent { RequestContent(attributes: attributes.map(\.entry), events: events.map(\.entry)) }

    /// Takes out all but these.
    mutating func keep(_ numbers: Set<EntryNumber>) {
        attributes.removeAll { !numbers.contains($0.entry.number) }
        events.removeAll { !numbers.contains($0.entry.number) }
    }

    private func hasRoom(for candidate: WaitingEntry, _ settings: ForwardingSettings) -> Bool {
        let ofItsKind = candidate.entry.isEvent ? events.count : attributes.count
        // One that is longer than a body goes alone: the endpoint shall say what it thinks of it.
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

    /// How many entries are held at most: a request for each connection, and one that is made up meanwhile.
    var mostHeld: Int { (connections + 1) * mostInRequest }
}
