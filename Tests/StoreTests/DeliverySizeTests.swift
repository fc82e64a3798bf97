import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("The size of a delivery in the ledger", .timeLimit(.minutes(30)))
struct DeliverySizeTests {
    /// A delivery like an ordinary push of the benchmarks (`Tests/Benchmarks/ingest/payload.json`), with the same body
    /// length.
    private func delivery(_ seq: Int64, person: Int64, id: String) -> [LedgerRecord] {
        let at = 1_795_416_255_925 + seq / 5
        var request = Fixture.request(seq, id: id, uid: 0, acceptedAt: at, bytes: 1133)
        request.acceptedAt.monotonic = Instant(nanoseconds: 72_943_733_066_503 + seq * 200_000)
        (request.mode, request.state, request.transport) = (.device, .background, .fcm)
        (request.originalPriority, request.deliveredPriority) = (.high, .high)
        (request.device, request.externalID, request.messageID) = ("device-\(person)", "user-\(person)", nil)
        request.isTracked = true
        var invocation = Fixture.invocation(seq)
        invocation.result?.completion = Completion(by: .tracker, result: .noData)
        invocation.result?.decidedAt = WallTime(milliseconds: at)
        var event = Fixture.event(seq)
        (event.deviceID, event.externalUserID) = (request.device, request.externalID)
        event.id = UUID128(high: .random(in: .min ... .max), low: 1 << 63)
        event.content = .received(
            .init(campaignID: String(repeating: "c", count: 148), messageID: nil))
        var tracked = Fixture.tracked(seq)
        (tracked.receivedAt, tracked.since) = (request.acceptedAt.wall, request.acceptedAt.wall)
        (tracked.digest, tracked.buttons) = (UInt64.max / 3, Array("xxtrackxxlater".utf8))
        return [
            .request(request), .invocation(invocation), .event(event), .tracker(.delivery(tracked)),
        ]
    }

    @Test("is less than 400 bytes beside its body, with an id, an app, a device and a user")
    func bytes() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        let (count, people) = (Int64(5000), Int64(500))
        func used() throws -> Int64 {
            let database = try ledger.secondConnection()
            let pages = try database.integer("PRAGMA page_count") - database.integer("PRAGMA freelist_count")
            return pages * Int64(LedgerWriter.newPageLength)
        }
        // An empty ledger has one page for each table and index.
        let empty = try used()
        for start in stride(from: Int64(1), through: count, by: 250) {
            try await ledger.commit(
                (start..<start + 250).flatMap { seq in
                    // The ids come in no order, as from many producers: this fills the pages of the index worst.
                    delivery(seq, person: seq % people, id: "order-\(seq * 7919 % 99_991 + 10_000_000)")
                })
        }
        let database = try ledger.secondConnection()
        #expect(try ledger.reader().story(of: SequenceNumber(count))?.invocations.count == 1)
        let bodies = try database.integer("SELECT sum(length(body)) FROM requests")
        let each = try (used() - empty - bodies) / count
        #expect(each < 400, "\(each) bytes")
    }
}
