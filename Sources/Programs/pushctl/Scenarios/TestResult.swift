import PushModel
import PushRouter
import PushViews

/// The results of one scenario file.
struct TestResult {
    let file: String
    /// The title in the file.
    var title: String?
    /// The checks; empty if the file could not be read.
    var checks: [Check] = []
    /// Facts that fail no check and that a person should know.
    var warnings: [ScenarioResult.Warning] = []
    /// The reason why the file could not be read; `nil` if it could.
    var error: String?
    /// The line with the error; `nil` without one.
    var errorLine: Int?
    /// The duration of the run.
    var duration: Duration = .zero

    /// The failed checks.
    var failures: [Check] { checks.filter { $0.failure != nil } }
}

extension [TestResult] {
    /// The lines for people: one for each file, and one for each failed check, with the value found.
    var lines: [ReportLine] {
        let holds = allSatisfy { $0.error == nil && $0.failures.isEmpty }
        return flatMap(\.lines) + [ReportLine(summary, holds ? .good : .bad)]
    }

    /// The sums for people.
    var summary: String {
        let unreadable = count { $0.error != nil }
        return TestResult.held(of: count(\.checks), failed: count(\.failures)) + ", in \(counted(count, "file"))"
            + (unreadable > 0 ? "; \(unreadable) could not be read" : "") + " (\(duration.shownMilliseconds) ms)"
    }

    private func count(_ checks: (TestResult) -> [Check]) -> Int { reduce(0) { $0 + checks($1).count } }

    private var duration: Duration { reduce(.zero) { $0 + $1.duration } }

    /// The object for programs.
    var json: [UInt8] {
        var writer = JSONWriter(reserving: 4096)
        writer.object { writer in
            writer.member("expectations", count(\.checks))
            writer.member("failed", count(\.failures))
            writer.member("unreadable", count { $0.error != nil })
            writer.member("duration_ms", duration.fractionalMilliseconds)
            writer.member("files", array: { list in forEach { $0.write(to: &list) } })
        }
        return writer.bytes
    }

    /// JUnit XML for CI: a suite for each file, a case for each check.
    var junit: String {
        JUnitSuite.document("pushctl test", map(\.junit), microseconds: duration.microseconds)
    }
}

extension TestResult {
    fileprivate var lines: [ReportLine] {
        let subject = file + (title.map { ": \($0)" } ?? "")
        if let error { return [ReportLine("ERROR  \(error)", .bad)] }
        let count = counted(checks.count, "expectation")
        let warnings = warnings.map { ReportLine("  \(file):\($0.line): warning: \($0.message)", .warning) }
        guard !failures.isEmpty else { return [ReportLine("ok     \(subject) (\(count))", .good)] + warnings }
        let held = Self.held(of: checks.count, failed: failures.count)
        return [ReportLine("FAIL   \(subject) (\(held))", .bad)] + failures.flatMap(lines) + warnings
    }

    /// `1 of 2 expectations holds`.
    fileprivate static func held(of checks: Int, failed: Int) -> String {
        "\(checks - failed) of \(counted(checks, "expectation")) \(checks - failed == 1 ? "holds" : "hold")"
    }

    private func lines(of check: Check) -> [ReportLine] {
        let place = "  \(file):\(check.line): "
        let expected = "expected: \(check.expected)"
        let head = check.name.map { [place + $0, "    \(expected)"] } ?? [place + expected]
        guard let failure = check.failure else { return head.map { ReportLine($0) } }
        return (head + ["    found: \(failure.message)"] + (failure.lines + failure.errors).map { "      \($0)" }).map {
            ReportLine($0)
        }
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("file", file)
            writer.member("scenario", title)
            writer.member("error", error)
            writer.member("duration_ms", duration.fractionalMilliseconds)
            writer.member("expectations", array: { list in checks.forEach { Self.write($0, to: &list) } })
            writer.member(
                "warnings",
                array: { list in
                    for warning in warnings {
                        list.object {
                            $0.member("line", warning.line)
                            $0.member("message", warning.message)
                        }
                    }
                })
        }
    }

    private static func write(_ check: Check, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("line", check.line)
            writer.member("name", check.name)
            writer.member("expected", check.expected)
            writer.member("holds", check.failure == nil)
            writer.member("message", check.failure?.message)
            writer.member("lines", array: { list in check.failure?.lines.forEach { list.string($0) } })
            writer.member("errors", array: { list in check.failure?.errors.forEach { list.string($0) } })
        }
    }

    fileprivate var junit: JUnitSuite {
        let cases = checks.map { check in
            let problem = check.failure.map { failure in
                JUnitSuite.Problem(
                    .failure, message: failure.difference,
                    lines: ["expected: \(check.expected)", "found: \(failure.message)"] + failure.lines)
            }
            let name = "line \(check.line): \(check.name ?? check.expected)"
            return JUnitSuite.Case(name: name, microseconds: 0, problem: problem, errors: check.failure?.errors ?? [])
        }
        let broken = error.map { error in
            JUnitSuite.Case(
                name: "can be read", microseconds: 0, problem: .init(.error, message: error, lines: [error]))
        }
        return JUnitSuite(
            name: title ?? file, className: file, microseconds: duration.microseconds,
            cases: cases + (broken.map { [$0] } ?? []),
            output: warnings.map { "\(file):\($0.line): warning: \($0.message)\n" }.joined())
    }
}

extension Duration {
    /// Milliseconds with a fraction, to the microsecond.
    fileprivate var fractionalMilliseconds: Double { Double(microseconds) / 1000 }

    /// Milliseconds with one decimal.
    fileprivate var shownMilliseconds: String { "\(microseconds / 1000).\(microseconds / 100 % 10)" }
}

extension [TestResult] {
    /// The annotations for GitHub Actions: one line for each failed check and each warning.
    var annotations: String { map(\.annotations).joined() }

    /// The summary of a job, in Markdown: each failed check with its place.
    var markdown: String {
        let all = flatMap(\.markdownRows)
        // GitHub accepts summaries up to 1 MiB.
        let rows = all.prefix(100)
        let more = all.count > rows.count ? "\(all.count - rows.count) more are in the output.\n\n" : ""
        return "### pushctl test: \(markdownCell(summary))\n\n"
            + (rows.isEmpty ? "" : "| | Where | Expected | Found |\n| :-- | :-- | :-- | :-- |\n\(rows.joined())\n")
            + more
    }
}

extension TestResult {
    fileprivate var annotations: String {
        let problems = failures.map { check in
            GitHubAnnotation(
                level: .error, file: file, line: check.line, title: check.name ?? title ?? file,
                message: (["expected: \(check.expected)", "found: \(check.failure?.message ?? "")"]
                    + (check.failure.map { $0.lines + $0.errors } ?? [])).joined(separator: "\n"))
        }
        let broken = error.map { error in
            GitHubAnnotation(level: .error, file: file, line: errorLine, title: "cannot be read", message: error)
        }
        let warned = warnings.map { warning in
            GitHubAnnotation(
                level: .warning, file: file, line: warning.line, title: title ?? file, message: warning.message)
        }
        return (problems + (broken.map { [$0] } ?? []) + warned).map { "\($0.line)\n" }.joined()
    }

    fileprivate var markdownRows: [String] {
        let broken = error.map { [row("error", errorLine, "it can be read", [$0])] } ?? []
        let failed = failures.map { check in
            row(
                "fail", check.line, check.name ?? check.expected,
                [check.failure?.message ?? ""] + (check.failure.map { $0.lines + $0.errors } ?? []))
        }
        return broken + failed + warnings.map { row("warning", $0.line, "", [$0.message]) }
    }

    private func row(_ kind: String, _ line: Int?, _ expected: String, _ found: [String]) -> String {
        let place = line.map { "\(file):\($0)" } ?? file
        return "| \(kind) | \(markdownCell(place)) | \(markdownCell(expected)) | "
            + found.map(markdownCell).joined(separator: "<br>") + " |\n"
    }
}
