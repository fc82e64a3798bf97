import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("The configurations of requests in the ledger", .timeLimit(.minutes(30)))
struct ConfigurationTests: ~Copyable {
    private let directory = TemporaryDirectory()

    private static func id(_ number: UInt8) -> ConfigurationID { ConfigurationID(digestOf: [number]) }

    private func period(_ first: Int64, _ id: UInt8) -> LedgerRecord {
        .configuration(
            ConfigurationPeriod(first: SequenceNumber(first), id: Self.id(id), since: WallTime(milliseconds: first)))
    }

    @Test("are those of the last period up to a request; a request before all is of none")
    func periods() async throws {
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(Fixture.delivery(1))
        try await ledger.commit([period(2, 7), period(2, 8)] + Fixture.delivery(2) + Fixture.delivery(3))
        try await ledger.commit([period(4, 9)] + Fixture.delivery(4) + [period(5, 8)])
        let reader = try ledger.reader()
        let found = try (1...4).map { try reader.story(of: SequenceNumber($0))?.configuration }
        #expect(found.map { $0?.period.id } == [nil, Self.id(8), Self.id(8), Self.id(9)])
        #expect(found.map { $0?.isInForce } == [nil, true, true, false], "8 is in force again")
        #expect(found[1]?.period.since == WallTime(milliseconds: 2))
        #expect(try reader.namedConfigurations() == [Self.id(8), Self.id(9)])
        #expect(try reader.lastConfiguration()?.first == SequenceNumber(5))
    }

    @Test("go with the last of their requests, except the one that decides now")
    func pruned() async throws {
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(
            [period(1, 7)] + Fixture.delivery(1, acceptedAt: 0) + [period(2, 8)] + Fixture.delivery(2) + [period(3, 9)])
        ledger.committer.prune(olderThan: WallTime(milliseconds: 1))
        #expect(try await ledger.report() == .pruned(requests: 1))
        #expect(try ledger.secondConnection().integer("SELECT min(first_seq) FROM configurations") == 2)
        #expect(try ledger.reader().lastConfiguration()?.id == Self.id(9))
        #expect(try ledger.reader().namedConfigurations() == [Self.id(8)])
    }

    @Test("need a version of batches that older programs do not read, and a request none")
    func version() {
        let buffer = RowBuffer()
        for record in Fixture.delivery(1) { buffer.append(record) }
        #expect(buffer.version < RowKind.configuration.since)
        buffer.append(period(1, 7))
        #expect(buffer.version == RowKind.configuration.since)
    }
}
