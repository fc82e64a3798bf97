import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushDaemon
@testable import PushModel
@testable import PushRouter
@testable import PushSettings
@testable import Store

@Suite("Large requests")
struct LargeRequestTests {
    @Test("are accepted one a turn, and one each 100 ms while the ledger is far behind")
    func oneATurn() throws {
        let bed = try FarBehind()
        let daemon = bed.daemon
        let before = daemon.nextNumber.value
        let sessions = try (0..<3).map { _ in try TwinSession() }
        for session in sessions {
            session.open(owner: daemon)
            daemon.inject.take(Self.request(ofBytes: 20 << 10), from: session.session)
        }
        try daemon.takeTurns { daemon.inject.large.read.count == 3 }
        #expect(daemon.inject.large.nextDue == nil, "none went on yet")
        daemon.inject.admitLarge(at: 1_000_000_000)
        #expect(daemon.nextNumber.value == before + 1, "a ledger that stays behind does not keep them off for ever")
        #expect(daemon.inject.large.nextDue == 1_100_000_000)
        daemon.inject.admitLarge(at: 1_099_999_999)
        #expect(daemon.nextNumber.value == before + 1, "the ledger is still far behind")
        daemon.inject.admitLarge(at: 1_100_000_000)
        #expect(daemon.nextNumber.value == before + 2)

        try bed.rawConnection.execute("ROLLBACK")
        try daemon.takeTurns { daemon.inject.large.mayResume(at: 1_100_000_000) }
        daemon.inject.admitLarge(at: 1_100_000_000)
        #expect(daemon.nextNumber.value == before + 3)
        daemon.inject.take(Self.request(ofBytes: 20 << 10), from: sessions[0].session)
        daemon.inject.take(Self.request(ofBytes: 20 << 10), from: sessions[1].session)
        try daemon.takeTurns { daemon.inject.large.read.count == 2 }
        daemon.inject.admitLarge(at: 1_100_000_000)
        #expect(daemon.nextNumber.value == before + 4, "one a turn")
        withExtendedLifetime(bed) {}
    }

    @Test("are accepted without a pause when the daemon is to stop")
    func stop() throws {
        let bed = try FarBehind()
        let daemon = bed.daemon
        let sessions = try (0..<2).map { _ in try TwinSession() }
        for session in sessions {
            session.open(owner: daemon)
            daemon.inject.take(Self.request(ofBytes: 20 << 10), from: session.session)
        }
        try daemon.takeTurns { daemon.inject.large.read.count == 2 }
        daemon.inject.admitLarge(at: 1_000_000_000)
        #expect(!daemon.inject.large.mayResume(at: 1_000_000_001))
        daemon.inject.large.stop()
        #expect(daemon.inject.large.mayResume(at: 1_000_000_001))
        withExtendedLifetime(bed) {}
    }

    @Test("are read at most eight ahead of the accepted ones, and all are accepted in the end")
    func readAhead() throws {
        let directory = TemporaryDirectory()
        let daemon = try TwinDaemon(
            directory: directory.path, settings: try Self.settings(), boot: UUID128(high: 0, low: 0),
            clock: TwinClock(WallTime(milliseconds: 1_700_000_000_000)), scripts: TwinScripts(),
            surroundings: try TwinSurroundings())
        defer { daemon.abandon() }
        let sessions = try (0..<12).map { _ in try TwinSession() }
        for session in sessions {
            session.open(owner: daemon)
            daemon.inject.take(Self.request(ofBytes: 20 << 10), from: session.session)
        }
        try daemon.takeTurns { daemon.inject.large.read.count == 8 }
        #expect(!daemon.inject.large.unread.isEmpty, "the others are no more than their lines")
        for done in 1...12 {
            try daemon.takeTurns { daemon.inject.large.mayResume(at: 0) }
            daemon.inject.admitLarge(at: 0)
            #expect(daemon.nextNumber.value == done + 1)
        }
        #expect(daemon.inject.large.unread.isEmpty && daemon.inject.large.read.isEmpty)
    }

    fileprivate static func request(ofBytes count: Int) -> [UInt8] {
        let text = String(repeating: "x", count: count)
        return Array(#"{"op":"deliver","platform":"android","app":"shop","payload":{"data":{"k":"\#(text)"}}}"#.utf8)
    }

    /// Settings that route everything to one handler, by default the journal.
    static func settings(handler: String = "[Handler]\nType=journal\n") throws -> Settings {
        func file(_ name: String, _ text: String) -> ConfigurationFile {
            ConfigurationFile(path: name, bytes: Array(text.utf8))
        }
        let sources = ConfigurationSources(
            main: [], handlers: [file("only.handler", handler)],
            routes: [file("90-rest.route", "[Match]\n[Route]\nHandler=only\n")])
        return try #require(Settings.load(sources).settings)
    }
}

/// A daemon whose ledger stays far behind.
private final class FarBehind {
    private let directory = TemporaryDirectory()
    let daemon: TwinDaemon
    let rawConnection: Database

    init() throws {
        daemon = try TwinDaemon(
            directory: directory.path, settings: try LargeRequestTests.settings(), boot: UUID128(high: 0, low: 0),
            clock: TwinClock(WallTime(milliseconds: 1_700_000_000_000)), scripts: TwinScripts(),
            surroundings: try TwinSurroundings(), logLength: 24 << 20)
        rawConnection = try Database(path: directory.path + "/ledger.db", access: .readWrite)
        try rawConnection.execute("BEGIN IMMEDIATE")
        daemon.expectsStalls = true
        // Half of the log, and more than the 2 MiB that the ledger applies at once.
        for _ in 0..<25 {
            for _ in 0..<50 { daemon.takeWithoutCommit(LargeRequestTests.request(ofBytes: 12 << 10)) }
            try daemon.takeTurns { daemon.pipeline.isIdle }
        }
        try #require(daemon.committer.isFarBehind)
    }

    deinit { daemon.abandon() }
}
