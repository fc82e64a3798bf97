import PushModel
import PushRouter

/// The simulated behavior of the handlers of one request, in place of the handlers that the routes name.
struct Script {
    /// The simulated behavior of one handler.
    struct Part {
        /// The duration of its run.
        var takes: Duration = .zero
        /// The exit status; pushrouterd.conf(5) explains each.
        var exit: Int32 = 0
        /// The answer beside the exit status.
        var reply = HandlerAnswer.Content()
        /// The text on standard error.
        var errors = ""

        /// The facts about its run beside the answer.
        var facts: RunFacts { RunFacts(status: Int(exit), output: ErrorOutput(Array(errors.utf8))) }
    }

    private var part: Part
    /// The behaviors of single handlers, by name.
    private var parts: [String: Part] = [:]

    init(_ node: JSONNode) throws(ProtocolError) {
        part = try Part(node, field: "script", allowing: "handlers")
        guard let handlers = node["handlers"] else { return }
        guard handlers.kind == .object else {
            throw ProtocolError(
                .invalidType, field: "script.handlers", message: "handlers is an object of scripts by handler name")
        }
        for (name, value) in handlers.members {
            parts[name] = try Part(value, field: "script.handlers.\(name)")
        }
    }

    /// The sorted names of the handlers with a behavior of their own.
    var handlers: [String] { parts.keys.sorted() }

    /// The behavior of the handler with this name.
    subscript(handler: String) -> Part { parts[handler] ?? part }
}

extension Script.Part {
    fileprivate init(_ node: JSONNode, field: String, allowing own: String? = nil) throws(ProtocolError) {
        guard node.kind == .object else {
            throw ProtocolError(
                .invalidType, field: field, message: "a script is an object: {\"takes_ms\":9500,\"exit\":0}")
        }
        var answer: JSONNode?
        var answers: Int64?
        for (key, value) in node.members where key != own {
            let field = "\(field).\(key)"
            switch key {
            case "takes_ms": takes = .milliseconds(try Self.number(value, key, field, in: 0...86_400_000))
            case "exit": exit = Int32(try Self.number(value, key, field, in: 0...255))
            case "errors":
                guard let text = value.string, text.utf8.count <= ErrorOutput.keptMax else {
                    throw ProtocolError(
                        .invalidType, field: field,
                        message: "errors is what goes to standard error, at most \(ErrorOutput.keptMax) bytes")
                }
                errors = text
            case "answers": answers = try Self.number(value, key, field, in: 1...1000)
            case "answer":
                guard value.kind == .object else {
                    throw ProtocolError(
                        .invalidType, field: field,
                        message: "answer is the object that the handler prints: {\"result\":\"newData\"}")
                }
                answer = value
            default:
                let known = ["takes_ms", "exit", "answer", "answers", "errors"] + (own.map { [$0] } ?? [])
                throw ProtocolError(
                    .unknownKey, field: field, message: "a script has \(known.joined(separator: ", "))")
            }
        }
        if let answer {
            reply = HandlerAnswer.Content(answer: answer, times: Int(answers ?? 1))
        } else if let answers {
            reply.times = Int(answers)
        }
    }

    private static func number(
        _ node: JSONNode, _ key: String, _ field: String, in range: ClosedRange<Int64>
    ) throws(ProtocolError) -> Int64 {
        guard let value = node.int64, range.contains(value) else {
            throw ProtocolError(
                .invalidValue, field: field,
                message: "\(key) is a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }
}

/// The answer that a scripted handler will give, with its time.
struct ScriptedAnswer: Comparable {
    var due: WallTime
    var invocation: InvocationID
    var answer: HandlerAnswer
    var facts = RunFacts()

    static func < (left: ScriptedAnswer, right: ScriptedAnswer) -> Bool {
        (left.due, left.invocation) < (right.due, right.invocation)
    }

    static func == (left: ScriptedAnswer, right: ScriptedAnswer) -> Bool {
        (left.due, left.invocation) == (right.due, right.invocation)
    }
}
