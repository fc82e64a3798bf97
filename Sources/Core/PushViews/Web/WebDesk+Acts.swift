import PushModel

/// The fields of a request that asks for something to be done: of a form, or of a JSON object.
struct ActFields {
    /// The fields of a device's state that are texts.
    static let statesAsText = ["state", "notifications", "os_version", "sdk"]

    private let form: WebParameters?
    private let object: JSONNode?

    /// - Throws: that the body is neither.
    init(_ request: WebRequest, limits: JSONLimits) throws(WebProblem) {
        guard request.isOfAPI, !request.body.isEmpty else {
            (form, object) = (request.isOfAPI ? nil : request.form, nil)
            return
        }
        let root: JSONNode
        do throws(JSONError) { root = try JSONDocument(scanning: request.body, limits: limits).root } catch {
            throw WebProblem(400, "the body is not JSON: \(error.message)")
        }
        guard root.kind == .object else {
            throw WebProblem(400, "the body must be a JSON object; this is \(root.kind.name)")
        }
        (form, object) = (nil, root)
    }

    /// A field as text; `nil`: it is not there, or empty.
    subscript(name: String) -> String? {
        if let form { return form[name] }
        guard let value = object?[name], value.kind != .null else { return nil }
        return value.string ?? String(decoding: value.rawBytes, as: UTF8.self)
    }

    /// The names of the fields.
    var names: [String] { form?.names ?? object?.members.map(\.key) ?? [] }

    /// A field as JSON.
    func json(_ name: String) -> [UInt8]? {
        if let form { return form[name].map { Array($0.utf8) } }
        return object?[name].map { Array($0.rawBytes) }
    }

    /// The numbers of requests in a field, the oldest first, as they came.
    ///
    /// - Throws: that there are none, or too many.
    func numbers(_ name: String) throws(WebProblem) -> [SequenceNumber] {
        let values = form?.all(name).map { Int64($0) } ?? object?[name]?.elements.map(\.int64) ?? []
        let numbers = values.compactMap { $0.flatMap { $0 > 0 ? SequenceNumber($0) : nil } }.sorted()
        let most = ControlRequest.Operation.requestsMax
        guard (1...most).contains(numbers.count) else {
            throw WebProblem(400, "choose 1 to \(most) dead letters: \(name) is their numbers", field: name)
        }
        return numbers
    }
}

extension WebDesk {
    func fields(_ request: WebRequest) throws(WebProblem) -> ActFields {
        try ActFields(request, limits: configurations.current.limits)
    }

    /// Sends a line to the daemon. Answers with a page, that of the new request unless there is another, or with the reply
    /// for a program.
    ///
    /// - Parameters:
    ///   - members: its members that are texts; those without a value are left out.
    ///   - more: writes the other ones.
    private func accepted(
        _ request: WebRequest, _ operation: Operation, _ members: [(String, String?)], then target: String? = nil,
        _ more: (inout JSONWriter) -> Void = { _ in }
    ) throws(WebProblem) -> WebAnswer {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("op", operation.rawValue)
            for case (let name, let value?) in members { writer.member(name, value) }
            more(&writer)
        }
        let reply = try daemon.inject(writer.bytes)
        guard reply["ok"]?.bool != false, let seq = reply["seq"]?.int64 else {
            let error = reply["error"]
            throw WebProblem(
                422, error?["message"]?.string ?? reply["message"]?.string ?? "the daemon refused it",
                field: error?["field"]?.string)
        }
        // The ledger is to have it before a page, or a test, asks for it.
        _ = try? daemon.ask(.sync(timeout: .seconds(2)))
        return done(request, reply, then: target ?? "/push/\(seq)")
    }

    /// The answer to an act: the daemon's reply for a program, another page for a person.
    private func done(_ request: WebRequest, _ reply: JSONNode, then target: String) -> WebAnswer {
        .response(request.isOfAPI ? .json(Array(reply.rawBytes)) : .seeOther(target))
    }

    func tap(_ request: WebRequest) throws(WebProblem) -> WebAnswer { try interact(request, .opened) }

    func dismiss(_ request: WebRequest) throws(WebProblem) -> WebAnswer { try interact(request, .dismissed) }

    func press(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        let fields = try fields(request)
        guard let action = fields["action"] else {
            throw WebProblem(400, "action is missing: the id of a button", field: "action")
        }
        return try interact(request, .action, [("action", action), ("text", fields["text"])])
    }

    private func interact(
        _ request: WebRequest, _ kind: InteractRequest.Kind, _ more: [(String, String?)] = []
    ) throws(WebProblem) -> WebAnswer {
        let delivery = try story(request).request
        guard delivery.operation == .deliver else {
            throw WebProblem(409, "request \(delivery.seq) is not a delivery: it has no actions")
        }
        let place = [("platform", delivery.platform.rawValue), ("app", delivery.app), ("device", delivery.device)]
        return try accepted(request, .interact, [("kind", kind.rawValue)], then: "/push/\(delivery.seq)") { writer in
            writer.member("message", delivery.seq.value)
            for case (let name, let value?) in place + more { writer.member(name, value) }
        }
    }

    /// A push that can be sent again, with its line.
    private func sendable(_ request: WebRequest) throws(WebProblem) -> (request: AcceptedRequest, line: JSONNode) {
        if let seq = request.number,
            case .story(let story) = try reading({ () throws(SourceError) in
                try source.story(of: seq)
            }), story.request.operation == .deliver, !story.request.isErased, let line = PushFacts(story).line,
            line["payload"] != nil
        {
            return (story.request, line)
        }
        throw WebProblem(409, "there is no push of this number that can be sent again")
    }

    /// Sends a push again, changed or not.
    func send(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        let (delivery, line) = try sendable(request)
        let fields = try fields(request)
        var payload = line["payload"].map { Array($0.rawBytes) } ?? []
        if let given = fields.json("payload") {
            do throws(JSONError) { _ = try JSONDocument(scanning: given, limits: configurations.current.limits) } catch
            {
                // The page keeps the text, and says what is wrong with it.
                guard request.isOfAPI else { return try explain(request) }
                throw WebProblem(400, "the payload is not JSON: \(error.message)", field: "payload")
            }
            // One line, as the daemon wants it.
            payload = PushTokens.restored(in: given.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 }, from: line)
        }
        // A request names the state that it finds: the form's, else the device's, else that of the first time.
        let known = try delivery.device.flatMap { (name) throws(WebProblem) -> DeviceState? in
            let key = DeviceKey(app: delivery.app, device: name)
            return try reading { () throws(SourceError) in try source.device(key) }?.detail.state
        }
        let texts = [known?.state?.rawValue, known?.notifications?.rawValue, known?.osVersion, known?.sdk?.rawValue]
        var members = [
            ("platform", delivery.platform.rawValue), ("app", delivery.app), ("device", delivery.device),
            ("external_id", delivery.externalID),
        ]
        members += zip(ActFields.statesAsText, texts).map { ($0, fields[$0] ?? $1 ?? line[$0]?.string) }
        let locked = fields["locked"].map { $0 == "true" } ?? known?.locked ?? line["locked"]?.bool
        return try accepted(request, .deliver, members) { writer in
            if let locked { writer.member("locked", locked) }
            for name in ["transport", "headers"] {
                if let value = line[name] { writer.member(name, raw: value.rawBytes) }
            }
            writer.member("payload", raw: payload)
        }
    }

    func session(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        let fields = try fields(request)
        guard let kind = fields["kind"], SessionRequest.Kind(rawValue: kind) != nil else {
            throw WebProblem(400, "kind is start or end", field: "kind")
        }
        let from = fields["from"].flatMap { Int64($0.dropFirst("/push/".count)) }.map { "/push/\($0)" }
        let names = ["kind", "platform", "app", "device", "external_id"]
        return try accepted(request, .session, names.map { ($0, fields[$0]) }, then: from)
    }

    func setDevice(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        let fields = try fields(request)
        guard fields["device"] != nil else { throw WebProblem(400, "device is missing", field: "device") }
        let names = ["device", "platform", "app"] + ActFields.statesAsText
        return try accepted(request, .device, names.map { ($0, fields[$0]) }, then: "/devices") { writer in
            if let locked = fields["locked"] { writer.member("locked", locked == "true") }
        }
    }

    func replay(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        guard let seq = request.number else { throw WebProblem(404, "there is no such request") }
        let reply = try daemon.ask(.replay([seq]))
        guard let other = reply["replayed"]?.elements.first?["seq"]?.int64 else {
            let reason = reply["refused"]?.elements.first?["reason"]?.string
            throw WebProblem(409, "request \(seq) is not replayed: \(reason ?? "the request has no dead letter")")
        }
        return done(request, reply, then: "/push/\(other)")
    }

    func replayChosen(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        let reply = try daemon.ask(.replay(try fields(request).numbers("requests")))
        guard !request.isOfAPI else { return .response(.json(Array(reply.rawBytes))) }
        func number(_ node: JSONNode?) -> String { "#\(node?.int64 ?? 0)" }
        let replays = (reply["replayed"]?.elements ?? []).map { "\(number($0["of"])) as \(number($0["seq"]))" }
        let refusals = (reply["refused"]?.elements ?? []).map {
            "\(number($0["of"])) not replayed: \($0["reason"]?.string ?? "")"
        }
        let text: Markup =
            "<p>\(counted(replays.count, "request")) replayed, \(refusals.count) refused.</p>\n\(HTML.list(replays + refusals))"
        return .response(page(request, title: "Replay", text))
    }

    func purgeChosen(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        done(request, try daemon.ask(.purge(try fields(request).numbers("requests"))), then: "/deadletters")
    }
}
