import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("The ledger's reader", .timeLimit(.minutes(30)))
struct LedgerReaderTests {
    @Test("returns the rows page by page, each once, up to the last request at the start")
    func pages() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        var records: [LedgerRecord] = []
        for seq in Int64(1)...50 {
            records.append(.request(Fixture.request(seq, acceptedAt: seq * 10)))
            for n in 0..<Int(seq % 4) { records.append(.invocation(Fixture.invocation(seq, n: n))) }
        }
        try await ledger.commit(records)
        let reader = try ledger.reader()
        let (start, end) = (WallTime(milliseconds: 50), WallTime(milliseconds: 480))
        var all: [LedgerRow] = []
        try reader.rows(from: start, to: end) { all.append($0) }
        for limit in [4, 5, 7, 1000] {
            var rows: [LedgerRow] = []
            var last = SequenceNumber(0)
            while true {
                let page = try reader.rows(
                    from: start, to: end, after: last, through: SequenceNumber(40), limit: limit)
                guard let seq = page.last?.seq else { break }
                #expect(page.count <= limit)
                rows += page
                last = seq
            }
            #expect(rows.map(\.seq) == all.map(\.seq).filter { $0.value <= 40 }, "pages of \(limit)")
            #expect(rows.map(\.invocation) == all.filter { $0.seq.value <= 40 }.map(\.invocation))
        }
    }

    @Test("streams the half-open window of acceptance, in order of seq, with the facts of the request")
    func window() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        for seq in Int64(1)...5 {
            try await ledger.commit(Fixture.delivery(seq, id: "r\(seq)", acceptedAt: seq * 10))
        }
        let reader = try ledger.reader()
        func numbers(_ start: Int64?, _ end: Int64?) throws -> [Int64] {
            var numbers: [Int64] = []
            let (start, end) = (start.map { WallTime(milliseconds: $0) }, end.map { WallTime(milliseconds: $0) })
            try reader.rows(from: start, to: end) { numbers.append($0.seq.value) }
            #expect(try reader.acceptedRequests(from: start, to: end) == numbers.count)
            return numbers
        }
        #expect(try numbers(nil, nil) == [1, 2, 3, 4, 5])
        #expect(try numbers(20, 40) == [2, 3])
        #expect(try numbers(21, 41) == [3, 4])
        #expect(try numbers(50, nil) == [5])
        #expect(try numbers(nil, 10) == [])
        #expect(try numbers(40, 20) == [])

        var rows: [LedgerRow] = []
        try reader.rows(to: WallTime(milliseconds: 11)) { rows.append($0) }
        let request = Fixture.request(1, id: "r1", acceptedAt: 10)
        #expect(
            rows == [
                LedgerRow(
                    seq: request.seq, operation: request.operation, id: "r1", uid: request.peer.uid,
                    acceptedAt: request.acceptedAt.wall, mode: request.mode, platform: request.platform,
                    app: request.app, device: request.device, messageID: request.messageID,
                    invocation: Fixture.invocation(1))
            ])
    }

    @Test("streams the invocations with one outcome, each with the line of its request")
    func ended() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        for seq in Int64(1)...4 {
            try await ledger.commit([
                .request(Fixture.request(seq, acceptedAt: seq * 10, bytes: Int(seq))),
                .invocation(Fixture.invocation(seq, outcome: seq == 2 ? nil : .handed)),
            ])
        }
        var found: [(row: LedgerRow, line: [UInt8])] = []
        try ledger.reader().rows(endedAs: [.handedToTracker], from: WallTime(milliseconds: 20)) {
            found.append(($0, $1))
        }
        #expect(found.map(\.row.seq.value) == [3, 4])
        #expect(found.map(\.row.acceptedAt.milliseconds) == [30, 40])
        #expect(found.map(\.line) == [3, 4].map { Fixture.request($0, bytes: Int($0)).body })
        try ledger.reader().rows(endedAs: [.shownBySystem]) { _, _ in Issue.record("nothing ended so") }
    }

    @Test("returns a request without an invocation as a row of its own, in its place")
    func withoutInvocation() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        var session = Fixture.request(2)
        session.operation = .session
        try await ledger.commit(Fixture.delivery(1) + [.request(session)] + Fixture.delivery(3))
        var rows: [LedgerRow] = []
        try ledger.reader().rows { rows.append($0) }
        #expect(rows.map(\.seq.value) == [1, 2, 3])
        #expect(rows.map(\.invocation) == [Fixture.invocation(1), nil, Fixture.invocation(3)])
        #expect(rows.map(\.operation) == [.deliver, .session, .deliver])
        #expect(try ledger.reader().story(of: SequenceNumber(2))?.invocations == [])
    }

    @Test("finds requests accepted while the clock was set back")
    func clockSetBack() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        for (seq, time) in [(1, 100), (2, 50), (3, 110)] as [(Int64, Int64)] {
            try await ledger.commit(Fixture.delivery(seq, acceptedAt: time))
        }
        var numbers: [Int64] = []
        try ledger.reader().rows(to: WallTime(milliseconds: 100)) { numbers.append($0.seq.value) }
        #expect(numbers == [2])
        numbers = []
        try ledger.reader().rows { numbers.append($0.seq.value) }
        #expect(numbers == [1, 2, 3], "in order of acceptance, whatever the clock said")
    }

    @Test("returns every invocation in flight with its request, in order")
    func pending() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        #expect(try ledger.reader().pendingInvocations().isEmpty)
        try await ledger.commit([
            .request(Fixture.request(2)), .invocation(Fixture.invocation(2, n: 1, outcome: nil)),
            .invocation(Fixture.invocation(2, n: 0, outcome: nil)), .invocation(Fixture.invocation(2, n: 2)),
        ])
        try await ledger.commit(Fixture.delivery(3))
        try await ledger.commit([
            .request(Fixture.request(4)), .invocation(Fixture.invocation(4, outcome: nil)),
        ])
        let pending = try ledger.reader().pendingInvocations()
        #expect(pending.map(\.request) == [Fixture.request(2), Fixture.request(2), Fixture.request(4)])
        #expect(
            pending.map(\.invocation) == [
                Fixture.invocation(2, n: 0, outcome: nil), Fixture.invocation(2, n: 1, outcome: nil),
                Fixture.invocation(4, outcome: nil),
            ])
    }

    @Test("returns the story of a delivery with a later open, and none of a missing request")
    func story() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(Fixture.delivery(1) + Fixture.delivery(2))
        try await ledger.commit([
            .request(Fixture.request(3)), .invocation(Fixture.invocation(3)),
            .event(Fixture.event(3, .open, delivery: 1)),
        ])
        let reader = try ledger.reader()
        let story = try #require(try reader.story(of: SequenceNumber(1)))
        #expect(story.events == [Fixture.event(1), Fixture.event(3, .open, delivery: 1)])
        #expect(try reader.story(of: SequenceNumber(2))?.events == [Fixture.event(2)])
        #expect(try reader.story(of: SequenceNumber(3))?.events == [Fixture.event(3, .open, delivery: 1)])
        #expect(try reader.story(of: SequenceNumber(4)) == nil)
    }

    @Test("finds a request by its producer's uid and its id, both exactly")
    func find() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(Fixture.delivery(1, id: "a") + Fixture.delivery(2, id: "a\u{0}b"))
        try await ledger.commit([.request(Fixture.request(3, id: "a", uid: .max))])
        let reader = try ledger.reader()
        let found = try #require(try reader.find(uid: 1000, id: "a"))
        #expect(found.request == Fixture.request(1, id: "a"))
        #expect(found.invocations == [Fixture.invocation(1)])
        #expect(found.events == [Fixture.event(1)])
        #expect(try reader.find(uid: 1000, id: "a\u{0}b")?.request.seq == SequenceNumber(2))
        #expect(try reader.find(uid: .max, id: "a")?.request.seq == SequenceNumber(3))
        #expect(try reader.find(uid: 1000, id: "A") == nil)
        #expect(try reader.find(uid: 1, id: "a") == nil)
    }

    @Test("sees one state of the ledger within a snapshot, while the daemon writes")
    func snapshot() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(Fixture.delivery(1))
        let reader = try ledger.reader()
        let counts = try reader.snapshot { () throws(StoreError) in
            let before = try reader.acceptedRequests()
            ledger.submit(Fixture.delivery(2))
            // `stop` returns once the batch is on disk.
            ledger.committer.stop()
            return [before, try reader.acceptedRequests()]
        }
        #expect(counts == [1, 1])
        #expect(try reader.acceptedRequests() == 2)
    }

    @Test("identifies a state directory by the same id every time, and another one by another id")
    func identity() throws {
        let one = TemporaryDirectory()
        let other = TemporaryDirectory()
        let identity = try TestLedger(one.path).reader().stateIdentity
        #expect(try TestLedger(one.path).reader().stateIdentity == identity)
        #expect(try TestLedger(other.path).reader().stateIdentity != identity)
    }
}
