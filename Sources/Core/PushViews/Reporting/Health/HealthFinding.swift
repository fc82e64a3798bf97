public import PushModel

/// One result of `pushctl doctor`.
public struct HealthFinding: Hashable, Sendable {
    /// The subject. The raw values are those of the JSON output.
    public enum Area: String, Hashable, Sendable, CaseIterable {
        case configuration, state, disk, runtime, sockets, daemon, database, clock, journal, handlers, secrets, gateway,
            client
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
