public import PushModel

/// One result of `pushctl doctor`.
public struct HealthFinding: Hashable, Sendable {
    /// The subject. The raw values are those of the JSON output.
    public enum Area: String, Hashable, Sendable, CaseIterable {
        case configuration, state, disk, runtime, sockets, daemon, database, clock, journal, handlers, secrets
        case services, gateway, client
    }

    /// The severity. The raw values are those of the JSON output.
    public enum Severity: String, Hashable, Sendable, CaseIterable {
        /// The subject is in order.
        case fine = "ok"
        /// The subject works, but perhaps not for long or not at its best; or this user cannot see it.
        case warning
        /// The subject does not work, or has permissions that it must not have.
        case error
    }

    /// The subject.
    var area: Area
    /// The severity.
    public var severity: Severity
    /// A path or a name, and its condition.
    public var message: String
    /// The remedy; `nil` if none is needed.
    public var remedy: String?

    init(area: Area, severity: Severity, message: String, remedy: String? = nil) {
        (self.area, self.severity) = (area, severity)
        (self.message, self.remedy) = (message, remedy)
    }

    /// Returns a finding without a problem.
    public static func fine(_ area: Area, _ message: String) -> HealthFinding {
        HealthFinding(area: area, severity: .fine, message: message)
    }

    /// Returns a finding about a problem to come.
    public static func warning(_ area: Area, _ message: String, do remedy: String) -> HealthFinding {
        HealthFinding(area: area, severity: .warning, message: message, remedy: remedy)
    }

    /// Returns a finding about a problem.
    public static func error(_ area: Area, _ message: String, do remedy: String) -> HealthFinding {
        HealthFinding(area: area, severity: .error, message: message, remedy: remedy)
    }

    /// Reads a finding that ``write(to:)`` wrote; `nil` if the node is not a finding.
    public init?(_ node: JSONNode) {
        guard let area = node["area"]?.string.flatMap(Area.init), let message = node["message"]?.string,
            let severity = node["severity"]?.string.flatMap(Severity.init)
        else { return nil }
        self.init(area: area, severity: severity, message: message, remedy: node["remedy"]?.string)
    }

    /// Writes the members of the finding.
    public func write(to writer: inout JSONWriter) {
        writer.member("area", area.rawValue)
        writer.member("severity", severity.rawValue)
        writer.member("message", message)
        writer.member("remedy", remedy)
    }
}

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

extension HealthFinding {
    /// The commands that open the sockets of a failed service again, and start it with the next client.
    ///
    /// - Parameter service: its name, without `.service`.
    public static func revival(of service: String) -> String {
        "systemctl reset-failed \(service) \(service).socket; systemctl start \(service).socket"
    }

    /// Returns an error for each service of the package that has failed, or whose start fails.
    ///
    /// - Parameter properties: the output of `systemctl show --property=Id,ActiveState,SubState,NRestarts`
    ///   for their units.
    public static func failures(ofServices properties: String) -> [HealthFinding] {
        var units: [(name: Substring, isSocket: Bool, state: Substring)] = []
        // The lines of a unit are in any order, and its block ends with an empty line.
        var values: [Substring: Substring] = [:]
        for line in properties.split(separator: "\n", omittingEmptySubsequences: false) {
            if let equals = line.firstIndex(of: "=") { values[line[..<equals]] = line[equals...].dropFirst() }
            guard line.isEmpty, let id = values["Id"], let dot = id.lastIndex(of: ".") else { continue }
            // Between two attempts a unit waits; within one it is activating, as at its first start.
            let isTriedAgain =
                values["SubState"] == "auto-restart"
                || values["ActiveState"] == "activating" && (values["NRestarts"] ?? "0") != "0"
            units.append(
                (id[..<dot], id[dot...] == ".socket", isTriedAgain ? "auto-restart" : values["ActiveState"] ?? ""))
            values = [:]
        }
        let sockets = Set(units.filter(\.isSocket).map(\.name))
        let failed = Set(units.filter { $0.state == "failed" }.map(\.name))
        return units.filter { !$0.isSocket }.compactMap { name, _, state in
            if failed.contains(name) {
                let remedy = sockets.contains(name) ? revival(of: String(name)) : "systemctl restart \(name)"
                return .error(
                    .services, "\(name) has failed", do: "mend what \"journalctl -u \(name)\" says; then: \(remedy)")
            }
            guard state == "auto-restart" else { return nil }
            return .error(
                .services, "\(name) does not start; it is tried again every few seconds",
                do: "mend what \"journalctl -u \(name)\" says; then it starts by itself")
        }
    }
}
