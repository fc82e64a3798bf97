import PushModel

/// The output of `pushctl doctor`.
public struct HealthReport: Sendable {
    private let findings: [HealthFinding]

    /// - Parameter facts: the collected facts.
    public init(_ facts: HealthFacts) { findings = facts.findings }

    /// - Parameter findings: the findings in the order of the output.
    public init(_ findings: [HealthFinding]) { self.findings = findings }

    /// The number of errors.
    public var errors: Int { findings.count { $0.severity == .error } }

    /// The number of warnings.
    public var warnings: Int { findings.count { $0.severity == .warning } }

    /// Returns the text for people: a line for each finding with its remedy below, then the totals.
    ///
    /// - Parameter problemsOnly: whether to leave out the findings without a problem, and the totals.
    public func text(problemsOnly: Bool = false) -> String {
        let shown = problemsOnly ? findings.filter { $0.severity != .fine } : findings
        let lines = shown.map { finding in
            let remedy = finding.remedy.map { "\(Self.padded("", 24))do: \($0.showingControls())\n" } ?? ""
            return Self.padded(finding.severity.rawValue, 9) + Self.padded(finding.area.rawValue, 15)
                + finding.message.showingControls() + "\n" + remedy
        }
        let sum = "\n\(counted(errors, "error")), \(counted(warnings, "warning"))\n"
        return lines.joined() + (problemsOnly ? "" : sum)
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    /// One object for programs.
    public var json: [UInt8] {
        var writer = JSONWriter(reserving: 2048)
        writer.object { writer in
            writer.member("ok", errors == 0)
            writer.member("errors", errors)
            writer.member("warnings", warnings)
            writer.member(
                "findings",
                array: { list in
                    for finding in findings {
                        list.object { finding.write(to: &$0) }
                    }
                })
        }
        return writer.bytes
    }
}
