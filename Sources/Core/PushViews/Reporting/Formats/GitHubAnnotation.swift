/// An annotation that GitHub shows beside the lines of a file: a workflow command on standard output.
///
/// Source: actions/toolkit, packages/core/src/command.ts (`escapeData`, `escapeProperty`).
public struct GitHubAnnotation: Sendable {
    /// The severity. The raw values are the names of the commands.
    public enum Level: String, Sendable {
        case notice, warning, error
    }

    private let level: Level
    private let properties: [(name: String, value: String)]
    private let message: String

    /// - Parameters:
    ///   - level: the severity.
    ///   - file: its path from the top of the repository; `nil`: the annotation is about the whole run.
    ///   - line: the line in the file, from 1.
    ///   - title: GitHub shows it above the message.
    ///   - message: one line or several.
    public init(level: Level, file: String?, line: Int? = nil, title: String? = nil, message: String) {
        self.level = level
        properties = [("file", file), ("line", line.map(String.init)), ("title", title)].compactMap { name, value in
            value.map { (name, $0) }
        }
        self.message = message
    }

    /// The command, without its line feed.
    public var line: String {
        let list = properties.map { "\($0.name)=\(escaped($0.value, isProperty: true))" }.joined(separator: ",")
        return "::\(level.rawValue)\(list.isEmpty ? "" : " ")\(list)::\(escaped(message, isProperty: false))"
    }

    private func escaped(_ text: String, isProperty: Bool) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "%": result += "%25"
            case "\r": result += "%0D"
            case "\n": result += "%0A"
            case ":" where isProperty: result += "%3A"
            case "," where isProperty: result += "%2C"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }
}
