import PushModel
import PushViews
import Store

extension Command {
    static let tail = Command(
        name: "tail", summary: "print outcomes and events as they come",
        description: [
            """
            Prints each outcome of an invocation and each analytics event a moment after it was recorded, a line each, \
            until SIGINT, SIGTERM or the reader ends it. It reads the ledger in the state directory five times a \
            second, so it goes on when the daemon restarts, and begins with the next outcome or event. Observers are \
            marked observer.
            """,
            """
            --query takes a query of the page's search: an outcome is printed when its request matches, an event when \
            its push matches. Several options must all hold. With --handler, --route, --provider, --outcome or \
            --callback no events are printed: events do not have these fields. --app takes outcomes and events that \
            name this app.
            """,
            """
            With --json a line is an object with the members that "test --trace" prints: type is invocation or analytics. \
            An outcome also has platform, app and device; an event has cursor, as --after of export takes it, and at is its time in milliseconds.
            """,
            LocalTime.forms,
        ],
        operands: .none,
        options: [
            .followedHandler, .followedRoute, .followedProvider,
            .platform.meaning("only outcomes and events of this platform"),
            .app.meaning("only outcomes and events of this app"), .followedOutcome,
            .followedCallback, .query, .names,
            .since.meaning("begin with the requests and events of this time (without it: with new ones)"), .utc, .json,
        ],
        examples: [
            Example(line: "pushctl tail", meaning: "every outcome and event"),
            Example(
                line: "pushctl tail --outcome timed_out,expired --since -1h",
                meaning: "missed deadlines, from the last hour on"),
            Example(line: "pushctl tail --query 'app:com.example.* slower:5s'", meaning: "slow outcomes of some apps"),
            Example(line: "pushctl tail --handler crm --json", meaning: "for programs"),
        ]
    ) { arguments, session throws(Failure) in
        try Tailing(arguments, names: try session.campaignNames(arguments).names).run(session)
    }
}

/// The parameters of a tail, and its run.
private struct Tailing {
    /// How many rows are read at once: a slow reader of the output must not keep a transaction open.
    private static let pageSize = 4096

    private let filter: Filter
    private let query: PushQuery?
    private let since: WallTime?
    private let printsJSON: Bool
    private let zone: LocalZone
    private let names: [String: String]

    init(_ arguments: Arguments, names: [String: String]) throws(Failure) {
        self.names = names
        filter = try Filter(arguments)
        query = try arguments.query()
        since = try arguments.window().since
        printsJSON = arguments.has(.json)
        zone = arguments.zone
    }

    func run(_ session: Session) throws(Failure) -> ExitStatus {
        let follower = Follower()
        let ledger = try session.ledger()
        var (outcomes, events, change) = try Session.reading { () throws(StoreError) in
            // Read before the cursors, so that a commit in between counts as a change.
            let change = try ledger.changeNumber()
            return try ledger.snapshot { () throws(StoreError) in
                let event = try since.map { time throws(StoreError) in try ledger.eventCursor(from: time) }
                let last = try ledger.lastCursor()
                return (try ledger.outcomeCursor(from: since), event ?? last, change)
            }
        }
        var hasMore = try printNew(of: ledger, &outcomes, &events, session.output)
        while follower.wait(hasMore ? .zero : Follower.interval) {
            let newest = try Session.reading { () throws(StoreError) in try ledger.changeNumber() }
            guard hasMore || newest != change else { continue }
            change = newest
            hasMore = try printNew(of: ledger, &outcomes, &events, session.output)
        }
        return .done
    }

    /// Prints a page of new outcomes and events.
    /// - Returns: whether there may be more.
    private func printNew(
        of ledger: LedgerReader, _ outcomes: inout OutcomeCursor, _ events: inout Int64, _ output: Output
    ) throws(Failure) -> Bool {
        let new = try Session.reading { () throws(StoreError) in
            try ledger.outcomes(after: &outcomes, limit: Self.pageSize)
        }
        var decided = new.decided.filter(filter.takes)
        if let matches = try matching(Set(decided.map(\.seq)), in: ledger) {
            decided.removeAll { !matches.contains($0.seq) }
        }
        decided.forEach { print($0, output) }
        output.flush()
        guard filter.takesEvents else { return new.hasMore }
        let page = try Session.reading { () throws(StoreError) in
            try ledger.events(after: events, limit: Self.pageSize)
        }
        let taken = page.filter { filter.takes($0.event) }
        let matches = try matching(Set(taken.map(\.event.delivery)), in: ledger)
        for (cursor, event) in taken where matches?.contains(event.delivery) ?? true {
            print(event, cursor: cursor, output)
        }
        output.flush()
        events = page.last?.cursor ?? events
        return new.hasMore || page.count == Self.pageSize
    }

    /// The requests that match the query; `nil` without a query.
    private func matching(
        _ numbers: Set<SequenceNumber>, in ledger: LedgerReader
    ) throws(Failure) -> Set<SequenceNumber>? {
        guard let query else { return nil }
        return try Session.reading { () throws(StoreError) in try query.matching(numbers, in: ledger) }
    }

    private func print(_ row: LedgerRow, _ output: Output) {
        guard let invocation = row.invocation, let result = invocation.result else { return }
        if printsJSON {
            output.write(line: FollowedLine.json(row, invocation, result))
        } else {
            output.print(folding: [FollowedLine.text(row, invocation, result, zone: zone)])
        }
    }

    private func print(_ event: AnalyticsEvent, cursor: Int64, _ output: Output) {
        if printsJSON {
            output.write(line: FollowedLine.json(event, names: names, cursor: cursor))
        } else {
            output.print(folding: [FollowedLine.text(event, names: names, zone: zone)])
        }
    }
}
