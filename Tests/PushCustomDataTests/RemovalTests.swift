import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

@Suite("A flush that is too much for one turn")
struct RemovalTests {
    /// Entries for this device, alternately for this app and for any.
    private static func bench(
        _ count: Int, _ change: (inout CustomDataRules) -> Void = { _ in }
    ) throws -> CustomDataBench {
        var bench = CustomDataBench(change)
        for number in 1...count { try bench.event("e\(number)", app: number.isMultiple(of: 2) ? "shop" : nil) }
        return bench
    }

    @Test("is done in parts, in order of number, and the rest counts as waiting until then")
    func slices() throws {
        var bench = try Self.bench(600)
        #expect(bench.flush(user: "u1") == 600)
        #expect(bench.events.count == 256)
        #expect(bench.data.isRemoving)
        #expect(bench.data.summary.pending == 344)
        bench.continueRemoval()
        #expect(bench.events.count == 512)
        bench.continueRemoval()
        #expect(!bench.data.isRemoving)
        #expect(bench.events.map(\.name) == (1...600).map { "e\($0)" })
        #expect(Set(bench.events.map(\.externalUserID)) == ["u1"])
        #expect(bench.data.summary == CustomDataSummary())
        #expect(bench.rows.violations == [])
    }

    @Test("is limited in bytes, too; one entry may be longer")
    func bytes() throws {
        var bench = CustomDataBench()
        let long = [String](repeating: #""\#(String(repeating: "x", count: 200))""#, count: 190).joined(separator: ",")
        for _ in 0..<4 { try bench.log(.userAttributes, #"{"attributes":{"first_name":"Anna"}}"#) }
        for _ in 0..<4 { try bench.log(.customEvent, #"{"name":"e","properties":{"texts":[\#(long)]}}"#) }
        #expect(bench.flush(user: "u1") == 8)
        // Two of the long ones exceed the limit.
        #expect(bench.rows.numbers(.flushed) == [1, 2, 3, 4, 5, 6])
        #expect(bench.data.isRemoving)
        bench.continueRemoval()
        #expect(!bench.data.isRemoving)
    }

    @Test("leaves entries logged meanwhile for the next session")
    func later() throws {
        var bench = try Self.bench(300)
        bench.flush()
        try bench.event("later")
        bench.continueRemoval()
        #expect(!bench.data.isRemoving)
        #expect(bench.rows.numbers(.pending) == [301])
        #expect(bench.flush(now: 90) == 1)
    }

    @Test("is not the next session's: that flushes after it, and only the entries not taken")
    func order() throws {
        var bench = try Self.bench(300)
        bench.flush(user: "u1")
        try bench.event("u2's", user: "u2")
        #expect(bench.flush(user: "u2") == 1)
        #expect(bench.events.count == 256)
        bench.continueRemoval()
        #expect(bench.events.count == 301)
        #expect(bench.events.prefix(300).allSatisfy { $0.externalUserID == "u1" })
        #expect(bench.events.last?.name == "u2's")
    }

    @Test("cannot be discarded any more, and a large discard is done in parts")
    func reset() throws {
        var bench = try Self.bench(300)
        bench.flush()
        #expect(bench.reset(suite: "standard") == 0)
        bench.continueRemoval()
        #expect(bench.events.count == 300)
        for number in 1...300 { try bench.event("d\(number)") }
        #expect(bench.reset(suite: "standard") == 300)
        #expect(bench.rows.numbers(.discarded).count == 256)
        bench.continueRemoval()
        #expect(bench.rows.numbers(.discarded) == (301...600).map { Int64($0) })
    }

    @Test("continues after a restart with the session's entries, at its time, by its request")
    func restart() throws {
        var bench = try Self.bench(600)
        bench.flush(user: "u1", now: 60)
        let session = try #require(bench.session)
        // An entry logged during the session waits for the next session.
        try bench.event("later")
        bench.restart()
        #expect(bench.data.interruptedFlushes == [try #require(session.cause)])
        bench.data.resumeFlush(session)
        #expect(bench.data.interruptedFlushes == [])
        #expect(bench.data.summary.pending == 345)
        while bench.data.isRemoving { bench.continueRemoval(now: 70) }
        #expect(bench.events.map(\.name) == (1...600).map { "e\($0)" })
        #expect(Set(bench.events.map(\.seq)) == [try #require(session.cause)])
        #expect(bench.rows.numbers(.pending) == [601])
        bench.restart()
        #expect(bench.data.interruptedFlushes == [])
    }

    @Test("of two sessions continues in their order after a restart")
    func restartOfTwo() throws {
        var bench = try Self.bench(600)
        bench.flush(user: "u1")
        let first = try #require(bench.session)
        for number in 1...3 { try bench.event("u2's \(number)", user: "u2") }
        for number in 1...300 { try bench.event("anybody's \(number)") }
        #expect(bench.flush(user: "u2") == 303)
        let second = try #require(bench.session)
        bench.restart()
        let causes = bench.data.interruptedFlushes
        #expect(causes == [first.cause, second.cause])
        for session in [first, second] { bench.data.resumeFlush(session) }
        while bench.data.isRemoving { bench.continueRemoval() }
        #expect(bench.events.map(\.externalUserID) == (1...903).map { $0 <= 600 ? "u1" : "u2" })
    }

    @Test("of an unknown session waits for the next one")
    func unknownSession() throws {
        var bench = try Self.bench(300)
        bench.flush()
        bench.restart()
        #expect(!bench.data.isRemoving)
        #expect(bench.flush() == 44)
    }

    @Test("follows the rules at the beginning of the session")
    func rules() throws {
        var bench = try Self.bench(300) { $0.sendsFlushed = true }
        bench.flush()
        #expect(bench.data.flushedUnsent == 300)
        bench.data.rules.sendsFlushed = false
        bench.continueRemoval()
        #expect((1...300).allSatisfy { bench.reason(Int64($0)) != nil })
        #expect(bench.data.flushedUnsent == 300)
    }

    @Test("counts entries as unsent that name no profile themselves")
    func unsent() throws {
        var bench = CustomDataBench { $0.sendsFlushed = true }
        try bench.event("nobody's")
        try bench.log(.customEvent, #"{"name":"e"}"#, to: .stored(suite: "standard", brazeID: "b1"))
        bench.flush()
        #expect(bench.data.flushedUnsent == 1)
        #expect(bench.data.summary.queued == 1)
    }
}
