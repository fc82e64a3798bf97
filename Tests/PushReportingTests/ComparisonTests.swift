import PushModel
import Testing

@testable import PushReporting

@Suite("Comparison with a baseline")
struct ComparisonTests {
    /// A report of so many handled rows of handler crm, of which some missed and the times are given.
    private func document(_ count: Int, missed: Int = 0, exec: (Int) -> Duration = { _ in .milliseconds(40) })
        -> ReportDocument
    {
        var report = ComplianceReport(mode: .device, budget: .seconds(9))
        var detail = ReportDetail()
        for seq in 0..<count {
            let row = seq < missed ? row(Int64(seq + 1), .timedOut) : row(Int64(seq + 1), .handled, exec: exec(seq))
            report.add(row)
            detail.add(row)
        }
        return ReportDocument(report: report, detail: detail)
    }

    private func compared(_ now: ReportDocument, with before: ReportDocument) throws -> Comparison {
        let baseline = try Baseline(JSONDocument(scanning: before.json).root)
        return Comparison(now.report, now.detail, with: baseline)
    }

    @Test(
        "Fisher's test has the values of the hypergeometric distribution",
        arguments: [
            // As sums of exact binomial coefficients in Python (math.comb) say.
            (8, 10, 9, 20, 0.0027387), (1, 10, 1, 20, 0.5), (0, 10, 0, 20, 1.0), (5, 5, 5, 10, 0.0039683),
            (30, 1000, 40, 2000, 0.0010042),
        ])
    func fisher(marked: Int, drawn: Int, markedInAll: Int, rows: Int, expected: Double) {
        let value = Hypergeometric.upperTail(marked: marked, drawn: drawn, markedInAll: markedInAll, rows: rows)
        #expect(abs(value - expected) < expected * 0.001, "\(value)")
    }

    @Test("Fisher's test ends soon and stays between 0 and 1 for as many rows as a large ledger has")
    func fisherOfMany() {
        let value = Hypergeometric.upperTail(
            marked: 5_100_000, drawn: 10_000_000, markedInAll: 10_000_000, rows: 20_000_000)
        #expect(0 <= value && value < 1e-100)
    }

    @Test("ten rows against ten prove nothing: three misses where there were none are not named")
    func tenSamples() throws {
        #expect(try compared(document(10, missed: 3), with: document(10)).worse.isEmpty)
    }

    @Test("many more misses among many rows are named, for all, the handler, the route and the provider")
    func misses() throws {
        let comparison = try compared(document(1000, missed: 50), with: document(1000, missed: 5))
        let missed = comparison.worse.filter { $0.figure == .missed }
        #expect(Set(missed.map(\.part)) == ["all", "handler", "route", "provider"])
        #expect(missed.allSatisfy { $0.pValue < 0.001 && $0.before == 0.005 && $0.after == 0.05 })
    }

    @Test("fewer misses and shorter times are nothing worse")
    func better() throws {
        let comparison = try compared(
            document(1000, exec: { .milliseconds(10 + $0 % 10) }), with: document(1000, missed: 100))
        #expect(comparison.worse.isEmpty)
    }

    @Test("a slower tail is named at p99, and the median that stayed is not")
    func slowerTail() throws {
        let comparison = try compared(
            document(5000, exec: { $0 % 20 == 0 ? .milliseconds(900) : .milliseconds(40) }),
            with: document(5000, exec: { $0 % 200 == 0 ? .milliseconds(900) : .milliseconds(40) }))
        #expect(comparison.worse.contains { $0.part == "handler" && $0.name == "crm" && $0.figure == .p99 })
        #expect(!comparison.worse.contains { $0.figure == .p50 })
    }

    @Test("a slower tail of few rows is named against many rows, where it hardly moves the quantile of both together")
    func slowerTailOfFew() throws {
        let comparison = try compared(
            document(500, exec: { $0 % 20 == 0 ? .milliseconds(900) : .milliseconds(40) }),
            with: document(20_000, exec: { $0 % 1000 == 0 ? .milliseconds(900) : .milliseconds(40) }))
        #expect(comparison.worse.contains { $0.part == "all" && $0.figure == .p99 })
    }

    @Test("a difference that is sure and below a tenth is not worth a word")
    func smallDifference() throws {
        let comparison = try compared(
            document(5000, exec: { _ in .milliseconds(42) }), with: document(5000, exec: { _ in .milliseconds(40) }))
        #expect(comparison.worse.isEmpty)
    }

    @Test("of 60 comparisons of equals at most three find anything")
    func falseAlarms() throws {
        var generator = SeededGenerator(state: 11)
        func sample() -> ReportDocument {
            let times = (0..<200).map { _ in Int.random(in: 1...400, using: &generator) }
            return document(200, missed: Int.random(in: 2...6, using: &generator)) {
                .milliseconds(times[$0] * times[$0] / 40)
            }
        }
        var found = 0
        for _ in 0..<60 where try !compared(sample(), with: sample()).worse.isEmpty { found += 1 }
        #expect(found <= 3, "\(found)")
    }

    @Test(
        "what is no report with histograms is refused with the reason",
        arguments: [
            ("{}", "it has no histograms; write it with `pushctl report --json`"),
            (
                #"{"histograms":{"all":{"total":[[1]]}},"due":1,"missed":0}"#,
                "a histogram has pairs of microseconds and a count"
            ),
            (#"{"histograms":{"all":{"total":[]}},"due":1,"missed":2}"#, "due and missed are not counts"),
            (#"{"histograms":{"all":{"total":[]}},"due":-1,"missed":-2}"#, "due and missed are not counts"),
        ])
    func unreadable(text: String, message: String) throws {
        let root = try JSONDocument(scanning: Array(text.utf8)).root
        #expect(throws: Baseline.Unreadable(message: message)) { try Baseline(root) }
    }
}
