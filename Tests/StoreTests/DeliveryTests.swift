import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("Finding deliveries", .timeLimit(.minutes(30)))
struct DeliveryTests {
    /// A delivery with the message id `m`, and a decided and a pending invocation.
    private func delivery(
        _ seq: Int64, app: String? = "shop", device: String? = "d1", message: String? = "m", isTracked: Bool = false,
        operation: Operation = .deliver
    ) -> [LedgerRecord] {
        var request = Fixture.request(seq)
        (request.app, request.device, request.messageID) = (app, device, message)
        (request.isTracked, request.operation) = (isTracked, operation)
        return [
            .request(request), .invocation(Fixture.invocation(seq, outcome: .handled)),
            .invocation(Fixture.invocation(seq, n: 1, outcome: nil)),
        ]
    }

    private func found(
        _ reader: LedgerReader, _ name: DeliveryReference.Name, app: String? = nil, device: String? = nil
    ) throws -> Int64? {
        try reader.delivery(DeliveryReference(name, app: app, device: device))?.request.seq.value
    }

    @Test("distinguishes two spellings of a device's name that Swift's String holds equal")
    func spellings() async throws {
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        #expect(composed == decomposed)
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(delivery(1, device: composed) + delivery(2, device: decomposed))
        let reader = try ledger.reader()
        #expect(try found(reader, .message("m"), device: composed) == 1)
        #expect(try found(reader, .message("m"), device: decomposed) == 2)
        #expect(try found(reader, .seq(SequenceNumber(1)), device: decomposed) == nil)
    }

    @Test("by message id returns the latest on that device and in that app, or on any")
    func byMessage() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(
            delivery(1) + delivery(2) + delivery(3, device: "d2") + delivery(4, app: nil, device: nil)
                + delivery(5, message: nil) + delivery(6, message: "M"))
        let reader = try ledger.reader()
        let message = DeliveryReference.Name.message("m")
        #expect(try found(reader, message) == 4)
        #expect(try found(reader, message, device: "d1") == 2)
        #expect(try found(reader, message, app: "shop", device: "d2") == 3)
        #expect(try found(reader, message, app: "shop") == 4, "a delivery without an app is that of any")
        #expect(try found(reader, message, app: "other") == 4)
        #expect(try found(reader, message, app: "other", device: "d1") == nil)
        #expect(try found(reader, message, device: "d3") == nil)
        #expect(try found(reader, .message("n")) == nil)
        #expect(try found(reader, .message("")) == nil)
    }

    @Test("by message id, for an interaction with a number, returns only a delivery accepted before it")
    func before() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(delivery(1) + delivery(2) + delivery(4))
        let reader = try ledger.reader()
        for (number, expected) in [(4, 2), (2, 1), (5, 4)] as [(Int64, Int64)] {
            let reference = DeliveryReference(
                .message("m"), app: nil, device: nil, interaction: SequenceNumber(number))
            #expect(try reader.delivery(reference)?.request.seq.value == expected)
        }
    }

    @Test("for an interaction with a number, returns the delivery that the tracker found for it, and no later one")
    func foundByTracker() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        let found = InteractionRow(
            cause: SequenceNumber(4), delivery: SequenceNumber(2), verdict: .opened, button: nil, buttonAction: nil,
            at: WallTime(milliseconds: 0))
        let ahead = InteractionRow(
            cause: SequenceNumber(1), delivery: SequenceNumber(2), verdict: .opened, button: nil, buttonAction: nil,
            at: WallTime(milliseconds: 0))
        try await ledger.commit(
            delivery(1, operation: .interact) + delivery(2, isTracked: true) + delivery(3)
                + delivery(4, operation: .interact)
                + [.tracker(.interaction(found)), .tracker(.interaction(ahead))])
        let reader = try ledger.reader()
        func number(_ name: DeliveryReference.Name, of interaction: Int64) throws -> Int64? {
            let interaction = SequenceNumber(interaction)
            let reference = DeliveryReference(name, app: nil, device: nil, interaction: interaction)
            return try reader.delivery(reference)?.request.seq.value
        }
        #expect(try number(.message("m"), of: 4) == 2, "not 3, which has the same id and came later")
        #expect(try number(.message("m"), of: 1) == nil, "what came after it was not there yet")
        #expect(try number(.seq(SequenceNumber(3)), of: 4) == 3)
        #expect(try number(.seq(SequenceNumber(3)), of: 3) == nil, "nobody had this number when it was accepted")
    }

    @Test("by message id skips deliveries that the tracker remembers, and other requests")
    func passesOver() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(delivery(1) + delivery(2, isTracked: true) + delivery(3, operation: .interact))
        #expect(try found(ledger.reader(), .message("m")) == 1)
        // The partial index holds untracked deliveries only.
        let indexed = "SELECT count(*) FROM request_rows INDEXED BY requests_by_message WHERE message_id = 'm'"
        #expect(try ledger.secondConnection().integer(indexed + " AND operation = 0 AND tracked = 0") == 1)
    }

    @Test("by number returns a delivery and no other request, and none of another device or app")
    func byNumber() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(delivery(1) + delivery(2, isTracked: true) + delivery(3, operation: .interact))
        let reader = try ledger.reader()
        #expect(try found(reader, .seq(SequenceNumber(1))) == 1)
        #expect(try found(reader, .seq(SequenceNumber(2)), app: "shop", device: "d1") == 2)
        #expect(try found(reader, .seq(SequenceNumber(3))) == nil)
        #expect(try found(reader, .seq(SequenceNumber(4))) == nil)
        #expect(try found(reader, .seq(SequenceNumber(1)), device: "d2") == nil)
        #expect(try found(reader, .seq(SequenceNumber(1)), app: "other") == nil)
    }

    @Test("returns the request with its body and all its invocations")
    func story() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        let records = delivery(1)
        try await ledger.commit(records)
        let found = try #require(
            try ledger.reader().delivery(DeliveryReference(.message("m"), app: nil, device: nil)))
        #expect(found.request.body == Fixture.request(1).body)
        #expect(
            found.invocations == [
                Fixture.invocation(1, outcome: .handled), Fixture.invocation(1, n: 1, outcome: nil),
            ])
    }

    @Test("for FCM's lists returns Android deliveries to a device in order, among the newest requests only")
    func recent() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        #expect(try ledger.reader().recentDeliveries() == [])
        func request(_ seq: Int64, _ change: (inout AcceptedRequest) -> Void) -> LedgerRecord {
            var request = Fixture.request(seq)
            (request.state, request.duplicateID) = (.background, "id\(seq)")
            change(&request)
            return .request(request)
        }
        try await ledger.commit([
            request(1) { _ in }, request(2) { $0.platform = .ios }, request(3) { $0.operation = .interact },
            request(4) { $0.device = nil }, request(5) { ($0.app, $0.duplicateID, $0.state) = (nil, nil, .terminated) },
            request(7) { $0.device = "d2" }, request(8) { $0.state = nil },
        ])
        func recent(_ seq: Int64, app: String? = "com.example.shop", device: String = "d1", state: AppState?)
            -> RecentDelivery
        {
            RecentDelivery(
                device: DeviceKey(app: app, device: device), duplicateID: seq == 5 ? nil : "id\(seq)", state: state)
        }
        let newest = [
            recent(5, app: nil, state: .terminated), recent(7, device: "d2", state: .background),
            recent(8, state: nil),
        ]
        let reader = try ledger.reader()
        #expect(try reader.recentDeliveries() == [recent(1, state: .background)] + newest)
        #expect(try reader.recentDeliveries(amongNewest: 4) == newest)
        #expect(try reader.recentDeliveries(amongNewest: 1) == [recent(8, state: nil)])
    }
}
