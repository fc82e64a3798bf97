import PushModel
import Testing

@testable import PushReporting

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

    @Test("a handler that fails every time is named in every format, though it keeps every deadline")
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

    @Test("what comes from outside is text in HTML, XML and Markdown, whatever is in it")
    func hostileNames() {
        let document = document([row(1, .timedOut, handler: hostile, exec: .seconds(9))], objective: "99")
        for text in [document.html, document.junit] {
            #expect(!text.contains("<b>") && text.contains("&lt;b&gt;&quot;&amp;&#39;\u{FFFD}\u{FFFD}|@all`"))
        }
        #expect(!document.markdown.contains("<b>") && document.markdown.contains("\\|@\u{200B}all\\`"))
    }

    @Test("the page needs nothing beside itself: no script, and links only within it, each to something there")
    func selfContained() {
        let html = document([row(1, .timedOut, exec: .seconds(9)), row(2, .handled, exec: .seconds(1))]).html
        #expect(!html.contains("<script") && !html.contains("@import") && !html.contains("url("))
        let targets = html.split(separator: "href=\"").dropFirst().map { $0.prefix { $0 != "\"" } }
        #expect(targets.contains("#miss-1-0"))
        for target in targets where target != "data:," {
            #expect(target.hasPrefix("#") && html.contains("id=\"\(target.dropFirst())\""), "\(target)")
        }
        #expect(!html.contains("src="))
    }

    @Test("every drawing has a name and a description that exist, and every identifier is given once")
    func accessible() {
        let html = document([row(1, .timedOut, exec: .seconds(9)), row(2, .handled, exec: .seconds(1))]).html
        let identifiers = html.split(separator: " id=\"").dropFirst().map { $0.prefix { $0 != "\"" } }
        #expect(Set(identifiers).count == identifiers.count)
        let names = html.split(separator: "aria-labelledby=\"").dropFirst().map { $0.prefix { $0 != "\"" } }
        #expect(names.count == 6)
        for name in names { #expect(name.split(separator: " ").allSatisfy(identifiers.contains), "\(name)") }
    }

    @Test("no line is wider than asked for, and every word is whole", arguments: [60, 80, 200])
    func width(_ width: Int) {
        let predecessor = Predecessor(id: InvocationID(seq: SequenceNumber(41), n: 0), handler: "crm")
        let rows = [
            row(123_456, .timedOut, exec: .seconds(9)), row(123_457, .handled, exec: .milliseconds(3)),
            row(123_458, .expired, queue: .seconds(9), code: .daemonDown, waitedFor: predecessor),
            observerRow(123_458, .handled, exec: .seconds(2)),
            row(123_459, .failed, callback: .didReceiveRemoteNotification, handler: "broken", platform: .ios),
        ]
        let document = document(rows, objective: "99.9", crossed: [[.handler, .platform]])
        let lines = document.lines(TextStyle(width: width)).map(\.text)
        #expect(lines.allSatisfy { $0.count <= width }, "\(lines.filter { $0.count > width })")
        let words = Set(document.lines(TextStyle()).flatMap { $0.text.split(separator: " ").map(String.init) })
        let blocks = Set("█▏▎▍▌▋▊▉")
        for word in lines.flatMap({ $0.split(separator: " ") }) where !word.allSatisfy(blocks.contains) {
            #expect(words.contains(String(word)), "\(word)")
        }
    }

    @Test("bars are block characters, or number signs where the encoding has none")
    func bars() {
        #expect(TextStyle().bar(1, of: 2, length: 8) == "████")
        #expect(TextStyle().bar(1, of: 16, length: 8) == "▌")
        #expect(TextStyle(usesUnicode: false).bar(1, of: 2, length: 8) == "####")
        #expect(TextStyle(usesUnicode: false).bar(0, of: 2, length: 8).isEmpty)
        let text = document([row(1, .handled, exec: .seconds(1))]).lines(TextStyle(usesUnicode: false))
        #expect(text.allSatisfy { $0.text.utf8.allSatisfy { $0 < 0x80 } })
    }

    @Test("a report of nothing is a page, a comment, a test report and metrics")
    func empty() {
        let document = document([], objective: "99.9")
        #expect(document.html.contains("nothing was due"))
        #expect(document.markdown.contains("Nothing was due."))
        #expect(document.junit.contains("tests=\"1\" failures=\"0\""))
        #expect(document.openMetrics.contains("pushrouterd_report_due 0\n"))
        #expect(document.openMetrics.hasSuffix("# EOF\n"))
    }
}
