import Glibc
import PushModel
import TestSupport
import Testing

@testable import Store

@Suite("A ledger of schema 1", .timeLimit(.minutes(30)))
struct MigrationTests {
    /// A state directory with the ledger that a daemon of schema 1 left behind.
    private func earlierLedger() throws -> TemporaryDirectory { try EarlierLedger.dumped("ledger-v1.sql", schema: 1) }

    @Test("is not read before the daemon has brought it up to date, and that is said")
    func unread() throws {
        let directory = try earlierLedger()
        let error = #expect(throws: StoreError.self) { try LedgerReader(directory: directory.path) }
        #expect(error?.kind == .olderSchema)
        #expect(
            error?.description
                == "\(directory.path)/ledger.db: the ledger has schema 1; this program reads \(Schema.version); "
                + "start the new pushrouterd once with this state directory: it brings the ledger up to date")
    }

    @Test("keeps every row, with nothing in the columns that are new")
    func kept() throws {
        let directory = try earlierLedger()
        let ledger = try TestLedger(directory.path)
        let reader = try ledger.reader()
        #expect(reader.stateIdentity.description == "22af94c4-b533-64b1-6ed1-c079ba690b18")
        #expect(try reader.highestSequenceNumber() == SequenceNumber(5))
        #expect(try ledger.intruder().integer("PRAGMA user_version") == Schema.version)
        var rows: [LedgerRow] = []
        try reader.rows { rows.append($0) }
        #expect(rows.map(\.seq.value) == [1, 2, 3, 4, 5])
        let outcomes: [Outcome?] = [.handedToTracker, .handedToTracker, .handled, .handled, nil]
        #expect(rows.map { $0.invocation?.result?.outcome } == outcomes)
        #expect(rows.allSatisfy { $0.invocation?.isObserver == false && $0.invocation?.result?.waitedFor == nil })

        let story = try #require(try reader.story(of: SequenceNumber(1)))
        #expect(story.request.id == "a1" && story.request.externalID == "ada" && story.request.messageID == "0:1")
        #expect(story.request.state == nil && story.request.duplicateID == nil && !story.request.isTracked)
        #expect(String(decoding: story.request.body, as: UTF8.self).hasPrefix(#"{"op":"deliver","id":"a1""#))
        #expect(story.events.map(\.kind) == [.received, .open])
        #expect(try reader.find(uid: story.request.peer.uid, id: "a1") == story)
        #expect(try reader.pendingInvocations().map(\.invocation.id.seq.value) == [5])
        let devices = try reader.knownDevices()
        #expect(devices.map(\.key.device) == ["iphone-1", "pixel-1", "pixel-2"])
        #expect(devices.map(\.externalID) == [nil, "ada", nil] && devices[0].platform == .ios)
        #expect(devices.map(\.number.value) == [-2, -1, 0], "which no request has")
    }

    @Test("gives up the deliveries that a tap names, and those that FCM's lists were made of")
    func found() throws {
        let directory = try earlierLedger()
        let ledger = try TestLedger(directory.path)
        let reader = try ledger.reader()
        let byMessage = try reader.delivery(DeliveryReference(.message("0:2"), app: nil, device: "pixel-1"))
        #expect(byMessage?.request.seq == SequenceNumber(3))
        #expect(
            try reader.recentDeliveries().map(\.device.device) == ["pixel-1", "pixel-1", "pixel-2"],
            "their state and ids are not known")
    }

    @Test("takes what is written from then on")
    func written() async throws {
        let directory = try earlierLedger()
        let ledger = try TestLedger(directory.path)
        var request = Fixture.request(6)
        (request.state, request.duplicateID) = (.foreground, "0:6")
        var observer = Fixture.invocation(6, n: 1)
        observer.isObserver = true
        observer.result?.waitedFor = Predecessor(id: InvocationID(seq: SequenceNumber(5), n: 0), handler: "slow")
        try await ledger.commit([
            .request(request), .invocation(Fixture.invocation(6)), .invocation(observer), .event(Fixture.event(6)),
        ])
        let story = try #require(try ledger.reader().story(of: SequenceNumber(6)))
        #expect(story.request == request)
        #expect(story.invocations == [Fixture.invocation(6), observer])
    }
}

@Suite("A ledger of schema 2", .timeLimit(.minutes(30)))
struct MigrationFrom2Tests {
    private func earlierLedger() throws -> TemporaryDirectory { try EarlierLedger.dumped("ledger-v2.sql", schema: 2) }

    @Test("keeps every event, with cursors in the order of their requests")
    func events() throws {
        let directory = try earlierLedger()
        let reader = try TestLedger(directory.path).reader()
        let events = try reader.events(after: 0, limit: 100)
        #expect(events.map(\.cursor) == [1, 2, 3, 4])
        #expect(events.map(\.event.seq.value) == [1, 2, 3, 4])
        #expect(events.map(\.event.kind) == [.received, .open, .received, .received])
        #expect(try reader.story(of: SequenceNumber(1))?.events == events[..<2].map(\.event))
    }

    @Test("has the tracker remember its deliveries, opened or not, each once")
    func deliveries() async throws {
        let directory = try earlierLedger()
        let ledger = try TestLedger(directory.path)
        let rows = try ledger.tracked()
        #expect(rows.map(\.seq.value) == [1, 3, 4])
        #expect(rows.map(\.opened?.by.value) == [2, nil, nil])
        let times = try rows.map { try ledger.reader().story(of: $0.seq)?.events.first?.time }
        #expect(rows.map(\.receivedAt.seconds) == times && rows.map(\.since) == rows.map(\.receivedAt))
        #expect(rows[0].opened?.at.seconds == times[0])
        // Whether it was displayed is not known: no session start is to count it wrongly.
        #expect(rows.allSatisfy { !$0.isDisplayed && $0.hasOwnID && !$0.isInfluenced && $0.buttons.isEmpty })

        try await ledger.commit(Fixture.delivery(6) + [.tracker(.delivery(Fixture.tracked(6)))])
        #expect(try ledger.tracked().map(\.seq.value) == [1, 3, 4, 6])
        #expect(try ledger.reader().lastCursor() == 5)
    }
}

@Suite("A ledger of schema 3", .timeLimit(.minutes(30)))
struct MigrationFrom3Tests {
    @Test("keeps its events and what the tracker remembers, and has no custom data")
    func kept() async throws {
        let directory = try EarlierLedger.dumped("ledger-v3.sql", schema: 3)
        let ledger = try TestLedger(directory.path)
        let reader = try ledger.reader()
        let kinds: [AnalyticsEvent.Kind] = [.received, .sessionStart, .open, .tokenStateChange, .sessionStart]
        let events = try reader.events(after: 0, limit: 100)
        #expect(events.map(\.event.kind) == kinds && events.map(\.cursor) == [1, 2, 3, 4, 5])
        #expect(events[3].event.content == .tokenStateChange(.new, token: "t-1"))
        #expect(try ledger.tracked().map(\.opened?.by.value) == [2])
        #expect(try reader.pendingStarts().map(\.cause.value) == [2, 5])
        #expect(try reader.story(of: SequenceNumber(2))?.verdict == .opened)
        #expect(try reader.highestEntryNumber() == EntryNumber(0) && reader.sendingState() == nil)
        try reader.unfinishedEntries { Issue.record("there is \($0)") }

        try await ledger.commit([
            .event(Fixture.event(6, .customEvent)), .customData(.entry(Fixture.entry(1), .pending, problem: nil)),
        ])
        #expect(try ledger.reader().lastCursor() == 6)
        #expect(try ledger.reader().highestEntryNumber() == EntryNumber(1))
    }

    @Test("numbers its devices, sessions and session starts, apart from what comes")
    func numbers() async throws {
        let directory = try EarlierLedger.dumped("ledger-v3.sql", schema: 3)
        let ledger = try TestLedger(directory.path)
        var (sessions, starts): ([SessionRow], [StartsRow]) = ([], [])
        func read() throws {
            (sessions, starts) = ([], [])
            try ledger.reader().sessions { sessions.append($0) }
            try ledger.reader().sessionStarts { starts.append($0) }
        }
        try read()
        #expect(sessions.map(\.number.value) == [2, 5] && sessions.map(\.key.device) == ["pixel-1", "iphone-1"])
        #expect(sessions.map(\.externalID) == ["ada", "bob"] && sessions.map(\.platform) == [.android, .ios])
        #expect(sessions.allSatisfy { $0.key.app == "com.example.shop" && $0.end == nil })
        #expect(sessions.map(\.startedAt.milliseconds) == [1_795_253_582_912, 1_795_253_582_920])
        #expect(starts.map(\.number.value) == [-1, 0] && starts.map(\.key.owner) == ["ada", "bob"])
        #expect(starts.map(\.starts) == sessions.map { [$0.startedAt] } && starts.allSatisfy { !$0.key.isAnonymous })
        #expect(try ledger.reader().knownDevices().map(\.number.value) == [-1, 0])

        var (session, start) = (sessions[1], starts[0])
        (session.number, start.number) = (SequenceNumber(6), SequenceNumber(6))
        starts[1].starts.append(session.startedAt)
        try await ledger.commit([
            .tracker(.forgottenSession(SequenceNumber(5))), .tracker(.session(session)), .tracker(.starts(starts[1])),
            .tracker(.forgottenStarts(SequenceNumber(-1))), .tracker(.starts(start)),
        ])
        let kept = starts[1]
        try read()
        #expect(sessions.map(\.number.value) == [2, 6])
        #expect(starts.sorted { $0.number < $1.number } == [kept, start])
    }
}
