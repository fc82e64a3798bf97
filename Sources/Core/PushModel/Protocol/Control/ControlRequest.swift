/// One request line of `control.sock`: whoever may inject can ask none of it.
package struct ControlRequest: Hashable, Sendable {
    /// What is asked.
    package enum Operation: Hashable, Sendable {
        /// What the daemon is doing now.
        case status
        /// The ledger is to have all that was acknowledged before this was asked; how long the answer may take at most.
        case sync(timeout: Duration)
        /// A run of the forwarder asks for entries to send.
        case claim(ClaimRequest)
        /// What is queued to be sent, from the entry after this one on; it stays as it is.
        case peek(after: EntryNumber, limit: Int)
        /// A run of the forwarder says what became of entries.
        case settle(SettleRequest)
        /// A run of the forwarder says how sending goes.
        case sending(SendingReport)
        /// What waits is flushed, as if a session began.
        case flush(FlushRequest)
        /// What waits in a suite is discarded; of one app only, or of all.
        case reset(suite: String, app: String?)
        /// A person decides what becomes of entries of unknown outcome.
        case resolve(ResolveRequest)
    }

    /// The version of what `control.sock` takes and tells, as the first reply on a connection states it.
    package static let protocolVersion = 1

    /// How long a line may be at least, in bytes: a hundred entries with the longest of reasons, all of it escaped.
    package static let longestLine = 1 << 20

    /// What is asked.
    package var operation: Operation
    /// Given back in the reply.
    package var id: String?

    /// Joins the two.
    package init(_ operation: Operation, id: String? = nil) {
        self.operation = operation
        self.id = id
    }
}

/// `op: claim`
package struct ClaimRequest: Hashable, Sendable {
    /// How many entries one claim may ask for.
    package static let limits: ClosedRange<Int64> = 1...1000

    /// The run of the forwarder.
    package var instance: UUID128
    /// How many entries at most.
    package var limit: Int
    /// Whether the answer comes only when there is an entry.
    package var waits: Bool
    /// With the first claim of a connection: what that run holds. Whatever else is claimed by it was in a reply that it never
    /// got, and so is queued again before the claim is answered.
    package var holding: [EntryNumber]?

    /// Joins the parts.
    package init(instance: UUID128, limit: Int, waits: Bool, holding: [EntryNumber]? = nil) {
        self.instance = instance
        self.limit = limit
        self.waits = waits
        self.holding = holding
    }
}

/// `op: settle`
package struct SettleRequest: Hashable, Sendable {
    /// What became of one entry.
    package struct Settlement: Hashable, Sendable {
        /// How long a reason may be, in bytes: as much of an endpoint's answer as a person reads.
        package static let longestReason = 1000

        /// The entry.
        package var number: EntryNumber
        /// `sent`, `rejected`, `unknown`, or `queued` again.
        package var state: EntryState
        /// Why, for people.
        package var reason: String?

        /// Joins the parts; of a reason that is longer than ``longestReason`` the beginning is kept.
        package init(_ number: EntryNumber, _ state: EntryState, reason: String? = nil) {
            self.number = number
            self.state = state
            self.reason = reason?.prefix(bytes: Self.longestReason)
        }
    }

    /// What can become of an entry that was claimed.
    static let states: [EntryState] = [.sent, .rejected, .unknown, .queued]

    /// The run of the forwarder.
    package var instance: UUID128
    /// The entries, at most as many as one claim may ask for.
    package var entries: [Settlement]

    /// Joins the parts.
    package init(instance: UUID128, entries: [Settlement]) {
        self.instance = instance
        self.entries = entries
    }
}

/// `op: sending`
package struct SendingReport: Hashable, Sendable {
    /// The run of the forwarder.
    package var instance: UUID128
    /// What it does.
    package var phase: SendingState.Phase
    /// Why, for people; `nil` while it sends.
    package var reason: String?
    /// How many requests failed one after the other.
    package var failures: Int
    /// Until when it waits.
    package var until: WallTime?

    /// Joins the parts; of a long reason the beginning is kept.
    package init(
        instance: UUID128, phase: SendingState.Phase, reason: String? = nil, failures: Int = 0, until: WallTime? = nil
    ) {
        self.instance = instance
        self.phase = phase
        self.reason = reason?.prefix(bytes: SettleRequest.Settlement.longestReason)
        self.failures = failures
        self.until = until
    }
}

/// `op: flush`
package struct FlushRequest: Hashable, Sendable {
    /// Whose session is to be taken as begun; the app is given.
    package var target: Target
    /// Only what waits in this suite; `nil`: in any.
    package var suite: String?

    /// Joins the two.
    package init(target: Target, suite: String? = nil) {
        self.target = target
        self.suite = suite
    }
}

/// `op: resolve`
package struct ResolveRequest: Hashable, Sendable {
    /// What can become of an entry of unknown outcome.
    static let states: [EntryState] = [.queued, .discarded]

    /// The entries; `nil`: all of unknown outcome.
    package var entries: [EntryNumber]?
    /// `queued` again, or `discarded`.
    package var state: EntryState

    /// Joins the two.
    package init(entries: [EntryNumber]?, state: EntryState) {
        self.entries = entries
        self.state = state
    }
}

extension String {
    /// As many whole characters as fit into so many bytes.
    fileprivate func prefix(bytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var end = startIndex
        while case let next = index(after: end), utf8.distance(from: startIndex, to: next) <= limit { end = next }
        return String(self[..<end])
    }
}
