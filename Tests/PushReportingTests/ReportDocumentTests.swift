import Testing

@testable import PushModel
@testable import PushViews

@Suite("The report in the formats for people and CI")
struct ReportDocumentTests {
    private func document(_ rows: [ReportRow], objective: String? = nil, crossed: [[Dimension]] = []) -> ReportDocument
    {
        let report = report(rows)
        var detail = ReportDetail(crossed: crossed)
        for row in rows { detail.add(row) }
        return ReportDocument(
            report: report, detail: detail,
            serviceLevel: objective.flatMap { Percent($0) }.map {
                ServiceLevel(objective: $0, compliance: report.compliance)
            })
    }

    private let hostile = "<b>\"&'\u{1}\u{FFFF}|@all`"

    @Test("a handler that fails every time is named in every format, even if it keeps every deadline")
    func alwaysFails() {
        let document = document([row(1, .failed), row(2, .failed), row(3, .handled, handler: "orders")])
        let sentence = "Handler crm handled nothing: 2 of 2 failed"
        #expect(document.lines(TextStyle()).contains { $0.text == "Warning: \(sentence)" && $0.tone == .bad })
        #expect(document.html.contains("<li>\(sentence)</li>"))
        #expect(document.markdown.contains(sentence))
        #expect(String(decoding: document.json, as: UTF8.self).contains("\"warnings\":[\"\(sentence)\"]"))
        #expect(document.junit.contains("message=\"nothing was handled: 2 failed\""))
    }

    @Test("JUnit has a case for all, each route and each handler, and a failure names the misses")
    func junit() {
        let rows = [row(1, .handled, exec: .milliseconds(5)), row(2, .timedOut, handler: "slow", exec: .seconds(9))]
        let text = document(rows).junit
        #expect(text.contains("tests=\"4\" failures=\"3\""))
        #expect(text.contains("<testcase classname=\"pushrouterd.handler\" name=\"crm\" time=\"0.005\"/>"))
        #expect(text.contains("pushctl show 2: onMessageReceived, slow, timed_out after 9,000.0 ms</failure>"))
        #expect(document(rows, objective: "50").junit.contains("tests=\"4\" failures=\"1\""))
    }

    @Test("outside text is escaped in HTML, XML and Markdown, whatever it contains")
    func hostileNames() {
        let document = document([row(1, .timedOut, handler: hostile, exec: .seconds(9))], objective: "99")
        for text in [document.html, document.junit] {
            #expect(!text.contains("<b>") && text.contains("&lt;b&gt;&quot;&amp;&#39;\\x01\u{FFFD}|@all`"))
        }
        #expect(!document.markdown.contains("<b>") && document.markdown.contains("\\|@\u{200B}all\\`"))
    }

    @Test("the page is self-contained: no script, and only links within it, each with a target")
    func selfContained() {
        let html = document([row(1, .timedOut, exec: .seconds(9)), row(2, .handled, exec: .seconds(1))]).html
        #expect(!html.contains("<script") && !html.contains("@import") && !html.contains("url("))
        let targets = html.split(separator: "href=\"").dropFirst().map { $0.prefix { $0 != "\"" } }
        #expect(targets.contains("#misses"))
        for target in targets where target != "data:," {
            #expect(target.hasPrefix("#") && html.contains("id=\"\(target.dropFirst())\""), "\(target)")
        }
        #expect(!html.contains("src="))
    }

    @Test("every drawing has an existing name and description, and every identifier is unique")
    func accessible() {
        let html = document([row(1, .timedOut, exec: .seconds(9)), row(2, .handled, exec: .seconds(1))]).html
        let identifiers = html.split(separator: " id=\"").dropFirst().map { $0.prefix { $0 != "\"" } }
        #expect(Set(identifiers).count == identifiers.count)
        let names = html.split(separator: "aria-labelledby=\"").dropFirst().map { $0.prefix { $0 != "\"" } }
        #expect(names.count > 4)
        for name in names { #expect(name.split(separator: " ").allSatisfy(identifiers.contains), "\(name)") }
    }

    private let orders = "60-loyalty-team-eu-west-orders"
    private let refunds = "60-loyalty-team-eu-west-refunds"

    /// Rows of each kind, with two names with a common beginning.
    private var longNames: ReportDocument {
        let predecessor = Predecessor(id: InvocationID(seq: SequenceNumber(41), n: 0), handler: refunds)
        let rows = [
            row(123_456, .timedOut, handler: orders, exec: .seconds(9)),
            row(123_457, .timedOut, handler: refunds, exec: .seconds(9)),
            row(123_458, .expired, queue: .seconds(9), code: .daemonDown, waitedFor: predecessor),
            row(123_459, .handled, handler: orders, queue: .seconds(8), waitedFor: predecessor),
            observerRow(123_459, .handled, route: orders, exec: .seconds(2)),
            observerRow(123_459, n: 2, .handled, route: refunds, exec: .seconds(2)),
            row(123_460, .failed, callback: .didReceiveRemoteNotification, handler: "broken", platform: .ios),
        ]
        return document(rows, objective: "99.9", crossed: [[.handler, .platform]])
    }

    @Test("no line is wider than the limit, and every word except names is whole", arguments: [60, 80, 200])
    func width(_ width: Int) {
        let lines = longNames.lines(TextStyle(width: width)).map(\.text)
        #expect(lines.allSatisfy { $0.count <= width }, "\(lines.filter { $0.count > width })")
        let words = Set(longNames.lines(TextStyle()).flatMap { $0.text.split(separator: " ").map(String.init) })
        let blocks = Set("█▏▎▍▌▋▊▉")
        for word in lines.flatMap({ $0.split(separator: " ") }) where !word.allSatisfy(blocks.contains) {
            let isCutName = word.contains("…") && word.contains("60-")
            #expect(words.contains(String(word)) || isCutName && width < 200, "\(word)")
        }
    }

    @Test(
        "two names with a common beginning always differ, and are whole if there is room", arguments: [40, 60, 80, 200])
    func namesApart(_ width: Int) {
        let lines = longNames.lines(TextStyle(width: width)).map(\.text)
        let shown = Set(lines.flatMap { $0.split(separator: " ") }.filter { $0.hasPrefix("60-") })
        #expect(width < 200 || shown == [Substring(orders), Substring(refunds)], "\(shown)")
        // Each table has both, and only one name has each ending.
        #expect(shown.count >= 2 && shown.allSatisfy { $0.hasSuffix("rs") != $0.hasSuffix("ds") }, "\(shown)")
    }

    @Test("a miss that waited names in every format the number of predecessors, and the longest of them")
    func blockedMiss() {
        let predecessor = Predecessor(
            id: InvocationID(seq: SequenceNumber(90), n: 0), handler: "hangs", took: .milliseconds(702))
        var missed = row(97, .expired, queue: .milliseconds(7500), waitedFor: predecessor)
        missed.invocation.result?.ahead = 60
        let document = document([missed])
        let sentence = "waited 7.5 s behind 60, longest #90 (hangs, 702 ms)"
        #expect(document.lines(TextStyle()).count { $0.text.hasSuffix(sentence) } == 2, "as a miss and as a wait")
        #expect(document.junit.contains("expired after 7,500.0 ms, \(sentence)</failure>"))
        #expect(document.markdown.contains("waited 7.5 s behind 60, longest \\#90 (hangs, 702 ms)"))
        let json = String(decoding: document.json, as: UTF8.self)
        let members = #""ahead":60,"waited_for":{"seq":90,"n":0,"handler":"hangs","took_ms":702}"#
        #expect(json.split(separator: members).count == 4, "slowest, misses and waits")
    }

    @Test("every format names the time that the figures cover")
    func covered() {
        let document = document([row(1, .handled), row(39_000, .handled)])
        let window = "2026-11-21 03:08:00 to 03:08:39 +00:00 (all that the ledger holds)"
        #expect(document.lines(TextStyle()).map(\.text).contains("Window               \(window)"))
        #expect(document.markdown.contains("Window: \(window)."))
        #expect(document.junit.contains("<property name=\"window\" value=\"\(window)\"/>"))
        let json = String(decoding: document.json, as: UTF8.self)
        #expect(json.contains(#""first_at":"2026-11-21T03:08:00.001Z","last_at":"2026-11-21T03:08:39Z""#))
    }

    @Test("each format gives the same times of a handler, and names the clock")
    func clocks() {
        let document = document([row(1, .handled, queue: .milliseconds(666), exec: .microseconds(9700))])
        let lines = document.lines(TextStyle()).map(\.text)
        let times = ["9.7", "9.7", "9.7", "666.0", "666.0", "675.7", "675.7"]
        let titles = ["Exec p50", "Exec p99", "Exec max", "Queue p50", "Queue p99", "Total p50", "Total p99"]
        func words(_ line: String?) -> [String] { line?.split(separator: " ").map(String.init) ?? [] }
        #expect(lines.contains { words($0) == ["crm", "1", "1", "0", "0"] + times })
        let heads = words(lines.first { $0.hasPrefix("Handler (ms)") })
        #expect(heads.suffix(14) == words(titles.joined(separator: " "))[...])
        #expect(document.markdown.contains("| crm | 1 | 1 | 0 | 0 | \(times.joined(separator: " | ")) |\n"))
        #expect(document.markdown.contains("| Missed | \(titles.map { "\($0) ms" }.joined(separator: " | ")) |\n"))
        let json = String(decoding: document.json, as: UTF8.self)
        for (clock, milliseconds) in [("queue", "666"), ("exec", "9.7"), ("total", "675.7")] {
            #expect(json.contains("\"\(clock)\":{\"p50_ms\":\(milliseconds),"))
        }
        #expect(lines.contains { words($0) == ["Time", "(ms)", "p50", "p90", "p99", "p99.9", "max"] })
        #expect(lines.contains { words($0) == ["Exec"] + Array(repeating: "9.7", count: 5) })
        #expect(document.markdown.contains("| Queue | 666.0 | 666.0 | 666.0 | 666.0 | 666.0 |\n"))
    }

    @Test("the groups of --by are in text, Markdown, JSON and HTML")
    func crossed() {
        let document = document([row(1, .handled, platform: .ios)], crossed: [[.handler, .platform]])
        let lines = document.lines(TextStyle()).map(\.text)
        #expect(lines.contains { $0.hasPrefix("Handler  Platform (ms)") })
        #expect(lines.contains { $0.hasPrefix("crm      ios") })
        #expect(document.markdown.contains("By handler and platform:\n\n| Handler | Platform | Count |"))
        #expect(document.markdown.contains("\n| crm | ios | 1 | 1 |"))
        #expect(String(decoding: document.json, as: UTF8.self).contains(#""names":["crm","ios"]"#))
        #expect(document.html.contains("ios"))
    }

    @Test(
        "text and Markdown list the slowest invocations, handled ones too; Markdown counts the misses that it leaves out"
    )
    func slowest() {
        let misses = (1...34).map { row(Int64($0), .timedOut, exec: .milliseconds(9000 + $0)) }
        let document = document(misses + [row(99, .handled, exec: .milliseconds(9500))])
        let lines = document.lines(TextStyle()).map(\.text)
        let place = lines.firstIndex(of: "Slowest") ?? lines.count - 3
        #expect(lines[place + 2].hasPrefix(" 99  0  onMessageReceived  onesignal  crm      handled"))
        let markdown = document.markdown
        #expect(markdown.contains("<summary>Missed (34)</summary>\n\n- `pushctl show 34`: onMessageReceived, crm, t"))
        #expect(!markdown.contains("`pushctl show 14`") && markdown.contains("- and 14 more, none slower\n"))
        #expect(markdown.contains("<summary>Slowest (10)</summary>\n\n- `pushctl show 99`: onMessageReceived, crm, h"))
        let many = self.document((1...300).map { row(Int64($0), .timedOut, exec: .milliseconds(9000 + $0)) })
        #expect(many.junit.contains("\npushctl show 251: ") && !many.junit.contains("\npushctl show 250: "))
        #expect(many.junit.contains("\nand 250 more</failure>"))
    }

    @Test("without due invocations the verdict says so, and alerts name the end of their own windows")
    func nothingDue() throws {
        var rates = BurnRates(end: WallTime(milliseconds: 1_795_230_600_000))
        for seq in 1...9 { rates.add(row(Int64(seq), .timedOut)) }
        let level = ServiceLevel(
            objective: try #require(Percent("99.9")), compliance: Compliance(due: 0, missed: 0), rates: rates)
        let document = ReportDocument(report: report([]), detail: ReportDetail(), serviceLevel: level)
        let lines = document.lines(TextStyle()).map(\.text)
        #expect(lines.contains("Objective            99.9 %: nothing was due"))
        let end = "in the 1h before 2026-11-21 03:10:00 +00:00 and in the last 5m of it"
        #expect(lines.contains { $0.hasPrefix("Alert (page): ") && $0.hasSuffix(end) })
        #expect(!lines.contains { $0.hasPrefix("Warning: ") })
        #expect(document.markdown.contains("\n- Alert (page): ") && !document.markdown.contains("**Warning:**"))
        #expect(!document.html.contains("Burn rates until"))
        let due = ServiceLevel(
            objective: level.objective, compliance: Compliance(due: 1, missed: 0), rates: rates)
        #expect(
            ReportDocument(report: report([]), detail: ReportDetail(), serviceLevel: due).html.contains(
                "Burn rates until"))
    }

    @Test(
        "the first sentence of each format names failures in time: a handler that always fails keeps every deadline")
    func failures() {
        let failing = document((1...3).map { row($0, .failed, exec: .milliseconds(2)) })
        let line = "Deadline compliance  100 %  (due 3, missed 0, failed 3)"
        let first = failing.lines(TextStyle()).first { $0.text.hasPrefix("Deadline compliance") }
        #expect(first?.text == line && first?.tone == .plain, "it is no success")
        #expect(failing.markdown.hasPrefix("## Deadline compliance: 100 %, 3 failed\n"))
        #expect(failing.markdown.contains("\nNone of 3 was late. 3 failed in time, all at crm.\n"))
        #expect(failing.html.contains("<title>Deadline compliance: 100 %, 3 failed</title>"))
        #expect(failing.html.contains("0 of 3 due missed, 3 failed"))
        let both = document([row(1, .failed), row(2, .timedOut), row(3, .handled)])
        #expect(both.junit.contains("1 of 3 missed the deadline, 1 failed"))
        #expect(document([row(1, .handled)]).markdown.hasPrefix("## Deadline compliance: 100 %\n"))
    }

    @Test("the report counts kept deadlines from acceptance and from invocation")
    func bothClocks() {
        let document = document([row(1, .handled, queue: .seconds(8), exec: .seconds(2)), row(2, .handled)])
        #expect(document.lines(TextStyle()).contains { $0.text == "From acceptance      50.0 %  (due 2, late 1)" })
        #expect(document.lines(TextStyle()).contains { $0.text == "From invocation      100 %  (due 2, late 0)" })
        #expect(document.markdown.contains("\n- From acceptance: 50.0 %  (due 2, late 1)\n"))
    }

    @Test("Markdown has the mode, the deadline, declined and retried counts, and observers")
    func wholeMarkdown() {
        var report = report([row(1, .handled), observerRow(1, .handled)])
        report.add(.declined, of: "crm", count: 3)
        report.add(.retry, of: "crm", count: 2)
        let markdown = ReportDocument(report: report, detail: ReportDetail()).markdown
        #expect(markdown.contains("- Mode: device: the deadline counts from the invocation\n- Deadline: 9 s\n"))
        #expect(markdown.contains("| Handler | Declined | Asked for a retry |\n| :-- | --: | --: |\n| crm | 3 | 2 |\n"))
        let observers = "1 accepted = 1 decided + 0 in flight; deadline compliance 100 %"
        #expect(markdown.contains("Observers (not in the figures above): \(observers)"))
        #expect(markdown.contains("\n| 90-audit | 1 | 1 |"))
    }

    @Test("bars are block characters, or number signs if the encoding has none")
    func bars() {
        #expect(TextStyle().bar(1, of: 2, length: 8) == "████")
        #expect(TextStyle().bar(1, of: 16, length: 8) == "▌")
        #expect(TextStyle(usesUnicode: false).bar(1, of: 2, length: 8) == "####")
        #expect(TextStyle(usesUnicode: false).bar(0, of: 2, length: 8).isEmpty)
        let text = document([row(1, .handled, exec: .seconds(1))]).lines(TextStyle(usesUnicode: false))
        #expect(text.allSatisfy { $0.text.utf8.allSatisfy { $0 < 0x80 } })
    }

    @Test("an empty report has a page, a comment and a test report")
    func empty() {
        let document = document([], objective: "99.9")
        #expect(document.html.contains("nothing was due"))
        #expect(document.markdown.contains("No push came, so no handler had a deadline to keep."))
        #expect(document.junit.contains("tests=\"1\" failures=\"0\""))
    }
}
