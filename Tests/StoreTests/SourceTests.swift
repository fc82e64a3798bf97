import Glibc
import TestSupport
import Testing

@testable import LedgerReports
@testable import PushModel
@testable import PushRouter
@testable import PushViews
@testable import Store

@Suite("The ledger as a source of pushes", .timeLimit(.minutes(30)))
final class SourceTests {
    private let directory = TemporaryDirectory()
    /// A clock that advances by 1 ms at each read.
    private final class Clock { var now: Int64 = 1_760_000_000_000 }

    private func source() -> LedgerSource {
        let clock = Clock()
        return LedgerSource(directory: directory.path, table: RoutingTable(routes: [], handlers: [:])) {
            clock.now += 1
            return Moment(
                monotonic: Instant(nanoseconds: clock.now * 1_000_000), wall: WallTime(milliseconds: clock.now))
        }
    }

    private func query(_ text: String) throws -> PushQuery {
        try PushQuery(text, now: WallTime(milliseconds: 1_760_000_000_000))
    }

    /// Deliveries to the devices `d0` to `d9` in turn, unless another device is given.
    private func delivery(_ seq: Int64, device: String? = nil, outcome: Outcome? = .handed) -> [LedgerRecord] {
        var request = Fixture.request(seq)
        request.device = device ?? "d\(seq % 10)"
        return [
            .request(request), .invocation(Fixture.invocation(seq, outcome: outcome)), .event(Fixture.event(seq)),
        ]
    }

    private func fill(_ ledger: TestLedger, _ numbers: ClosedRange<Int64>) async throws {
        var records: [LedgerRecord] = []
        for seq in numbers {
            records += delivery(seq)
            guard seq % 500 == 0 || seq == numbers.upperBound else { continue }
            try await ledger.commit(records)
            records = []
        }
    }

    /// All matches, collected page by page.
    private func all(_ source: LedgerSource, _ text: String, patience: Duration = .seconds(100)) throws -> (
        numbers: [Int64], pages: Int
    ) {
        let query = try query(text)
        var (numbers, pages) = ([Int64](), 0)
        var before: SequenceNumber?
        while true {
            let page = try source.search(PushSearch(query, before: before, limit: 7, patience: patience))
            numbers += page.stories.map(\.request.seq.value)
            pages += 1
            guard let next = page.next else { return (numbers, pages) }
            before = next
        }
    }

    @Test("is searched in pages, newest first, each match once, with and without an index")
    func pages() async throws {
        let ledger = try TestLedger(directory.path)
        try await fill(ledger, 1...5000)
        try await ledger.commit(delivery(5001, device: "rare"))
        try await fill(ledger, 5002...9000)
        let source = source()
        let expected = (1...9000).filter { $0 % 10 == 3 && $0 != 5001 }.map { Int64($0) }.reversed()
        #expect(try all(source, "device:d3").numbers == Array(expected))
        let without = try all(source, "device:rare", patience: .zero)
        #expect(without.numbers == [5001])
        while try source.buildIndex() {}
        #expect(try all(source, "device:d3").numbers == Array(expected))
        let with = try all(source, "device:rare", patience: .zero)
        // A page reads at least 64 requests: the index narrows the search to the matching block and the newest
        // requests.
        #expect(with.numbers == [5001] && with.pages * 3 < without.pages, "\(with.pages) of \(without.pages)")
        #expect(try all(source, "device:nobody", patience: .zero).pages * 3 < without.pages)
        // Words that the index does not hold.
        #expect(try all(source, "platform:ios").numbers.isEmpty)
    }

    @Test("is searched behind a request, by its number, and by the ids of producer and payload")
    func bounds() async throws {
        let ledger = try TestLedger(directory.path)
        var named = Fixture.request(700)
        (named.id, named.messageID) = ("order-700", "m-700")
        try await fill(ledger, 1...699)
        try await ledger.commit([.request(named), .invocation(Fixture.invocation(700)), .event(Fixture.event(700))])
        try await fill(ledger, 701...2000)
        let source = source()
        for _ in 0..<2 {
            for text in ["id:700", "id:order-700", "id:m-700", "id:nothing,700"] {
                #expect(try all(source, text).numbers == [700], "\(text)")
            }
            let page = try source.search(
                PushSearch(query("device:d3"), after: SequenceNumber(1970), patience: .seconds(100)))
            #expect(page.stories.map(\.request.seq.value) == [1993, 1983, 1973] && page.next == nil)
            let last = try source.search(PushSearch(query(""), after: SequenceNumber(2000)))
            #expect(last.stories.isEmpty && last.next == nil)
            while try source.buildIndex() {}
        }
    }

    @Test("finds a device that a request named, and no other")
    func device() async throws {
        let ledger = try TestLedger(directory.path)
        let keys = [DeviceKey(app: "com.example.shop", device: "pixel-1"), DeviceKey(app: nil, device: "pixel-1")]
        for (number, key) in keys.enumerated() {
            let request = Fixture.request(Int64(number + 1))
            try await ledger.commit([
                .request(request),
                .device(
                    KnownDevice(number: request.seq, key: key, platform: .android, externalID: "user \(number)")),
            ])
        }
        let source = source()
        #expect(try keys.map { try source.device($0)?.externalID } == ["user 0", "user 1"])
        #expect(try source.device(DeviceKey(app: "com.example.shop", device: "pixel-2")) == nil)
    }

    @Test("is searched for a campaign by the configuration that decided each push")
    func campaigns() async throws {
        let ledger = try TestLedger(directory.path)
        let ids = [ConfigurationID(digestOf: [1]), ConfigurationID(digestOf: [2])]
        for (seq, id) in zip(Int64(1)..., ids) {
            var request = Fixture.request(seq)
            request.body = Array(
                #"{"op":"deliver","platform":"android","payload":{"data":{"_ab":"true","cid":"spring"}}}"#.utf8)
            var invocation = Fixture.invocation(seq, outcome: .shownBySystem)
            invocation.result?.reasonCode = .brazeLost
            try await ledger.commit([
                .configuration(ConfigurationPeriod(first: request.seq, id: id, since: request.acceptedAt.wall)),
                .request(request), .invocation(invocation),
            ])
        }
        let source = source()
        #expect(try all(source, "campaign:spring").numbers == [2, 1])
        source.detection = { story in
            story.configuration?.period.id == ids[0] ? DetectionSettings() : DetectionSettings(providers: [])
        }
        #expect(try all(source, "campaign:spring").numbers == [1])
    }

    @Test("has no index of a block while one of its requests is undecided")
    func undecided() async throws {
        let ledger = try TestLedger(directory.path)
        try await fill(ledger, 1...100)
        try await ledger.commit(delivery(101, outcome: nil))
        try await fill(ledger, 102...5000)
        let source = source()
        while try source.buildIndex() {}
        try await ledger.commit([.update(Fixture.invocation(101, outcome: .expired))])
        #expect(try all(source, "outcome:expired").numbers == [101])
        while try source.buildIndex() {}
        #expect(try all(source, "outcome:expired").numbers == [101])
    }

    @Test("returns each new request, each outcome and each open since a position, once")
    func changes() async throws {
        let ledger = try TestLedger(directory.path)
        try await fill(ledger, 1...10)
        let source = source()
        var position = try source.position()
        #expect(position.description == "10.10")
        let before = try source.changeNumber()
        try await ledger.commit(delivery(11, outcome: nil))
        #expect(try source.changeNumber() != before)
        #expect(try source.changes(since: &position, limit: 100).stories.map(\.request.seq.value) == [11])
        #expect(position.description == "11.11.11" && SourcePosition(position.description) == position)
        #expect(try source.changes(since: &position, limit: 100).stories.isEmpty)
        try await ledger.commit([.update(Fixture.invocation(11, outcome: .expired))])
        let decided = try source.changes(since: &position, limit: 100).stories
        #expect(decided.map { $0.invocations.first?.result?.outcome } == [.expired] && position.pending.isEmpty)
        try await ledger.commit([.request(Fixture.request(12)), .event(Fixture.event(12, .open, delivery: 3))])
        let opened = try source.changes(since: &position, limit: 100).stories
        #expect(Set(opened.map(\.request.seq.value)) == [3, 12])
        // Small pages return the same changes.
        var slow = SourcePosition(last: SequenceNumber(0), event: 0)
        var seen: [Int64] = []
        while true {
            let changes = try source.changes(since: &slow, limit: 3)
            seen += changes.stories.map(\.request.seq.value)
            if !changes.hasMore { break }
        }
        #expect(Set(seen) == Set(1...12) && slow == position)
        // A position beyond the end of the ledger, as after a restore, is reset.
        var ahead = SourcePosition(last: SequenceNumber(500), event: 900)
        #expect(try source.changes(since: &ahead, limit: 3).stories.isEmpty && ahead == position)
    }

    @Test("returns each of several invocations when it is decided")
    func invocations() async throws {
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(
            [.request(Fixture.request(1))] + (0...1).map { .invocation(Fixture.invocation(1, n: $0, outcome: nil)) })
        let source = source()
        var position = try source.position()
        #expect(position.description == "1.0.1-1_1" && SourcePosition(position.description) == position)
        for n in 0...1 {
            try await ledger.commit([.update(Fixture.invocation(1, n: n, outcome: .expired))])
            let stories = try source.changes(since: &position, limit: 10).stories
            #expect(stories.map { $0.invocations.count { $0.result != nil } } == [n + 1])
        }
        #expect(position.pending.isEmpty)
    }

    @Test("distinguishes a story, a deleted one and a future one; and reports a missing ledger")
    func stories() async throws {
        #expect(throws: SourceError.self) { try self.source().position() }
        let ledger = try TestLedger(directory.path)
        try await fill(ledger, 1...3)
        let source = source()
        guard case .story(let story) = try source.story(of: SequenceNumber(2)) else { Issue.record("gone"); return }
        #expect(story.request.seq.value == 2 && story.events.count == 1)
        guard case .toCome(let last) = try source.story(of: SequenceNumber(4)) else { Issue.record("found"); return }
        #expect(last.value == 3)
        ledger.committer.prune(olderThan: WallTime(milliseconds: .max))
        #expect(try await ledger.report() == .pruned(requests: 3))
        guard case .gone = try source.story(of: SequenceNumber(2)) else { Issue.record("found"); return }
    }

    @Test("returns the stories of a range as it returns each alone")
    func ranges() async throws {
        let ledger = try TestLedger(directory.path)
        try await fill(ledger, 1...20)
        try await ledger.commit(
            delivery(21) + [
                .event(Fixture.event(21, .open, delivery: 4)),
                .deadLetter(
                    DeadLetter(
                        id: InvocationID(seq: SequenceNumber(5), n: 0), at: WallTime(milliseconds: 5), byteCount: 1)),
                .attempt(
                    AttemptRecord(
                        id: InvocationID(seq: SequenceNumber(6), n: 0), route: nil, handler: "crm", asked: .zero,
                        started: nil, ended: .zero, answer: .rejected)),
            ])
        let reader = try ledger.reader()
        let one = try (1...21).compactMap { try reader.story(of: SequenceNumber($0)) }
        #expect(try reader.stories(in: SequenceNumber(1)...SequenceNumber(30)) == one)
        #expect(one[3].events.count == 2 && one[4].deadLetters.count == 1 && one[5].attempts.count == 1)
    }

    @Test("is read anew when another ledger replaces it")
    func replaced() async throws {
        let ledger = try TestLedger(directory.path)
        try await fill(ledger, 1...3)
        let source = source()
        #expect(try source.position().last.value == 3)
        let other = TemporaryDirectory()
        let restored = try TestLedger(other.path)
        try await fill(restored, 1...9)
        try restored.secondConnection().execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for end in ["-wal", "-shm"] { unlink("\(directory.path)/ledger.db\(end)") }
        #expect(rename("\(other.path)/ledger.db", "\(directory.path)/ledger.db") == 0)
        #expect(try source.position().last.value == 9)
    }
}
