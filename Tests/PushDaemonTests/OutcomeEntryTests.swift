import Testing

@testable import LinuxSystem
@testable import PushDaemon
@testable import PushModel
@testable import PushRouter
@testable import PushSettings
@testable import PushViews

@Suite("The journal's entry of an outcome")
struct OutcomeEntryTests {
    /// A result with a value in every field, no two equal.
    private var request = AcceptedRequest(
        seq: SequenceNumber(41), operation: .deliver, id: "a1", peer: Peer(uid: 11, gid: 12, pid: 13),
        acceptedAt: Moment(monotonic: Instant(nanoseconds: 14), wall: WallTime(milliseconds: 15)),
        boot: UUID128(high: 16, low: 17), mode: .relay, platform: .ios, app: "shop", device: "d1", externalID: "u1",
        messageID: "m1", transport: .apns, originalPriority: .high, deliveredPriority: .normal,
        replayOf: SequenceNumber(7), body: Array("body".utf8))
    private var invocation = InvocationRecord(
        id: InvocationID(seq: SequenceNumber(41), n: 2), callback: .willPresent, isObserver: true,
        provider: "onesignal", route: "20-crm", handler: "crm", budget: .microseconds(9_000_001),
        deadline: Instant(nanoseconds: 77), started: true, result: nil)
    private var result = InvocationResult(
        outcome: .timedOut, reason: "exit status 1", reasonCode: .handlerRejected, queue: .microseconds(1001),
        exec: .microseconds(2002),
        total: .microseconds(3003), completion: Completion(by: .handler, times: 5, result: .newData),
        waitedFor: Predecessor(
            id: InvocationID(seq: SequenceNumber(40), n: 1), handler: "before", took: .microseconds(4004)), ahead: 3,
        decidedAt: WallTime(milliseconds: 6006))

    private func entry(_ outcome: Outcome? = nil, _ level: JournalSettings.Level = .info) -> JournalEntry {
        var result = result
        result.outcome = outcome ?? result.outcome
        return JournalEntry(
            InvocationEnd(request: Indirect(request), invocation: invocation, result: Indirect(result)), number: 55,
            successLevel: level)
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
                "PUSH_SEQ": .integer(41), "PUSH_N": .integer(2), "PUSH_OUTCOME_NUMBER": .integer(55),
                "PUSH_ACCEPTED_AT_USEC": .integer(15_000), "PUSH_MODE": .text("relay"), "PUSH_STARTED": .integer(1),
                "PUSH_REASON": .text("exit status 1"), "PUSH_ORIGINAL_PRIORITY": .text("high"),
                "PUSH_DELIVERED_PRIORITY": .text("normal"), "PUSH_WAITED_FOR_HANDLER": .text("before"),
                "PUSH_WAITED_FOR_USEC": .integer(4004), "PUSH_AHEAD": .integer(3), "PUSH_REPLAY_OF": .integer(7),
                "PUSH_ID": .text("a1"), "PUSH_PLATFORM": .text("ios"),
                "PUSH_APP": .text("shop"), "PUSH_PROVIDER": .text("onesignal"), "PUSH_CALLBACK": .text("willPresent"),
                "PUSH_ROUTE": .text("20-crm"), "PUSH_HANDLER": .text("crm"), "PUSH_OUTCOME": .text("timed_out"),
                "PUSH_QUEUE_USEC": .integer(1001), "PUSH_EXEC_USEC": .integer(2002),
                "PUSH_TOTAL_USEC": .integer(3003), "PUSH_DEADLINE_USEC": .integer(9_000_001),
                "PUSH_REASON_CODE": .text("handler_rejected"), "PUSH_TRANSPORT": .text("apns"),
                "PUSH_OBSERVER": .integer(1), "PUSH_WAITED_FOR": .text("40/1"),
            ])
        #expect(entry.message == "seq 41: willPresent, observing handler crm: timed_out (exit status 1)")
    }

    @Test("the journal entry of an outcome omits fields without a value")
    func bare() {
        var bare = self
        (bare.invocation.provider, bare.invocation.route, bare.invocation.handler) = (nil, nil, nil)
        (bare.invocation.isObserver, bare.invocation.callback) = (false, .none)
        (bare.result.reason, bare.result.reasonCode, bare.result.waitedFor) = (nil, nil, nil)
        (bare.request.id, bare.request.app, bare.request.transport) = (nil, nil, nil)
        (bare.request.originalPriority, bare.request.deliveredPriority, bare.request.replayOf) = (nil, nil, nil)
        (bare.invocation.started, bare.result.ahead) = (false, nil)
        let entry = bare.entry(.shownBySystem)
        #expect(
            Set(fields(entry).keys) == [
                "PUSH_SEQ", "PUSH_N", "PUSH_OUTCOME_NUMBER", "PUSH_ACCEPTED_AT_USEC", "PUSH_MODE", "PUSH_PLATFORM",
                "PUSH_CALLBACK", "PUSH_OUTCOME", "PUSH_QUEUE_USEC", "PUSH_EXEC_USEC",
                "PUSH_TOTAL_USEC", "PUSH_DEADLINE_USEC",
            ])
        #expect(entry.message == "seq 41: none, nobody: shown_by_system")
        bare.invocation.provider = "braze"
        #expect(bare.entry(.shownBySystem).message == "seq 41: none, braze: shown_by_system")
    }

    /// The fields as a reader of the journal sees them.
    private func values(_ entry: JournalEntry) -> [String: String] {
        fields(entry).mapValues { value in
            switch value {
            case .text(let text): text
            case .integer(let number): String(number)
            }
        }
    }

    @Test("is read back as the ledger's row, except for device, message id and completion")
    func readBack() throws {
        var bare = self
        (bare.invocation.provider, bare.invocation.route, bare.invocation.handler) = (nil, nil, nil)
        (bare.invocation.isObserver, bare.invocation.started) = (false, false)
        (bare.result.reason, bare.result.reasonCode, bare.result.waitedFor) = (nil, nil, nil)
        (bare.request.id, bare.request.app, bare.request.transport) = (nil, nil, nil)
        for facts in [self, bare] {
            var invocation = facts.invocation
            invocation.deadline = nil
            invocation.result = facts.result
            invocation.result?.completion = nil
            let request = facts.request
            let row = ReportRow(
                invocation: invocation, mode: request.mode, platform: request.platform, app: request.app, device: nil,
                id: request.id, messageID: nil, acceptedAt: request.acceptedAt.wall, transport: request.transport,
                originalPriority: request.originalPriority, deliveredPriority: request.deliveredPriority,
                replayOf: request.replayOf)
            let values = values(facts.entry())
            #expect(try ReportRow(journal: values, decidedAt: facts.result.decidedAt) == row)
            #expect(Set(values.keys).isSubset(of: JournalRecord.fields))
        }
    }

    @Test(
        "is a warning for a missed deadline and a failure, with different message ids, whatever the level of successes")
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

    @Test("has the configured level for every other outcome")
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
