import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushDaemon
@testable import Store

@Suite("The health of the store")
struct StoreHealthTests: ~Copyable {
    private let directory = TemporaryDirectory()

    @Test(
        "has a commit that waits longer than SlowCommit= as a problem, with its cause, also where the log is full",
        arguments: [
            (isFull: true, cause: "the log is full, and the ledger has made no room in it yet"),
            (isFull: false, cause: "the disk is slow"),
        ])
    func commitProblem(isFull: Bool, cause: String) throws {
        let path = directory.path + "/journal"
        let loop = try EventLoop()
        let journal = try JournalWriter(
            destination: .logfmt(descriptor: open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)))
        let health = try StoreHealth(loop: loop, journal: journal, slowCommit: .milliseconds(2))
        let since = EventLoop.nowNanoseconds
        if isFull { health.stalled(StoreError(.logFull, message: "the log is full", context: "log")) }
        #expect(health.refusal == nil, "clients wait while the ledger works")
        health.watch(writingSince: since)
        #expect(!health.findsNoRoom(at: since + 1_999_999) && health.commitProblem(at: since + 1_999_999) == nil)
        #expect(health.findsNoRoom(at: since + 2_000_000) == isFull, "a stop waits for a slow write alone")
        #expect(
            health.commitProblem(at: since + 3_000_000)
                == "\(cause): a commit has taken 3 ms so far, and no request is acknowledged until it ends")
        // The timer writes the entry.
        let end = try RepeatingTimer(loop: loop, every: .milliseconds(1)) {
            if health.slowSince != nil { loop.exit(code: 0) }
        }
        _ = try loop.run {}
        withExtendedLifetime(end) {}
        #expect(health.slowSince == since)
        health.committed(took: .milliseconds(1), at: since + 4_000_000)
        #expect(health.commitProblem(at: since + 90_000_000) == nil && !health.findsNoRoom(at: since + 90_000_000))
        _ = journal.stop(timeoutMilliseconds: 10_000)
        let entries = String(decoding: try #require(readFile(path)), as: UTF8.self)
        #expect(entries.contains("\(cause): a commit has taken"))
    }
}
