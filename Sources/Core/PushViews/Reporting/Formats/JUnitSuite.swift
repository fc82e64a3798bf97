/// A suite of test cases in JUnit XML.
public struct JUnitSuite {
    /// One test case; it passes if it has no problem.
    public struct Case {
        let name: String
        /// The duration; `nil` if it means nothing.
        let microseconds: Int64?
        let problem: Problem?
        /// Lines of standard error.
        let errors: [String]

        /// Joins the fields.
        public init(name: String, microseconds: Int64?, problem: Problem?, errors: [String] = []) {
            (self.name, self.microseconds, self.problem, self.errors) = (name, microseconds, problem, errors)
        }
    }

    /// The reason why a case does not pass.
    public struct Problem {
        /// The severity. The raw values are the names of the elements.
        public enum Level: String {
            /// A condition does not hold.
            case failure
            /// The conditions could not be checked.
            case error
            /// It was not run, or its failure is known.
            case skipped
        }

        let level: Level
        let kind: String?
        /// The message in one line.
        let message: String
        /// The message in several lines.
        let lines: [String]

        /// Joins the fields.
        public init(_ level: Level, kind: String? = nil, message: String, lines: [String]) {
            (self.level, self.kind, self.message, self.lines) = (level, kind, message, lines)
        }
    }

    let name: String
    let className: String
    let properties: [(name: String, value: String)]
    /// The duration of all cases; `nil` if it means nothing.
    let microseconds: Int64?
    let cases: [Case]
    /// Additional output, each line with its line feed.
    let output: String

    /// - Parameters:
    ///   - name: the name of the suite.
    ///   - className: the class name of the cases; `nil`: derived from the name.
    ///   - properties: facts about all cases.
    ///   - microseconds: the duration of all cases; `nil` if it means nothing.
    ///   - cases: in their order.
    ///   - output: additional output, each line with its line feed.
    public init(
        name: String, className: String? = nil, properties: [(name: String, value: String)] = [],
        microseconds: Int64? = nil, cases: [Case], output: String = ""
    ) {
        self.name = name
        self.className = className ?? "pushrouterd.\(name)"
        self.properties = properties
        self.microseconds = microseconds
        self.cases = cases
        self.output = output
    }

    /// Returns a document with the suites.
    ///
    /// - Parameter microseconds: the duration of all suites; `nil` if it means nothing.
    public static func document(_ name: String, _ suites: [JUnitSuite], microseconds: Int64? = nil) -> String {
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            + "<testsuites name=\"\(markup(name))\" \(counts(suites.flatMap(\.cases)))\(time(microseconds))>\n"
            + suites.map(\.text).joined() + "</testsuites>\n"
    }

    /// The `testsuite` element with its line feed.
    var text: String {
        let properties = properties.map { "      <property name=\"\($0.name)\" value=\"\(markup($0.value))\"/>\n" }
        let block = properties.isEmpty ? "" : "    <properties>\n\(properties.joined())    </properties>\n"
        let remarks = output.isEmpty ? "" : "    <system-out>\(markup(output))</system-out>\n"
        let skipped = Self.count(.skipped, in: cases)
        let facts = "\(Self.counts(cases))\(Self.time(microseconds)) skipped=\"\(skipped)\""
        return "  <testsuite name=\"\(markup(name))\" \(facts)>\n"
            + block + cases.map(text).joined() + remarks + "  </testsuite>\n"
    }

    private static func counts(_ cases: [Case]) -> String {
        let (failures, errors) = (count(.failure, in: cases), count(.error, in: cases))
        return "tests=\"\(cases.count)\" failures=\"\(failures)\" errors=\"\(errors)\""
    }

    private static func count(_ level: Problem.Level, in cases: [Case]) -> Int {
        cases.count { $0.problem?.level == level }
    }

    private static func time(_ microseconds: Int64?) -> String {
        microseconds.map { " time=\"\(decimal($0, scale: 6))\"" } ?? ""
    }

    private func text(_ one: Case) -> String {
        let head =
            "    <testcase classname=\"\(markup(className))\" name=\"\(markup(one.name))\""
            + Self.time(one.microseconds)
        guard let problem = one.problem else { return head + "/>\n" }
        let kind = problem.kind.map { " type=\"\($0)\"" } ?? ""
        let errors = one.errors.map { markup($0) + "\n" }.joined()
        return head + ">\n      <\(problem.level.rawValue)\(kind) message=\"\(markup(problem.message))\">"
            + problem.lines.map(markup).joined(separator: "\n") + "</\(problem.level.rawValue)>\n"
            + (errors.isEmpty ? "" : "      <system-err>\(errors)</system-err>\n") + "    </testcase>\n"
    }
}

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
