import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("The ledger returns to the tracker", .timeLimit(.minutes(30)))
final class TrackerRowTests {
    private let directory = TemporaryDirectory()

    private func ledger(_ records: TrackerRecord...) async throws -> TestLedger {
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(records.map { .tracker($0) })
        return ledger
    }

    private static func time(_ milliseconds: Int64) -> WallTime { WallTime(milliseconds: milliseconds) }

    @Test("a delivery with its receipt, its open and its influenced open", arguments: RoundTripTests.texts)
    func delivery(text: String?) async throws {
        var row = Fixture.tracked(2)
        (row.receivedAt, row.since) = (Self.time(StoredRange.time.lowerBound), Self.time(StoredRange.time.upperBound))
        (row.isDisplayed, row.hasOwnID, row.uniqueID, row.digest) = (false, false, text, text == nil ? nil : .max)
        row.buttons = Array((text ?? "").utf8)
        let ledger = try await ledger()
        try await ledger.commit(Fixture.delivery(1) + [.tracker(.delivery(Fixture.tracked(1)))])
        try await ledger.commit(Fixture.delivery(2) + [.tracker(.delivery(row))])
        #expect(try ledger.tracked() == [Fixture.tracked(1), row])
        try await ledger.commit([
            .tracker(.opened(row.seq, at: Self.time(-7), by: SequenceNumber(3))), .tracker(.influenced(row.seq)),
        ])
        row.opened = .init(at: Self.time(-7), by: SequenceNumber(3))
        row.isInfluenced = true
        #expect(try ledger.tracked() == [Fixture.tracked(1), row], "and the other one is as it was")
        var receipts: [TrackedReceipt] = []
        try ledger.reader().trackedDeliveries(newest: 1) { receipts.append($1) }
        #expect(receipts == [TrackedReceipt(Fixture.event(2))])
    }

    @Test("a delivery whose receipt comes after another event, as in the foreground of iOS")
    func receiptBeforeAnotherEvent() async throws {
        let ledger = try await ledger()
        var shown = Fixture.event(1)
        shown.id = UUID128(high: 9, low: 9)
        shown.content = .iosForeground(.init(campaignID: "c1", messageID: "m1"))
        try await ledger.commit(Fixture.delivery(1) + [.event(shown), .tracker(.delivery(Fixture.tracked(1)))])
        var receipts: [TrackedReceipt] = []
        try ledger.reader().trackedDeliveries(newest: 1) { receipts.append($1) }
        #expect(receipts == [TrackedReceipt(Fixture.event(1))])
    }

    @Test("the newest deliveries in the order in which the tracker took them over, without forgotten ones")
    func order() async throws {
        let ledger = try await ledger()
        // The second one waited in its lane.
        for seq: Int64 in [1, 3, 2, 4] {
            try await ledger.commit(Fixture.delivery(seq) + [.tracker(.delivery(Fixture.tracked(seq)))])
        }
        #expect(try ledger.tracked().map(\.seq.value) == [1, 3, 2, 4])
        #expect(try ledger.tracked(newest: 3).map(\.seq.value) == [3, 2, 4])
        try await ledger.commit([.tracker(.forgottenDelivery(SequenceNumber(1)))])
        #expect(try ledger.tracked().map(\.seq.value) == [3, 2, 4])
        // The limit had excluded the older delivery: it stays out.
        try await ledger.commit([.tracker(.forgottenDelivery(SequenceNumber(2)))])
        #expect(try ledger.tracked().map(\.seq.value) == [4])
    }

    @Test("no delivery without its receipt: that is an error of the program")
    func withoutReceipt() async throws {
        let ledger = try await ledger()
        ledger.submit([.request(Fixture.request(1)), .tracker(.delivery(Fixture.tracked(1)))])
        guard case .failed(let error) = try await ledger.report() else {
            Issue.record("it was written")
            return
        }
        #expect(error.message == "there is no receipt of delivery 1")
    }

    @Test("each close button of a remembered delivery once")
    func closedButtons() async throws {
        let ledger = try await ledger()
        for seq: Int64 in 1...2 {
            try await ledger.commit(Fixture.delivery(seq) + [.tracker(.delivery(Fixture.tracked(seq)))])
        }
        let pressed: [(Int64, String)] = [(1, "no"), (2, "later"), (2, "later"), (2, "no")]
        for (cause, (delivery, button)) in pressed.enumerated() {
            let row = Fixture.interaction(Int64(cause) + 3, of: delivery, closing: button)
            try await ledger.commit([.tracker(.interaction(row))])
        }
        func buttons(ofNewest limit: Int) throws -> [String] {
            var found: [String] = []
            try ledger.reader().closedButtons(ofNewest: limit) { found.append("\($0) \($1)") }
            return found
        }
        #expect(try buttons(ofNewest: 2) == ["1 no", "2 later", "2 no"])
        #expect(try buttons(ofNewest: 1) == ["2 later", "2 no"])
        try await ledger.commit([.tracker(.forgottenDelivery(SequenceNumber(1)))])
        #expect(try buttons(ofNewest: 2) == ["2 later", "2 no"])
    }

    @Test("a session as last written, by its number", arguments: [nil, "shop"])
    func sessions(app: String?) async throws {
        let end = SessionRow.End(at: Self.time(StoredRange.time.upperBound), by: SequenceNumber(9), due: Self.time(-1))
        let key = DeviceKey(app: app, device: "d1")
        let first = SessionRow(
            number: SequenceNumber(8), key: key, platform: .web, externalID: "u1",
            startedAt: Self.time(StoredRange.time.lowerBound),
            end: nil, since: Self.time(5))
        var second = first
        (second.externalID, second.end, second.platform) = (nil, end, .ios)
        var other = first
        (other.key, other.number) = (DeviceKey(app: app, device: "d2"), SequenceNumber(7))
        let ledger = try await ledger(.session(first), .session(second), .session(other))
        func sessions(ofUser user: String? = nil) throws -> [SessionRow] {
            var rows: [SessionRow] = []
            try ledger.reader().sessions(ofUser: user) { rows.append($0) }
            return rows
        }
        #expect(try sessions() == [other, second])
        #expect(try sessions(ofUser: "u1") == [other])
        try await ledger.commit([.tracker(.forgottenSession(SequenceNumber(8)))])
        #expect(try sessions() == [other])
    }

    @Test("session starts as last written, by the number of the first", arguments: [nil, "shop"])
    func starts(app: String?) async throws {
        let key = StartsRow.Key(owner: "u1", isAnonymous: false, app: app)
        let number = SequenceNumber(3)
        let first = StartsRow(number: number, key: key, starts: [Self.time(1)], since: Self.time(9))
        let second = StartsRow(
            number: number, key: key,
            starts: [StoredRange.time.lowerBound, -1, 0, StoredRange.time.upperBound].map(Self.time),
            since: Self.time(8))
        var device = StartsRow(number: SequenceNumber(4), key: key, starts: [], since: Self.time(7))
        device.key.isAnonymous = true
        let ledger = try await ledger(.starts(first), .starts(device), .starts(second))
        func starts(ofUser user: String? = nil) throws -> [StartsRow] {
            var rows: [StartsRow] = []
            try ledger.reader().sessionStarts(ofUser: user) { rows.append($0) }
            return rows
        }
        #expect(try starts() == [device, second])
        #expect(try starts(ofUser: "u1") == [second], "a device of that name is nobody's")
        try await ledger.commit([.tracker(.forgottenStarts(number))])
        #expect(try starts() == [device])
    }

    @Test("devices in the order of their first mention, each as last written", arguments: [nil, "shop"])
    func devices(app: String?) async throws {
        func device(_ number: Int64, _ name: String, _ user: String?) -> KnownDevice {
            KnownDevice(
                number: SequenceNumber(number), key: DeviceKey(app: app, device: name), platform: .ios,
                externalID: user)
        }
        let devices = [device(1, "d9", "u1"), device(2, "d1", nil), device(5, "", "u2")]
        let ledger = try await ledger()
        try await ledger.commit((devices + [device(1, "d9", nil)]).map { .device($0) })
        #expect(try ledger.reader().knownDevices() == [device(1, "d9", nil)] + devices[1...])
        try await ledger.commit([.forgottenDevice(SequenceNumber(2))])
        #expect(try ledger.reader().knownDevices() == [device(1, "d9", nil), devices[2]])
    }

    @Test("sessions on new devices, written side by side among thousands")
    func appended() throws {
        func rows(_ numbers: ClosedRange<Int64>) -> [LedgerRecord] {
            numbers.flatMap { number -> [LedgerRecord] in
                // The names come in no order, as real ones do.
                let (seq, name) = (SequenceNumber(number), "\(number * 7919 % 10_007)-of-a-usual-length")
                let key = DeviceKey(app: "com.example.shop", device: name)
                let start = StartsRow(
                    number: seq, key: .init(owner: name, isAnonymous: false, app: key.app), starts: [Self.time(number)],
                    since: Self.time(number))
                let session = SessionRow(
                    number: seq, key: key, platform: .ios, externalID: name, startedAt: Self.time(number), end: nil,
                    since: Self.time(number))
                let device = KnownDevice(number: seq, key: key, platform: .ios, externalID: name)
                return [.device(device), .tracker(.session(session)), .tracker(.starts(start))]
            }
        }
        let writer = try LedgerWriter(directory: directory.path)
        func apply(_ numbers: ClosedRange<Int64>) throws {
            let buffer = RowBuffer()
            for record in rows(numbers) { buffer.append(record) }
            try writer.apply([buffer], through: writer.position)
        }
        try apply(1...4000)
        try writer.checkpoint()
        try apply(4001...4020)
        // The log holds, of each of the three tables, the last page, the next one and the one above them; and the
        // position.
        let page = writer.pageLength
        #expect(writer.hasLog(of: 3 * page) && !writer.hasLog(of: 10 * page))
    }

    @Test("held interactions until they are decided")
    func waiting() async throws {
        let starts = [nil, "u1"].enumerated().map { index, user in
            PendingStart(
                cause: SequenceNumber(Int64(index)), key: DeviceKey(app: user, device: "d"), externalID: user,
                at: Self.time(StoredRange.time.lowerBound), window: StoredRange.time.upperBound, due: Self.time(3))
        }
        let subjects: [Interaction.Subject] = [.delivery(SequenceNumber(4)), .message(""), .payload(.max)]
        let acts: [Interaction.Act] = [.opened, .button(""), .dismissed]
        let held = zip(subjects, acts).enumerated().map { index, pair in
            HeldInteraction(
                Interaction(
                    cause: SequenceNumber(Int64(index)), subject: pair.0, act: pair.1, platform: .ios,
                    app: index == 0 ? nil : "a", device: index == 1 ? nil : "d", externalID: index == 2 ? nil : "u",
                    at: Self.time(-1)),
                due: Self.time(StoredRange.time.upperBound))
        }
        let ledger = try await ledger()
        try await ledger.commit(starts.map { .tracker(.pendingStart($0)) } + held.map { .tracker(.held($0)) })
        #expect(try ledger.reader().pendingStarts() == starts)
        #expect(try ledger.reader().heldInteractions() == held)
        try await ledger.commit([
            .tracker(.decidedStart(SequenceNumber(0))), .tracker(.settled(SequenceNumber(1))),
        ])
        #expect(try ledger.reader().pendingStarts() == [starts[1]])
        #expect(try ledger.reader().heldInteractions() == [held[0], held[2]])
    }

    @Test("interactions with the facts of their requests and deliveries")
    func interactions() async throws {
        let ledger = try await ledger()
        try await ledger.commit(Fixture.delivery(1))
        var rows = Interaction.Verdict.allCases.enumerated().map { index, verdict in
            InteractionRow(
                cause: SequenceNumber(Int64(index) + 2), delivery: SequenceNumber(1), verdict: verdict, button: "b",
                buttonAction: ButtonAction.allCases[index % ButtonAction.allCases.count], at: Self.time(Int64(index)))
        }
        (rows[7].delivery, rows[7].button, rows[7].buttonAction) = (nil, nil, nil)
        try await ledger.commit(
            rows.map { .request(Fixture.request($0.cause.value)) } + rows.map { .tracker(.interaction($0)) })
        var found: [StoredInteraction] = []
        try ledger.reader().interactions { found.append($0) }
        #expect(found.map(\.row) == rows)
        #expect(found.map(\.campaignID) == Array(repeating: "c1", count: 7) + [nil])
        #expect(found.allSatisfy { $0.device == "d1" && $0.app == "com.example.shop" && $0.externalID == "u1" })
        found = []
        try ledger.reader().interactions(from: Self.time(2), to: Self.time(4)) { found.append($0) }
        #expect(found.map(\.row) == Array(rows[2..<4]))
    }
}

@Suite("Events by cursor", .timeLimit(.minutes(30)))
struct EventCursorTests {
    @Test("are read without gap or overlap; a later commit with an earlier number comes last")
    func cursor() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        try await ledger.commit(Fixture.delivery(1) + Fixture.delivery(3))
        let reader = try ledger.reader()
        let first = try reader.events(after: 0, limit: 2)
        #expect(first.map(\.event.seq.value) == [1, 3])
        // The open was decided after a later request: its number and its time are earlier.
        var late = Fixture.event(2, .influencedOpen, delivery: 1)
        late.time = 0
        try await ledger.commit([.request(Fixture.request(2)), .event(late)] + Fixture.delivery(4))
        let rest = try reader.events(after: try #require(first.last).cursor, limit: 10)
        #expect(rest.map(\.event) == [late, Fixture.event(4)])
        #expect(try reader.events(after: try reader.lastCursor(), limit: 10).isEmpty)
        #expect(try reader.story(of: SequenceNumber(1))?.events == [Fixture.event(1), late])
    }

    @Test("are selected by time and by user")
    func others() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        let events = (Int64(1)...4).map { seq in
            var event: AnalyticsEvent = Fixture.event(seq)
            (event.time, event.externalUserID) = (seq * 10, seq == 2 ? nil : "u\(seq % 2)")
            return event
        }
        try await ledger.commit(events.map { .event($0) })
        let reader = try ledger.reader()
        func times(_ start: Int64?, _ end: Int64?) throws -> [Int64] {
            var times: [Int64] = []
            let (start, end) = (start.map(WallTime.init(milliseconds:)), end.map(WallTime.init(milliseconds:)))
            try reader.events(from: start, to: end) { times.append($0.time) }
            return times
        }
        #expect(try times(nil, nil) == [10, 20, 30, 40])
        #expect(try times(20_000, 40_000) == [20, 30])
        #expect(try times(20_001, nil) == [30, 40])
        #expect(try reader.events(ofUser: "u1", limit: 5).map(\.event) == [events[2], events[0]])
        #expect(try reader.events(ofUser: "u1", limit: 1).map(\.cursor) == [3])
        #expect(try reader.events(ofUser: "u2", limit: 5).isEmpty)
    }
}
