import CSQLite
import Glibc
import Store
import TestSupport
import Testing
import UnixSockets

/// A part of a daemon's life whose sync points fail, one after the other.
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

    /// Which syncs fail.
    var syncs: DiskCalls { .syncs(of: self == .checkpoint ? "state/ledger.db" : "") }

    /// Whether a daemon may go on, or end with 0, after a failed sync of that file or directory.
    func isHarmless(_ error: Int32, _ file: String) -> Bool {
        // For want of room the same blocks may be written again, later: then they are dirty again. A segment whose name
        // is not durable is not used.
        if file.hasPrefix("through ") || file == "directory state/log", error == ENOSPC || error == EDQUOT {
            return true
        }
        // SQLite does not care for that of its own files' names. The daemon makes them durable itself.
        return file == "directory state"
    }

    /// Brings a daemon to where the phase begins.
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
            try load.hearOut()
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

    /// Goes through the phase.
    ///
    /// - Parameter rule: ends what would go on else, once it has picked a sync.
    func provoke(_ bed: DaemonOnDisk, _ load: DiskLoad, _ rule: DiskRule) throws {
        switch self {
        case .firstStart, .startAfterKill, .recount: _ = try bed.startUnlessItEnds()
        case .commit:
            let enough = load.acknowledgements + 80
            try load.run { load.acknowledgements >= enough || rule.picked > 0 }
        case .checkpoint:
            let database = bed.disk.count(.syncs(of: "ledger.db$"))
            // More than is worth a checkpoint when nothing else is to do, and less than makes one on the way.
            try load.run(count: 150, size: 16_000)
            // Before the database its WAL is synced, and after it once more, before the log lets go of anything.
            let isReached = bed.disk.wait(atMost: Int32(patience)) {
                database.matched > 0 && rule.matched > 2 || rule.picked > 0
            }
            try #require(isReached, "there was no checkpoint")
        case .prune: try prune(bed, load, rule)
        case .stop:
            let enough = load.acknowledgements + 30
            try load.run { load.acknowledgements >= enough }
            bed.daemon?.send(SIGTERM)
            try load.hearOut()
            _ = try bed.waitForEnd()
        }
    }

    /// Lets two hours pass, so that all that was accepted is too old, and waits until it is gone.
    private func prune(_ bed: DaemonOnDisk, _ load: DiskLoad, _ rule: DiskRule) throws {
        load.acknowledged = [:]
        bed.disk.clockOffset += 7200
        // Any client wakes the daemon, which then sees what time it is.
        guard try load.connectIfPossible(to: bed.installation) else { return }
        try load.run(count: 30)
        try waitUntil("the old requests are gone, or the daemon") {
            if load.isCutOff || rule.picked > 0 { return true }
            return try LedgerReader(directory: bed.installation.state).acceptedRequests() <= 40
        }
    }

    /// Leaves a ledger whose figures are of another version: the next start counts all rows anew.
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
    /// Has the next start of a daemon count the figures of the ledger anew.
    func makeFiguresOld() throws {
        var connection: OpaquePointer?
        defer { sqlite3_close(connection) }
        try #require(sqlite3_open(state + "/ledger.db", &connection) == SQLITE_OK)
        let sql = "UPDATE figure_state SET version = 0; PRAGMA wal_checkpoint(TRUNCATE)"
        try #require(sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK)
    }
}

extension DiskLoad {
    /// Connects to a daemon that may be gone; false when it is.
    func connectIfPossible(to installation: Installation) throws -> Bool {
        do throws(ClientError) {
            try connect(to: installation)
            return true
        } catch {
            switch error {
            case .noSuchSocket, .nobodyListens, .closed: return false
            default: throw error
            }
        }
    }
}
