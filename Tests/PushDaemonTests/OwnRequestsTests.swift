import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushDaemon
@testable import PushModel
@testable import PushRouter

@Suite("Requests of the daemon itself")
struct OwnRequestsTests {
    /// A daemon without sockets, its journal, and its own requests.
    private final class Bench {
        let daemon: TwinDaemon
        let own: OwnRequests
        private let directory = TemporaryDirectory()
        private let surroundings: TwinSurroundings

        init(limits: OwnRequests.Limits) throws {
            surroundings = try TwinSurroundings(journal: directory.path + "/journal")
            daemon = try TwinDaemon(
                directory: directory.path, settings: try LargeRequestTests.settings(), boot: UUID128(high: 0, low: 0),
                clock: TwinClock(WallTime(milliseconds: 1_700_000_000_000)), scripts: TwinScripts(),
                surroundings: surroundings)
            own = try OwnRequests(
                daemon.inject, loop: surroundings.loop, account: Account(uid: 7), limits: limits,
                refusals: surroundings.refusals, journal: surroundings.journal)
        }

        deinit { daemon.abandon() }

        /// The number of refusals, by reason.
        func refused(_ reason: RefusalReason) -> UInt64 {
            surroundings.refusals.counts.first { $0.reason == reason }?.count ?? 0
        }

        /// The journal's entries about lost requests, after the journal has stopped.
        func losses() throws -> [String] {
            #expect(surroundings.journal.stop(timeoutMilliseconds: 60_000))
            let text = String(decoding: try #require(readFile(directory.path + "/journal")), as: UTF8.self)
            return text.split(separator: "\n").filter { $0.contains(" lost: ") }.map(String.init)
        }

        /// Takes turns until every submitted request has its reply.
        func settle() throws {
            while own.isBusy {
                try daemon.takeTurns { self.own.needsFlush }
                own.endTurn()
            }
        }
    }

    private static func line(_ number: Int = 0, op: String = "session") -> [UInt8] {
        Array(#"{"op":"\#(op)","kind":"start","platform":"android","app":"shop","device":"d\#(number)"}"#.utf8)
    }

    @Test("for a bridge are accepted in order, as requests of the daemon's own user")
    func accepted() throws {
        let bench = try Bench(limits: OwnRequests.Limits())
        for number in 0..<100 { bench.own.submit(Self.line(number), of: "pushes") }
        try bench.settle()
        #expect(bench.daemon.nextNumber == SequenceNumber(101))
        #expect(try bench.losses() == [])
    }

    @Test("are dropped when too many wait, counted, and reported once until one is accepted")
    func flood() throws {
        let bench = try Bench(limits: OwnRequests.Limits())
        for number in 0..<3000 { bench.own.submit(Self.line(number), of: "pushes") }
        bench.own.submit(Self.line(), of: "other")
        #expect(bench.refused(.overloaded) == 3001 - 1024)
        try bench.settle()
        #expect(bench.daemon.nextNumber == SequenceNumber(1025))
        for number in 0..<1100 { bench.own.submit(Self.line(number), of: "pushes") }
        let losses = try bench.losses()
        #expect(losses.count == 3, "one for each handler, and one since some were accepted: \(losses)")
        #expect(losses.allSatisfy { $0.contains("1024 requests wait to be accepted already") })
    }

    @Test("are dropped when too many bytes wait, and when one is too long")
    func bytes() throws {
        let length = Self.line().count
        let bench = try Bench(limits: OwnRequests.Limits(requestLength: length, inputSize: 10 * length))
        bench.own.submit(Self.line(10_000), of: "long")
        #expect(bench.refused(.invalidRequest) == 1)
        for _ in 0..<12 { bench.own.submit(Self.line(), of: "pushes") }
        #expect(bench.refused(.overloaded) == 2)
        try bench.settle()
        #expect(bench.daemon.nextNumber == SequenceNumber(11))
        bench.own.submit(Self.line(), of: "pushes")
        #expect(bench.refused(.overloaded) == 2, "there is room again")
        #expect(try bench.losses().count == 2)
    }

    @Test("with errors are refused like any producer's, and hold up no other")
    func refused() throws {
        let bench = try Bench(limits: OwnRequests.Limits())
        for _ in 0..<20 { bench.own.submit(Self.line(op: "nonsense"), of: "pushes") }
        bench.own.submit(Self.line(), of: "other")
        try bench.settle()
        #expect(bench.refused(.invalidRequest) == 20)
        #expect(bench.daemon.nextNumber == SequenceNumber(2))
        #expect(try bench.losses().count == 1)
    }
}
