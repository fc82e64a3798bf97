import Testing

@testable import LinuxSystem
@testable import PushDaemon
@testable import PushModel

@Suite("Acts that come too often for a record of each")
struct AuditSumsTests {
    private static let minute = AuditSums.minute

    private func act(
        _ act: AuditRecord.Act = .purge, uid: UInt32? = 0, count: Int? = 2, _ result: AuditRecord.Result = .done,
        at: Int64 = 1
    ) -> AuditRecord {
        AuditRecord(
            at: WallTime(milliseconds: at), AuditRecord.Subject(act, "object", externalID: "anna", device: "d"),
            .control, result, uid: uid, pid: 7, count: count)
    }

    @Test("are summed up by user, act and result after the first 30 of a user in a minute")
    func sums() {
        var sums = AuditSums()
        for number in 1...30 { #expect(sums.take(act(at: Int64(number)), at: 5) == [act(at: Int64(number))]) }
        for number in 31...40 { #expect(sums.take(act(at: Int64(number)), at: 5).isEmpty) }
        #expect(sums.take(act(.reset, .refused), at: 6).isEmpty)
        #expect(sums.take(act(uid: 4), at: 6) == [act(uid: 4)], "another user is not held up")
        #expect(sums.takeDue(at: 4 + Self.minute).isEmpty)
        let due = sums.takeDue(at: 5 + Self.minute)
        #expect(due.map(\.times) == [10, 1] && due.map(\.count) == [20, 2])
        #expect(due.map(\.subject) == [AuditRecord.Subject(.purge), AuditRecord.Subject(.reset)])
        #expect(due.map(\.at.milliseconds) == [40, 1] && due.map(\.uid) == [0, 0] && due.map(\.pid) == [nil, nil])
        #expect(sums.takeDue(at: .max).isEmpty)
        #expect(sums.take(act(), at: 6 + Self.minute) == [act()], "a new minute")
    }

    @Test("are written with the first act of the next minute, or at the end of the daemon")
    func ends() {
        var sums = AuditSums()
        for _ in 1...33 { _ = sums.take(act(), at: 0) }
        #expect(sums.take(act(.reload), at: Self.minute).map(\.times) == [3, 1])
        for _ in 1...33 { _ = sums.take(act(), at: Self.minute) }
        #expect(sums.takeDue(at: .max).map(\.times) == [4])
    }

    @Test("of more than 64 users share one count, and each record of its own keeps its user")
    func users() {
        var sums = AuditSums()
        for uid in 1...64 { #expect(sums.take(act(uid: UInt32(uid)), at: 0).map(\.uid) == [UInt32(uid)]) }
        for uid in 100..<130 { #expect(sums.take(act(uid: UInt32(uid)), at: 0).map(\.uid) == [UInt32(uid)]) }
        for uid in 200..<300 { #expect(sums.take(act(uid: UInt32(uid)), at: 0).isEmpty) }
        let due = sums.takeDue(at: .max)
        #expect(due.map(\.times) == [100] && due.map(\.uid) == [nil])
    }

    @Test("have journal entries without the person, at every level")
    func entry() {
        var record = act()
        (record.reason, record.times) = ("why", 3)
        let entry = JournalEntry(record)
        #expect(entry.message == "purge (object) 3 times by uid 0, process 7, on control.sock: done, 2: why")
        #expect(entry.messageID == .audited && entry.isWrittenAlways)
        let fields = entry.fields.map { "\($0.name.text)=\($0.value)" }
        #expect(
            fields == [
                #"PUSH_ACT=text("purge")"#, #"PUSH_ENTRANCE=text("control")"#, #"PUSH_RESULT=text("done")"#,
                "PUSH_TIMES=integer(3)", #"PUSH_OBJECT=text("object")"#, "PUSH_PEER_UID=integer(0)",
                "PUSH_PEER_PID=integer(7)", "PUSH_COUNT=integer(2)", #"PUSH_REASON=text("why")"#,
            ])
    }
}
