import PushModel
import Store

extension Command {
    /// Discards the entries that the filters of the list choose, when the user has typed their count or said yes.
    static func clear(_ arguments: Arguments, _ session: Session) throws(Failure) -> ExitStatus {
        let filter = EntryFilter(
            states: states(arguments).subtracting([.claimed]), suite: arguments[.onlySuite], app: arguments[.onlyApp])
        var selection = Selection(app: filter.app)
        try session.reading { ledger throws(StoreError) in
            try ledger.snapshot { () throws(StoreError) in
                try ledger.entries(filter) { selection.add($0) }
            }
        }
        guard selection.count > 0 else {
            session.output.note("there is no such entry")
            return .done
        }
        guard arguments.has(.yes) || session.confirms(selection.count, "entry", "entries", are: "discarded") else {
            session.output.note("nothing was discarded")
            return .no
        }
        let discarded = try selection.discard(session)
        if arguments.has(.json) {
            var writer = JSONWriter()
            writer.object {
                $0.member("ok", true)
                $0.member("discarded", discarded)
            }
            session.output.write(document: writer.bytes)
        } else {
            session.output.print("discarded \(counted(discarded, "entry", "entries"))\n")
        }
        return .done
    }

    /// Entries, by what the daemon is asked to discard them.
    private struct Selection {
        /// How many numbers a request has at most, far from the longest line.
        /// The app that all of them are of; `nil`: of any.
        let app: String?
        private(set) var count = 0
        private var suites: Set<String> = []
        private var numbers: [EntryNumber] = []

        init(app: String?) { self.app = app }

        mutating func add(_ record: EntryRecord) {
            count += 1
            // What waits for a session has an order of its own; what is in one suite for the app is all chosen, or none.
            if record.state == .pending, case .stored(let suite, _) = record.entry.way {
                suites.insert(suite)
            } else {
                numbers.append(record.entry.number)
            }
        }

        /// - Returns: how many were discarded; fewer where the forwarder has begun to send some.
        func discard(_ session: Session) throws(Failure) -> Int {
            var discarded = 0
            for suite in suites.sorted() {
                discarded += Int(try session.control(.reset(suite: suite, app: app))["discarded"]?.int64 ?? 0)
            }
            return discarded + (try session.resolve(numbers, .discarded).count)
        }
    }
}
