import PushModel
import PushProtocol

/// One line of a scenario: a request with its time, and how long its handler takes.
struct Step {
    var request: Request
    var at: WallTime
    var script: Script?

    init(_ line: [UInt8], limits: JSONLimits) throws(ProtocolError) {
        let document: JSONDocument
        do {
            document = try JSONDocument(scanning: line, limits: limits)
        } catch {
            throw ProtocolError(error)
        }
        request = try Request(document, allowing: ["script"])
        guard let at = request.at else {
            throw ProtocolError(
                .missingKey, field: "at", message: "at is missing: a simulation has no clock of its own", id: request.id
            )
        }
        guard Self.span.contains(at.milliseconds) else {
            throw ProtocolError(
                .invalidValue, field: "at", message: "a simulation takes times of the years 1970 to 2200",
                id: request.id)
        }
        self.at = at
        do {
            script = try document.root["script"].map(Script.init)
        } catch {
            var error = error
            error.id = request.id
            throw error
        }
    }

    /// What the monotonic clock's 64 bits of nanoseconds hold with room to spare.
    private static let span: ClosedRange<Int64> = 0...7_258_118_400_000
}

/// What stands for whatever handler the route picks.
struct Script: Hashable {
    /// How long it takes.
    var takes: Duration = .zero
    /// Its exit status (design, section 5.3).
    var exit: Int32 = 0

    init(_ node: JSONNode) throws(ProtocolError) {
        guard node.kind == .object else {
            throw ProtocolError(
                .invalidType, field: "script", message: "script is an object: {\"takes_ms\":9500,\"exit\":0}")
        }
        for (key, value) in node.members {
            switch key {
            case "takes_ms": takes = .milliseconds(try Self.number(value, key, upTo: 86_400_000))
            case "exit": exit = Int32(try Self.number(value, key, upTo: 255))
            default:
                throw ProtocolError(.unknownKey, field: "script.\(key)", message: "a script has takes_ms and exit")
            }
        }
    }

    private static func number(_ node: JSONNode, _ key: String, upTo limit: Int64) throws(ProtocolError) -> Int64 {
        guard let value = node.int64, (0...limit).contains(value) else {
            throw ProtocolError(
                .invalidValue, field: "script.\(key)", message: "\(key) is a whole number from 0 to \(limit)")
        }
        return value
    }
}
