import PushModel
import PushSettings
import TestSupport
import Testing

@testable import PushDaemon
@testable import Store

@Suite("A request that waits for the ledger")
struct WaitingRequestTests {
    @Test("counts with all the memory that it takes, until it goes on")
    func memory() throws {
        let directory = TemporaryDirectory()
        let daemon = try TwinDaemon(
            directory: directory.path, settings: try LargeRequestTests.settings, boot: UUID128(high: 0, low: 0),
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
}
