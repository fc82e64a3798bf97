import TestSupport
import Testing

@testable import PushModel
@testable import PushViews

@Suite("Comparison with a baseline")
struct ComparisonTests {
    /// A report of so many rows of handler crm, with the number of misses and the times of the others.
    /// - Parameter isAlone: whether the report has no other rows; otherwise another handler has one row.
    private func document(
        _ count: Int, missed: Int = 0, queue: Duration = .zero, isAlone: Bool = false,
        exec: (Int) -> Duration = { _ in .milliseconds(40) }
    ) -> ReportDocument {
        var report = ComplianceReport(mode: .device, budget: .seconds(9))
        var detail = ReportDetail()
        for seq in 0..<count {
            let row =
                seq < missed
                ? row(Int64(seq + 1), .timedOut) : row(Int64(seq + 1), .handled, queue: queue, exec: exec(seq))
            report.add(row)
            detail.add(row)
        }
        if !isAlone {
            let other = row(Int64(count + 1), .handled, provider: "braze", route: "30-other", handler: "other")
            report.add(other)
            detail.add(other)
        }
        return ReportDocument(report: report, detail: detail)
    }

    private func compared(_ now: ReportDocument, with before: ReportDocument) throws -> Comparison {
        let baseline = try Baseline(JSONDocument(scanning: before.json).root)
        return Comparison(now.report, now.detail, with: baseline, file: "before.json")
    }

    /// The later report, with its comparison.
    private func document(_ now: ReportDocument, with before: ReportDocument) throws -> ReportDocument {
        ReportDocument(report: now.report, detail: now.detail, comparison: try compared(now, with: before))
    }

    @Test("compares eight figures of each part that has due invocations on both sides, from one on")
    func tests() throws {
        let (one, none) = (document(1, isAlone: true), document(0, isAlone: true))
        #expect(try compared(one, with: one).tests == 8)
        #expect(try compared(one, with: none).tests == 0)
        #expect(try compared(none, with: one).tests == 0)
    }

    @Test(
        "Fisher's test has the values of the hypergeometric distribution",
        arguments: [
            // Computed in Python as sums of exact binomial coefficients (math.comb).
            (8, 10, 9, 20, 0.0027387), (1, 10, 1, 20, 0.5), (0, 10, 0, 20, 1.0), (5, 5, 5, 10, 0.0039683),
            (30, 1000, 40, 2000, 0.0010042),
        ])
    func fisher(marked: Int, drawn: Int, markedInAll: Int, rows: Int, expected: Double) {
        let value = Hypergeometric.upperTail(marked: marked, drawn: drawn, markedInAll: markedInAll, rows: rows)
        #expect(abs(value - expected) < expected * 0.001, "\(value)")
    }

    @Test("Fisher's test ends quickly and stays between 0 and 1 for as many rows as a large ledger has")
    func fisherOfMany() {
        let value = Hypergeometric.upperTail(
            marked: 5_100_000, drawn: 10_000_000, markedInAll: 10_000_000, rows: 20_000_000)
        #expect(0 <= value && value < 1e-100)
    }

    @Test("ten rows against ten prove nothing: three misses against none are not named")
    func tenSamples() throws {
        #expect(try compared(document(10, missed: 3), with: document(10)).worse.isEmpty)
    }

    @Test("many more misses among many rows are named, for all, the handler, the route and the provider")
    func misses() throws {
        let comparison = try compared(document(1000, missed: 50), with: document(1000, missed: 5))
        let missed = comparison.worse.filter { $0.figure == .missed }
        #expect(Set(missed.map(\.part.kind)) == ["all", "handler", "route", "provider"])
        let ofParts = missed.filter { $0.part.kind != "all" }
        #expect(ofParts.allSatisfy { $0.pValue < 0.001 && $0.before == 0.005 && $0.after == 0.05 })
    }

    @Test(
        "Holm's method stops at the first figure that fails its bound: a later one within its own bound is not named"
    )
    func holm() throws {
        // All times of the later three rows are longer: six figures, each with the p-value 2 / C(rows, 3).
        let now = document(3, queue: .milliseconds(700), isAlone: true) { _ in .milliseconds(900) }
        let few = try compared(now, with: document(16, isAlone: true))
        #expect(few.tests == 8)
        #expect(few.worse.isEmpty, "2 / C(19, 3) is above 0.01 / 8, and below the bound of the sixth, 0.01 / 3")
        #expect(try compared(now, with: document(30, isAlone: true)).worse.count == 6, "2 / C(33, 3) is below 0.01 / 8")
    }

    @Test("fewer misses and shorter times are not worse")
    func better() throws {
        let comparison = try compared(
            document(1000, exec: { .milliseconds(10 + $0 % 10) }), with: document(1000, missed: 100))
        #expect(comparison.worse.isEmpty)
    }

    @Test("a slower tail is named at p99, and the unchanged median is not")
    func slowerTail() throws {
        let comparison = try compared(
            document(5000, exec: { $0 % 20 == 0 ? .milliseconds(900) : .milliseconds(40) }),
            with: document(5000, exec: { $0 % 200 == 0 ? .milliseconds(900) : .milliseconds(40) }))
        #expect(comparison.worse.contains { $0.part.words == "handler crm" && $0.figure == .execP99 })
        #expect(!comparison.worse.contains { $0.figure == .execP50 })
    }

    @Test(
        "a slower tail of few rows is named against many rows, although it hardly moves the quantile of both together")
    func slowerTailOfFew() throws {
        let comparison = try compared(
            document(500, exec: { $0 % 20 == 0 ? .milliseconds(900) : .milliseconds(40) }),
            with: document(20_000, exec: { $0 % 1000 == 0 ? .milliseconds(900) : .milliseconds(40) }))
        #expect(comparison.worse.contains { $0.part.kind == "all" && $0.figure == .execP99 })
    }

    @Test("a handler that waits behind another is slower in its queue, and not in its execution")
    func longerQueue() throws {
        let now = try document(document(500, queue: .milliseconds(700)), with: document(500))
        let comparison = try #require(now.comparison)
        let crm = comparison.worse.filter { $0.part.words == "handler crm" }
        #expect(Set(crm.map(\.figure)) == [.queueP50, .queueP90, .queueP99])
        #expect(comparison.worse.allSatisfy { ![.execP50, .execP90, .execP99].contains($0.figure) })
        let words = "handler crm: queue p50 700.0 ms, was 0.0 ms (p < 0.0001)"
        #expect(now.lines(TextStyle()).contains { $0.text == "Warning: Worse than the baseline: \(words)" })
    }

    @Test("a handler, route or provider with all invocations is left out: it equals the figures for all")
    func onlyOne() throws {
        let comparison = try compared(document(1000, missed: 90, isAlone: true), with: document(1000, isAlone: true))
        #expect(comparison.parts.map(\.words) == ["all invocations"])
        #expect(Set(comparison.worse.map(\.part.kind)) == ["all"])
        #expect(comparison.tests == Comparison.Finding.Figure.allCases.count)
        // The handler is left out only if it has all invocations in both reports.
        let grown = try compared(document(1000, missed: 90), with: document(1000, isAlone: true))
        #expect(grown.parts.map(\.words).contains("handler crm"))
    }

    @Test("one line names the baseline, in each format for people")
    func line() throws {
        let same = document(50, isAlone: true)
        let now = try document(same, with: same)
        let line = "Compared with before.json: 8 figures, none worse; it covers 2026-11-21 03:08:00 +00:00"
        #expect(now.lines(TextStyle()).contains { $0.text == line })
        #expect(now.markdown.contains("\n\n\(line).\n\n"))
        #expect(now.html.contains("<p>\(line).</p>"))
        let json = try JSONDocument(scanning: now.json).root["comparison"]
        #expect(json?["file"]?.string == "before.json" && json?["tests"]?.int64 == 8)
        #expect(json?["first_at"]?.string == "2026-11-21T03:08:00.001Z")
        let worse = try document(document(1000, missed: 90, isAlone: true), with: document(1000, isAlone: true))
        let heading = "Compared with before.json: 8 figures, 1 worse; "
        #expect(worse.lines(TextStyle()).contains { $0.text.hasPrefix(heading) })
        #expect(worse.html.contains("<p><a href=\"#comparison\">Worse than the baseline</a>: 1 figure</p>"))
        #expect(worse.html.contains(">all invocations</th><td class=\"name\">missed</td><td>0 %</td><td>9 %</td>"))
    }

    @Test("in JUnit each compared part is a case, which fails if a figure got worse, and lists those figures")
    func junit() throws {
        let worse = try document(document(500, queue: .milliseconds(700)), with: document(500)).junit
        let parts = ["all invocations", "handler crm", "handler other", "route 20-onesignal", "route 30-other"]
        for part in parts + ["provider braze", "provider onesignal"] {
            #expect(worse.contains("<testcase classname=\"pushrouterd.baseline\" name=\"\(part)\""), "\(part)")
        }
        #expect(worse.contains("<testsuite name=\"baseline\" tests=\"7\" failures=\"4\""))
        #expect(
            worse.contains(
                """
                name="handler crm">
                      <failure type="worse" message="queue p50 700.0 ms, was 0.0 ms (p &lt; 0.0001)">queue p50 700.0 ms, \
                was 0.0 ms (p &lt; 0.0001)
                queue p90
                """))
        #expect(worse.contains("tests=\"12\" failures=\"4\""))
        #expect(try !document(document(500), with: document(500)).junit.contains("<failure"))
        #expect(!document(500).junit.contains("\"baseline\""))
    }

    @Test("a significant difference below a tenth is not named")
    func smallDifference() throws {
        let comparison = try compared(
            document(5000, exec: { _ in .milliseconds(42) }), with: document(5000, exec: { _ in .milliseconds(40) }))
        #expect(comparison.worse.isEmpty)
    }

    @Test("of comparisons of equal reports at most one in twenty finds a difference")
    func falseAlarms() throws {
        var generator = SeededGenerator(state: 11)
        func sample() -> ReportDocument {
            let times = (0..<200).map { _ in Int.random(in: 1...400, using: &generator) }
            return document(200, missed: Int.random(in: 2...6, using: &generator)) {
                .milliseconds(times[$0] * times[$0] / 40)
            }
        }
        var found = 0
        let cases = Search.cases(200)
        for _ in 0..<cases where try !compared(sample(), with: sample()).worse.isEmpty { found += 1 }
        #expect(found <= cases / 20, "\(found)")
    }

    @Test(
        "a file that is no report with histograms is refused with the reason",
        arguments: [
            ("{}", "the report has no histograms; write it with `pushctl report --json`"),
            (
                #"{"histograms":{"all":{"queue":[[1]]}},"due":1,"missed":0}"#,
                "a histogram has pairs of microseconds and a count"
            ),
            (#"{"histograms":{"all":{"total":[]}},"due":1,"missed":2}"#, "due and missed are not counts"),
            (#"{"histograms":{"all":{"total":[]}},"due":-1,"missed":-2}"#, "due and missed are not counts"),
            (
                #"{"histograms":{"all":{}},"due":3,"missed":2,"by_handler":{"crm":{"due":1,"missed":2}}}"#,
                "by_handler: due and missed are not counts"
            ),
            (
                #"{"histograms":{"all":{}},"due":3,"missed":2,"by_route":{"r":{"due":1}}}"#,
                "by_route: due and missed are not counts"
            ),
        ])
    func unreadable(text: String, message: String) throws {
        let root = try JSONDocument(scanning: Array(text.utf8)).root
        #expect(throws: Baseline.Unreadable(message: message)) { try Baseline(root) }
    }

    @Test("a file is read in which all or none of the due missed, of all and of a part", arguments: [0, 1, 3])
    func allMissed(missed: Int) throws {
        let counts = #""due":3,"missed":\#(missed)"#
        let parts = #""by_handler":{"crm":{\#(counts)}},"by_route":{"r":{\#(counts)}},"by_provider":{"p":{\#(counts)}}"#
        let root = try JSONDocument(scanning: Array(#"{"histograms":{"all":{}},\#(counts),\#(parts)}"#.utf8)).root
        let baseline = try Baseline(root)
        let all = [baseline.all] + Baseline.Part.allCases.compactMap { baseline.groups[$0]?.values.first }
        #expect(all.map(\.due) == [3, 3, 3, 3] && all.map(\.missed) == [missed, missed, missed, missed])
    }
}
