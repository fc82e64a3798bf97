import CSQLite
import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import Store

/// A part of a daemon's life; the test fails each of its syncs in turn.
enum SyncPhase: String, CaseIterable, CustomTestStringConvertible {
    case firstStart = "the first start"
    case startAfterKill = "a start after kill -9"
    case commit = "commits"
    case checkpoint = "a checkpoint"
    case prune = "pruning"
    case recount = "a count of all figures"
    case stop = "a stop"

    var testDescription: String { rawValue }

    /// The text of `pushrouterd.conf`.
    var settings: String { self == .prune ? "[Store]\nRetention=1h\n" : "" }

    /// The syncs to fail.
    var syncs: DiskCalls { .syncs(of: self == .checkpoint ? "state/ledger.db" : "") }

    /// Returns whether a daemon may continue, or end with 0, after a failed sync of a file or directory.
    func isHarmless(_ error: Int32, _ file: String) -> Bool {
        // After ENOSPC or EDQUOT a later write of the same blocks makes them dirty again. A segment whose name is not
        // durable is not used.
        if file.hasPrefix("through ") || file == "directory state/log", error == ENOSPC || error == EDQUOT {
            return true
        }
        // SQLite ignores a failed sync of its files' directory. The daemon makes these names durable itself.
        return file == "directory state"
    }

    /// Brings a daemon to the beginning of the phase.
    func prepare(_ bed: DaemonOnDisk, _ load: DiskLoad) throws {
        switch self {
        case .firstStart: break
        case .recount: try makeFiguresOld(on: bed, load)
        case .startAfterKill:
            try bed.start()
            try load.connect(to: bed.installation)
            let enough = load.acknowledgements + 100
            try load.run { load.acknowledgements >= enough }
            bed.crash()
            try load.receiveLastReplies()
        case .commit, .stop:
            try bed.start()
            try load.connect(to: bed.installation)
            try load.run(count: 40)
        case .checkpoint:
            try bed.start()
            try load.connect(to: bed.installation)
        case .prune:
            try bed.start()
            try load.connect(to: bed.installation)
            try load.run(count: 300)
            try bed.installation.waitUntilIdle()
            load.disconnect()
        }
    }

    /// Runs the phase.
    ///
    /// - Parameter rule: ends an endless phase once it has picked a sync.
    func provoke(_ bed: DaemonOnDisk, _ load: DiskLoad, _ rule: DiskRule) throws {
        switch self {
        case .firstStart, .startAfterKill, .recount: _ = try bed.startUnlessItEnds()
        case .commit:
            let enough = load.acknowledgements + 80
            try load.run { load.acknowledgements >= enough || rule.picked > 0 }
        case .checkpoint:
            let database = bed.disk.count(.syncs(of: "ledger.db$"))
            // More than the threshold of an idle checkpoint, and less than that of a checkpoint under load.
            try load.run(count: 150, size: 16_000)
            // A checkpoint syncs the WAL before the database, and once more before the log releases a segment.
            let isReached = bed.disk.wait(atMost: Int32(patience)) {
                database.matched > 0 && rule.matched > 2 || rule.picked > 0
            }
            try #require(isReached, "there was no checkpoint")
        case .prune: try prune(bed, load, rule)
        case .stop:
            let enough = load.acknowledgements + 30
            try load.run { load.acknowledgements >= enough }
            bed.daemon?.send(SIGTERM)
            try load.receiveLastReplies()
            _ = try bed.waitForEnd()
        }
    }

    /// Advances the clock by two hours, so that all accepted requests are too old, and waits for their deletion.
    private func prune(_ bed: DaemonOnDisk, _ load: DiskLoad, _ rule: DiskRule) throws {
        load.acknowledged = [:]
        bed.disk.clockOffset += 7200
        // Any client wakes the daemon, which then reads the clock.
        guard try load.connectIfPossible(to: bed.installation) else { return }
        try load.run(count: 30)
        try waitUntil("the old requests are gone, or the daemon") {
            if load.isCutOff || rule.picked > 0 { return true }
            return try LedgerReader(directory: bed.installation.state).acceptedRequests() <= 40
        }
    }

    /// Leaves a ledger whose figures have another version: the next start counts all rows anew.
    private func makeFiguresOld(on bed: DaemonOnDisk, _ load: DiskLoad) throws {
        try bed.start()
        try load.connect(to: bed.installation)
        try load.run(count: 40)
        try bed.installation.waitUntilIdle()
        load.disconnect()
        try #require(try bed.stop() == .exited(0))
        try bed.installation.makeFiguresOld()
        try bed.disk.syncAll()
    }
}

extension Installation {
    /// Makes the next start count the figures of the ledger anew.
    func makeFiguresOld() throws {
        var connection: OpaquePointer?
        defer { sqlite3_close(connection) }
        try #require(sqlite3_open(state + "/ledger.db", &connection) == SQLITE_OK)
        let sql = "UPDATE figure_state SET version = 0; PRAGMA wal_checkpoint(TRUNCATE)"
        try #require(sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK)
    }
}

extension DiskLoad {
    /// Connects to a daemon; returns false if it has ended.
    func connectIfPossible(to installation: Installation) throws -> Bool {
        do throws(ClientError) {
            try connect(to: installation)
            return true
        } catch {
            switch error {
            case .noSuchSocket, .noListener, .closed: return false
            default: throw error
            }
        }
    }
}
