import Testing

@testable import PushModel
@testable import PushViews

@Suite("The answer of a report")
struct ReportAnswerTests {
    private func document(
        _ rows: [ReportRow], objective: String? = nil, gaps: [DaemonGap] = [], maker: ReportMaker? = nil
    ) -> ReportDocument {
        let report = report(rows)
        var detail = ReportDetail()
        for row in rows { detail.add(row) }
        detail.daemonGaps = gaps
        return ReportDocument(
            report: report, detail: detail,
            serviceLevel: objective.flatMap { Percent($0) }.map {
                ServiceLevel(objective: $0, compliance: report.compliance)
            }, maker: maker)
    }

    private func misses(_ count: Int, _ code: ReasonCode?, handler: String?, from seq: Int64) -> [ReportRow] {
        (0..<count).map { row(seq + Int64($0), .expired, handler: handler, queue: .seconds(9), code: code) }
    }

    /// Nine of ten are late, for four reasons and at four handlers.
    private var late: [ReportRow] {
        misses(3, .queueFull, handler: "orders-api", from: 1)
            + misses(1, .notFinishedAtDeadline, handler: "orders-api", from: 4)
            + misses(2, .daemonDown, handler: "crm", from: 5) + misses(1, nil, handler: "audit", from: 7)
            + misses(1, .waitingInLane, handler: "mail", from: 8) + misses(1, .owner, handler: nil, from: 9)
            + [row(10, .failed)]
    }

    private let since = ", since 2026-11-21 03:08:00 +00:00"

    @Test("names the number of late ones, their handlers and reasons, since when, who failed, and the objective")
    func answer() {
        #expect(
            document(late, objective: "99.9").answer
                == "9 of 10 were late; of them 4 at orders-api (3 waited for a free place, 1 ran too long), "
                + "2 at crm (2 expired while the daemon was down), 1 at audit (1 gave no reason), 2 elsewhere\(since). "
                + "1 failed in time, all at crm. The objective of 99.9 % is not met.")
        #expect(
            document(misses(1, .queueFull, handler: nil, from: 1)).answer
                == "1 of 1 was late (1 waited for a free place)\(since).")
        #expect(
            document(misses(2, .routeTimeOver, handler: "crm", from: 1)).answer
                == "2 of 2 were late, all at crm (2 came to a route too late)\(since).")
        #expect(
            document([row(1, .handled)], objective: "99").answer == "None of 1 was late. The objective of 99 % is met.")
    }

    @Test("without a deadline says in a manager's words what became of the pushes")
    func nothingDue() {
        let begin = "No handler had a deadline to keep"
        #expect(document([]).answer == "No push came, so no handler had a deadline to keep.")
        #expect(document([trackerRow(1)]).answer == "\(begin): the one push was handed to Braze's SDK.")
        let two = [trackerRow(1), trackerRow(2)]
        #expect(document(two).answer == "\(begin): all 2 pushes were handed to Braze's SDK.")
        #expect(
            document(two + [row(3, .shownBySystem), row(4, nil)]).answer
                == "\(begin): of 4 pushes 2 were handed to Braze's SDK, 1 was in flight, 1 was shown by the system.")
        for outcome in Outcome.allCases where !outcome.isDue {
            let answer = document([row(1, outcome)]).answer
            #expect(!answer.contains("_") && answer.hasPrefix("\(begin): the one push was "), "\(answer)")
        }
    }

    @Test("names at most three handlers that failed, and how many failed elsewhere, if any did")
    func failures() {
        func failures(_ handlers: [String]) -> String? {
            document(handlers.enumerated().map { row(Int64($0.offset) + 1, .failed, handler: $0.element) }).failures
        }
        #expect(failures([]) == nil)
        #expect(failures(["crm", "crm"]) == "2 failed in time, all at crm")
        #expect(failures(["b", "a", "b"]) == "3 failed in time; of them 2 at b, 1 at a")
        let rows = ["a", "b"].enumerated().map { row(Int64($0.offset) + 1, .failed, handler: $0.element) }
        #expect(
            document(rows + [row(3, .handled, handler: "well")]).failures
                == "2 failed in time; of them 1 at a, 1 at b")
        #expect(
            failures(["d", "c", "b", "a", "a", "b", "c"])
                == "7 failed in time; of them 2 at a, 2 at b, 2 at c, 1 elsewhere")
    }

    @Test("names three of a handler's many reasons")
    func manyReasons() {
        let codes: [ReasonCode] = [
            .queueFull, .waitingInLane, .endedInGrace, .notDoneAfterRetries, .noHandlerStartedInTime,
        ]
        let rows = codes.enumerated().flatMap { misses(1, $0.element, handler: "crm", from: Int64($0.offset + 1)) }
        let answer = document(rows + misses(3, .daemonDown, handler: "crm", from: 9)).answer
        #expect(answer.hasPrefix("8 of 8 were late, all at crm (3 expired while the daemon was down, "))
        #expect(answer.hasSuffix(", 3 more)\(since)."))
    }

    @Test("begins every format, and sums misses by reason; a report without a time standard has none")
    func everyFormat() {
        let document = document(late, objective: "99.9")
        let answer = document.answer
        let lines = document.lines(TextStyle()).map(\.text)
        #expect(lines[0] == answer && lines[1].isEmpty)
        #expect(lines.contains("it waited for a free place            queue_full                    3"))
        #expect(document.markdown.contains("\n\n\(answer)\n\nWindow: "))
        #expect(document.markdown.contains("\n| it expired while the daemon was down | `daemon_down` | 2 |\n"))
        #expect(document.html.contains("<p class=\"answer\">\(answer)</p>"))
        #expect(document.html.contains("<td class=\"name\">daemon_down</td><td>2</td><td>22.2 %</td></tr>"))
        #expect(document.junit.contains("<property name=\"answer\" value=\"\(answer)\"/>"))
        #expect(document.junit.contains("<property name=\"missed_by_reason.queue_full\" value=\"3\"/>"))
        let json = String(decoding: document.json, as: UTF8.self)
        #expect(json.contains("\"answer\":\"\(answer)\""))
        let reasons = #""daemon_down":2,"none":2,"not_finished_at_deadline":1,"queue_full":3,"waiting_in_lane":1"#
        #expect(json.contains("\"misses_by_reason\":{\(reasons)}"))
        #expect(json.contains(#""misses_by_reason":{"not_finished_at_deadline":1,"queue_full":3}"#), "of a handler")
    }

    @Test("contains an outside name as text")
    func hostileName() {
        let document = document(misses(1, nil, handler: "<b>\u{1}@x|", from: 1))
        #expect(document.lines(TextStyle())[0].text.contains("at <b>\\x01@x|"))
        #expect(document.html.contains("all at &lt;b&gt;\\x01@x|"))
        #expect(document.markdown.contains("all at &lt;b&gt;") && !document.markdown.contains("<b>"))
    }

    @Test("precedes long lists that are folded: the misses from the 21st on, and the parts behind them")
    func folds() {
        func begin(_ id: String, _ count: Int) -> Substring {
            let html = document(misses(count, .queueFull, handler: "crm", from: 1)).html
            return html.split(separator: " id=\"\(id)\" aria-labelledby=\"\(id)-h\">\n").last?.prefix(9) ?? ""
        }
        #expect(begin("misses", 20) == "<h2 id=\"m" && begin("misses", 21) == "<details>")
        for id in ["routes", "providers", "slowest", "by-app"] { #expect(begin(id, 1) == "<details>") }
        for id in ["over-time", "handlers", "reasons"] { #expect(begin(id, 30).hasPrefix("<h2 ")) }
    }

    @Test("has the reason of a miss beside its number")
    func why() {
        let html = document([row(1, .expired, queue: .seconds(9), reason: "no place became free")]).html
        #expect(html.contains("class=\"name\">1</th><td class=\"words\">no place became free</td>"))
    }

    @Test("names the author, place and time of the page and the comment")
    func maker() {
        let maker = ReportMaker(program: "pushctl 1.0", host: "shop-1", time: WallTime(milliseconds: 1_795_230_480_000))
        let document = document(late, maker: maker)
        let sentence = "Made by pushctl 1.0 on shop-1 at 2026-11-21 03:08:00 +00:00"
        #expect(document.html.contains("<p class=\"soft\">\(sentence)</p>"))
        #expect(document.markdown.hasSuffix("\n\n\(sentence).\n"))
        #expect(!self.document(late).html.contains("Made by"))
    }

    @Test("precedes a picture of the calls with the objective, and the gaps of the daemon by name")
    func chart() {
        let begin = late[0].acceptedAt
        let gap = DaemonGap(.down, begin: begin, end: WallTime(milliseconds: begin.milliseconds + 20_000))
        let far = DaemonGap(.diskStalled, begin: WallTime(milliseconds: 0), end: WallTime(milliseconds: 1))
        let html = document(late, objective: "99.9", gaps: [far, gap]).html
        let chart = html.split(separator: " id=\"over-time\"").last?.split(separator: "</section>")[0] ?? ""
        #expect(chart.contains("the objective is 99.9 %") && chart.contains("<line class=\"limit\""))
        #expect(html.contains("<th scope=\"row\" class=\"name\">daemon down</th>"))
    }
}
