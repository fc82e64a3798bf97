import Testing

@testable import LinuxSystem
@testable import PushDaemon
@testable import PushModel
@testable import PushRouter

@Suite("Forgotten devices in the journal")
struct EvictionLogTests {
    private let second: Int64 = 1_000_000_000

    @Test("are a warning at once if they had a token or topics, then one in ten minutes, and a problem for an hour")
    func rate() {
        var log = EvictionLog()
        var evictions = DeviceEvictions()
        evictions.note(false, of: Account(uid: 7))
        #expect(log.note(evictions, at: 0) == nil && log.problem(at: 0) == nil)
        evictions.note(true, of: Account(uid: 8))
        let first = log.note(evictions, at: second)
        #expect(first?.priority == .warning && first?.messageID == .devicesEvicted)
        #expect(
            first?.message
                == "the memory of devices is full (DeviceMemoryMax=): 1 device with a token or topics was forgotten, the "
                + "last of uid 8; publishes leave such a device out until it registers again")
        for _ in 0..<3 { evictions.note(true, of: Account(uid: 9)) }
        #expect(log.note(evictions, at: 2 * second) == nil)
        #expect(log.takeDue(at: 601 * second - 1) == nil)
        #expect(log.takeDue(at: 601 * second)?.message.contains("3 devices with a token or topics were") == true)
        #expect(
            log.problem(at: 602 * second)
                == "4 devices with a token or topics were forgotten since the start, the last of uid 9: DeviceMemoryMax= "
                + "is reached")
        #expect(log.problem(at: 3602 * second) == nil)
    }
}

@Suite("Warnings about payloads in the journal")
struct WarningLogTests {
    private let second: Int64 = 1_000_000_000

    private func note(_ payload: String, _ seq: Int64, at time: Int64, into counts: inout WarningCounts) throws {
        let document = try JSONDocument(scanning: Array(payload.utf8))
        let decision = try decide(Delivery(DeliverRequest(payload: document.root), platform: .ios))
        counts.note(decision, of: SequenceNumber(seq), at: Instant(nanoseconds: time))
    }

    @Test("are told at once for each rule, then once in ten minutes, without anything of a payload")
    func rate() throws {
        var (log, counts) = (WarningLog(), WarningCounts())
        try note(#"{"aps":{"alert":"x"}}"#, 1, at: 0, into: &counts)
        #expect(log.note(counts, at: 0).isEmpty)
        try note(#"{"secret":"value"}"#, 2, at: 0, into: &counts)
        #expect(
            log.note(counts, at: second).map(\.message) == [
                "seq 2: the payload has the warning aps_missing, which pushctl show 2 says in words"
            ])
        for seq in Int64(3)...5 { try note(#"{"secret":"value"}"#, seq, at: 0, into: &counts) }
        #expect(log.note(counts, at: 2 * second).isEmpty)
        try note(#"{"aps":{"alert":"x","mutableContent":1}}"#, 6, at: 0, into: &counts)
        #expect(log.note(counts, at: 3 * second).map(\.priority) == [.notice])
        let later = log.takeDue(counts, at: 601 * second).map(\.message)
        #expect(later.count == 1 && later.first?.contains("seq 5: ") == true)
        #expect(later.first?.hasSuffix("; so had 2 other pushes since the last entry") == true)
        #expect(log.takeDue(counts, at: 2000 * second).isEmpty)
    }

    @Test("are counted by rule, for 50 pushes at once and 2 in each later second")
    func counts() throws {
        var counts = WarningCounts()
        for seq in Int64(1)...150 { try note(#"{"k":"v"}"#, seq, at: seq, into: &counts) }
        #expect(counts.lookedAt == 50 && counts.byRule["aps_missing"]?.count == 50 && counts.total == 50)
        #expect(counts.byRule["aps_missing"]?.last == SequenceNumber(50))
        for seq in Int64(151)...160 { try note(#"{"k":"v"}"#, seq, at: seq + second, into: &counts) }
        #expect(counts.lookedAt == 52)
        for seq in Int64(161)...300 { try note(#"{"k":"v"}"#, seq, at: seq + 1000 * second, into: &counts) }
        #expect(counts.lookedAt == 102, "a pause saves no more than may be looked at at once")
    }
}
