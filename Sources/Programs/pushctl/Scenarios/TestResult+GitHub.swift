import PushModel
import PushRouter
import PushViews

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
                    + (check.failure?.lines ?? [])).joined(separator: "\n"))
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
                [check.failure?.message ?? ""] + (check.failure?.lines ?? []))
        }
        return broken + failed + warnings.map { row("warning", $0.line, "", [$0.message]) }
    }

    private func row(_ kind: String, _ line: Int?, _ expected: String, _ found: [String]) -> String {
        let place = line.map { "\(file):\($0)" } ?? file
        return "| \(kind) | \(markdownCell(place)) | \(markdownCell(expected)) | "
            + found.map(markdownCell).joined(separator: "<br>") + " |\n"
    }
}
