import PushModel
import PushRouter

/// Members that a decided line must have; other members may have any value.
struct Pattern: Sendable {
    /// The type of line.
    enum Subject: String, Sendable {
        case invocation, event, entry, interaction, breaker, error
    }

    /// The type of line.
    let subject: Subject
    /// The expected members, already checked.
    let members: JSONNode

    /// - Parameter path: the path of the pattern, for messages: `expect.none`.
    init(_ members: JSONNode, _ subject: Subject, path: String) throws(ExpectationError) {
        guard members.kind == .object else {
            throw ExpectationError("\(path): must be an object with the expected members of the \(subject.rawValue)")
        }
        try Self.check(members, subject.fields, subject, path: path)
        self.subject = subject
        self.members = members
    }

    private static func check(
        _ members: JSONNode, _ fields: [String: PatternField], _ subject: Subject, path: String
    ) throws(ExpectationError) {
        for (key, value) in members.members {
            guard let field = fields[key] else {
                let known = fields.keys.sorted().joined(separator: ", ")
                throw ExpectationError("\(path).\(key): the \(subject.rawValue) has no such member; it has \(known)")
            }
            if let complaint = field.complaint(about: value) {
                throw ExpectationError("\(path).\(key): \(key) \(complaint); this is \(text(of: value))")
            }
            if case .object(let inner) = field { try check(value, inner, subject, path: "\(path).\(key)") }
            if case .objects(let inner) = field {
                for (index, element) in value.elements.enumerated() {
                    try check(element, inner, subject, path: "\(path).\(key)[\(index)]")
                }
            }
        }
    }

    /// Whether a line has all expected members.
    func matches(_ line: JSONNode) -> Bool { differences(from: line).isEmpty }

    /// Returns the differences of a line from the pattern, for people; empty if it matches.
    ///
    /// An observer's copy is not one of the owners' invocations: it matches only a pattern with `observer`.
    func differences(from line: JSONNode) -> [String] {
        let differences = Self.differences(members, line, subject.fields, path: "")
        guard subject == .invocation, members["observer"] == nil, line["observer"]?.bool == true else {
            return differences
        }
        return ["observer is true: this is an observer's copy; it matches only with \"observer\":true"]
            + differences
    }

    /// Whether the pattern may match a direct or influenced open, judged by its `event_type`.
    var mayBeOpen: Bool {
        guard subject == .event, let name = members["event_type"]?.string else { return subject == .event }
        return [AnalyticsEvent.Kind.open, .influencedOpen].contains { PatternField.names($0.rawValue, name) }
    }

    /// Whether a line has all expected members, even if it is an observer's copy.
    func matchesAnybody(_ line: JSONNode) -> Bool {
        Self.differences(members, line, subject.fields, path: "").isEmpty
    }

    private static func differences(
        _ expected: JSONNode, _ actual: JSONNode, _ fields: [String: PatternField], path: String
    ) -> [String] {
        expected.members.flatMap { key, value -> [String] in
            guard let field = fields[key] else { preconditionFailure("\(key) was checked when it was read") }
            let found = actual[key]
            if case .object(let inner) = field, value.kind == .object, let found, found.kind == .object {
                return differences(value, found, inner, path: "\(path)\(key).")
            }
            if case .objects(let inner) = field, value.kind == .array, let found, found.count == value.count {
                return zip(value.elements, found.elements).enumerated().flatMap { index, pair in
                    differences(pair.0, pair.1, inner, path: "\(path)\(key)[\(index)].")
                }
            }
            if case .values = field, value.kind == .object, let found, found.kind == .object {
                return value.members.compactMap { name, value in
                    let actual = found[name]
                    guard actual.map(value.isEquivalent(to:)) != true else { return nil }
                    return "\(path)\(key).\(name) is \(actual.map(text(of:)) ?? "missing"), not \(text(of: value))"
                }
            }
            guard !field.matches(value, found) else { return [] }
            return ["\(path)\(key) is \(found.map(text(of:)) ?? "null"), not \(text(of: value))"]
        }
    }

    /// The pattern as JSON text.
    var description: String { "\(subject.rawValue) \(text(of: members))" }
}

/// A fault in an expectation, with its path.
struct ExpectationError: Error {
    let message: String

    init(_ message: String) { self.message = message }
}

/// Returns the JSON text of a value.
func text(of value: JSONNode) -> String { String(decoding: value.rawBytes, as: UTF8.self) }
