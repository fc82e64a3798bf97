import PushModel
import PushReporting
import PushRouting

/// What came of one scenario file.
struct TestResult {
    let file: String
    /// What it shows, in the author's words.
    var title: String?
    /// Empty when it could not be read.
    var checks: [Check] = []
    /// Facts that hold and should be known all the same.
    var warnings: [ScenarioResult.Warning] = []
    /// Why it could not be read; `nil` when it could.
    var error: String?
    /// The line that is to blame; `nil` when none is.
    var errorLine: Int?
    /// How long it took.
    var duration: Duration = .zero

    /// Those that do not hold.
    var failures: [Check] { checks.filter { $0.failure != nil } }
}

extension [TestResult] {
    /// For people: a line for each file, and what does not hold with what came instead.
    var lines: [ReportLine] {
        let holds = allSatisfy { $0.error == nil && $0.failures.isEmpty }
        return flatMap(\.lines) + [ReportLine(summary, holds ? .good : .bad)]
    }

    /// How many expectations hold.
    var summary: String {
        let (checks, failed) = (count(\.checks), count(\.failures))
        let unreadable = count { $0.error != nil }
        return
            "\(checks - failed) of \(counted(checks, "expectation")) \(checks - failed == 1 ? "holds" : "hold"), in \(counted(count, "file"))"
            + (unreadable > 0 ? "; \(unreadable) could not be read" : "") + " (\(duration.shownMilliseconds) ms)"
    }

    private func count(_ checks: (TestResult) -> [Check]) -> Int { reduce(0) { $0 + checks($1).count } }

    private var duration: Duration { reduce(.zero) { $0 + $1.duration } }

    /// For programs: one object.
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

    /// For CI: a suite for each file, a case for each expectation.
    var junit: String {
        let errors = count { $0.error != nil }
        let totals =
            "tests=\"\(count(\.checks) + errors)\" failures=\"\(count(\.failures))\" errors=\"\(errors)\" "
            + "time=\"\(duration.shownSeconds)\""
        return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"pushctl test\" \(totals)>\n"
            + map(\.junit).joined() + "</testsuites>\n"
    }
}

extension TestResult {
    fileprivate var lines: [ReportLine] {
        let subject = file + (title.map { ": \($0)" } ?? "")
        if let error { return [ReportLine("ERROR  \(error)", .bad)] }
        let count = counted(checks.count, "expectation")
        let warnings = warnings.map { ReportLine("  \(file):\($0.line): warning: \($0.message)", .warning) }
        guard !failures.isEmpty else { return [ReportLine("ok     \(subject) (\(count))", .good)] + warnings }
        return [ReportLine("FAIL   \(subject) (\(failures.count) of \(count))", .bad)] + failures.flatMap(lines)
            + warnings
    }

    private func lines(of check: Check) -> [ReportLine] {
        let place = "  \(file):\(check.line): "
        let expected = "expected: \(check.expected)"
        let head = check.name.map { [place + $0, "    \(expected)"] } ?? [place + expected]
        guard let failure = check.failure else { return head.map { ReportLine($0) } }
        return (head + ["    found: \(failure.message)"] + failure.lines.map { "      \($0)" }).map { ReportLine($0) }
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
        }
    }

    fileprivate var junit: String {
        let cases = checks.map { check in
            let name = markup("line \(check.line): \(check.name ?? check.expected)")
            let start = "    <testcase classname=\"\(markup(file))\" name=\"\(name)\" time=\"0\""
            guard let failure = check.failure else { return start + "/>\n" }
            let story = ["expected: \(check.expected)", "found: \(failure.message)"] + failure.lines
            return start + ">\n      <failure message=\"\(markup(failure.message))\">"
                + story.map(markup).joined(separator: "\n") + "</failure>\n    </testcase>\n"
        }
        let broken = error.map {
            "    <testcase classname=\"\(markup(file))\" name=\"can be read\" time=\"0\">\n"
                + "      <error message=\"\(markup($0))\"/>\n    </testcase>\n"
        }
        let counts =
            "tests=\"\(checks.count + (error == nil ? 0 : 1))\" failures=\"\(failures.count)\" "
            + "errors=\"\(error == nil ? 0 : 1)\" time=\"\(duration.shownSeconds)\""
        let warned = warnings.map { "\(file):\($0.line): warning: \($0.message)\n" }.joined()
        let output = warned.isEmpty ? "" : "    <system-out>\(markup(warned))</system-out>\n"
        return "  <testsuite name=\"\(markup(title ?? file))\" \(counts)>\n" + cases.joined() + (broken ?? "")
            + output + "  </testsuite>\n"
    }
}

extension Duration {
    private var microseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }

    /// Milliseconds with a fraction, to the microsecond.
    fileprivate var fractionalMilliseconds: Double { Double(microseconds) / 1000 }

    /// Milliseconds with one decimal.
    fileprivate var shownMilliseconds: String { "\(microseconds / 1000).\(microseconds / 100 % 10)" }

    /// Seconds with six decimals, as JUnit has them.
    fileprivate var shownSeconds: String {
        "\(microseconds / 1_000_000)." + String(1_000_000 + microseconds % 1_000_000).dropFirst()
    }
}
