import PushModel
import PushRouter

/// One request of a scenario, with its time and the script of its handlers.
struct Step {
    var request: Request
    var at: WallTime
    var script: Script?

    /// Creates a request without a script.
    init(_ action: Request.Action, _ document: JSONDocument, at: WallTime) {
        request = Request(action: action, id: nil, at: at, waitsForOutcome: false, document: document)
        self.at = at
    }

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
                .missingKey, field: "at", message: "at is missing: each line of a simulation needs its time",
                id: request.id
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

    /// The valid times; the monotonic clock's 64 bits of nanoseconds hold them with room to spare.
    static let span: ClosedRange<Int64> = 0...7_258_118_400_000
}
