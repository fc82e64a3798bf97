import PushModel

/// What `pushctl doctor` prints.
public struct HealthReport: Sendable {
    private let findings: [HealthFinding]

    /// - Parameter facts: what was collected.
    public init(_ facts: HealthFacts) { findings = facts.findings }

    /// - Parameter findings: what was found, in the order in which it is told.
    public init(_ findings: [HealthFinding]) { self.findings = findings }

    /// How many things are wrong.
    public var errors: Int { findings.count { $0.severity == .error } }

    /// How many things may become wrong.
    public var warnings: Int { findings.count { $0.severity == .warning } }

    /// For people: a line for each finding, under it what to do, then the sum.
    ///
    /// - Parameter problemsOnly: whether what is as it has to be is left out, and the sum.
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

    /// For programs: one object.
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
