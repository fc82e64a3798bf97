import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("The ledger gives back what was written", .timeLimit(.minutes(30)))
struct RoundTripTests {
    static let texts: [String?] = [
        nil, "", "plain", "👩‍👩‍👧 ünï", "nul\u{0}inside\u{0}", String(repeating: "long ", count: 20_000),
    ]
    static let integers: [Int64] = [0, 1, StoredRange.time.upperBound]

    private func roundTrip(
        _ request: AcceptedRequest, _ invocations: [InvocationRecord] = [], _ events: [AnalyticsEvent] = []
    ) async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path + "/state")
        try await ledger.commit(
            [.request(request)] + invocations.map { .invocation($0) } + events.map { .event($0) })
        let story = try #require(try ledger.reader().story(of: request.seq))
        #expect(story.request == request)
        #expect(story.invocations == invocations)
        #expect(story.events == events)
    }

    @Test("any text, or none, in every field of a request", arguments: texts)
    func requestTexts(text: String?) async throws {
        var request = Fixture.request(1, id: text)
        (request.app, request.device, request.externalID, request.messageID) = (text, text, text, text)
        request.duplicateID = text
        request.body = Array((text ?? "").utf8)
        try await roundTrip(request)
    }

    @Test("any 64-bit number in a request", arguments: integers)
    func requestNumbers(number: Int64) async throws {
        var request = Fixture.request(number)
        request.acceptedAt = Moment(
            monotonic: Instant(nanoseconds: number), wall: WallTime(milliseconds: number))
        request.peer = Peer(uid: .max, gid: .max, pid: .max)
        request.boot = UUID128(high: UInt64(bitPattern: number), low: .max)
        try await roundTrip(request)
    }

    @Test("every app state, or none, and whether the tracker remembers it", arguments: AppState.allCases + [nil])
    func states(state: AppState?) async throws {
        for isTracked in [true, false] {
            var request = Fixture.request(1)
            (request.state, request.isTracked) = (state, isTracked)
            try await roundTrip(request)
        }
    }

    @Test("the ledger gives back every operation, mode and platform")
    func vocabulary() async throws {
        for (index, operation) in Operation.allCases.enumerated() {
            var request = Fixture.request(1)
            request.operation = operation
            request.mode = DispatchMode.allCases[index % DispatchMode.allCases.count]
            request.platform = Platform.allCases[index % Platform.allCases.count]
            try await roundTrip(request)
        }
    }

    @Test("every callback and outcome, pending and decided")
    func invocations() async throws {
        let callbacks = Callback.allCases.map { callback in
            var invocation = Fixture.invocation(1, outcome: nil)
            invocation.callback = callback
            return invocation
        }
        let outcomes = Outcome.allCases.map { Fixture.invocation(1, outcome: $0) }
        let all = (callbacks + outcomes).enumerated().map { n, invocation in
            var invocation = invocation
            invocation.id.n = n
            return invocation
        }
        try await roundTrip(Fixture.request(1), all)
    }

    @Test("any text in an invocation and its result", arguments: texts)
    func invocationTexts(text: String?) async throws {
        var invocation = Fixture.invocation(1, outcome: .failed)
        (invocation.provider, invocation.route, invocation.handler) = (text, text, text)
        invocation.result?.reason = text
        invocation.result?.waitedFor = Predecessor(
            id: InvocationID(seq: SequenceNumber(StoredRange.number.upperBound), n: 7), handler: text)
        try await roundTrip(Fixture.request(1), [invocation])
    }

    @Test("the ledger gives back budget, deadline, spans and completion", arguments: [true, false])
    func invocationResult(started: Bool) async throws {
        var invocation = Fixture.invocation(1, outcome: .handled)
        (invocation.started, invocation.isObserver) = (started, started)
        invocation.budget = .microseconds(8_999_999)
        invocation.deadline = Instant(nanoseconds: StoredRange.number.upperBound)
        invocation.result?.queue = .microseconds(1)
        invocation.result?.exec = .microseconds(StoredRange.span.upperBound)
        invocation.result?.total = .microseconds(-1)
        invocation.result?.decidedAt = WallTime(milliseconds: StoredRange.time.lowerBound)
        let completions = [
            Completion(by: .handler, times: 3, result: .newData, options: ["banner", "list", "sound"]),
            Completion(by: .tracker, result: .noData), Completion(by: .default, result: .failed, options: [""]),
        ]
        let all = completions.enumerated().map { n, completion in
            var invocation = invocation
            invocation.id.n = n
            invocation.result?.completion = completion
            return invocation
        }
        try await roundTrip(Fixture.request(1), all)
    }

    @Test("any text in an event of any kind", arguments: texts, AnalyticsEvent.Kind.allCases)
    func events(text: String?, kind: AnalyticsEvent.Kind) async throws {
        var event = Fixture.event(1, kind)
        (event.externalUserID, event.deviceID, event.appID) = (text, text, text)
        (event.id, event.time) = (UUID128(high: .max, low: 0), StoredRange.time.lowerBound)
        let push = AnalyticsEvent.Push(campaignID: text, messageID: text)
        event.content =
            switch kind {
            case .received: .received(push)
            case .open: .open(push, button: text.map { AnalyticsEvent.Button(id: $0, action: nil) })
            case .influencedOpen: .influencedOpen(push)
            case .iosForeground: .iosForeground(push)
            case .sessionStart: .sessionStart
            case .sessionEnd: .sessionEnd(.milliseconds(text?.utf8.count ?? 0))
            case .tokenStateChange: .tokenStateChange(.unregistered, token: text)
            case .uninstall: .uninstall
            case .customEvent: .customEvent(name: text ?? "", properties: text)
            }
        try await roundTrip(Fixture.request(1), [], [event])
    }

    @Test("an update replaces the whole row, and a decided invocation is no longer pending")
    func update() async throws {
        let directory = TemporaryDirectory()
        let ledger = try TestLedger(directory.path)
        let pending = Fixture.invocation(1, outcome: nil)
        try await ledger.commit([.request(Fixture.request(1)), .invocation(pending)])
        var started = pending
        (started.route, started.handler, started.started, started.isObserver) = ("20-crm", "crm", true, true)
        started.deadline = Instant(nanoseconds: 12)
        try await ledger.commit([.update(started)])
        #expect(try ledger.reader().pendingInvocations().map(\.invocation) == [started])
        var decided = started
        decided.result = Fixture.invocation(1, outcome: .timedOut).result
        decided.result?.waitedFor = Predecessor(id: InvocationID(seq: SequenceNumber(40), n: 1), handler: "crm")
        try await ledger.commit([.update(decided)])
        #expect(try ledger.reader().pendingInvocations().isEmpty)
        #expect(try ledger.reader().story(of: SequenceNumber(1))?.invocations == [decided])
    }
}
