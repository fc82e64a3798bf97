import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("Texts that rows share", .timeLimit(.minutes(30)))
final class SharedTextTests {
    private let directory = TemporaryDirectory()

    /// A delivery of a campaign.
    private func delivery(_ seq: Int64, campaign: String, app: String = "com.example.shop") -> [LedgerRecord] {
        var (request, event) = (Fixture.request(seq, acceptedAt: seq), Fixture.event(seq))
        request.app = app
        event.appID = app
        event.content = .received(.init(campaignID: campaign, messageID: nil))
        return [.request(request), .invocation(Fixture.invocation(seq)), .event(event)]
    }

    private func texts(_ ledger: TestLedger) throws -> [String] {
        let statement = try ledger.secondConnection().prepare(
            "SELECT text FROM texts WHERE typeof(text) = 'text' ORDER BY text")
        var texts: [String] = []
        while try statement.step() { texts.append(statement.text(0) ?? "") }
        return texts
    }

    private func campaigns(_ ledger: TestLedger) throws -> [String] {
        try ledger.reader().events(after: 0, limit: 100_000).map { $0.event.content.campaignID ?? "" }
    }

    @Test("are stored once, from their second row on, also across a restart")
    func once() async throws {
        do {
            let ledger = try TestLedger(directory.path)
            for seq in 1...3 { try await ledger.commit(delivery(Int64(seq), campaign: "campaign-of-many")) }
            #expect(try texts(ledger) == ["braze", "campaign-of-many", "com.example.shop"])
        }
        let ledger = try TestLedger(directory.path)
        for seq in 4...9 { try await ledger.commit(delivery(Int64(seq), campaign: "campaign-of-many")) }
        #expect(try campaigns(ledger) == Array(repeating: "campaign-of-many", count: 9))
        let database = try ledger.secondConnection()
        let own = "SELECT count(*) FROM event_rows WHERE typeof(campaign_id) = 'text'"
        #expect(try database.integer(own) == 1)
        #expect(
            try database.integer("SELECT count(DISTINCT number) FROM texts") == texts(ledger).count + 1, "and the boot")
        #expect(try ledger.reader().story(of: SequenceNumber(9))?.request.boot == UUID128(high: 7, low: 8))
    }

    @Test("never include the names and ids of persons")
    func personal() async throws {
        let ledger = try TestLedger(directory.path)
        for seq in 1...5 { try await ledger.commit(Fixture.delivery(Int64(seq), id: "id-\(seq)")) }
        let shared = try texts(ledger)
        for text in ["d1", "u1", "id-1", "m1"] { #expect(!shared.contains(text)) }
    }

    @Test("do not grow with a stream of distinct texts, which stay in their rows")
    func hostile() async throws {
        let ledger = try TestLedger(directory.path)
        let campaigns = (1...20_000).map { "campaign-\($0)" }
        for start in stride(from: 0, to: campaigns.count, by: 500) {
            try await ledger.commit((start..<start + 500).flatMap { delivery(Int64($0 + 1), campaign: campaigns[$0]) })
        }
        #expect(try texts(ledger) == ["braze", "com.example.shop"])
        #expect(try self.campaigns(ledger) == campaigns)
    }

    @Test("fill their table to its bound; then new ones stay in their rows, and all can be read")
    func full() async throws {
        let ledger = try TestLedger(directory.path)
        let campaigns = (0..<SharedTexts.countLimit * 3).map { "campaign-\($0 / 2)" }
        for start in stride(from: 0, to: campaigns.count, by: 512) {
            try await ledger.commit((start..<start + 512).flatMap { delivery(Int64($0 + 1), campaign: campaigns[$0]) })
        }
        try await ledger.commit(
            delivery(100_000, campaign: "late", app: "12") + delivery(100_001, campaign: "late", app: "12"))
        #expect(try ledger.secondConnection().integer("SELECT count(*) FROM texts") == Int64(SharedTexts.countLimit))
        #expect(try self.campaigns(ledger) == campaigns + ["late", "late"])
        #expect(try ledger.reader().story(of: SequenceNumber(100_001))?.request.app == "12", "and not text number 12")
    }

    @Test("have a limit of bytes, and long texts are not shared")
    func bytes() async throws {
        let ledger = try TestLedger(directory.path)
        let long = String(repeating: "x", count: SharedTexts.lengths.upperBound - 9)
        let campaigns = (0..<4000).map { "\($0 / 2 + 10_000)-\(long)" } + [long + "1234567890", long + "1234567890"]
        for start in stride(from: 0, to: campaigns.count, by: 500) {
            let numbers = start..<min(start + 500, campaigns.count)
            try await ledger.commit(numbers.flatMap { delivery(Int64($0 + 1), campaign: campaigns[$0]) })
        }
        let length = try ledger.secondConnection().integer("SELECT sum(length(CAST(text AS BLOB))) FROM texts")
        #expect((Int64(SharedTexts.byteLimit) - 2000...Int64(SharedTexts.byteLimit)).contains(length), "\(length)")
        #expect(try self.campaigns(ledger) == campaigns)
    }

    @Test("are pruned with the last rows that use them")
    func pruned() async throws {
        let ledger = try TestLedger(directory.path)
        for seq in 1...3 { try await ledger.commit(delivery(Int64(seq), campaign: "early", app: "com.example.early")) }
        let late = SharedTexts.useSpan + 4
        try await ledger.commit(
            delivery(late, campaign: "early") + delivery(late + 1, campaign: "late")
                + delivery(late + 2, campaign: "late"))
        ledger.committer.prune(olderThan: WallTime(milliseconds: late))
        #expect(try await ledger.report() == .pruned(requests: 3))
        #expect(try texts(ledger) == ["braze", "com.example.shop", "early", "late"])
        #expect(try campaigns(ledger) == ["early", "late", "late"])
        // A pruned text gets a number again with its second new row; another text may have its old number.
        for seq in late + 3...late + 5 {
            try await ledger.commit(delivery(seq, campaign: "early", app: "com.example.early"))
        }
        #expect(try texts(ledger) == ["braze", "com.example.early", "com.example.shop", "early", "late"])
        #expect(try ledger.reader().story(of: SequenceNumber(late + 5))?.request.app == "com.example.early")
        ledger.committer.prune(olderThan: WallTime(milliseconds: .max))
        #expect(try await ledger.report() == .pruned(requests: 6))
        #expect(try texts(ledger) == [])
    }

    @Test("stay while the receipt of a remembered delivery uses them")
    func remembered() async throws {
        let ledger = try TestLedger(directory.path)
        for seq in 1...3 {
            try await ledger.commit(
                delivery(Int64(seq), campaign: "remembered") + [.tracker(.delivery(Fixture.tracked(Int64(seq))))])
        }
        let late = SharedTexts.useSpan + 4
        try await ledger.commit(delivery(late, campaign: "late"))
        ledger.committer.prune(olderThan: WallTime(milliseconds: late))
        #expect(try await ledger.report() == .pruned(requests: 3))
        #expect(try campaigns(ledger) == ["remembered", "remembered", "remembered", "late"])
    }

    @Test("of a rolled-back transaction leave no number for later rows")
    func rolledBack() async throws {
        let writer = try LedgerWriter(directory: directory.path)
        func apply(_ records: [LedgerRecord], number: UInt64) throws {
            let rows = RowBuffer()
            for record in records { rows.append(record) }
            try writer.apply([rows], through: LogPosition(number: number, checksum: 0, segment: 0, end: 0))
        }
        try apply(delivery(1, campaign: "one"), number: 1)
        let before = try writer.database.integer("SELECT count(*) FROM texts")
        // The second row gives the text a number, and the third breaks the key of a stored request.
        #expect(throws: StoreError.self) {
            try apply(delivery(2, campaign: "one") + delivery(1, campaign: "one"), number: 2)
        }
        #expect(try writer.database.integer("SELECT count(*) FROM texts") == before)
        try apply((2...4).flatMap { delivery($0, campaign: "one") }, number: 2)
        let reader = try LedgerReader(directory: directory.path)
        #expect(
            try reader.events(after: 0, limit: 9).map(\.event.content.campaignID) == Array(repeating: "one", count: 4))
        #expect(try reader.story(of: SequenceNumber(4))?.request.app == "com.example.shop")
    }
}

extension AnalyticsEvent.Content {
    fileprivate var campaignID: String? {
        if case .received(let push) = self { push.campaignID } else { nil }
    }
}
