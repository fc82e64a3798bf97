import Testing

@testable import PushModel
@testable import PushViews

@Suite("The page of the report")
struct HTMLReportTests {
    /// A report with some rows of each kind.
    private var document: ReportDocument {
        var blocked = row(3, .expired, queue: .seconds(9), waitedFor: predecessor(2, "hangs", .milliseconds(702)))
        blocked.invocation.result?.ahead = 60
        var late = row(4, .handled, queue: .seconds(3), exec: .milliseconds(5), waitedFor: predecessor(90, "gone", nil))
        late.invocation.result?.ahead = 1
        let rows = [
            row(1, .handled, exec: .milliseconds(20), transport: .fcm, sent: .high, delivered: .normal),
            row(2, .timedOut, handler: "hangs", exec: .seconds(9), code: .notFinishedAtDeadline), blocked, late,
            row(5, .failed, callback: .didReceiveRemoteNotification, handler: "orders", platform: .ios), row(6, nil),
            observerRow(6, .handled, exec: .milliseconds(3)),
        ]
        var report = report(rows)
        report.add(.declined, of: "crm", count: 4711)
        report.add(.retry, of: "crm", count: 815)
        var detail = ReportDetail(crossed: [[.handler, .platform], [.app]])
        for row in rows { detail.add(row) }
        detail.clockSetBack = 2
        detail.rowsBegin = WallTime(milliseconds: 60_000)
        let begin = WallTime(milliseconds: 0)
        detail.daemonGaps = [DaemonGap(.suspended, begin: begin, end: WallTime(milliseconds: 61_000))]
        let objective = Percent("99.9")
        return ReportDocument(
            report: report, detail: detail,
            serviceLevel: objective.map { ServiceLevel(objective: $0, compliance: report.compliance) },
            comparison: nil)
    }

    private func predecessor(_ seq: Int64, _ handler: String, _ took: Duration?) -> Predecessor {
        Predecessor(id: InvocationID(seq: SequenceNumber(seq), n: 0), handler: handler, took: took)
    }

    /// The place of each figure of the JSON report on the page: the section and the text there. A figure that this
    /// report does not have has no text.
    private static let places: [String: (section: String, text: String?)] = [
        "mode": ("summary", "Mode device: the deadline counts from the invocation"),
        "window": ("summary", " (all that the ledger holds)</p>"), "source": ("gaps", "<li>"),
        "deadline_ms": ("summary", " within 9 s"), "accepted": ("summary", "6 accepted"),
        "decided": ("summary", "5 decided"), "in_flight": ("summary", "1 in flight"),
        "requests": ("summary", "of 6 requests"), "outcomes": ("by-outcome", ">timed_out<"),
        "due": ("summary", "of 5 due"), "missed": ("summary", "2 of 5 due missed"),
        "compliance": ("summary", "60.0 %"), "slo": ("summary", "objective of 99.9 % not met"),
        "limits": ("limits", "<td"),
        "by_handler": ("handlers", ">orders<"), "by_route": ("routes", ">20-onesignal<"),
        "by_provider": ("providers", ">onesignal<"), "by_platform": ("platforms", ">ios<"),
        "by_callback": ("callbacks", ">didReceiveRemoteNotification<"), "by_priority": ("priorities", ">normal<"),
        "lowered_priority": ("priorities", "delivered with normal priority: 1."),
        "slowest": ("slowest", ">4<"), "observers": ("observers", ">90-audit<"), "gaps": ("gaps", "<li>"),
        "answer": (
            "summary",
            "2 of 5 were late; of them 1 at crm (1 gave no reason), 1 at hangs (1 ran too long), since 2026-11-21 03:08:00 +00:00."
        ),
        "misses_by_reason": ("reasons", "<td class=\"name\">not_finished_at_deadline</td><td>1</td>"),
        "from_acceptance": ("summary", "From acceptance"), "from_invocation": ("summary", "From invocation"),
        "all": ("times", ">Execution<"), "by_app": ("by-app", ">com.example.app<"),
        "by_outcome": ("by-outcome", ">handled<"), "by_transport": ("by-transport", ">fcm<"),
        "crossed": ("by-handler-platform", ">orders, ios<"), "timeline": ("over-time", "<title>"),
        "misses": ("misses", ">3<"), "waits": ("waits", ">4<"), "histograms": ("times", ">Queue wait<"),
        "error_budget": ("budget", "Left: "), "rows_begin": ("gaps", "have figures and no rows"),
        "clock_set_back": ("gaps", "the clock was set back"),
        "daemon_gaps": ("daemon-gaps", ">machine suspended<"), "comparison": ("comparison", nil),
        "warnings": ("summary", "Handler orders handled nothing"),
    ]

    @Test("the page shows every figure that the JSON report has")
    func everything() throws {
        let html = document.html
        let keys = try JSONDocument(scanning: document.json).root.members.map(\.key)
        for key in keys {
            let place = try #require(Self.places[key], "no section of the page is named for \(key)")
            guard let text = place.text else { continue }
            #expect(section(place.section, of: html).contains(text), "\(key): \(text) in \(place.section)")
        }
    }

    @Test("outcomes have their shares of all")
    func outcomes() {
        #expect(section("by-outcome", of: document.html).contains("handled</th><td>33.3 %</td><td>2</td>"))
    }

    @Test("declined and retried are columns of the handler's row, and each kind of time has its own row")
    func columns() throws {
        let handlers = section("handlers", of: document.html)
        #expect(handlers.contains("<th scope=\"col\">Declined</th><th scope=\"col\">Asked for a retry</th>"))
        #expect(handlers.contains("<td>4,711</td><td>815</td></tr>"))
        #expect(handlers.contains("<th scope=\"col\">Total p50, ms</th><th scope=\"col\">Total p99, ms</th>"))
        let times = section("times", of: document.html)
        #expect(times.contains("class=\"name\">Queue wait</th><td>5</td><td>0.0</td><td>9,"))
    }

    @Test("a requested breakdown that the page has anyway is shown once")
    func once() {
        let html = document.html
        let identifiers = html.split(separator: " id=\"").dropFirst().map { $0.prefix { $0 != "\"" } }
        #expect(Set(identifiers).count == identifiers.count)
    }

    @Test(
        "a miss and a wait name the number of predecessors and the longest of them, with a link if the page has pushes")
    func ahead() {
        let page = document.page(linksPushes: true).text
        let blocked = "behind 60, longest <a href=\"/push/2\">#2</a> (hangs, 702 ms)"
        for name in ["misses", "waits", "slowest"] { #expect(section(name, of: page).contains(blocked), "\(name)") }
        #expect(section("waits", of: page).contains("behind 1, longest <a href=\"/push/90\">#90</a> (gone)"))
        #expect(section("misses", of: document.html).contains("behind 60, longest #2 (hangs, 702 ms)"))
    }

    @Test("a call without a deadline used nothing of it in the picture; a late one used all of it")
    func sharesOfDeadline() {
        let rows = [
            row(1, .handled, exec: .milliseconds(5), budget: .zero), row(2, .handled, exec: .seconds(3)),
            row(3, .timedOut, exec: .seconds(8)), row(4, .timedOut, exec: .seconds(18)),
        ]
        var detail = ReportDetail()
        for row in rows { detail.add(row) }
        let html = ReportDocument(report: report(rows), detail: detail, serviceLevel: nil, comparison: nil).html
        for (place, share) in ["0", "33", "100", "200"].enumerated() {
            let dot = html.firstRange(of: "<title>#\(place + 1), crm, ").map { html[$0.upperBound...] } ?? ""
            #expect(dot.prefix { $0 != "<" }.hasSuffix(", \(share) % of its deadline"), "\(place + 1)")
        }
    }

    private func section(_ id: String, of html: String) -> Substring {
        guard
            let begin = html.firstRange(
                of: id == "summary" ? "<section id=\"summary\"" : "<section class=\"card\" id=\"\(id)\"")
        else { return "" }
        let rest = html[begin.upperBound...]
        return rest[..<(rest.firstRange(of: "</section>")?.lowerBound ?? rest.endIndex)]
    }
}
