import TestSupport
import Testing

@testable import PushModel
@testable import PushViews

@Suite("Alerts and dashboard")
struct MonitoringFilesTests {
    /// The directory of the package: this file is in `Tests/MetricsTests`.
    private static let root = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()
    private static let rules = "packaging/prometheus/pushrouterd.rules.yml"
    private static let dashboard = "packaging/grafana/pushrouterd.json"

    private static func text(_ path: String) throws -> String {
        String(decoding: try #require(readFile("\(root)/\(path)")), as: UTF8.self)
    }

    @Test("use only metrics that the daemon has", arguments: [rules, dashboard])
    func names(path: String) throws {
        let known = Set(OpenMetrics.sampleNames)
        let text = try Self.text(path)
        let asked = Set(
            text.matches(of: /pushrouterd(:[a-z0-9_]+:rate[0-9]+[a-z]|_[a-z_]+)/).map { String($0.output.0) })
        #expect(asked.count > 10)
        let recorded = Set(
            try Self.text(Self.rules).matches(of: /record: (\S+)/).map { String($0.output.1) })
        #expect(asked.subtracting(known).subtracting(recorded) == [])
    }

    @Test("use only existing outcomes, reasons and phases", arguments: [rules, dashboard])
    func labelValues(path: String) throws {
        let known: [Substring: [String]] = [
            "outcome": Outcome.allCases.map(\.rawValue), "phase": SendingState.Phase.allCases.map(\.rawValue),
        ]
        for match in try Self.text(path).matches(of: /(outcome|phase)=~?\\?"([a-z_|]+)\\?"/) {
            for value in match.output.2.split(separator: "|") {
                #expect(known[match.output.1]?.contains(String(value)) == true, "\(match.output.0)")
            }
        }
    }

    @Test("have a paragraph in the operations guide for each alert, and for no other")
    func paragraphs() throws {
        let alerts = try Self.text(Self.rules).matches(of: /alert: (\w+)/).map { String($0.output.1) }
        let guide = try Self.text("Sources/PushDaemon/Documentation.docc/Operations.md")
        let described = guide.matches(of: /(?m)^- `(Pushrouterd\w+)`/).map { String($0.output.1) }
        #expect(alerts.count > 15 && described.sorted() == alerts.sorted())
        let runbooks = try Self.text(Self.rules).matches(of: /runbook: "(.*)"/).map { String($0.output.1) }
        let page = "/usr/share/doc/pushrouterd/guides/Operations.md"
        #expect(runbooks == alerts.map { "less '+/^- .\($0). ' \(page)" }, "the command shows the paragraph")
    }

    @Test("include a dashboard in JSON whose panels each have a title, a description and an expression")
    func panels() throws {
        let root = try JSONDocument(scanning: Array(try Self.text(Self.dashboard).utf8)).root
        let panels = root["panels"]?.elements ?? []
        #expect(root["uid"]?.string == "pushrouterd" && panels.count > 15)
        for panel in panels where panel["type"]?.string != "row" {
            let title = panel["title"]?.string ?? ""
            #expect(!title.isEmpty && panel["description"]?.string?.hasSuffix(".") == true, "\(title)")
            #expect(panel["targets"]?.elements.allSatisfy { $0["expr"]?.string?.isEmpty == false } == true, "\(title)")
        }
    }
}
