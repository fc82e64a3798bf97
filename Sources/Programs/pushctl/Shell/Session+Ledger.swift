import LedgerReports
import LinuxSystem
import PushModel
import PushRouter
import PushSettings
import Store

extension Session {
    /// Reads from the ledger of the state directory, with or without a daemon.
    func reading<Value>(_ read: (LedgerReader) throws(StoreError) -> Value) throws(Failure) -> Value {
        let ledger = try ledger()
        return try Self.reading { () throws(StoreError) in try read(ledger) }
    }

    /// The ledger of the state directory, with all acknowledged requests, with or without a daemon.
    func ledger() throws(Failure) -> LedgerReader {
        try Self.reading { () throws(StoreError) in
            try LedgerReader.current(directory: directories.state, sync: askForSync)
        }
    }

    /// The time limits for the daemon to bring the ledger up to date, and for its reply, in milliseconds.
    private static let syncTimeout: Duration = .seconds(10)
    private static let answerTimeout = 11_000

    /// Asks the daemon to bring the ledger up to date; `nil` if no daemon can be asked.
    private func askForSync() -> Synced? {
        do {
            let sync = ControlRequest.Operation.sync(timeout: Self.syncTimeout)
            let synced = try connection(for: sync).ask(sync, timeoutMilliseconds: Self.answerTimeout).synced()
            if let follower = synced.follower {
                noteFollower(follower, synced.batchesBehind)
                output.copy = synced
            }
            return synced
        } catch {
            return nil
        }
    }

    /// Prints once whose copy this ledger is: it lacks the leader's latest batches.
    private func noteFollower(_ follower: Synced.Follower, _ batches: Int) {
        let leader = follower.leader.map { "follows \($0)" } ?? "follows, and no machine leads"
        output.noteOnce(
            "\(follower.node) \(leader); this is its copy, \(counted(batches, "batch", "batches")) and "
                + "\(follower.behind.milliseconds) ms behind")
    }

    /// Reads, and turns an error into a failure in this program's words.
    static func reading<Value>(_ read: () throws(StoreError) -> Value) throws(Failure) -> Value {
        do {
            return try read()
        } catch {
            let status: ExitStatus =
                switch error.kind {
                case .missing: .noInput
                case .notPermitted: .noPermission
                case .otherFormat, .olderSchema, .newerSchema: .badData
                case .inUse, .readOnly, .noDescriptor, .noSpace, .logFull, .busy, .exists, .noDirectory, .corrupt,
                    .lost, .displaced, .logDamaged, .fenced, .engineAway, .unprotected, .forked, .otherFleet,
                    .contradiction, .tooLong,
                    .failed:
                    .inputOutput
                }
            throw Failure(status, "\(error)")
        }
    }
}

extension LedgerReader {
    /// Reads the rows of requests page by page. Each page is a transaction of its own, because a reader of the output
    /// may take any time.
    ///
    /// - Parameters:
    ///   - start: only rows accepted at this time or later.
    ///   - end: only rows accepted before this time.
    ///   - last: only numbers above this one.
    ///   - newest: and up to this one.
    ///   - body: called with each row.
    func eachRow(
        from start: WallTime? = nil, to end: WallTime? = nil, after last: SequenceNumber,
        through newest: SequenceNumber, _ body: (LedgerRow) -> Void
    ) throws(Failure) {
        var last = last
        while true {
            let page = try Session.reading { () throws(StoreError) in
                try rows(from: start, to: end, after: last, through: newest, limit: 4096)
            }
            guard let next = page.last?.seq else { return }
            page.forEach(body)
            last = next
        }
    }
}
