import Testing

@testable import PushModel
@testable import PushViews

@Suite("The figures that a report derives from its rows")
struct ReportDetailTests {
    private static let end = WallTime(milliseconds: 1_795_230_480_000)

    private func at(_ secondsBefore: Int64, _ outcome: Outcome?) -> ReportRow {
        var row = row(1, outcome)
        row.acceptedAt = WallTime(milliseconds: Self.end.milliseconds - secondsBefore * 1000)
        return row
    }

    @Test("a row counts in each window that reaches back to it, and not at the end itself")
    func burnWindows() {
        var rates = BurnRates(end: Self.end)
        for length: Int64 in [300, 1800, 3600, 21_600, 259_200] {
            rates.add(at(length, .timedOut))
            rates.add(at(length + 1, .timedOut))
        }
        rates.add(at(0, .timedOut))
        rates.add(at(10, nil))
        rates.add(at(10, .handedToTracker))
        #expect(BurnRates.Window.allCases.map { rates.compliance($0).due } == [1, 3, 5, 7, 9])
    }

    @Test("the burn rate is the share of misses over the allowed share")
    func burnRate() throws {
        var rates = BurnRates(end: Self.end)
        for index in 0..<100 { rates.add(at(60, index < 2 ? .expired : .handled)) }
        let level = ServiceLevel(
            objective: try #require(Percent("99.9")), compliance: Compliance(due: 100, missed: 2), rates: rates)
        #expect(abs(try #require(level.burnRate(.hour)) - 20) < 1e-9)
        #expect(abs(try #require(level.budgetLeft) + 19) < 1e-9)
        #expect(level.budgetText == "none: 20 times the budget is used")
        #expect(level.firing.map(\.severity) == [.page, .page, .ticket])
    }

    @Test("an alert needs both of its windows: it ends with the short one")
    func alertEnds() throws {
        var rates = BurnRates(end: Self.end)
        for index in 0..<100 { rates.add(at(2400, index < 50 ? .expired : .handled)) }
        rates.add(at(10, .handled))
        let level = ServiceLevel(
            objective: try #require(Percent("99.9")), compliance: Compliance(due: 101, missed: 50), rates: rates)
        #expect(level.firing.map(\.long) == [.threeDays])
    }

    /// Misses without other rows, recorded for some time before the end.
    private func misses(recorded seconds: Int64, without gaps: [DaemonGap] = []) throws -> ServiceLevel {
        var rates = BurnRates(end: Self.end)
        for second in 1...60 { rates.add(at(Int64(second), .expired)) }
        rates.note(recordFrom: WallTime(milliseconds: Self.end.milliseconds - seconds * 1000), without: gaps)
        return ServiceLevel(
            objective: try #require(Percent("99.9")), compliance: Compliance(due: 60, missed: 60), rates: rates)
    }

    private func gap(_ kind: DaemonGap.Kind, _ from: Int64, _ to: Int64) -> DaemonGap {
        let time = { (seconds: Int64) in WallTime(milliseconds: Self.end.milliseconds - seconds * 1000) }
        return DaemonGap(kind, begin: time(from), end: time(to))
    }

    @Test("no alert uses a window of which less than half was recorded, and the report says so")
    func unrecorded() throws {
        let young = try misses(recorded: 1200)
        #expect(young.firing.isEmpty && young.unrecorded == [.hour, .sixHours, .threeDays])
        #expect(
            young.unrecordedText == "Less than half of the last 1h, 6h, 3d was recorded: no alert uses that time")
        #expect(try misses(recorded: 1800).firing.map(\.long) == [.hour])
        #expect(try misses(recorded: 10_800).firing.map(\.long) == [.hour, .sixHours])
        let old = try misses(recorded: 129_600)
        #expect(old.firing.count == 3 && old.unrecordedText == nil)
        let document = ReportDocument(report: report([]), detail: ReportDetail(), serviceLevel: young)
        let json = String(decoding: document.json, as: UTF8.self)
        #expect(json.contains(#""unrecorded":["1h","6h","3d"],"alerts":[]"#))
    }

    @Test("a time without a daemon is not recorded, whether one gap covers it or several; a slow disk does not hide it")
    func unrecordedGaps() throws {
        let gaps = [gap(.suspended, 2000, 900), gap(.down, 2400, 1000), gap(.down, 800, 400)]
        let level = try misses(recorded: 1_000_000, without: gaps)
        #expect(level.unrecorded == [.halfHour, .hour])
        #expect(level.rates?.recordedShare(.hour) == 1700.0 / 3600)
        #expect(level.firing.map(\.long) == [.threeDays])
        #expect(try misses(recorded: 1_000_000, without: [gap(.diskStalled, 3000, 10)]).firing.count == 3)
    }

    @Test("nothing is recorded by a record that begins at the end or behind it", arguments: [0, -1, -1000])
    func recordedLater(seconds: Int64) throws {
        let level = try misses(recorded: seconds)
        #expect(BurnRates.Window.allCases.allSatisfy { level.rates?.recordedShare($0) == 0 })
        #expect(level.firing.isEmpty && level.unrecorded == BurnRates.Window.allCases)
    }

    @Test("the tracker runs no handler: its zeros are in no percentile and in no band, and its waits are listed")
    func trackerTimes() {
        let rows = [row(1, .handled, exec: .milliseconds(40))] + (2...99).map { trackerRow(Int64($0), queue: .zero) }
        var detail = ReportDetail()
        for row in rows { detail.add(row) }
        for histogram in [detail.all.queue, detail.all.exec, detail.all.total] { #expect(histogram.count == 1) }
        #expect(detail.all.count == 99 && detail.timeline.spans.map { $0.slot.bands.reduce(0, +) } == [1])
        let braze = report(rows).byProvider["braze"]
        #expect(braze?.count == 98 && braze?.total.count == 0)
        #expect(report(rows).slowest.rows.count == Slowest.capacity)
    }

    @Test("an objective of 100 % and nothing due have no budget and no rate")
    func noBudget() throws {
        let all = ServiceLevel(objective: try #require(Percent("100")), compliance: Compliance(due: 5, missed: 1))
        #expect(all.budgetLeft == nil && all.burnRate(.hour) == nil && all.firing.isEmpty && !all.isMet)
        let none = ServiceLevel(objective: try #require(Percent("99")), compliance: Compliance(due: 0, missed: 0))
        #expect(none.budgetLeft == nil && none.isMet)
    }

    @Test("a timeline has at most 96 spans for any times, and loses no row")
    func boundedTimeline() {
        var timeline = Timeline()
        for time: Int64 in [1_795_230_480_000, 0, 1_795_230_480_001, -86_400_000, 4_102_444_800_000] {
            var row = row(1, .handled)
            row.acceptedAt = WallTime(milliseconds: time)
            timeline.add(row)
        }
        #expect(timeline.spans.count <= Timeline.capacity)
        #expect(timeline.spans.reduce(0) { $0 + $1.slot.accepted } == 5)
    }

    @Test("the times beside a group's counts are the quantiles that their headings name")
    func quantiles() {
        for time in FigureGroup.times {
            let word = time.permille.map { "p\($0 / 10)" } ?? "max"
            #expect(time.title.hasSuffix(" \(word)") && (time.permille ?? 0) % 10 == 0, "\(time.title)")
        }
    }

    @Test("a breakdown separates 1,000 groups and counts the rest together")
    func boundedBreakdown() {
        var breakdown = Breakdown(by: [.app, .platform])
        for seq in 1...1500 {
            var row = row(Int64(seq), .handled)
            row.app = "app\(seq)"
            breakdown.add(row)
        }
        #expect(breakdown.groups.count == Breakdown.capacity && breakdown.rest.count == 500)
    }

    @Test("a wait in an Android lane is late from acceptance, and in time from the invocation")
    func bothClocks() {
        var detail = ReportDetail()
        detail.add(row(1, .handled, queue: .seconds(8), exec: .seconds(2)))
        #expect(detail.fromAcceptance == Compliance(due: 1, missed: 1))
        #expect(detail.fromInvocation == Compliance(due: 1, missed: 0))
    }

    @Test("of many misses the slowest 200 are kept, all are counted, and they are listed by number")
    func missList() {
        var misses = MissList()
        for seq in 1...300 { misses.add(row(Int64(seq), .timedOut, exec: .milliseconds(9000 + seq))) }
        #expect(misses.count == 300)
        #expect(misses.rows.map(\.invocation.id.seq.value) == (101...300).map(Int64.init))
    }

    @Test("the sent and the delivered priority are cross-tabulated")
    func priorities() throws {
        var crossed = Breakdown(by: [.originalPriority, .priority])
        for delivered in [.high, .normal, .normal] as [MessagePriority] {
            crossed.add(row(1, .handled, transport: .fcm, sent: .high, delivered: delivered))
        }
        crossed.add(row(2, .handled))
        let counts = crossed.groups.mapValues(\.count)
        #expect(counts == [["high", "high"]: 1, ["high", "normal"]: 2, ["none", "none"]: 1])
        #expect(crossed.dimensions.map(\.title) == ["Original priority", "Priority"])
    }

    @Test(
        "--by takes one field, or two different ones",
        arguments: [
            ("handler", [Dimension.handler]), ("handler,platform", [.handler, .platform]),
            ("original_priority", [.originalPriority]), ("", nil),
            ("handler,handler", nil), ("handler,route,app", nil), ("handler,", nil), ("nosuch", nil),
        ] as [(String, [Dimension]?)])
    func dimensions(text: String, expected: [Dimension]?) {
        #expect(Dimension.list(text) == expected)
    }
}
