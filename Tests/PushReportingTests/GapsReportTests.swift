import Testing

@testable import PushModel
@testable import PushViews

@Suite("Gaps of the daemon in a report")
struct GapsReportTests {
    private static let begin: Int64 = 1_795_230_480_000

    private func gap(_ kind: DaemonGap.Kind, _ begin: Int64, _ end: Int64) -> DaemonGap {
        DaemonGap(
            kind, begin: WallTime(milliseconds: Self.begin + begin), end: WallTime(milliseconds: Self.begin + end))
    }

    private func document(_ gaps: [DaemonGap]) -> ReportDocument {
        var detail = ReportDetail()
        detail.daemonGaps = gaps
        return ReportDocument(report: report([]), detail: detail)
    }

    private var every: [DaemonGap] {
        [
            gap(.down, 0, 3_725_500), gap(.clockStepped, 7_000_000, 6_000_000), gap(.suspended, 8_000_000, 8_300_000),
            gap(.diskStalled, 9_000_000, 9_001_200), gap(.leaderLost, 9_100_000, 9_104_000),
            gap(.engineAway, 9_200_000, 9_202_000), gap(.unprotected, 9_300_000, 9_303_000),
        ]
    }

    @Test("have kind, begin, end and length in each format")
    func formats() throws {
        let document = document(every)
        let lines = document.lines(TextStyle()).map(\.text)
        let place = try #require(lines.firstIndex(of: "Gaps of the daemon"))
        #expect(lines[place + 1].hasPrefix("Gap                         From "))
        let first = lines[place + 2]
        #expect(first.hasPrefix("daemon down                 2026-11-21 ") && first.hasSuffix("1 h 2 min"))
        #expect(lines[place + 3].hasPrefix("clock set back ") && lines[place + 3].hasSuffix("16 min 40 s"))
        #expect(lines[place + 4].hasPrefix("machine suspended ") && lines[place + 5].hasPrefix("disk stalled "))
        #expect(lines[place + 6].hasPrefix("leader lost ") && lines[place + 7].hasPrefix("database away or slow "))
        #expect(lines[place + 8].hasPrefix("no standby of the database "))
        #expect(document.html.contains(">Gaps of the daemon</h2>") && document.html.contains("machine suspended"))
        #expect(document.markdown.contains("| disk stalled | ") && document.markdown.contains(" | 1.2 s |"))
        let json = try #require(try JSONDocument(scanning: document.json).root["daemon_gaps"])
        #expect(
            json.elements.compactMap { $0["kind"]?.string } == [
                "down", "clock_stepped", "suspended", "disk_stalled", "leader_lost", "engine_away", "unprotected",
            ])
        #expect(
            json.elements.compactMap { $0["length_ms"]?.double } == [
                3_725_500, -1_000_000, 300_000, 1200, 4000, 2000, 3000,
            ])
        #expect(json.elements[0]["begin"]?.string == WallTime(milliseconds: Self.begin).rfc3339)
    }

    @Test("have the milliseconds of both ends in each format for people")
    func milliseconds() {
        let document = document([gap(.suspended, 123, 4056), gap(.down, 5000, 6700)])
        let times = [
            ("2026-11-21 03:08:00.123 +00:00", "2026-11-21 03:08:04.056 +00:00"),
            ("2026-11-21 03:08:05.000 +00:00", "2026-11-21 03:08:06.700 +00:00"),
        ]
        let lines = document.lines(TextStyle()).map(\.text)
        for (from, end) in times {
            #expect(lines.contains { $0.contains("\(from)  \(end)  ") }, "\(lines)")
            #expect(document.markdown.contains(" | \(from) | \(end) | "))
            #expect(document.html.contains(from) && document.html.contains(end))
        }
    }

    @Test("have no section if there are none, and the report of a ledger is then complete")
    func none() throws {
        let document = document([])
        #expect(
            !document.lines(TextStyle()).contains { $0.text.contains("Gap") || $0.text.contains("ledger does not") })
        #expect(
            !document.html.contains("Gaps of the daemon") && !document.html.contains("Gaps of these figures"))
        #expect(!document.markdown.contains("Gap"))
        #expect(try JSONDocument(scanning: document.json).root["daemon_gaps"]?.count == 0)
    }

    @Test("are the last twenty for people, with the number of the others, and all in JSON")
    func many() throws {
        let document = document((0..<25).map { gap(.suspended, $0 * 60_000, $0 * 60_000 + 5000) })
        let sentence = "5 earlier gaps are in the JSON"
        #expect(document.lines(TextStyle()).count { $0.text.hasPrefix("machine suspended") } == 20)
        #expect(document.lines(TextStyle()).contains { $0.text == sentence })
        #expect(document.html.contains(sentence) && document.markdown.contains(sentence))
        #expect(try JSONDocument(scanning: document.json).root["daemon_gaps"]?.count == 25)
    }

    @Test("are read from the journal's entries with equal begin and end, and not from other programs' entries")
    func journal() {
        func record(_ gap: DaemonGap, program: String = "/usr/sbin/pushrouterd", kind: String? = nil) -> JournalRecord {
            JournalRecord(
                kind: .gap, time: gap.end, run: "a", program: program,
                values: [
                    "PUSH_GAP": kind ?? gap.kind.rawValue, "PUSH_GAP_BEGIN_USEC": "\(gap.begin.milliseconds * 1000)",
                    "PUSH_GAP_END_USEC": "\(gap.end.milliseconds * 1000)",
                ])
        }
        let window = ReportWindow(since: WallTime(milliseconds: Self.begin + 3_000_000))
        var facts = JournalFacts(unit: "pushrouterd.service")
        for gap in every + [gap(.down, 0, 2_999_999)] { _ = facts.take(record(gap), in: window) }
        _ = facts.take(record(every[0], program: "/bin/sh"), in: window)
        _ = facts.take(record(every[0], kind: "nonsense"), in: window)
        #expect(facts.daemonGaps == every)
        #expect(facts.gaps.map(\.kind) == [.foreignEntries, .unreadableEntries])
    }
}
