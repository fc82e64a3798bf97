public import PushModel

/// One thing that `pushctl doctor` looked at.
public struct HealthFinding: Hashable, Sendable {
    /// What was looked at. The raw values are those of the JSON output.
    public enum Area: String, Hashable, Sendable, CaseIterable {
        case configuration, state, disk, runtime, sockets, daemon, database, clock, journal, handlers, secrets, gateway,
            client
    }

    /// How bad it is. The raw values are those of the JSON output.
    public enum Severity: String, Hashable, Sendable, CaseIterable {
        /// It is as it has to be.
        case fine = "ok"
        /// It works, and may not for long, or not as well as it could; or this user cannot see it.
        case warning
        /// Something does not work, or somebody may do what he must not.
        case error
    }

    /// What was looked at.
    public var area: Area
    /// How bad it is.
    public var severity: Severity
    /// What was found: a path or a name, and its condition.
    public var message: String
    /// What to do about it; `nil` where there is nothing to do.
    public var remedy: String?

    init(area: Area, severity: Severity, message: String, remedy: String? = nil) {
        (self.area, self.severity) = (area, severity)
        (self.message, self.remedy) = (message, remedy)
    }

    /// Something that is as it has to be.
    public static func fine(_ area: Area, _ message: String) -> HealthFinding {
        HealthFinding(area: area, severity: .fine, message: message)
    }

    /// Something that works, for now.
    public static func warning(_ area: Area, _ message: String, do remedy: String) -> HealthFinding {
        HealthFinding(area: area, severity: .warning, message: message, remedy: remedy)
    }

    /// Something that is wrong.
    public static func error(_ area: Area, _ message: String, do remedy: String) -> HealthFinding {
        HealthFinding(area: area, severity: .error, message: message, remedy: remedy)
    }

    /// Reads one that was written by ``write(to:)``; `nil`: it is none.
    public init?(_ node: JSONNode) {
        guard let area = node["area"]?.string.flatMap(Area.init), let message = node["message"]?.string,
            let severity = node["severity"]?.string.flatMap(Severity.init)
        else { return nil }
        self.init(area: area, severity: severity, message: message, remedy: node["remedy"]?.string)
    }

    /// Writes its members.
    public func write(to writer: inout JSONWriter) {
        writer.member("area", area.rawValue)
        writer.member("severity", severity.rawValue)
        writer.member("message", message)
        writer.member("remedy", remedy)
    }
}
