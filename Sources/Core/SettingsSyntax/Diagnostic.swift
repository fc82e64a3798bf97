import PushModel

/// One thing to say about the configuration: where it is, what is wrong there and what to do.
public struct Diagnostic: Hashable, Sendable, CustomStringConvertible {
    /// Whether the configuration can be used all the same.
    public enum Severity: String, Hashable, Sendable {
        /// It cannot: nothing of it is put in force.
        case error
        /// It can, but something in it has no effect or is probably not meant.
        case warning
    }

    /// Whether the configuration can be used all the same.
    public var severity: Severity
    /// The file, as its `ConfigurationFile` calls it.
    public var file: String
    /// The line in it, from 1; `nil` when it is about the file as a whole.
    public var line: Int?
    /// What is wrong and what to do, in one line.
    public var message: String

    /// Joins the parts.
    public init(_ severity: Severity, file: String, line: Int? = nil, message: String) {
        self.severity = severity
        self.file = file
        self.line = line
        self.message = message
    }

    /// `routes.d/20-crm.route:4: error: ...`, the form that editors and CI systems know how to follow.
    public var description: String {
        "\(printable(file, limit: .max))\(line.map { ":\($0)" } ?? ""): \(severity.rawValue): \(message)"
    }
}

/// What there is to say about one file; collected while it is read and checked.
public struct FileReport {
    private let file: String
    private var found: [Diagnostic] = []

    /// - Parameter file: as its messages call it.
    public init(file: String) { self.file = file }

    /// Adds what keeps the file from being used.
    public mutating func error(_ message: String, line: Int? = nil) {
        found.append(Diagnostic(.error, file: file, line: line, message: message))
    }

    /// Adds what has no effect, or is probably not meant.
    public mutating func warning(_ message: String, line: Int? = nil) {
        found.append(Diagnostic(.warning, file: file, line: line, message: message))
    }

    /// Whether the file cannot be used.
    public var hasErrors: Bool { found.contains { $0.severity == .error } }

    /// In the order of their lines; what is about the whole file comes first.
    public var diagnostics: [Diagnostic] { found.sorted { ($0.line ?? 0) < ($1.line ?? 0) } }
}

/// `text` fit for one line on a terminal: without control characters, and cut where it gets long.
public func printable(_ text: String, limit: Int = 200) -> String {
    let shown = String(text.unicodeScalars.prefix(limit)).showingControls()
    return text.unicodeScalars.count > limit ? shown + "..." : shown
}
