import Glibc
import PushModel
import TestSupport
import Testing

@testable import Store

@Suite("A ledger of schema 4", .timeLimit(.minutes(30)))
struct MigrationFrom4Tests {
    private func earlierLedger() throws -> TemporaryDirectory { try EarlierLedger.dumped("ledger-v4.sql", schema: 4) }

    private static let requests: [Int64] = Array(1...19)

    @Test("keeps every request with its invocations, those that are in flight too")
    func requests() throws {
        let directory = try earlierLedger()
        let ledger = try TestLedger(directory.path)
        let reader = try ledger.reader()
        #expect(try ledger.intruder().integer("PRAGMA user_version") == Schema.version)
        #expect(reader.stateIdentity.description == "0231efec-4cc4-386d-ba69-0406f97c1ee8")
        #expect(ledger.committer.lastNumber == 0 && ledger.committer.recovery == RecoverySummary())
        #expect(try reader.highestSequenceNumber() == SequenceNumber(19))
        var rows: [LedgerRow] = []
        try reader.rows { rows.append($0) }
        #expect(Set(rows.map(\.seq.value)) == Set(Self.requests))
        let slow = try #require(try reader.find(uid: rows[0].uid, id: "slow"))
        #expect(slow.request.seq == SequenceNumber(16) && slow.request.state == .background)
        #expect(slow.request.duplicateID == "0:3" && !slow.request.isTracked && slow.request.mode == .device)
        #expect(
            slow.invocations.map(\.handler) == ["crm", "journal"] && slow.invocations.map(\.started) == [true, false])
        #expect(slow.invocations.map(\.isObserver) == [false, true])
        #expect(try reader.pendingInvocations().map(\.invocation.id.seq.value) == [16, 17])
        let shown = try #require(try reader.story(of: SequenceNumber(15)))
        #expect(shown.invocations.map(\.callback) == [.willPresent, .didReceiveRemoteNotification])
        #expect(shown.invocations.allSatisfy { $0.result?.outcome == .handled && $0.budget == .seconds(9) })
        let reference = DeliveryReference(.message("0:4"), app: nil, device: "pixel-1")
        #expect(try reader.delivery(reference)?.request.seq == SequenceNumber(17))
    }

    @Test("keeps what the tracker and the devices are")
    func tracker() throws {
        let directory = try earlierLedger()
        let ledger = try TestLedger(directory.path)
        let reader = try ledger.reader()
        let events = try reader.events(after: 0, limit: 99)
        #expect(
            events.map(\.event.kind) == [
                .received, .sessionStart, .open, .customEvent, .received, .open, .tokenStateChange, .sessionStart,
                .customEvent,
            ])
        #expect(
            events.map(\.cursor) == Array(1...9) && events[6].event.content == .tokenStateChange(.new, token: "t-1"))
        #expect(events[3].event.content == .customEvent(name: "bought", properties: #"{"price":9.5}"#))
        #expect(events[5].event.button == AnalyticsEvent.Button(id: "no", action: .close))
        let tracked = try ledger.tracked()
        #expect(tracked.map(\.seq.value) == [4, 6] && tracked.map(\.opened?.by.value) == [5, nil])
        #expect(tracked.allSatisfy { $0.isDisplayed && $0.hasOwnID })
        var buttons: [String] = []
        try reader.closedButtons(ofNewest: 9) { buttons.append("\($0) \($1)") }
        #expect(buttons == ["6 no"])
        #expect(try reader.story(of: SequenceNumber(5))?.verdict == .opened)
        #expect(try reader.story(of: SequenceNumber(7))?.verdict == .closed)
        var (sessions, starts) = ([SessionRow](), [StartsRow]())
        try reader.sessions { sessions.append($0) }
        try reader.sessionStarts { starts.append($0) }
        #expect(sessions.map(\.externalID) == ["ada", "bob"] && sessions.map(\.number.value) == [5, 18])
        #expect(starts.map(\.key.owner) == ["ada", "bob"] && starts.map(\.starts) == sessions.map { [$0.startedAt] })
        #expect(try reader.pendingStarts().map(\.cause.value) == [5, 18])
        let held = try reader.heldInteractions().map(\.interaction)
        #expect(held.map(\.cause.value) == [19] && held.map(\.subject) == [.message("0:77")])
        #expect(try reader.knownDevices().map(\.key.device) == ["pixel-1", "iphone-1"])
    }

    @Test("keeps custom data, profiles and how sending goes")
    func customData() throws {
        let directory = try earlierLedger()
        let reader = try TestLedger(directory.path).reader()
        #expect(try reader.highestEntryNumber() == EntryNumber(7))
        let entries = try Self.requests.flatMap { try reader.story(of: SequenceNumber($0))?.entries ?? [] }
        #expect(entries.map(\.state) == [.flushed, .flushed, .flushed, .claimed, .flushed, .rejected, .queued])
        #expect(entries[3].claimant?.description == "01234567-89ab-cdef-fedc-ba9876543210")
        #expect(entries[3].entry.way == .sent(.brazeID("b1")) && entries[4].entry.way == .stored(suite: "group.a"))
        #expect(entries[5].reason?.hasPrefix("attributes.braze_id: ") == true)
        var unfinished: [Int64] = []
        try reader.unfinishedEntries { unfinished.append($0.entry.number.value) }
        #expect(unfinished == [4, 7])
        let profile = try reader.attributes(of: .user("ada"))
        #expect(
            profile.map { "\($0.name) \($0.value)" }.sorted() == [
                "email \"ada@example.com\"", "plan \"free\"", "visits 2",
            ])
        let sending = try #require(try reader.sendingState())
        #expect(sending.phase == .stopped && sending.failures == 3 && sending.reason == "the endpoint refuses the key")
    }

    @Test("goes on: what is accepted from then on goes through a log, which the next start reads")
    func goesOn() async throws {
        let directory = try earlierLedger()
        do {
            let ledger = try TestLedger(directory.path)
            try await ledger.commit(Fixture.delivery(20) + [.tracker(.delivery(Fixture.tracked(20)))])
            var decided = try #require(try ledger.reader().story(of: SequenceNumber(16))?.invocations.first)
            decided.result = Fixture.invocation(16, outcome: .failed).result
            try await ledger.commit([.update(decided)])
            #expect(try Set(ledger.storedNumbers()) == Set(Self.requests + [20]))
        }
        let ledger = try TestLedger(directory.path)
        #expect(ledger.committer.lastNumber == 2)
        #expect(try ledger.reader().pendingInvocations().map(\.invocation.id.seq.value) == [17])
        try await ledger.commit(Fixture.delivery(21))
        #expect(try Set(ledger.storedNumbers()) == Set(Self.requests + [20, 21]))
        #expect(try ledger.tracked().map(\.seq.value) == [4, 6, 20])
        #expect(try ledger.reader().lastCursor() == 11)
    }

    @Test(
        "is as it was when a kill -9 comes in the middle, and the next start brings it up to date",
        arguments: 0...2)
    func killed(writes: Int) async throws {
        let directory = try earlierLedger()
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = directory.path as String, writes = writes as Int] in
            let database = try Database(path: path + "/ledger.db", access: .readWrite)
            let watch = DiskWatch(path)
            // Of the WAL: the transaction writes its pages there, and counts with the last of them.
            try Schema.migrate(database, onMigration: { watch.killAtWrite(passing: writes) })
        }
        let database = try Database(path: directory.path + "/ledger.db", access: .readWrite)
        #expect(try database.integer("PRAGMA user_version") == 4)
        #expect(try database.integer("SELECT count(*) FROM sqlite_master WHERE name = 'log_position'") == 0)
        #expect(try Set(TestLedger(directory.path).storedNumbers()) == Set(Self.requests))
    }
}
