/// A message about the configuration: the place, the fault and the remedy.
public struct Diagnostic: Hashable, Sendable, CustomStringConvertible {
    /// The severity of a diagnostic.
    public enum Severity: String, Hashable, Sendable {
        /// The configuration cannot be used: no part of it is put in force.
        case error
        /// The configuration can be used, but a part has no effect or is probably a mistake.
        case warning
    }

    /// The severity.
    public var severity: Severity
    /// The path of the file, from its `ConfigurationFile`.
    public var file: String
    /// The line in the file, from 1; `nil` for the whole file.
    public var line: Int?
    /// The fault and the remedy, in one line.
    public var message: String

    /// Joins the parts.
    public init(_ severity: Severity, file: String, line: Int? = nil, message: String) {
        self.severity = severity
        self.file = file
        self.line = line
        self.message = message
    }

    /// The line `routes.d/20-crm.route:4: error: ...`, a form that editors and CI systems can follow.
    public var description: String {
        "\(printable(file, limit: .max))\(line.map { ":\($0)" } ?? ""): \(severity.rawValue): \(message)"
    }
}

/// The diagnostics of one file, collected while it is read and checked.
public struct FileReport {
    private let file: String
    private var found: [Diagnostic] = []

    /// - Parameter file: its path in messages.
    public init(file: String) { self.file = file }

    /// Adds an error, which keeps the file from being used.
    public mutating func error(_ message: String, line: Int? = nil) {
        found.append(Diagnostic(.error, file: file, line: line, message: message))
    }

    /// Adds a warning about a part without effect, or a probable mistake.
    public mutating func warning(_ message: String, line: Int? = nil) {
        found.append(Diagnostic(.warning, file: file, line: line, message: message))
    }

    /// Whether the file cannot be used.
    public var hasErrors: Bool { found.contains { $0.severity == .error } }

    /// The diagnostics by line; those of the whole file come first.
    public var diagnostics: [Diagnostic] { found.sorted { ($0.line ?? 0) < ($1.line ?? 0) } }
}

/// Returns `text` for one line on a terminal: with control characters made visible, and cut to `limit` scalars.
public func printable(_ text: String, limit: Int = 200) -> String {
    let shown = String(text.unicodeScalars.prefix(limit)).showingControls()
    return text.unicodeScalars.count > limit ? shown + "..." : shown
}
