import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("Publishes in the ledger", .timeLimit(.minutes(30)))
struct FanOutTests: ~Copyable {
    private let directory = TemporaryDirectory()

    private func publish(_ seq: Int64, to devices: [Int64]) -> [LedgerRecord] {
        var request = Fixture.request(seq, acceptedAt: 0)
        (request.operation, request.device) = (.publish, nil)
        let fanOut = FanOut(
            seq: SequenceNumber(seq), members: devices.count, devices: devices.map { SequenceNumber($0) })
        return [.request(request), .fanOut(fanOut)]
    }

    private func progress(_ seq: Int64, made: Int, leftOut: Int = 0) -> LedgerRecord {
        .fanOutProgress(SequenceNumber(seq), FanOut.Progress(made: made, leftOut: leftOut))
    }

    @Test("stay open until each delivery is made or left out, with their devices and their progress")
    func open() async throws {
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(publish(1, to: [11, 12, 13]) + publish(2, to: []))
        try await ledger.commit([progress(1, made: 1, leftOut: 1)])
        let open = try #require(ledger.reader().openFanOuts().first)
        #expect(open.fanOut.devices.map(\.value) == [11, 12, 13] && open.fanOut.progress.done == 2)
        #expect(open.request.operation == .publish && open.request.seq.value == 1)
        #expect(try ledger.reader().openFanOuts().count == 1)
        try await ledger.commit([progress(1, made: 2, leftOut: 1)])
        #expect(try ledger.reader().openFanOuts().isEmpty)
        #expect(try ledger.reader().fanOut(of: SequenceNumber(1))?.progress == FanOut.Progress(made: 2, leftOut: 1))
        #expect(try ledger.reader().story(of: SequenceNumber(2))?.fanOut?.members == 0)
    }

    @Test("are pruned with their requests, after their deliveries are made")
    func pruned() async throws {
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(publish(1, to: [11, 12]) + publish(2, to: [11]) + [progress(2, made: 1)])
        ledger.committer.prune(olderThan: WallTime(milliseconds: 1))
        #expect(try await ledger.report() == .pruned(requests: 1))
        #expect(try ledger.storedNumbers() == [1])
        #expect(try ledger.reader().fanOut(of: SequenceNumber(2)) == nil)
        try await ledger.commit([progress(1, made: 2)])
        ledger.committer.prune(olderThan: WallTime(milliseconds: 1))
        #expect(try await ledger.report() == .pruned(requests: 1))
        #expect(try ledger.secondConnection().integer("SELECT count(*) FROM fan_outs") == 0)
    }
}
