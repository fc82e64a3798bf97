import PushModel
import TestSupport
import Testing

@testable import Store

@Suite("What schema 5 left", .timeLimit(.minutes(30)))
struct MigrationFrom5Tests {
    private func code(_ reader: LedgerReader, _ seq: Int64) throws -> ReasonCode? {
        try reader.story(of: SequenceNumber(seq))?.invocations.first?.result?.reasonCode
    }

    @Test("a ledger keeps every row, and has the codes of the reasons that reports count by")
    func ledger() async throws {
        let directory = try EarlierLedger.dumped("ledger-v5.sql", schema: 5)
        let ledger = try TestLedger(directory.path)
        let reader = try ledger.reader()
        #expect(try ledger.intruder().integer("PRAGMA user_version") == Schema.version)
        var rows: [LedgerRow] = []
        try reader.rows { rows.append($0) }
        #expect(rows.map(\.seq.value) == Array(1...7))
        #expect(
            rows.map(\.invocation?.result?.reasonCode) == [
                .daemonCrashed, .daemonDown, .daemonDown, nil, nil, nil, nil,
            ])
        let remark = "daemon_down; no handler ever answered: the app completes the callback with failed"
        #expect(rows[1].invocation?.result?.reason == remark)
        #expect(rows.allSatisfy { $0.transport == nil && $0.originalPriority == nil && $0.deliveredPriority == nil })
        #expect(rows[5].invocation?.result?.reason?.hasPrefix("its id is among the last ten") == true)
        #expect(try reader.pendingInvocations().map(\.invocation.id.seq.value) == [7])

        try await ledger.commit([.request(Whole.requests[0]), .invocation(Whole.invocations[0])])
        #expect(try ledger.reader().story(of: Whole.requests[0].seq)?.request == Whole.requests[0])
        #expect(try code(ledger.reader(), 101) == .daemonDown)
    }

    /// `log-v5.rows` has the rows of the log that the same daemon left, of one batch behind the other: the outcomes of
    /// requests 1 to 3, and requests 4 to 8 whole.
    @Test("a log is applied: its rows have no transport, and the same codes")
    func log() throws {
        let directory = TemporaryDirectory()
        let writer = try LedgerWriter(directory: directory.path)
        let inFlight = RowBuffer()
        for seq in 1...3 as ClosedRange<Int64> {
            inFlight.append(Fixture.request(seq))
            inFlight.append(Fixture.invocation(seq, outcome: nil), isNew: true)
        }
        try writer.apply([inFlight], through: .start)
        let bytes = TestSupport.Fixture.bytes("log-v5.rows")
        try bytes.withUnsafeBytes { rows throws in try writer.apply([rows], through: .start) }

        let reader = try LedgerReader(directory: directory.path)
        #expect(try code(reader, 1) == .daemonCrashed)
        #expect(try code(reader, 2) == .daemonDown)
        #expect(try code(reader, 3) == .daemonDown)
        let last = try #require(try reader.story(of: SequenceNumber(8)))
        #expect(last.request.id == "last" && last.request.transport == nil && last.request.app == "shop")
        #expect(last.invocations.map(\.handler) == ["journal"])
        #expect(last.invocations.map(\.result?.outcome) == [.handled])
        #expect(try reader.story(of: SequenceNumber(5))?.events.map(\.push?.campaignID) == ["c1"])
        #expect(try reader.pendingInvocations().map(\.invocation.id.seq.value) == [7])
    }

    @Test("a log with a change of what is not there is refused, as one of today is")
    func contradiction() throws {
        let directory = TemporaryDirectory()
        let writer = try LedgerWriter(directory: directory.path)
        let bytes = TestSupport.Fixture.bytes("log-v5.rows")
        let error = #expect(throws: StoreError.self) {
            try bytes.withUnsafeBytes { rows throws in try writer.apply([rows], through: .start) }
        }
        #expect(error?.message == "there is no such invocation of request 1")
    }
}
