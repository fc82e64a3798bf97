import JournalLog
import PushModel
import PushSettings
import Testing

@testable import PushDaemon
@testable import PushRouting

@Suite("The journal's entry of an outcome")
struct OutcomeEntryTests {
    /// An end with something in every field, no two alike.
    private var request = AcceptedRequest(
        seq: SequenceNumber(41), operation: .deliver, id: "a1", peer: Peer(uid: 11, gid: 12, pid: 13),
        acceptedAt: Moment(monotonic: Instant(nanoseconds: 14), wall: WallTime(milliseconds: 15)),
        boot: UUID128(high: 16, low: 17), mode: .relay, platform: .ios, app: "shop", device: "d1", externalID: "u1",
        messageID: "m1", transport: .apns, body: Array("body".utf8))
    private var invocation = InvocationRecord(
        id: InvocationID(seq: SequenceNumber(41), n: 2), callback: .willPresent, isObserver: true,
        provider: "onesignal", route: "20-crm", handler: "crm", budget: .microseconds(9_000_001),
        deadline: Instant(nanoseconds: 77), started: true, result: nil)
    private var result = InvocationResult(
        outcome: .timedOut, reason: "exit status 1", reasonCode: .handlerRejected, queue: .microseconds(1001),
        exec: .microseconds(2002),
        total: .microseconds(3003), completion: Completion(by: .handler, times: 5, result: .newData),
        waitedFor: Predecessor(id: InvocationID(seq: SequenceNumber(40), n: 1), handler: "before"),
        decidedAt: WallTime(milliseconds: 6006))

    private func entry(_ outcome: Outcome? = nil, _ level: JournalSettings.Level = .info) -> JournalEntry {
        var result = result
        result.outcome = outcome ?? result.outcome
        return JournalEntry(
            InvocationEnd(request: request, invocation: invocation, result: result), successLevel: level)
    }

    private func fields(_ entry: JournalEntry) -> [String: JournalEntry.Value] {
        Dictionary(entry.fields.map { ($0.name.text, $0.value) }) { first, _ in
            Issue.record("a field comes twice")
            return first
        }
    }

    @Test("has each fact in its own field")
    func everyField() {
        let entry = entry()
        #expect(
            fields(entry) == [
                "PUSH_SEQ": .integer(41), "PUSH_ID": .text("a1"), "PUSH_PLATFORM": .text("ios"),
                "PUSH_APP": .text("shop"), "PUSH_PROVIDER": .text("onesignal"), "PUSH_CALLBACK": .text("willPresent"),
                "PUSH_ROUTE": .text("20-crm"), "PUSH_HANDLER": .text("crm"), "PUSH_OUTCOME": .text("timed_out"),
                "PUSH_QUEUE_USEC": .integer(1001), "PUSH_EXEC_USEC": .integer(2002),
                "PUSH_TOTAL_USEC": .integer(3003), "PUSH_DEADLINE_USEC": .integer(9_000_001),
                "PUSH_REASON_CODE": .text("handler_rejected"), "PUSH_TRANSPORT": .text("apns"),
                "PUSH_OBSERVER": .integer(1), "PUSH_WAITED_FOR": .text("40/1"),
            ])
        #expect(entry.message == "seq 41: willPresent, observing handler crm: timed_out (exit status 1)")
    }

    @Test("has no field for what there is not")
    func bare() {
        var bare = self
        (bare.invocation.provider, bare.invocation.route, bare.invocation.handler) = (nil, nil, nil)
        (bare.invocation.isObserver, bare.invocation.callback) = (false, .none)
        (bare.result.reason, bare.result.reasonCode, bare.result.waitedFor) = (nil, nil, nil)
        (bare.request.id, bare.request.app, bare.request.transport) = (nil, nil, nil)
        let entry = bare.entry(.shownBySystem)
        #expect(
            Set(fields(entry).keys) == [
                "PUSH_SEQ", "PUSH_PLATFORM", "PUSH_CALLBACK", "PUSH_OUTCOME", "PUSH_QUEUE_USEC", "PUSH_EXEC_USEC",
                "PUSH_TOTAL_USEC", "PUSH_DEADLINE_USEC",
            ])
        #expect(entry.message == "seq 41: none, nobody: shown_by_system")
        bare.invocation.provider = "braze"
        #expect(bare.entry(.shownBySystem).message == "seq 41: none, braze: shown_by_system")
    }

    @Test("is a warning for a missed deadline and a failure, each of its own kind, however loud successes are")
    func warnings() {
        for level in [JournalSettings.Level.info, .debug] {
            for outcome in [Outcome.timedOut, .expired] {
                let entry = entry(outcome, level)
                #expect(entry.priority == .warning && entry.messageID == .miss, "\(outcome)")
            }
            for outcome in [Outcome.failed, .unrouted] {
                let entry = entry(outcome, level)
                #expect(entry.priority == .warning && entry.messageID == .failure, "\(outcome)")
            }
        }
    }

    @Test("is as loud as is configured for everything else")
    func successes() {
        let others = Outcome.allCases.filter { ![.timedOut, .expired, .failed, .unrouted].contains($0) }
        #expect(others.count == 8)
        for outcome in others {
            for (level, priority) in [(JournalSettings.Level.info, JournalEntry.Priority.info), (.debug, .debug)] {
                let entry = entry(outcome, level)
                #expect(entry.priority == priority && entry.messageID == .outcome, "\(outcome)")
            }
        }
    }
}
