import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushDaemon
@testable import PushModel
@testable import PushRouter
@testable import PushSettings
@testable import PushViews
@testable import Store

@Suite("A request that waits for the ledger")
struct WaitingRequestTests {
    @Test("counts with all its memory, until it continues")
    func memory() throws {
        let directory = TemporaryDirectory()
        let daemon = try TwinDaemon(
            directory: directory.path, settings: try LargeRequestTests.settings(), boot: UUID128(high: 0, low: 0),
            clock: TwinClock(WallTime(milliseconds: 1_700_000_000_000)), scripts: TwinScripts(),
            surroundings: try TwinSurroundings())
        defer { daemon.abandon() }
        let other = try TwinSession()
        other.open(owner: daemon)
        let numbers = String(repeating: "1,", count: 1000) + "1"
        let line = Array(
            #"{"op":"deliver","id":"i","platform":"android","app":"a","payload":{"data":{},"n":[\#(numbers)]}}"#.utf8)
        daemon.takeWithoutCommit(line)
        daemon.inject.take(line, from: other.session)
        #expect(other.session.isBlocked, "whether it is the same is not known before the ledger has the first")
        #expect(other.session.waitingBytes >= line.count + 1000 * MemoryLayout<UInt64>.size)
        try daemon.takeTurns { !other.session.isBlocked }
        #expect(other.session.waitingBytes == 0)
    }

    @Test("is refused after 5 s in which the ledger does not get the batch")
    func tooLong() throws {
        let directory = TemporaryDirectory()
        let daemon = try TwinDaemon(
            directory: directory.path, settings: try LargeRequestTests.settings(), boot: UUID128(high: 0, low: 0),
            clock: TwinClock(WallTime(milliseconds: 1_700_000_000_000)), scripts: TwinScripts(),
            surroundings: try TwinSurroundings())
        defer { daemon.abandon() }
        let other = try TwinSession()
        other.open(owner: daemon)
        let line = Array(#"{"op":"deliver","id":"i","platform":"android","app":"a","payload":{"data":{}}}"#.utf8)
        daemon.takeWithoutCommit(line)
        daemon.inject.take(line, from: other.session)
        // The batch is not committed, so the ledger cannot get it.
        daemon.queries.expireWaits()
        #expect(other.session.isBlocked, "a stop waits for the ledger, too")
        daemon.queries.endTurn(at: EventLoop.nowNanoseconds + 4_000_000_000)
        #expect(other.session.isBlocked)
        daemon.queries.endTurn(at: EventLoop.nowNanoseconds + 5_000_000_000)
        #expect(!other.session.isBlocked)
    }

    @Test("may come again under its id after it was refused because the ledger could not be written")
    func refusedWhileStalled() throws {
        let directory = TemporaryDirectory()
        let surroundings = try TwinSurroundings()
        let daemon = try TwinDaemon(
            directory: directory.path, settings: try LargeRequestTests.settings(), boot: UUID128(high: 0, low: 0),
            clock: TwinClock(WallTime(milliseconds: 1_700_000_000_000)), scripts: TwinScripts(),
            surroundings: surroundings)
        defer { daemon.abandon() }
        let other = try TwinSession()
        other.open(owner: daemon)
        let deliver = Array(#"{"op":"deliver","platform":"android","app":"a","payload":{"data":{}}}"#.utf8)
        try daemon.take(deliver)
        // The ledger lacks this batch, so the tap waits for it.
        daemon.takeWithoutCommit(deliver)
        let tap = Array(#"{"op":"interact","id":"tap","kind":"opened","app":"a","message":1}"#.utf8)
        surroundings.health.ledgerStalled(StoreError(.noSpace, message: "full", context: ""))
        daemon.inject.take(tap, from: other.session)
        #expect(!other.session.isBlocked, "it is refused at once")
        surroundings.health.ledgerResumed()
        daemon.inject.take(tap, from: other.session)
        #expect(other.session.isBlocked)
        try daemon.takeTurns { !other.session.isBlocked }
    }

    @Test("is looked up again when an outcome reached the ledger between the look-up and the answer")
    func outcomeBetween() throws {
        let directory = TemporaryDirectory()
        let (clock, scripts) = (TwinClock(WallTime(milliseconds: 1_700_000_000_000)), TwinScripts())
        let script = try Script(JSONDocument(scanning: Array(#"{"takes_ms":1000}"#.utf8)).root)
        scripts.byRequest = [SequenceNumber(1): script, SequenceNumber(2): script]
        let daemon = try TwinDaemon(
            directory: directory.path,
            settings: try LargeRequestTests.settings(handler: "[Handler]\nType=exec\nExec=/bin/true\n"),
            boot: UUID128(high: 0, low: 0), clock: clock, scripts: scripts, surroundings: try TwinSurroundings())
        defer { daemon.abandon() }
        let other = try TwinSession()
        other.open(owner: daemon)
        let line = Array(#"{"op":"deliver","id":"i","platform":"android","app":"a","payload":{"data":{}}}"#.utf8)
        try daemon.take(line)
        try daemon.bringUpLedger()
        try daemon.take(Array(#"{"op":"deliver","platform":"android","app":"a","payload":{"data":{}}}"#.utf8))
        daemon.inject.take(line, from: other.session)
        try daemon.waitForAnswer()
        clock.time = WallTime(milliseconds: clock.time.milliseconds + 1000)
        daemon.takeDueWithoutCommit()
        try daemon.bringUpLedger()
        try daemon.takeTurns { !other.session.isBlocked }
    }
}
