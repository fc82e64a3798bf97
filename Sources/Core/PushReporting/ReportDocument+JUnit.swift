import PushFigures
import PushModel

extension ReportDocument {
    /// The report for CI systems, as JUnit XML: a case for all invocations, for each route and for each handler.
    ///
    /// A case fails when its compliance is below the objective, without one when anything was missed, and when it handled
    /// nothing of what was due.
    public var junit: String {
        let suites = [
            Suite("all", [("all invocations", detail.all)]), Suite("route", report.byRoute),
            Suite("handler", report.byHandler),
        ]
        let cases = suites.reduce(0) { $0 + $1.groups.count }
        let failures = suites.reduce(0) { $0 + $1.groups.count { failure(of: $0.group) != nil } }
        return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            + "<testsuites name=\"pushctl report\(report.source == .ledger ? "" : " --from-journal")\" tests=\"\(cases)\" failures=\"\(failures)\" errors=\"0\">\n"
            + suites.filter { !$0.groups.isEmpty }.map(text).joined() + "</testsuites>\n"
    }

    private struct Suite {
        let name: String
        let groups: [(name: String, group: FigureGroup)]

        init(_ name: String, _ groups: [(name: String, group: FigureGroup)]) {
            self.name = name
            self.groups = groups
        }

        init(_ name: String, _ groups: [String: FigureGroup]) {
            self.init(name, groups.sorted { $0.key < $1.key }.map { (name: $0.key, group: $0.value) })
        }
    }

    /// What the figures are of.
    private var properties: String {
        "    <properties>\n      <property name=\"window\" value=\"\(markup(report.windowText(zone)))\"/>\n"
            + "    </properties>\n"
    }

    private func text(_ suite: Suite) -> String {
        let failures = suite.groups.count { failure(of: $0.group) != nil }
        let head =
            "  <testsuite name=\"\(suite.name)\" tests=\"\(suite.groups.count)\" failures=\"\(failures)\" errors=\"0\" "
            + "skipped=\"0\">\n" + properties
        return head + suite.groups.map { text($0.name, $0.group, suite.name) }.joined() + "  </testsuite>\n"
    }

    private func text(_ name: String, _ group: FigureGroup, _ suite: String) -> String {
        let seconds = decimal(group.total.quantile(permille: 990) ?? 0, scale: 6)
        let head = "    <testcase classname=\"pushrouterd.\(suite)\" name=\"\(markup(name))\" time=\"\(seconds)\""
        guard let failure = failure(of: group) else { return head + "/>\n" }
        let lines = [failure] + misses(suite, name, of: group.compliance.missed)
        return head + ">\n      <failure type=\"deadline\" message=\"\(markup(failure))\">"
            + markup(lines.joined(separator: "\n")) + "</failure>\n    </testcase>\n"
    }

    private func failure(of group: FigureGroup) -> String? {
        let compliance = group.compliance
        if group.alwaysFails { return "nothing was handled: \(grouped(group.failed)) failed" }
        if let objective = serviceLevel?.objective {
            guard !compliance.meets(objective) else { return nil }
            return "deadline compliance \(compliance) is below \(objective) %: \(counts(compliance))"
        }
        return compliance.missed == 0 ? nil : "\(counts(compliance)) missed the deadline"
    }

    private func counts(_ compliance: Compliance) -> String {
        "\(grouped(compliance.missed)) of \(grouped(compliance.due))"
    }

    private func misses(_ suite: String, _ name: String, of missed: Int) -> [String] {
        let rows = detail.misses.slowest.filter { row in
            switch suite {
            case "route": row.invocation.route == name
            case "handler": row.invocation.handler == name
            default: true
            }
        }
        let named = rows.prefix(Self.namedMisses).map { row in
            "pushctl show \(row.invocation.id.seq): \(row.invocation.storyLine)"
        }
        return named + (missed > named.count ? ["and \(grouped(missed - named.count)) more"] : [])
    }

    private static let namedMisses = 50
}

extension InvocationRecord {
    /// `onMessageReceived, crm, timed_out after 9,000.7 ms`, and what it waited for.
    var storyLine: String {
        "\(callback.rawValue), \(handler ?? "no handler"), \(result?.outcome.rawValue ?? "in flight") after "
            + "\(groupedMilliseconds(result?.total.microseconds)) ms" + (result?.waitText().map { ", \($0)" } ?? "")
    }
}
