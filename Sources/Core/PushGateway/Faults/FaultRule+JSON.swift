public import PushModel

/// An error in a rule for errors on demand.
public struct FaultRuleError: Error, Hashable, Sendable {
    /// The path of the member.
    public let field: String
    /// The error, for people.
    public let message: String
}

extension FaultRule {
    /// Reads the file of `Errors=`: one rule on each line. A line that begins with `#` is a comment.
    ///
    /// - Parameters:
    ///   - bytes: the contents; `nil` if there is no such file.
    ///   - path: the path of the file.
    /// - Returns: the rules, and all mistakes.
    public static func all(in bytes: [UInt8]?, of path: String) -> ([FaultRule], [Diagnostic]) {
        guard let bytes else {
            return ([], [Diagnostic(.error, file: path, message: "there is no such file; Errors= names it")])
        }
        var rules: [FaultRule] = []
        var mistakes: [Diagnostic] = []
        for (index, line) in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            guard !line.isEmpty, line.first != UInt8(ascii: "#") else { continue }
            do throws(FaultRuleError) {
                rules.append(try FaultRule(line: Array(line)))
            } catch {
                let field = error.field.isEmpty ? "" : "\(error.field): "
                mistakes.append(Diagnostic(.error, file: path, line: index + 1, message: field + error.message))
            }
        }
        return (rules, mistakes)
    }

    private init(line: [UInt8]) throws(FaultRuleError) {
        let root: JSONNode
        do { root = try JSONDocument(scanning: line).root } catch {
            throw FaultRuleError(field: "", message: error.message)
        }
        try self.init(root)
    }

    /// Reads a rule:
    /// `{"match":{"service":"fcm","token":"ios-*"},"answer":"UNAVAILABLE","probability":20,"count":3,"delay_ms":500}`.
    /// `answer` is a name, or an object with `status`, `headers` and `body`.
    public init(_ json: JSONNode) throws(FaultRuleError) {
        let members = try Self.members(json, of: "", ["match", "answer", "probability", "count", "delay_ms"])
        var service: FaultService?
        var globs: [String: Glob] = [:]
        if let match = members["match"] {
            for (key, value) in try Self.members(match, of: "match", ["service", "token", "topic", "project"]) {
                guard let text = value.string else {
                    throw FaultRuleError(field: "match.\(key)", message: "must be a string")
                }
                guard key == "service" else {
                    globs[key] = Glob(text)
                    continue
                }
                service = FaultService(rawValue: text)
                guard service != nil else {
                    let words = FaultService.allCases.map(\.rawValue).joined(separator: ", ")
                    throw FaultRuleError(field: "match.service", message: "must be one of \(words)")
                }
            }
        }
        guard let answer = members["answer"] else {
            throw FaultRuleError(field: "answer", message: "the answer is missing")
        }
        self.init(try Self.answer(answer, of: service))
        self.service = service
        (token, topic, project) = (globs["token"], globs["topic"], globs["project"])
        probability = try Self.number(members["probability"], "probability", in: 0...100) ?? 100
        count = try Self.number(members["count"], "count", in: 0...1_000_000_000)
        delay = .milliseconds(try Self.number(members["delay_ms"], "delay_ms", in: 0...Self.longestDelay) ?? 0)
    }

    /// The longest delay: five minutes, more than any client waits. The gateway keeps the request for the delay.
    private static let longestDelay = 300_000

    private static func answer(
        _ json: JSONNode, of service: FaultService?
    ) throws(FaultRuleError) -> InjectedAnswer {
        if let text = json.string {
            let services = service.map { [$0] } ?? FaultService.allCases
            guard let name = services.lazy.compactMap({ InjectedAnswer.Name(text, of: $0) }).first else {
                throw FaultRuleError(field: "answer", message: "no service has an answer of this name")
            }
            return .named(name)
        }
        let members = try members(json, of: "answer", ["status", "headers", "body"])
        guard let status = try number(members["status"], "answer.status", in: 200...599) else {
            throw FaultRuleError(field: "answer.status", message: "the status is missing")
        }
        var headers: [GatewayRequest.Header] = []
        for (name, value) in members["headers"]?.members ?? [] {
            guard let text = value.string, isHeader(name, text) else {
                throw FaultRuleError(field: "answer.headers.\(name)", message: "must be a header field")
            }
            headers.append(GatewayRequest.Header(name, text))
        }
        let body = members["body"].map { $0.string.map { Array($0.utf8) } ?? $0.compactBytes } ?? []
        return .raw(status: status, headers: headers, body: body)
    }

    /// The headers that frame an answer; the HTTP server writes these itself.
    private static let framing: Set<String> = [
        "connection", "content-length", "keep-alive", "transfer-encoding", "upgrade",
    ]

    /// Whether a name and a value form a valid header that cannot break the framing of the answer.
    private static func isHeader(_ name: String, _ value: String) -> Bool {
        let isName = { (byte: UInt8) in
            byte.isDigit || byte == UInt8(ascii: "-") || 97...122 ~= byte | 0x20
        }
        return !name.isEmpty && !framing.contains(name.lowercased()) && name.utf8.allSatisfy(isName)
            && value.utf8.allSatisfy { 0x20...0x7E ~= $0 }
    }

    private static func members(
        _ json: JSONNode, of field: String, _ known: Set<String>
    ) throws(FaultRuleError) -> [String: JSONNode] {
        guard json.kind == .object else {
            throw FaultRuleError(field: field, message: "must be an object, not \(json.kind.name)")
        }
        var members: [String: JSONNode] = [:]
        for (key, value) in json.members {
            guard known.contains(key) else {
                let path = field.isEmpty ? key : "\(field).\(key)"
                throw FaultRuleError(
                    field: path, message: "there is no such key\(suggestion(for: key, among: known.sorted()))")
            }
            members[key] = value
        }
        return members
    }

    private static func number(
        _ json: JSONNode?, _ field: String, in range: ClosedRange<Int>
    ) throws(FaultRuleError) -> Int? {
        guard let json else { return nil }
        guard let number = json.int64.flatMap({ Int(exactly: $0) }), range.contains(number) else {
            throw FaultRuleError(
                field: field, message: "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}
