import PushModel
import PushViews
import Store

extension Command {
    static let pending = Command(
        name: "pending", summary: "list custom data that waits or was rejected, and resolve it",
        description: [
            """
            Prints the unfinished entries, oldest first, and their number in each suite: stored until a session of \
            their app starts (pending), to be sent (queued), being sent (claimed), or unknown. Options choose among \
            them, or show the rejected entries with their reasons. It reads the ledger in the state directory, with or \
            without a daemon.
            """,
            """
            An entry is unknown when the endpoint's answer never came, or when the forwarder ended after it had begun \
            to send the entry: Braze may have the entry, and would count it twice. With OnUnknown=hold the entry waits \
            for --retry or --discard. --retry sends it again: before the queued entries, but after entries that were \
            sent meanwhile, so an attribute may get an older value back. "--discard all" drops the unknown entries; \
            "--discard 7,9" can also drop queued ones. --reset empties a suite. These three options need the running \
            daemon, and print no list.
            """,
            """
            --clear discards the pending, queued and unknown entries that the filters choose; without a filter it \
            discards all of them. It prints their number, and goes on when you type that number, or with --yes. A \
            claimed entry is being sent, and stays. --clear needs the running daemon.
            """,
            """
            An entry stays claimed until the forwarder reports its result, or until the next forwarder starts.
            """,
        ],
        operands: .none,
        options: [
            .onlyStored, .onlyQueued, .onlyUnknown, .onlyRejected, .onlySuite, .app.meaning("only entries of this app"),
            .limit, .reset, .retry,
            .discard, .clear, .yes, .utc, .json,
        ],
        examples: [
            Example(line: "pushctl pending --rejected", meaning: "list the rejected entries with their reasons"),
            Example(line: "pushctl pending --unknown --json", meaning: "list the unknown entries with their data"),
            Example(line: "pushctl pending --retry 7,9", meaning: "send entries 7 and 9 again"),
            Example(line: "pushctl pending --reset group.com.shop --app com.shop", meaning: "empty a suite for an app"),
            Example(
                line: "pushctl pending --clear --unknown --app com.shop", meaning: "drop unknown entries of an app"),
        ]
    ) { arguments, session throws(Failure) in
        let orders = [Option.reset, .retry, .discard, .clear].filter(arguments.has)
        guard orders.count <= 1 else {
            throw arguments.usageFailure("--reset, --retry, --discard and --clear exclude each other")
        }
        guard arguments.has(.clear) || !arguments.has(.yes) else {
            throw arguments.usageFailure("--yes belongs to --clear")
        }
        try checkThatNothingIsIgnored(beside: orders.first, arguments)
        switch orders.first {
        case nil: return try list(arguments, session)
        case Option.clear: return try clear(arguments, session)
        case Option.reset: return try reset(arguments, session)
        case Option.retry: return try resolve(.retry, .queued, arguments, session)
        default: return try resolve(.discard, .discarded, arguments, session)
        }
    }

    /// Refuses filters that an order ignores: it would affect more than the user meant.
    private static func checkThatNothingIsIgnored(beside order: Option?, _ arguments: Arguments) throws(Failure) {
        guard let order else { return }
        var filters: [Option] = [.onlyRejected, .limit]
        if order != .clear { filters += [.onlyStored, .onlyQueued, .onlyUnknown, .onlySuite] }
        if order != .reset, order != .clear { filters.append(.app) }
        guard let filter = filters.first(where: arguments.has) else { return }
        throw arguments.usageFailure(
            "--\(filter.name) selects entries of the list; it cannot be combined with --\(order.name)")
    }

    // MARK: The list

    private static func list(_ arguments: Arguments, _ session: Session) throws(Failure) -> ExitStatus {
        let limit = try limit(arguments) ?? (arguments.has(.json) ? nil : 100)
        let filter = EntryFilter(
            states: states(arguments), suite: arguments[.onlySuite], app: arguments[.app])
        var report = PendingReport(now: LocalTime.now, zone: arguments.zone)
        let filters: [Option] = [.onlyStored, .onlyQueued, .onlyUnknown, .onlyRejected, .onlySuite, .app]
        report.isSelection = filters.contains(where: arguments.has)
        try session.reading { ledger throws(StoreError) in
            try ledger.snapshot { () throws(StoreError) in
                try ledger.entries(filter, limit: limit) { report.entries.append($0) }
                report.counts = try ledger.entryCounts(filter)
            }
        }
        if arguments.has(.json) {
            session.output.write(document: report.json)
        } else {
            session.output.print(report.text)
        }
        return .done
    }

    static func states(_ arguments: Arguments) -> Set<EntryState> {
        let choices: [(Option, Set<EntryState>)] = [
            (.onlyStored, [.pending]), (.onlyQueued, [.queued, .claimed]), (.onlyUnknown, [.unknown]),
            (.onlyRejected, [.rejected]),
        ]
        let chosen = choices.filter { arguments.has($0.0) }.reduce(into: Set<EntryState>()) { $0.formUnion($1.1) }
        return chosen.isEmpty ? [.pending, .queued, .claimed, .unknown] : chosen
    }

    /// The value of `--limit`.
    static func limit(_ arguments: Arguments) throws(Failure) -> Int? {
        guard let text = arguments[.limit] else { return nil }
        guard let limit = Int(text), limit > 0 else { throw arguments.usageFailure("--limit \(text): a number from 1") }
        return limit
    }

    // MARK: Orders to the daemon

    private static func reset(_ arguments: Arguments, _ session: Session) throws(Failure) -> ExitStatus {
        let reply = try session.control(.reset(suite: arguments[.reset] ?? "", app: arguments[.app]))
        session.printCount("discarded", reply["discarded"], of: reply, arguments)
        return .done
    }

    private static func resolve(
        _ option: Option, _ state: EntryState, _ arguments: Arguments, _ session: Session
    ) throws(Failure) -> ExitStatus {
        let numbers = try numbers(option, arguments)
        guard let numbers else {
            let reply = try session.control(.resolve(ResolveRequest(entries: nil, state: state)))
            session.printCount(state.rawValue, reply["resolved"], of: reply, arguments)
            return .done
        }
        let (resolved, reply) = try session.resolve(numbers.map { EntryNumber($0) }, state)
        session.printCount(state.rawValue, reply["resolved"], of: reply, arguments)
        guard resolved < numbers.count else { return .done }
        let (wanted, list) =
            option == .retry
            ? ("not unknown", "") : ("neither unknown nor queued", " --queued")
        session.output.note(
            "\(counted(numbers.count - resolved, "entry is", "entries are")) \(wanted); "
                + "\"pushctl pending --unknown\(list)\" lists the entries that --\(option.name) takes")
        return .no
    }

    /// The numbers in an option; `nil`: all.
    private static func numbers(_ option: Option, _ arguments: Arguments) throws(Failure) -> [Int64]? {
        let words = arguments.all(option).flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
        if words == ["all"] { return nil }
        var numbers: [Int64] = []
        for word in words {
            guard let number = Int64(word), number > 0 else {
                throw arguments.usageFailure("--\(option.name) \(word): numbers of entries, such as 7,9, or all")
            }
            if !numbers.contains(number) { numbers.append(number) }
        }
        return numbers
    }
}

extension Session {
    /// Resolves entries, as many in one request as the daemon takes, the lowest numbers first.
    ///
    /// - Returns: the number of resolved entries, and the reply: for several requests one with the totals.
    func resolve(
        _ entries: [EntryNumber], _ state: EntryState
    ) throws(Failure) -> (count: Int, reply: JSONNode) {
        let entries = entries.sorted()
        let size = ResolveRequest.entriesMax
        guard entries.count > size else {
            let reply = try control(.resolve(ResolveRequest(entries: entries, state: state)))
            return (Int(reply["resolved"]?.int64 ?? 0), reply)
        }
        let (first, firstReply) = try resolve(Array(entries.prefix(size)), state)
        let (rest, _) = try resolve(Array(entries.dropFirst(size)), state)
        var writer = JSONWriter()
        writer.object {
            $0.member("ok", true)
            $0.member("resolved", first + rest)
        }
        let reply = try? JSONDocument(scanning: writer.bytes).root
        return (first + rest, reply ?? firstReply)
    }
}

extension Command {
    /// Discards the entries that the filters select, after the user has typed their count or `--yes` was given.
    static func clear(_ arguments: Arguments, _ session: Session) throws(Failure) -> ExitStatus {
        let filter = EntryFilter(
            states: states(arguments).subtracting([.claimed]), suite: arguments[.onlySuite], app: arguments[.app])
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

extension Command {
    static let flush = Command(
        name: "flush", summary: "flush stored custom data as if a session of the app started",
        description: [
            """
            Makes the daemon flush the entries that wait for a session of APP on that device of that user: events are \
            recorded and attributes are set, in the order in which they were saved. No session starts, and no session \
            event is recorded. "pushctl pending" lists the entries that wait.
            """,
            """
            An entry that names a device or a user waits for a session of that device or user: without --device it \
            stays, and it stays for another user. An entry that names no app is flushed by a session of any app.
            """,
        ],
        operands: .none,
        options: [.app.meaning("the app whose session starts"), .sessionDevice, .sessionUser, .onlySuite, .json],
        examples: [
            Example(line: "pushctl flush --app com.shop --device pixel-1 --external-id anna", meaning: "for anna")
        ]
    ) { arguments, session throws(Failure) in
        guard let app = arguments[.app] else {
            throw arguments.usageFailure("--app APP is missing: it names the app whose session starts")
        }
        let target = Target(app: app, device: arguments[.sessionDevice], externalID: arguments[.sessionUser])
        let reply = try session.control(.flush(FlushRequest(target: target, suite: arguments[.onlySuite])))
        session.printCount("flushed", reply["flushed"], of: reply, arguments)
        if let unsent = reply["not_sent"]?.int64 {
            session.output.note(
                "\(counted(unsent, "entry was", "entries were")) not sent to the endpoint, though SendFlushed=yes: "
                    + "the session has no user; name the user with --external-id")
        }
        return .done
    }
}

extension Session {
    /// Prints the daemon's action and the number of entries.
    func printCount(_ done: String, _ count: JSONNode?, of reply: JSONNode, _ arguments: Arguments) {
        if arguments.has(.json) {
            output.write(document: Array(reply.rawBytes))
        } else {
            let count = count?.int64 ?? 0
            output.print("\(done) \(counted(count, "entry", "entries"))\n")
        }
    }
}
