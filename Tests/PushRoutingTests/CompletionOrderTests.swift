import Testing

@testable import PushModel
@testable import PushRouter

// Every order of the events that can end an invocation, and every prefix of such an order.
@Suite("A completion handler is called once")
struct CompletionOrderTests {
    /// An event that may come to a submitted invocation, each at most once.
    enum Step: CaseIterable {
        case started, answer, secondAnswer, deadline, crash, stop
    }

    /// A request, and the callbacks that it leads to.
    struct Subject: Sendable, CustomTestStringConvertible {
        var callbacks: [Callback]
        var isBraze: Bool
        var request: Request
        /// Whether it waits behind another one.
        var waits = false

        var testDescription: String {
            callbacks.map(\.rawValue).joined(separator: ", ") + (isBraze ? " of Braze" : " of another")
        }
    }

    /// The first answer of the handler; every later answer is `failed`.
    struct FirstAnswer: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var answer: HandlerAnswer
    }

    private static let subjects: [Subject] = [false, true].flatMap { isBraze in
        let owner = isBraze ? #""ab":{"c":"summer"}"# : #""custom":{"i":"1"}"#
        func push(_ aps: String, state: AppState = .background) -> Request {
            .deliver(#"{"aps":{\#(aps)},\#(owner)}"#, platform: .ios, state: state)
        }
        let payload = JSONDocument(test: #"{"aps":{"alert":"Text"},\#(owner)}"#).root
        let android = isBraze ? Payload.braze() : #"{"k":"v"}"#
        return [
            Subject(
                callbacks: [.didReceiveRemoteNotification], isBraze: isBraze, request: push(#""content-available":1"#)),
            Subject(
                callbacks: [.willPresent], isBraze: isBraze, request: push(#""alert":"Text""#, state: .foreground)),
            Subject(
                callbacks: [.serviceExtension], isBraze: isBraze,
                request: push(#""alert":"Text","mutable-content":1"#)),
            Subject(
                callbacks: [.willPresent, .didReceiveRemoteNotification], isBraze: isBraze,
                request: push(#""alert":"Text","content-available":1"#, state: .foreground)),
            Subject(
                callbacks: [.didReceiveResponse], isBraze: isBraze, request: .open(.payload(payload), platform: .ios)),
            Subject(
                callbacks: [.onMessageReceived], isBraze: isBraze, request: .deliver(android, to: "phone"), waits: true),
        ]
    }

    private static let firstAnswers = [
        FirstAnswer(
            testDescription: "newData", answer: .handled(.init(result: .newData, options: ["badge"]))),
        FirstAnswer(testDescription: "nothing", answer: .handled(.init())),
        FirstAnswer(testDescription: "retry", answer: History.retry),
    ]

    @Test(
        "in every order of start, answers, deadline, crash and stop", arguments: subjects,
        DispatchMode.allCases.flatMap { mode in firstAnswers.map { (mode, $0) } })
    func once(_ subject: Subject, _ circumstances: (mode: DispatchMode, first: FirstAnswer)) throws {
        let (mode, first) = circumstances
        // Braze's callbacks run no handler.
        if subject.isBraze, first.testDescription != "newData" { return }
        var history = try History(subject, mode: mode, first: first.answer)
        var count = 0
        Self.explore(&history, Step.allCases, &count)
        // 6! / 0! + 6! / 1! + ... + 6! / 6!: the orders of all parts.
        #expect(count == 1957)
    }

    /// Runs the clock to the end, then tries each next step.
    private static func explore(_ history: inout History, _ steps: [Step], _ count: inout Int) {
        count += 1
        var ended = history
        ended.runOut()
        guard ended.violations.isEmpty else {
            Issue.record("after \(history.steps): \(ended.violations.joined(separator: "; "))")
            return
        }
        for (index, step) in steps.enumerated() {
            var next = history
            next.take(step)
            var others = steps
            others.remove(at: index)
            explore(&next, others, &count)
        }
    }
}

/// A history with some of the steps in an order.
private struct History {
    static let retry = HandlerAnswer.retry(after: .milliseconds(1))

    private var bench: Bench
    private let subject: CompletionOrderTests.Subject
    private let first: HandlerAnswer
    private let table: RoutingTable
    private var time = Duration.zero
    private(set) var steps: [CompletionOrderTests.Step] = []
    private(set) var violations: [String] = []
    private var told: [InvocationID: InvocationEnd] = [:]

    init(_ subject: CompletionOrderTests.Subject, mode: DispatchMode, first: HandlerAnswer) throws {
        self.subject = subject
        self.first = first
        table = .testing(mode, handlers: [.exec("crm", grace: .seconds(1))])
        bench = Bench(table)
        if subject.waits { note(try bench.submitRaw(.deliver(to: "phone"), uid: 1)) }
        note(try bench.submitRaw(subject.request, uid: 1))
        let rows = bench.ledger.rows.values.filter { $0.id.seq == seq }.sorted { $0.id < $1.id }
        expect(rows.map(\.callback) == subject.callbacks, "leads to \(rows.map(\.callback))")
    }

    private var seq: SequenceNumber { SequenceNumber(subject.waits ? 2 : 1) }

    mutating func take(_ step: CompletionOrderTests.Step) {
        steps.append(step)
        time += .milliseconds(1)
        if step == .deadline { time = max(time, .seconds(9)) }
        bench.at(time)
        switch step {
        case .started: tellAll { .started($0) }
        case .answer: tellAll { [first] in .finished($0, first) }
        case .secondAnswer: tellAll { .finished($0, .handled(.init(result: .failed, options: []))) }
        case .deadline: note(bench.handleRaw(.clock))
        case .crash: note(bench.crashRaw(sameBoot: true, table: table))
        case .stop: note(bench.handleRaw(.draining))
        }
    }

    /// Runs the clock until nothing is pending, then checks the results.
    mutating func runOut() {
        while let due = bench.nextDue {
            time = max(time, due)
            bench.at(time)
            note(bench.handleRaw(.clock))
        }
        violations += bench.ledger.violations
        expect(bench.ledger.unfinished.isEmpty, "an invocation has no end")
        for row in bench.ledger.rows.values { check(row) }
    }

    /// Sends an event for each invocation.
    private mutating func tellAll(_ event: (InvocationID) -> RouterEvent) {
        for id in bench.ledger.rows.keys.sorted() { note(bench.handleRaw(event(id))) }
    }

    private mutating func note(_ output: [RouterOutput]) {
        for case .effect(.decided(let end)) in output {
            expect(told.updateValue(end, forKey: end.invocation.id) == nil, "\(end.invocation.id.name) ends twice")
        }
    }

    private mutating func check(_ row: InvocationRecord) {
        let name = row.id.name
        guard let result = row.result, let end = told[row.id] else {
            return violations.append("\(name) has no end")
        }
        expect(end.invocation == row && end.result == result, "\(name) is told otherwise than it is written")
        guard let completion = result.completion else { return violations.append("\(name) is not completed") }
        expect(completion.times == 1, "\(name) is completed \(completion.times) times")
        expect(
            completion.options.isEmpty || row.callback == .willPresent,
            "\(name) has options, and is no willPresent")
        expect(completion.by != .handler || result.outcome == .handled, "\(name) is the handler's, and not handled")
        let fails = row.callback == .didReceiveRemoteNotification && result.outcome.isMissed
        expect(!fails || completion.result == .failed, "\(name) missed its deadline and did not fail")
        guard row.id.seq == seq, let expected = expected(of: row.callback) else { return }
        expect(completion == expected, "\(name) is completed with \(completion), not \(expected)")
    }

    /// The completion that the first event decides; `nil` where that event alone does not decide it.
    private func expected(of callback: Callback) -> Completion? {
        let presentation = callback == .willPresent ? ["banner", "list", "sound"] : []
        let byApp = Completion(by: .default, result: .noData, options: presentation)
        if subject.isBraze { return callback == .willPresent ? byApp : Completion(by: .tracker, result: .noData) }
        if subject.waits || table.mode == .relay && first == Self.retry { return nil }
        for step in steps {
            switch (step, first) {
            case (.answer, .handled(let reply)) where reply.result != nil:
                return Completion(by: .handler, result: .newData, options: callback == .willPresent ? ["badge"] : [])
            case (.answer, _): return byApp
            case (.secondAnswer, _): return Completion(by: .handler, result: .failed)
            // A handler that may have run does not run again.
            case (.crash, _): return byApp
            case (.deadline, _): return atDeadline(byApp, callback)
            case (.started, _), (.stop, _): continue
            }
        }
        return atDeadline(byApp, callback)
    }

    private func atDeadline(_ byApp: Completion, _ callback: Callback) -> Completion {
        callback == .didReceiveRemoteNotification ? Completion(by: .default, result: .failed) : byApp
    }

    private mutating func expect(_ holds: Bool, _ what: @autoclosure () -> String) {
        if !holds { violations.append(what()) }
    }
}
