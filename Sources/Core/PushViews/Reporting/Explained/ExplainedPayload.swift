public import PushModel

/// The result of checking one payload in a file.
public struct ExplainedPayload: Sendable {
    /// The file of the payload.
    public let file: String
    /// The payload's first line; `nil` if the file has no other payload.
    public let line: Int?
    /// The line of the file for an annotation: the faulty line, otherwise the payload's first.
    public var annotatedLine: Int
    /// The file and the line for people.
    public let place: String
    /// The platform whose rules apply.
    public var platform = ""
    /// The owner; `nil`: no known provider.
    public var provider: String?
    /// The callbacks of owners, in their order.
    public var callbacks: [String] = []
    /// The end of the payload, as `Explanation.outcomeWord` has it.
    public var outcome = ""
    /// The warnings, for people.
    public var warnings: [String] = []
    /// The failed expectations, each with the value found.
    public var failures: [String] = []
    /// The reason why the payload cannot be read or would be refused.
    public var error: String?
    /// Whether the error is that a file or a directory contains no payload.
    public var isNone = false

    /// A result with its place only.
    ///
    /// - Parameter annotatedLine: `nil`: the payload's first line, or line 1.
    public init(file: String, line: Int?, place: String, annotatedLine: Int? = nil) {
        self.file = file
        self.line = line
        self.annotatedLine = annotatedLine ?? line ?? 1
        self.place = place
    }

    /// Returns one object for programs.
    ///
    /// - Parameter explanation: the object of `explain --json`.
    public func json(explanation: [UInt8]) -> [UInt8] {
        var writer = JSONWriter(reserving: explanation.count + 256)
        writer.object { writer in
            writer.member("file", file)
            writer.member("line", line)
            writer.member("place", place)
            writer.member("failures", array: { list in failures.forEach { list.string($0) } })
            writer.member("explanation", raw: explanation)
        }
        return writer.bytes
    }
}

/// The results of checking payload files, in each output format.
public struct ExplainedPayloads: Sendable {
    private let payloads: [ExplainedPayload]
    private let failsOnWarning: Bool

    /// - Parameters:
    ///   - payloads: in the order of the files.
    ///   - failsOnWarning: whether a payload with a warning fails.
    public init(_ payloads: [ExplainedPayload], failsOnWarning: Bool) {
        self.payloads = payloads
        self.failsOnWarning = failsOnWarning
    }

    /// Whether a readable payload fails.
    public var hasFailures: Bool { payloads.contains { !problems(of: $0).isEmpty } }

    /// Returns the failures of a payload, and with `failsOnWarning` its warnings.
    private func problems(of payload: ExplainedPayload) -> [String] {
        payload.failures + (failsOnWarning ? payload.warnings.map { "warning: \($0)" } : [])
    }

    /// Returns a line for each payload, followed by the reasons of failed ones.
    ///
    /// - Parameter width: the width of the terminal; `nil`: unlimited.
    public func lines(width: Int?) -> [ReportLine] {
        let table = TextTable(
            payloads.filter { $0.error == nil },
            [
                .nameInText("File", \.place).chosen, .nameInText("Platform", \.platform),
                .nameInText("Owner", { $0.provider ?? "none" }).chosen,
                .nameInText("Callback", { $0.callbacks.isEmpty ? "none" : $0.callbacks.joined(separator: ", ") })
                    .chosen,
                .nameInText("Outcome", \.outcome).chosen,
                .wordsInText("Warning") {
                    let more = $0.warnings.count > 1 ? " (and \($0.warnings.count - 1) more)" : ""
                    return ($0.warnings.first ?? "") + more
                },
            ]
        ) { problems(of: $0).isEmpty ? .plain : .bad }
        let failures = payloads.flatMap { payload in
            (payload.error.map { ["ERROR  \($0)"] } ?? [])
                + problems(of: payload).map { "FAIL   \(payload.place): \($0)" }
        }
        return table.lines(width: width) + failures.map { ReportLine($0, .bad) }
            + [ReportLine(summary, failures.isEmpty ? .good : .bad)]
    }

    private var summary: String {
        let (found, none) = (payloads.filter { !$0.isNone }, payloads.filter(\.isNone))
        let failed = found.count { !problems(of: $0).isEmpty }
        let unreadable = found.count { $0.error != nil }
        let warned = found.count { !$0.warnings.isEmpty }
        let counts = [
            found.isEmpty && !none.isEmpty ? nil : counted(found.count, "payload"),
            failed > 0 ? "\(failed) failed" : nil,
            unreadable > 0 ? "\(unreadable) could not be read" : nil, warned > 0 ? "\(warned) with warnings" : nil,
        ].compactMap { $0 }.joined(separator: ", ")
        return ((counts.isEmpty ? [] : [counts]) + none.map { "\($0.place): no payload" }).joined(separator: "; ")
    }

    /// JUnit XML for CI systems: a test case for each payload.
    public var junit: String {
        let cases = payloads.map { payload in
            JUnitSuite.Case(name: payload.place, microseconds: nil, problem: junitProblem(of: payload))
        }
        return JUnitSuite.document("pushctl explain", [JUnitSuite(name: "explain", cases: cases)])
    }

    private func junitProblem(of payload: ExplainedPayload) -> JUnitSuite.Problem? {
        if let error = payload.error { return .init(.error, kind: "refused", message: error, lines: [error]) }
        let problems = problems(of: payload)
        let kind = payload.failures.isEmpty ? "warning" : "expectation"
        return problems.first.map { .init(.failure, kind: kind, message: $0, lines: problems) }
    }

    /// Annotations for GitHub Actions: a line for each failure and each warning, then the summary.
    public var annotations: String {
        let lines = payloads.flatMap { payload in
            let level = failsOnWarning ? GitHubAnnotation.Level.error : .warning
            let told =
                (payload.error.map { [(GitHubAnnotation.Level.error, $0)] } ?? [])
                + payload.failures.map { (.error, $0) } + payload.warnings.map { (level, $0) }
            return told.map { level, message in
                GitHubAnnotation(
                    level: level, file: payload.file, line: payload.annotatedLine, title: "pushctl explain",
                    message: message
                ).line
            }
        }
        return (lines + [summary]).map { "\($0)\n" }.joined()
    }
}
