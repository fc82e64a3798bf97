import TestSupport
import Testing

@testable import PushModel
@testable import PushViews

/// The data of a document, one figure a line, compared with a file of `Tests/Fixtures/figures`.
///
/// The figures of a document are chosen so that nearly each is different: a member with another member's figure changes
/// the text. With `PUSH_TEST_WRITE=1` the test writes the file; read the difference before you commit it.
@Suite("The figures of a document for programs")
struct FiguresTests {
    private static func lines(of node: JSONNode, _ path: String = "") -> [String] {
        switch node.kind {
        case .object where node.count > 0: node.members.flatMap { lines(of: $0.value, "\(path).\($0.key)") }
        // A list of numbers stays on its line.
        case .array where node.elements.contains { $0.kind == .object }:
            node.elements.enumerated().flatMap { lines(of: $0.element, "\(path)[\($0.offset)]") }
        default: ["\(path.drop { $0 == "." }) \(String(decoding: node.rawBytes, as: UTF8.self))"]
        }
    }

    private func expect(_ json: [UInt8], in name: String) throws {
        Fixture.expect(Self.lines(of: try JSONDocument(scanning: json).root), in: name)
    }

    /// Rows of nine kinds; the numbers of rows are chosen so that their sums differ, too.
    private static let rows: [ReportRow] = {
        var rows: [ReportRow] = []
        func add(_ count: Int, _ kind: (Int64) -> ReportRow) {
            for _ in 0..<count { rows.append(kind(Int64(rows.count) * 1009 + 7)) }
        }
        add(1) {
            row(
                $0, .handled, queue: .milliseconds(3), exec: .milliseconds(700), transport: .fcm, sent: .high,
                delivered: .high)
        }
        add(2) {
            row(
                $0, .failed, queue: .milliseconds(5), exec: .milliseconds(1100), code: .handlerRejected,
                transport: .fcm,
                sent: .high, delivered: .normal)
        }
        add(4) {
            row(
                $0, .timedOut, provider: "braze", route: "30-slow", handler: "slow", queue: .milliseconds(8),
                exec: .seconds(9), code: .handlerLost, transport: .hms, sent: .normal, delivered: .normal)
        }
        add(8) {
            row(
                $0, .expired, callback: .didReceiveRemoteNotification, route: "40-late", handler: "late",
                queue: .milliseconds(9100), budget: .milliseconds(9050), code: .daemonDown, platform: .ios,
                waitedFor: Predecessor(
                    id: InvocationID(seq: SequenceNumber($0 - 1), n: 1), handler: "slow", took: .milliseconds(6543)))
        }
        add(16) { row($0, nil, callback: .willPresent, handler: "open", platform: .ios) }
        add(32) { row($0, .unrouted, callback: .serviceExtension, provider: nil, route: nil, handler: nil) }
        add(64) { trackerRow($0, queue: .milliseconds(2)) }
        for index in rows.indices where rows[index].invocation.result?.waitedFor != nil {
            rows[index].invocation.result?.ahead = index
        }
        for (index, outcome) in [Outcome.handled, .failed, .failed, .timedOut, nil, nil, nil, nil].enumerated() {
            rows.append(observerRow(rows[105].invocation.id.seq.value + Int64(index), n: 0, outcome, exec: .seconds(1)))
        }
        return rows.sorted { $0.invocation.id.seq < $1.invocation.id.seq }
    }()

    private static func document(_ rows: [ReportRow], comparedWith baseline: Baseline? = nil) -> ReportDocument {
        var report = report(
            rows,
            window: ReportWindow(
                since: WallTime(milliseconds: 1_795_230_400_000), until: WallTime(milliseconds: 1_795_230_700_000)))
        report.add(.declined, of: "crm", count: 17)
        report.add(.retry, of: "crm", count: 19)
        report.add(requestWithoutInvocation: .session)
        var detail = ReportDetail(crossed: [[.handler, .platform]])
        for row in rows { detail.add(row) }
        detail.clockSetBack = 23
        detail.rowsBegin = WallTime(milliseconds: 1_795_230_420_000)
        detail.daemonGaps = [
            DaemonGap(
                .suspended, begin: WallTime(milliseconds: 1_795_230_430_000),
                end: WallTime(milliseconds: 1_795_230_440_500))
        ]
        var rates = BurnRates(end: WallTime(milliseconds: 1_795_230_700_000))
        for row in rows { rates.add(row) }
        // Each longer window has more, with another share.
        for (place, begin) in rates.begins.enumerated() {
            rates.add(Compliance(due: 100 << place, missed: 3 << place + place), from: begin)
        }
        let level = Percent("90").map { ServiceLevel(objective: $0, compliance: report.compliance, rates: rates) }
        return ReportDocument(
            report: report, detail: detail, serviceLevel: level,
            comparison: baseline.map { Comparison(report, detail, with: $0, file: "before.json") })
    }

    @Test("are in the report what the golden file has")
    func inReport() throws {
        let faster = (1...200).map { row($0 * 11, .handled, queue: .milliseconds(1), exec: .milliseconds(300)) }
        let baseline = try Baseline(JSONDocument(scanning: Self.document(faster).json).root)
        try expect(Self.document(Self.rows, comparedWith: baseline).json, in: "figures/report.txt")
    }

    @Test("are in each look of the report what the golden file has")
    func inLooks() throws {
        let faster = (1...200).map { row($0 * 11, .handled, queue: .milliseconds(1), exec: .milliseconds(300)) }
        let baseline = try Baseline(JSONDocument(scanning: Self.document(faster).json).root)
        let document = Self.document(Self.rows, comparedWith: baseline)
        var found: [String] = []
        for (name, style) in [
            ("text", TextStyle()), ("text, 70 columns", TextStyle(width: 70)),
            ("text, 120 columns of ASCII", TextStyle(width: 120, usesUnicode: false)),
        ] {
            found += ["==== \(name)"] + document.lines(style).map { "\($0.tone) \($0.text)" }
        }
        found += ["==== Markdown"] + document.markdown.split(separator: "\n").map(String.init)
        found += ["==== JUnit"] + document.junit.split(separator: "\n").map(String.init)
        found += ["==== HTML"] + shownLines(ofHTML: document.html)
        Fixture.expect(found, in: "figures/looks.txt")
    }

    private static func campaigns() -> CampaignReport {
        var report = CampaignReport(
            window: ReportWindow(until: WallTime(milliseconds: 2_000_000_000_000)),
            selection: .init(campaign: nil, field: .platform, idRule: .decode), zone: .utc)
        var delivery: Int64 = 0
        func add(_ count: Int, _ kinds: [AnalyticsEvent.Kind], _ campaign: String, day: Int64, button: String? = nil) {
            for _ in 0..<count {
                delivery += 1
                for kind in kinds {
                    report.add(
                        event(
                            kind, delivery, at: day * 86_400 + delivery, campaign: campaign,
                            user: delivery % 9 == 0 ? "berta" : "user\(delivery)",
                            platform: delivery % 3 == 0 ? .ios : .android,
                            action: kind == .open && button != nil ? .uri : nil, button: kind == .open ? button : nil))
                }
            }
        }
        // The second one is decoded: "summer_$_a".
        for (place, campaign) in ["winter", "c3VtbWVyXyRfYQ"].enumerated() {
            let factor = 1 + place * 2
            add(41 * factor, [.received], campaign, day: 1)
            add(2 * factor, [.received, .open], campaign, day: 1)
            add(3 * factor, [.received, .influencedOpen], campaign, day: 2)
            add(5 * factor, [.received, .influencedOpen, .open], campaign, day: 2)
            add(11 * factor, [.received, .open], campaign, day: 2, button: "buy")
        }
        for (place, verdict) in Interaction.Verdict.allCases.enumerated() {
            for _ in 0..<place + 21 { report.add(interaction(verdict, at: 86_400_000), campaign: nil) }
        }
        for seq in 1...17 as ClosedRange<Int64> {
            report.add(row(seq, .shownBySystem, provider: "braze"), campaign: seq > 4 ? "winter" : nil)
        }
        report.rowsBegin = WallTime(milliseconds: 60_000)
        return report
    }

    @Test("are in the report of campaigns what the golden file has")
    func inCampaigns() throws { try expect(Self.campaigns().json, in: "figures/campaigns.txt") }

    @Test("are in each look of the report of campaigns what the golden file has")
    func inLooksOfCampaigns() {
        let report = Self.campaigns()
        var found = ["==== text"] + report.text.split(separator: "\n").map(String.init)
        found += ["==== text, 70 columns"] + report.lines(TextStyle(width: 70)).map { "\($0.tone) \($0.text)" }
        found += ["==== CSV"] + report.csv.split(separator: "\r\n").map(String.init)
        Fixture.expect(found, in: "figures/campaign-looks.txt")
    }

    @Test("are of a load what the golden file has")
    func inLoad() throws {
        var figures = LoadFigures(LoadFigures.Setup(connections: 3, pipeline: 16, rate: 512.5))
        figures.sent = 61
        for (count, reply, latency) in [
            (7, #"{"ok":true,"seq":70}"#, 2), (5, #"{"ok":true,"seq":95}"#, 40),
            (1, #"{"ok":true,"seq":80,"rejected":[{}]}"#, 60), (2, #"{"ok":false,"error":{"code":"overloaded"}}"#, 300),
            (4, #"{"ok":false,"error":{"code":"invalid_value"}}"#, 900), (1, #"{"ok":false}"#, 1000),
            (8, "no JSON", nil), (1, #"{"ok":true,"seq":71}"#, nil),
        ] as [(Int, String, Int64?)] {
            for _ in 0..<count { figures.add(reply: Array(reply.utf8), latency: latency.map { $0 * 1_000_000 }) }
        }
        (figures.lostConnections, figures.overdue, figures.length) = (10, 11, .milliseconds(2345))
        figures.outcomes = Self.document(Self.rows).report
        figures.outcomesProblem = "none"
        try expect(figures.json, in: "figures/load.txt")
    }
}
