/// The targets of `Package.swift` and their dependencies, read from its text.
///
/// The parser understands the manifest's own forms: `swift(...)`, `c(...)`, `library(...)`, `program(...)`,
/// `.target(...)` and `.systemLibrary(...)`. The first string is the name; the first list (after `dependencies:` in
/// `.target`) holds the dependencies.
func manifestTargets(_ manifest: String) -> [String: Set<String>] {
    var targets: [String: Set<String>] = [:]
    let lines = manifest.split(separator: "\n").map { line in
        line.drop { $0 == " " }.hasPrefix("//") ? "" : line
    }
    guard let start = lines.firstIndex(where: { $0.hasSuffix(" targets: [") }) else { return [:] }
    let body = lines[(start + 1)...].joined(separator: "\n")

    let kinds = [
        ("swift(", "["), ("program(", "["), (".target(", "dependencies: ["), ("c(", nil), ("library(", nil),
        (".systemLibrary(", nil),
    ]
    for (kind, list) in kinds {
        for call in calls(of: kind, in: body) {
            guard let name = strings(in: call[...]).first else { continue }
            targets[name] = list.map { Set(strings(in: firstList(after: $0, in: call))) } ?? []
        }
    }
    return targets
}

/// The text between the parentheses of each call that begins a line with `opening`.
private func calls(of opening: String, in text: String) -> [String] {
    var calls: [String] = []
    var depth = 0
    for line in text.split(separator: "\n") {
        let code = line.drop { $0 == " " }
        if depth == 0 {
            guard code.hasPrefix(opening) else { continue }
            calls.append("")
        }
        calls[calls.count - 1] += code
        depth += code.reduce(0) { $0 + ($1 == "(" ? 1 : $1 == ")" ? -1 : 0) }
    }
    return calls
}

/// The text between `opening`, which ends in a bracket, and the next closing bracket; empty when there is none.
private func firstList(after opening: String, in call: String) -> Substring {
    guard let start = call.indices.first(where: { call[$0...].hasPrefix(opening) }) else { return "" }
    return call[start...].drop { $0 != "[" }.prefix { $0 != "]" }
}

/// The string literals in `text`, in their order.
private func strings(in text: Substring) -> [String] {
    text.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
        .filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) }
}
