import Testing

@testable import LinuxSystem
@testable import PushDaemon
@testable import PushModel
@testable import PushRouter

@Suite("Rejected custom data in the journal")
struct RejectionLogTests {
    private let second: Int64 = 1_000_000_000

    private func rejection(_ number: Int64) -> Rejection {
        Rejection(
            number: EntryNumber(number), problem: EntryProblem(.notInPayload, "is missing", field: "braze_id"))
    }

    @Test("is a warning at once, and then one every ten seconds for all entries since; all are counted")
    func rate() {
        var log = RejectionLog()
        #expect(log.note([], at: 0) == nil)
        let first = log.note([rejection(1)], at: second)
        #expect(first?.message == "custom data rejected, entry 1: braze_id: is missing")
        #expect(first?.priority == .warning && first?.messageID == .customDataRejected)
        for number in Int64(2)...4 { #expect(log.note([rejection(number)], at: 2 * second) == nil) }
        #expect(log.takeDue(at: 11 * second - 1) == nil)
        let others = log.takeDue(at: 11 * second)
        #expect(others?.message == "custom data rejected, entry 2: braze_id: is missing (and 2 more)")
        #expect(log.takeDue(at: 30 * second) == nil)
        #expect(log.note([rejection(5), rejection(6)], at: 40 * second)?.message.hasSuffix("(and 1 more)") == true)
        #expect(log.count == 6)
    }
}
