import PushModel
import PushRouter

/// The decisions of a simulation so far, for comparison with expectations.
struct Decided {
    /// The number of requests without an outcome.
    var pending = 0
    private var invocations: [JSONNode] = []
    private var events: [JSONNode] = []
    private var entries: [JSONNode] = []
    private var breakers: [JSONNode] = []
    /// The verdicts on interactions that waited for their push.
    private(set) var interactions: [JSONNode] = []
    private var requests: [(seq: Int64, id: String?, line: Int, isInteraction: Bool)] = []
    /// The line number of the last request, and the error if it was refused.
    private var lastRequest: (line: Int, error: JSONNode?)?

    mutating func accepted(_ seq: SequenceNumber, _ request: Request, line: Int) {
        requests.append((seq.value, request.id, line, request.operation == .interact))
        lastRequest = (line, nil)
    }

    /// Returns the line number in the scenario that led to a line of output.
    func line(of decided: JSONNode) -> Int? {
        let seq = decided["seq"]?.int64
        return requests.last { $0.seq == seq }?.line
    }

    /// The opens of pushes that were not displayed.
    var openingsOfHidden: [JSONNode] {
        invocations.filter { $0["reason_code"]?.string == ReasonCode.openedNotDisplayed.rawValue }
    }

    mutating func refused(line: Int) { lastRequest = (line, nil) }

    /// Adds a line of the simulation's output.
    mutating func add(_ line: JSONNode) {
        switch line["type"]?.string {
        case "invocation": invocations.append(line)
        case "analytics": events.append(line)
        case "entry": entries.append(line)
        case "interaction": interactions.append(line)
        case "breaker": breakers.append(line)
        default: lastRequest?.error = line["error"]
        }
    }

    /// Returns the reason why a condition does not hold; `nil` if it does.
    func failure(of condition: Expectation.Condition) -> Check.Failure? {
        switch condition {
        case .some(let pattern):
            return lines(pattern).contains(where: pattern.matches) ? nil : nothingMatches(pattern)
        case .none(let pattern): return failure(ofNone: pattern)
        case .count(let pattern, let count): return failure(ofCount: count, pattern)
        case .invocations(let patterns, let name): return failure(of: patterns, name)
        case .error(let pattern): return failure(ofError: pattern)
        case .pending(let count):
            guard pending != count else { return nil }
            return .init(
                "\(counted(pending, "request")) \(pending == 1 ? "waits" : "wait") for an outcome, not \(count)")
        }
    }

    private func lines(_ pattern: Pattern) -> [JSONNode] {
        switch pattern.subject {
        case .event: events
        case .entry: entries
        case .breaker: breakers
        case .interaction: interactions
        case .invocation, .error: invocations
        }
    }

    // MARK: No match

    private func nothingMatches(_ pattern: Pattern) -> Check.Failure {
        let lines = lines(pattern)
        let what = pattern.subject.rawValue
        let waiting = pending > 0 ? "; \(counted(pending, "request")) still pending" : ""
        let stories = pattern.mayBeOpen ? storiesOfInteractions : []
        guard !lines.isEmpty else { return .init("no \(what) so far\(waiting)", stories) }
        let ranked = lines.map { (line: $0, differences: pattern.differences(from: $0)) }.enumerated()
            .sorted {
                (Self.distance($0.element.differences), $0.offset) < (Self.distance($1.element.differences), $1.offset)
            }
            .prefix(3).map(\.element)
        return .init(
            "no \(what) matches (\(lines.count) checked\(waiting)). Closest:",
            ranked.map { Self.comparison(of: $0.line, $0.differences) } + stories,
            errors: ranked.flatMap { Self.errors(of: $0.line) })
    }

    /// The verdicts on the latest interactions, each with its reasons: they explain a missing open, or an extra one.
    private var storiesOfInteractions: [String] {
        requests.filter(\.isInteraction).suffix(3).map { request in
            let reasons = (invocations + interactions).filter { $0["seq"]?.int64 == request.seq }.map { line in
                [line["verdict"] ?? line["outcome"], line["reason"]].compactMap(\.?.string).joined(separator: ", ")
            }
            let id = request.id.map { ", id \($0)" } ?? ""
            return "interaction of line \(request.line) (seq \(request.seq)\(id)): "
                + (reasons.isEmpty ? "not decided" : reasons.joined(separator: "; then "))
        }
    }

    /// An expectation that names a request or an owner is not close to a line of another one.
    private static func distance(_ differences: [String]) -> Int {
        differences.reduce(0) { sum, difference in
            sum + (["seq is ", "id is ", "observer is "].contains { difference.hasPrefix($0) } ? 10 : 1)
        }
    }

    // MARK: Counts

    private func failure(ofCount count: Int64, _ pattern: Pattern) -> Check.Failure? {
        let matching = lines(pattern).filter(pattern.matches)
        guard matching.count != count else { return nil }
        return .init(
            "\(Self.matches(matching.count, pattern)), not \(count)\(matching.isEmpty ? "" : ":")",
            matching.prefix(10).map(Self.summary) + (pattern.mayBeOpen ? storiesOfInteractions : []))
    }

    /// Counts observers' copies too: the expectation excludes them as well.
    private func failure(ofNone pattern: Pattern) -> Check.Failure? {
        let matching = lines(pattern).filter(pattern.matchesAnybody)
        guard !matching.isEmpty else { return nil }
        return .init(
            "\(Self.matches(matching.count, pattern)), not 0:",
            matching.prefix(10).map(Self.summary) + (pattern.mayBeOpen ? storiesOfInteractions : []))
    }

    private static func matches(_ count: Int, _ pattern: Pattern) -> String {
        "\(Self.count(count, pattern.subject)) \(count == 1 ? "matches" : "match")"
    }

    // MARK: Exact lists

    private func failure(of patterns: [Pattern], _ name: Expectation.RequestName?) -> Check.Failure? {
        guard let found = decided(of: name) else { return .init("this request was not accepted so far") }
        var (lines, errors): ([String], [String]) = ([], [])
        for index in 0..<max(patterns.count, found.count) {
            switch (index < patterns.count ? patterns[index] : nil, index < found.count ? found[index] : nil) {
            case (let pattern?, let line?):
                let differences = pattern.differences(from: line)
                if differences.isEmpty { continue }
                lines.append(Self.comparison(of: line, differences))
                errors += Self.errors(of: line)
            case (let pattern?, nil): lines.append("missing: \(pattern.description)")
            case (nil, let line?): lines.append("not expected: \(Self.summary(of: line))")
            case (nil, nil): continue
            }
        }
        guard !lines.isEmpty else { return nil }
        let decided = counted(found.count, "invocation")
        return .init(
            found.count == patterns.count
                ? "\(decided) decided, as many as expected, but:" : "\(decided) decided, \(patterns.count) expected:",
            lines, errors: errors)
    }

    /// Returns the invocations of a request, or of all, in order; `nil` if there is no such request.
    private func decided(of name: Expectation.RequestName?) -> [JSONNode]? {
        var chosen = invocations
        if let name {
            let request = requests.last { request in
                switch name {
                case .seq(let seq): request.seq == seq
                case .id(let id): request.id == id
                }
            }
            guard let request else { return nil }
            chosen = invocations.filter { $0["seq"]?.int64 == request.seq }
        }
        return chosen.sorted { Self.number(of: $0) < Self.number(of: $1) }
    }

    private static func number(of line: JSONNode) -> (Int64, Int64) {
        (line["seq"]?.int64 ?? 0, line["n"]?.int64 ?? 0)
    }

    // MARK: Errors

    private func failure(ofError pattern: Pattern) -> Check.Failure? {
        guard let lastRequest else { return .init("no request comes before this line") }
        guard let error = lastRequest.error else {
            return .init("the request of line \(lastRequest.line) was accepted")
        }
        let differences = pattern.differences(from: error)
        guard !differences.isEmpty else { return nil }
        return .init("the request of line \(lastRequest.line) was refused with another error:", differences)
    }

    // MARK: Text

    /// Returns a line with its differences from a pattern, and the reason of a failure.
    private static func comparison(of line: JSONNode, _ differences: [String]) -> String {
        let reason = line["outcome"]?.string == Outcome.failed.rawValue ? line["reason"]?.string : nil
        return "\(summary(of: line)): \(differences.joined(separator: "; "))"
            + (reason.map { "; the reason: \($0)" } ?? "")
    }

    /// Returns the end of what the handlers of an invocation wrote to standard error.
    private static func errors(of line: JSONNode) -> [String] {
        (line["attempts"]?.elements ?? []).flatMap { attempt -> [String] in
            guard let text = attempt["errors"]?.string else { return [] }
            let lines = text.shownLines.filter { !$0.isEmpty }.suffix(errorLinesMax)
            return ["\(word("handler", attempt)) wrote to standard error:"] + lines.map { "  \($0)" }
        }
    }

    private static let errorLinesMax = 20

    /// Returns a short description of a line.
    private static func summary(of line: JSONNode) -> String {
        if line["type"]?.string == "breaker" { return "breaker of \(word("handler", line)) \(word("state", line))" }
        if line["type"]?.string == "interaction" {
            let reason = line["reason"] == nil ? "" : ": \(word("reason", line))"
            return "interaction, seq \(word("seq", line)) \(word("verdict", line))\(reason)"
        }
        guard line["outcome"] != nil else {
            guard line["state"] != nil else { return "\(word("event_type", line)), at \(word("at", line))" }
            let name = line["name"] == nil ? "" : " \(word("name", line))"
            return "entry \(word("entry", line)), \(word("kind", line))\(name) \(word("state", line))"
        }
        return "seq \(word("seq", line)), n \(word("n", line)), \(word("callback", line)) \(word("outcome", line))"
    }

    private static func word(_ key: String, _ line: JSONNode) -> String {
        line[key].map { $0.string ?? text(of: $0) } ?? "unknown"
    }

    private static func count(_ count: Int, _ subject: Pattern.Subject) -> String {
        counted(count, subject.rawValue, subject == .entry ? "entries" : nil)
    }
}
