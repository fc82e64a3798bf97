import PushModel

extension ReportDocument {
    /// The report as JUnit XML for CI systems: a case for all invocations, for each route and for each handler, and
    /// with a baseline for each compared group.
    ///
    /// A case fails when its compliance is below the objective, or without an objective when it has a miss, and when it
    /// handled none of the due invocations. A baseline's case fails when a figure got worse.
    public var junit: String {
        let suites = [
            suite("all", [(name: "all invocations", group: detail.all)], missReasonProperties),
            suite("route", Self.sorted(report.byRoute)),
            suite("handler", Self.sorted(report.byHandler)), suiteOfBaseline,
        ].filter { !$0.cases.isEmpty }
        return JUnitSuite.document(
            "pushctl report\(report.source == .ledger ? "" : " --from-journal")", suites)
    }

    private static func sorted(_ groups: [String: FigureGroup]) -> [(name: String, group: FigureGroup)] {
        groups.sorted { $0.key < $1.key }.map { (name: $0.key, group: $0.value) }
    }

    /// The answer in words, and the numbers of misses by reason.
    private var missReasonProperties: [(name: String, value: String)] {
        [("answer", answer)]
            + detail.all.sortedMissReasons.map { ("missed_by_reason.\($0.code.word)", String($0.count)) }
    }

    private func suite(
        _ name: String, _ groups: [(name: String, group: FigureGroup)],
        _ properties: [(name: String, value: String)] = []
    ) -> JUnitSuite {
        let cases = groups.map { group in
            let failure = failure(of: group.group).map { message in
                JUnitSuite.Problem(
                    .failure, kind: "deadline", message: message,
                    lines: [message] + misses(name, group.name, of: group.group.compliance.missed))
            }
            return JUnitSuite.Case(
                name: group.name, microseconds: group.group.total.quantile(permille: 990) ?? 0, problem: failure)
        }
        return JUnitSuite(name: name, properties: [("window", report.windowText(zone))] + properties, cases: cases)
    }

    private var suiteOfBaseline: JUnitSuite {
        guard let comparison else { return JUnitSuite(name: "baseline", properties: [], cases: []) }
        let cases = comparison.parts.map { part in
            let changes = comparison.worse.filter { $0.part == part }.map(\.change)
            let failure = changes.first.map { JUnitSuite.Problem(.failure, kind: "worse", message: $0, lines: changes) }
            return JUnitSuite.Case(name: part.words, microseconds: nil, problem: failure)
        }
        let properties = [("window", report.windowText(zone)), ("baseline", comparison.text(zone))]
        return JUnitSuite(name: "baseline", properties: properties, cases: cases)
    }

    private func failure(of group: FigureGroup) -> String? {
        let compliance = group.compliance
        if group.alwaysFails { return "nothing was handled: \(grouped(group.failed)) failed" }
        if let objective = serviceLevel?.objective {
            guard !compliance.meets(objective) else { return nil }
            return "deadline compliance \(compliance) is below \(objective) %: \(counts(compliance))"
        }
        let failed = group.failed > 0 ? ", \(grouped(group.failed)) failed" : ""
        return compliance.missed == 0 ? nil : "\(counts(compliance)) missed the deadline\(failed)"
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
    /// The invocation in a line: `onMessageReceived, crm, timed_out after 9,000.7 ms`, and its wait in the lane.
    var storyLine: String {
        "\(callback.rawValue), \(handler ?? "no handler"), \(result?.outcome.rawValue ?? "in flight") after "
            + "\(groupedMilliseconds(result?.total.microseconds)) ms" + (result?.waitText().map { ", \($0)" } ?? "")
    }
}
