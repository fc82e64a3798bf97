import PushModel
import PushReporting
import Testing

@Suite("Compliance report")
struct ComplianceReportTests {
    @Test("every outcome counts once; due and missed are the four and the two of the design")
    func countsOutcomes() {
        let report = report(Outcome.allCases.enumerated().map { row(Int64($0.offset + 1), $0.element) })
        #expect(Outcome.allCases.allSatisfy { report.outcomes[$0] == 1 })
        #expect(report.compliance == Compliance(due: 4, missed: 2))
        #expect(report.decided == 12)
    }

    @Test("decided and in flight add up to accepted, whatever comes", arguments: 1...20)
    func balances(seed: UInt64) {
        var generator = SeededGenerator(state: seed)
        var rows: [ReportRow] = []
        var seq: Int64 = 0
        let requests = Int.random(in: 1...200, using: &generator)
        for _ in 0..<requests {
            seq += Int64.random(in: 1...3, using: &generator)
            for n in 0..<Int.random(in: 1...3, using: &generator) {
                rows.append(
                    row(
                        seq, n: n, (Outcome.allCases + [nil]).randomElement(using: &generator) ?? nil,
                        callback: Callback.allCases.randomElement(using: &generator) ?? .none,
                        provider: [nil, "braze", "onesignal"].randomElement(using: &generator) ?? nil,
                        exec: .milliseconds(Int.random(in: 0...9000, using: &generator)),
                        platform: Platform.allCases.randomElement(using: &generator) ?? .web))
            }
        }

        let report = report(rows)
        #expect(report.balanced)
        #expect(report.accepted == rows.count)
        #expect(report.requests == requests)
        #expect(report.inFlight == rows.count { $0.invocation.result == nil })
        for groups in [
            Array(report.byProvider.values), Array(report.byPlatform.values), Array(report.byCallback.values),
        ] {
            #expect(groups.reduce(0) { $0 + $1.count } == report.accepted)
            #expect(groups.reduce(0) { $0 + $1.compliance.due } == report.compliance.due)
            #expect(groups.reduce(0) { $0 + $1.compliance.missed } == report.compliance.missed)
        }
    }

    @Test(
        "a row that is missing, doubled or out of order breaks the balance and is a gap",
        arguments: [
            [row(1, .handled), row(1, .handled)], [row(1, .handled), row(2, n: 1, .handled)],
            [row(2, .handled), row(1, .handled)], [row(1, n: 1, .handled)],
            [row(1, .handled), row(1, n: 2, .handled)],
        ])
    func noticesDamage(rows: [ReportRow]) {
        let report = report(rows)
        #expect(!report.balanced)
        #expect(report.gaps.map(\.kind) == [.outOfSequence])
        #expect(report.text().contains("NOT BALANCED"))
    }

    @Test("gaps in the sequence numbers are no damage")
    func allowsGapsInSequence() {
        #expect(report([row(1, .handled), row(7, .handled), row(7, n: 1, .handled)]).gaps.isEmpty)
    }

    @Test("what is in flight, what the daemon missed and mixed modes are gaps, each with its count")
    func namesGaps() {
        let report = report([
            row(1, nil), row(2, .expired, reason: "daemon_down"), row(3, .failed, reason: "daemon_crashed"),
            row(4, .handled, mode: .relay), row(5, .handled),
        ])
        #expect(report.gaps.map(\.kind) == [.inFlight, .daemonDown, .daemonCrashed, .mixedModes])
        #expect(report.gaps.map(\.count) == [1, 1, 1, 5])
        #expect(report.mode == .mixed)
    }

    @Test("the mode is the rows' own; the configured one only without any")
    func modeOfRows() {
        #expect(report([row(1, .handled, mode: .relay)], mode: .device).mode == .one(.relay))
        #expect(report([], mode: .relay).mode == .one(.relay))
    }

    @Test("times are those of what owed an answer or went to the tracker; exec those of what started")
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

    @Test("the tracker's rows have no handler and no route; a payload of nobody has the provider none")
    func groupsByName() {
        let report = report([
            trackerRow(1), row(2, .handled, provider: nil), row(3, .unrouted, route: nil, handler: nil),
        ])
        #expect(report.byHandler.mapValues(\.count) == ["crm": 1])
        #expect(report.byRoute.mapValues(\.count) == ["20-onesignal": 1])
        #expect(report.byProvider.mapValues(\.count) == ["braze": 1, "none": 1, "onesignal": 1])
    }

    @Test(
        "the ten slowest, longest first, of equal ones the earlier; what took no time by its nature is not among them")
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
