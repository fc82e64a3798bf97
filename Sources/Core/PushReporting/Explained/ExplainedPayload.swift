public import PushModel

/// What a check of payload files says of one of them.
public struct ExplainedPayload: Sendable {
    /// The file it is in.
    public let file: String
    /// The line where it begins; `nil` where the file is nothing else.
    public let line: Int?
    /// Both, for people.
    public let place: String
    /// The platform that it was taken for.
    public var platform = ""
    /// Whose it is; `nil`: of no known provider.
    public var provider: String?
    /// The callbacks of owners, in their order.
    public var callbacks: [String] = []
    /// What comes of it, or who decides that.
    public var outcome = ""
    /// What a reviewer would say.
    public var warnings: [String] = []
    /// The expectations that do not hold, with what is so instead.
    public var failures: [String] = []
    /// Why it could not be read or would be refused.
    public var error: String?

    /// A payload of which no more is known.
    public init(file: String, line: Int?, place: String) {
        self.file = file
        self.line = line
        self.place = place
    }

    /// For programs: one object.
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

/// A check of payload files, in the forms in which it is printed.
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

    /// Whether a payload fails that could be read.
    public var hasFailures: Bool { payloads.contains { !problems(of: $0).isEmpty } }

    /// What lets a payload fail.
    private func problems(of payload: ExplainedPayload) -> [String] {
        payload.failures + (failsOnWarning ? payload.warnings.map { "warning: \($0)" } : [])
    }

    /// A line for each payload, those that fail with their reasons below.
    ///
    /// - Parameter width: of the terminal; `nil`: any.
    public func lines(width: Int?) -> [ReportLine] {
        var table = TextTable(
            [
                ("File", .name), ("Platform", .left), ("Owner", .name), ("Callback", .name), ("Outcome", .name),
                ("Warning", .sentence),
            ])
        for payload in payloads where payload.error == nil {
            let more = payload.warnings.count > 1 ? " (and \(payload.warnings.count - 1) more)" : ""
            table.add(
                [
                    payload.place, payload.platform, payload.provider ?? "none",
                    payload.callbacks.isEmpty ? "none" : payload.callbacks.joined(separator: ", "), payload.outcome,
                    (payload.warnings.first ?? "") + more,
                ], problems(of: payload).isEmpty ? .plain : .bad)
        }
        let failures = payloads.flatMap { payload in
            (payload.error.map { ["ERROR  \($0)"] } ?? [])
                + problems(of: payload).map { "FAIL   \(payload.place): \($0)" }
        }
        return table.lines(width: width) + failures.map { ReportLine($0, .bad) }
            + [ReportLine(summary, failures.isEmpty ? .good : .bad)]
    }

    private var summary: String {
        let failed = payloads.count { !problems(of: $0).isEmpty }
        let unreadable = payloads.count { $0.error != nil }
        let warned = payloads.count { !$0.warnings.isEmpty }
        return [
            counted(payloads.count, "payload"), failed > 0 ? "\(failed) failed" : nil,
            unreadable > 0 ? "\(unreadable) could not be read" : nil, warned > 0 ? "\(warned) with warnings" : nil,
        ].compactMap { $0 }.joined(separator: ", ")
    }

    /// For CI systems, as JUnit XML: a case for each payload.
    public var junit: String {
        let cases = payloads.map { payload in
            let problems = problems(of: payload)
            let kind = payload.error == nil ? payload.failures.isEmpty ? "warning" : "expectation" : "refused"
            let failure = (payload.error ?? problems.first).map { message in
                JUnitSuite.Failure(kind: kind, message: message, lines: payload.error == nil ? problems : [message])
            }
            return JUnitSuite.Case(name: payload.place, microseconds: nil, failure: failure)
        }
        return JUnitSuite.document("pushctl explain", [JUnitSuite(name: "explain", properties: [], cases: cases)])
    }

    /// For GitHub Actions: an annotation for each thing that fails and each warning, a line each; at last what was looked
    /// at.
    public var annotations: String {
        let lines = payloads.flatMap { payload in
            let level = failsOnWarning ? GitHubAnnotation.Level.error : .warning
            let told =
                (payload.error.map { [(GitHubAnnotation.Level.error, $0)] } ?? [])
                + payload.failures.map { (.error, $0) } + payload.warnings.map { (level, $0) }
            return told.map { level, message in
                GitHubAnnotation(
                    level: level, file: payload.file, line: payload.line ?? 1, title: "pushctl explain",
                    message: message
                ).line
            }
        }
        return (lines + [summary]).map { "\($0)\n" }.joined()
    }
}
