import PushModel
import Store

extension Command {
    /// Discards the entries that the filters select, after the user has typed their count or `--yes` was given.
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
            session.output.note("no entry matches the filters")
            return .done
        }
        guard arguments.has(.yes) || session.confirms(selection.count, "entry", "entries", are: "discarded") else {
            session.output.note("no entry was discarded")
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

    /// The selected entries, by the requests that discard them.
    private struct Selection {
        /// The app of all selected entries; `nil`: any.
        let app: String?
        private(set) var count = 0
        private var suites: Set<String> = []
        private var numbers: [EntryNumber] = []

        init(app: String?) { self.app = app }

        mutating func add(_ record: EntryRecord) {
            count += 1
            // `reset` discards entries in suites: of one suite and app either all are selected, or none.
            if record.state == .pending, case .stored(let suite, _) = record.entry.destination {
                suites.insert(suite)
            } else {
                numbers.append(record.entry.number)
            }
        }

        /// - Returns: how many were discarded; fewer than selected if the forwarder has begun to send some.
        func discard(_ session: Session) throws(Failure) -> Int {
            var discarded = 0
            for suite in suites.sorted() {
                discarded += Int(try session.control(.reset(suite: suite, app: app))["discarded"]?.int64 ?? 0)
            }
            return discarded + (try session.resolve(numbers, .discarded).count)
        }
    }
}
