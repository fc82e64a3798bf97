import Testing

@testable import PushModel
@testable import PushViews

@Suite("Compliance report")
struct ComplianceReportTests {
    @Test("every outcome counts once; due and missed are four and two of them")
    func countsOutcomes() {
        let report = report(Outcome.allCases.enumerated().map { row(Int64($0.offset + 1), $0.element) })
        #expect(Outcome.allCases.allSatisfy { report.outcomes[$0] == 1 })
        #expect(report.compliance == Compliance(due: 4, missed: 2))
        #expect(report.decided == 12)
    }

    @Test("decided and in flight add up to accepted, for any rows", arguments: 1...20)
    func balances(seed: UInt64) {
        var generator = SeededGenerator(state: seed)
        var rows: [ReportRow] = []
        var seq: Int64 = 0
        let requests = Int.random(in: 1...200, using: &generator)
        for _ in 0..<requests {
            seq += Int64.random(in: 1...3, using: &generator)
            for n in 0..<Int.random(in: 1...3, using: &generator) {
                let isObserver = n > 0 && Bool.random(using: &generator)
                rows.append(
                    row(
                        seq, n: n, (Outcome.allCases + [nil]).randomElement(using: &generator) ?? nil,
                        callback: Callback.allCases.randomElement(using: &generator) ?? .none,
                        provider: [nil, "braze", "onesignal"].randomElement(using: &generator) ?? nil,
                        exec: .milliseconds(Int.random(in: 0...9000, using: &generator)),
                        platform: Platform.allCases.randomElement(using: &generator) ?? .web,
                        isObserver: isObserver))
            }
        }

        let report = report(rows)
        #expect(report.balanced)
        #expect(report.accepted + report.observers.tally.accepted == rows.count)
        #expect(report.observers.tally.accepted == rows.count { $0.invocation.isObserver })
        #expect(report.requests == requests)
        let inFlight = report.inFlight + report.observers.tally.inFlight
        #expect(inFlight == rows.count { $0.invocation.result == nil })
        for groups in [
            Array(report.byProvider.values), Array(report.byPlatform.values), Array(report.byCallback.values),
        ] {
            #expect(groups.reduce(0) { $0 + $1.count } == report.accepted)
            #expect(groups.reduce(0) { $0 + $1.compliance.due } == report.compliance.due)
            #expect(groups.reduce(0) { $0 + $1.compliance.missed } == report.compliance.missed)
        }
    }

    @Test(
        "a missing, repeated or unordered row breaks the balance and is a gap",
        arguments: [
            [row(1, .handled), row(1, .handled)], [row(1, .handled), row(2, n: 1, .handled)],
            [row(2, .handled), row(1, .handled)], [row(1, n: 1, .handled)],
            [row(1, .handled), row(1, n: 2, .handled)],
        ])
    func noticesDamage(rows: [ReportRow]) {
        let report = report(rows)
        #expect(!report.balanced)
        #expect(report.gaps.map(\.kind) == [.outOfSequence])
        #expect(shown(report).contains("NOT BALANCED"))
    }

    @Test("observers count in their own figures, and in no others")
    func observersApart() throws {
        let owners = [row(1, .handled, exec: .milliseconds(5)), trackerRow(2), row(3, nil)]
        let copies = [
            observerRow(1, .timedOut, exec: .seconds(9)), observerRow(2, .handled, exec: .milliseconds(20)),
            observerRow(3, nil),
        ]
        let without = report(owners)
        let with = report(zip(owners, copies).flatMap { [$0, $1] })
        #expect(with.balanced && with.gaps == without.gaps)
        #expect((with.accepted, with.inFlight, with.requests) == (3, 1, 3))
        #expect(with.outcomes == without.outcomes && with.compliance == without.compliance)
        #expect(with.byHandler == without.byHandler && with.byRoute == without.byRoute)
        #expect(with.byProvider == without.byProvider && with.byPlatform == without.byPlatform)
        #expect(with.byCallback == without.byCallback && with.limits == without.limits)
        #expect(with.slowest == without.slowest && with.slowestMisses.rows.isEmpty)
        #expect(with.observers.tally.outcomes == [.timedOut: 1, .handled: 1])
        #expect(with.observers.tally.inFlight == 1)
        #expect(with.observers.tally.compliance == Compliance(due: 2, missed: 1))
        let group = try #require(with.observers.byRoute["90-audit"])
        #expect(group.count == 3 && group.exec.max == 9_000_000)
    }

    @Test("an observer's row that is missing, or comes without its owner, is damage too")
    func missingObserver() {
        for rows in [[row(1, .handled), observerRow(1, n: 2, .handled)], [observerRow(1, n: 1, .handled)]] {
            #expect(report(rows).gaps.map(\.kind) == [.outOfSequence])
        }
    }

    @Test(
        "a request without an invocation is counted; one that lost its invocation is damage",
        arguments: Operation.allCases)
    func withoutInvocation(operation: Operation) {
        var report = report([row(1, .handled)])
        report.add(requestWithoutInvocation: operation)
        report.add(row(3, .handled))
        let isDamage = [.deliver, .interact, .token].contains(operation)
        #expect(report.requests == 3 && report.accepted == 2)
        #expect(report.requestsWithoutInvocation == (isDamage ? 0 : 1))
        #expect(report.balanced == !isDamage)
        #expect(shown(report).contains("of 3 requests, 1 without an invocation\n") == !isDamage)
    }

    @Test("the ten longest waits in a lane are listed")
    func longestWaits() {
        let predecessor = Predecessor(id: InvocationID(seq: SequenceNumber(1), n: 0), handler: "crm")
        let waited = (2...20).map { trackerRow($0, queue: .milliseconds($0)) }.map { row in
            var row = row
            row.invocation.result?.waitedFor = predecessor
            return row
        }
        let report = report([row(1, .handled, queue: .seconds(60))] + waited)
        #expect(report.longestWaits.rows.map(\.id.seq.value) == (11...20).reversed())
    }

    @Test("gaps in the sequence numbers are no damage")
    func allowsGapsInSequence() {
        #expect(report([row(1, .handled), row(7, .handled), row(7, n: 1, .handled)]).gaps.isEmpty)
    }

    @Test("invocations in flight, misses by the daemon and mixed modes are gaps, each with its count")
    func namesGaps() {
        let report = report([
            row(1, nil), row(2, .expired, reason: "daemon_down", code: .daemonDown),
            row(3, .failed, reason: "daemon_crashed", code: .daemonCrashed),
            row(4, .handled, mode: .relay), row(5, .handled),
        ])
        #expect(report.gaps.map(\.kind) == [.inFlight, .daemonDown, .daemonCrashed, .mixedModes])
        #expect(report.gaps.map(\.count) == [1, 1, 1, 5])
        #expect(report.mode == .mixed)
    }

    @Test("a gap is recognized by the code of the reason, and never by its text")
    func gapsByCode() {
        let remark = "daemon_down; no handler ever answered: the app completes the callback with failed"
        let report = report([
            row(1, .expired, callback: .didReceiveRemoteNotification, reason: remark, code: .daemonDown),
            row(2, .failed, reason: "daemon_down", code: .handlerRejected),
        ])
        #expect(report.gaps.map(\.kind) == [.daemonDown] && report.gaps.map(\.count) == [1])
    }

    @Test("messages are counted by the priority of their delivery, and those that FCM lowered")
    func priorities() {
        let report = report([
            row(1, .handled, transport: .fcm, sent: .high, delivered: .high),
            row(2, .handled, transport: .fcm, sent: .high, delivered: .normal),
            row(3, .handled, transport: .fcm, sent: .normal, delivered: .normal), row(4, .handled),
        ])
        #expect(report.byPriority.mapValues(\.count) == [.high: 1, .normal: 2])
        #expect(report.loweredPriority == 1)
        let json = String(decoding: report.json(), as: UTF8.self)
        #expect(json.contains(#""lowered_priority":1"#) && json.contains(#""by_priority":{"high":{"count":1"#))
    }

    @Test("the mode is that of the rows; the configured one only without rows")
    func modeOfRows() {
        #expect(report([row(1, .handled, mode: .relay)], mode: .device).mode == .one(.relay))
        #expect(report([], mode: .relay).mode == .one(.relay))
    }

    @Test("times count invocations that were due or went to the tracker; exec counts those that started")
    func timesOnlyWhatRan() throws {
        let report = report([
            row(1, .handled, queue: .milliseconds(1), exec: .milliseconds(20)),
            row(2, .expired, queue: .seconds(9)),
            row(3, .unrouted, queue: .seconds(1)),
            row(4, nil),
        ])
        let crm = try #require(report.byHandler["crm"])
        #expect(crm.count == 4)
        #expect(crm.queue.count == 2)
        #expect(crm.total.max == 9_000_000)
        #expect(crm.exec.count == 1)
        #expect(crm.exec.max == 20_000)
    }

    @Test("the tracker's rows have no handler and no route; a payload of no known provider has the provider none")
    func groupsByName() {
        let report = report([
            trackerRow(1), row(2, .handled, provider: nil), row(3, .unrouted, route: nil, handler: nil),
        ])
        #expect(report.byHandler.mapValues(\.count) == ["crm": 1])
        #expect(report.byRoute.mapValues(\.count) == ["20-onesignal": 1])
        #expect(report.byProvider.mapValues(\.count) == ["braze": 1, "none": 1, "onesignal": 1])
    }

    @Test(
        "the ten slowest are listed, longest first, then the earlier; outcomes that take no time are left out")
    func keepsTheSlowest() {
        let rows =
            (1...30).map { row($0, .handled, exec: .milliseconds($0 / 2)) } + [
                row(31, .shownBySystem, total: .seconds(60))
            ]
        let report = report(rows)
        #expect(report.slowest.rows.map(\.id.seq.value) == [30, 28, 29, 26, 27, 24, 25, 22, 23, 20])
        #expect(report.slowestMisses.rows.isEmpty)
    }
}
