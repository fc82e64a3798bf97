import PushModel
import _StringProcessing

/// JSON with another value in the place of each of its members, one at a time.
///
/// The answers of a reader to all of them are a table of its rules: the values that it takes, and the words in which it
/// refuses the others.
public enum ProbedJSON {
    /// Values of each kind, and at the edges of sizes that this package has; each with its name in the table.
    public static let values: [(name: String, value: String)] =
        [
            "null", "true", "0", "1", "-1", "1.5", "1000", "1001", "9223372036854775808", #""""#, #""x""#, #""X y""#,
            #""a/b""#, #""é""#, #""1""#, "[]", "[0]", "[1]", #"["x"]"#, #"[""]"#, "[{}]", "{}", #"{"x":"y"}"#,
            #"{"x":1}"#,
        ].map { ($0, $0) }
    /// Lists and texts at the edges of limits.
    public static let longValues: [(name: String, value: String)] =
        [255, 256, 900, 901, 1000, 1001, 4096, 4097].map {
            ("\($0) letters", "\"\(String(repeating: "x", count: $0))\"")
        }
        + [1000, 1001, 10_000, 10_001].map { count in
            ("\(count) numbers", "[\((1...count).map(String.init).joined(separator: ","))]")
        }
        + [1000, 1001].map { count in
            ("\(count) texts", "[\(Array(repeating: "\"x\"", count: count).joined(separator: ","))]")
        }

    /// The table of one text: for each member the answers, each with the values that get it.
    ///
    /// - Parameters:
    ///   - json: an object.
    ///   - probes: the values; each member is left out, too.
    ///   - kept: the members of the object that stay as they are.
    ///   - answer: what the reader says of a text.
    public static func table(
        _ json: String, probes: [(name: String, value: String)] = values, keeping kept: Set<String> = [],
        answer: (String) throws -> String
    ) rethrows -> [String] {
        guard let root = try? JSONDocument(scanning: Array(json.utf8)).root else {
            preconditionFailure("a test has JSON that is none: \(json)")
        }
        var lines = ["", json, "  => \(try answer(json))"]
        for path in paths(of: root) where !kept.contains(path[0]) {
            var answers: [(answer: String, probes: [String])] = []
            for (name, value) in [("left out", String?.none)] + probes.map({ ($0.name, Optional($0.value)) }) {
                let given = value.map { $0.utf8.count > 2 ? $0 : "" } ?? ""
                let whole = try answer(text(of: root, at: path[...], value))
                // Answers that only repeat the value are one.
                let found = given.isEmpty ? whole : whole.replacing(given, with: "VALUE")
                if let known = answers.firstIndex(where: { $0.answer == found }) {
                    answers[known].probes.append(name)
                } else {
                    answers.append((found, [name]))
                }
            }
            lines.append("  \(path.joined(separator: "."))")
            lines += answers.map { "    \($0.probes.joined(separator: " | "))  =>  \($0.answer)" }
        }
        return lines
    }

    /// The members of an object and of the objects in it.
    private static func paths(of node: JSONNode) -> [[String]] {
        node.members.flatMap { member in
            [[member.key]] + paths(of: member.value).map { [member.key] + $0 }
        }
    }

    private static func text(of node: JSONNode, at path: ArraySlice<String>, _ value: String?) -> String {
        let members = node.members.compactMap { member -> String? in
            let isOnPath = member.key == path.first
            guard !isOnPath || path.count > 1 || value != nil else { return nil }
            let own = String(decoding: member.value.rawBytes, as: UTF8.self)
            let text =
                !isOnPath
                ? own : path.count == 1 ? value ?? "" : Self.text(of: member.value, at: path.dropFirst(), value)
            return "\"\(member.key)\":\(text)"
        }
        return "{\(members.joined(separator: ","))}"
    }
}
