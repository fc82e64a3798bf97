import PushModel

/// The fields of a request that asks for something to be done: of a form, or of a JSON object.
struct ActFields {
    /// The fields of a device's state that are texts.
    static let statesAsText = ["state", "notifications", "os_version", "sdk"]

    private let form: WebParameters?
    private let object: JSONNode?

    /// - Throws: that the body is neither.
    init(_ request: WebRequest, limits: JSONLimits) throws(WebProblem) {
        if !request.isOfAPI {
            (form, object) = (request.form, nil)
        } else if request.body.isEmpty {
            (form, object) = (nil, nil)
        } else {
            let root: JSONNode
            do throws(JSONError) { root = try JSONDocument(scanning: request.body, limits: limits).root } catch {
                throw WebProblem(400, "the body is not JSON: \(error.message)")
            }
            guard root.kind == .object else {
                throw WebProblem(400, "the body must be a JSON object; this is \(root.kind.name)")
            }
            (form, object) = (nil, root)
        }
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

    /// A list of numbers.
    func numbers(_ name: String) -> [SequenceNumber] {
        let values = form?.all(name).map { Int64($0) } ?? object?[name]?.elements.map(\.int64) ?? []
        return values.compactMap { $0.flatMap { $0 > 0 ? SequenceNumber($0) : nil } }
    }
}

extension WebDesk {
    func fields(_ request: WebRequest) throws(WebProblem) -> ActFields {
        try ActFields(request, limits: configurations.current.limits)
    }

    /// Sends a line to the daemon. Answers with the page of the new request, or with the reply for a program.
    private func accepted(_ request: WebRequest, _ line: [UInt8], then target: String?) throws(WebProblem) -> WebAnswer
    {
        let reply = try daemon.inject(line)
        guard reply["ok"]?.bool != false, let seq = reply["seq"]?.int64 else {
            let error = reply["error"]
            throw WebProblem(
                422, error?["message"]?.string ?? reply["message"]?.string ?? "the daemon refused it",
                field: error?["field"]?.string)
        }
        // The ledger is to have it before a page, or a test, asks for it.
        _ = try? daemon.ask(.sync(timeout: .seconds(2)))
        if request.isOfAPI { return .response(.json(Array(reply.rawBytes), status: 200)) }
        return .response(.seeOther(target ?? "/push/\(seq)"))
    }

    // MARK: What a person does with a push

    func interact(_ request: WebRequest, _ seq: SequenceNumber?, _ kind: InteractRequest.Kind) throws(WebProblem)
        -> WebAnswer
    {
        let story = try story(seq)
        guard story.request.operation == .deliver else {
            throw WebProblem(409, "request \(story.request.seq) is not a delivery: it has no actions")
        }
        let fields = try fields(request)
        if kind == .action, fields["action"] == nil {
            throw WebProblem(400, "action is missing: the id of a button", field: "action")
        }
        let delivery = story.request
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("op", Operation.interact.rawValue)
            writer.member("kind", kind.rawValue)
            writer.member("message", delivery.seq.value)
            writer.member("platform", delivery.platform.rawValue)
            if let app = delivery.app { writer.member("app", app) }
            if let device = delivery.device { writer.member("device", device) }
            if kind == .action {
                writer.member("action", fields["action"])
                if let text = fields["text"] { writer.member("text", text) }
            }
        }
        return try accepted(request, writer.bytes, then: "/push/\(delivery.seq)")
    }

    /// Sends a push again, changed or not.
    func send(_ request: WebRequest, _ seq: SequenceNumber?) throws(WebProblem) -> WebAnswer {
        // Not with short tokens: the line is sent.
        guard let seq, case .story(let story) = try reading({ () throws(SourceError) in try source.story(of: seq) }),
            story.request.operation == .deliver, !story.request.isErased,
            let line = PushFacts(story).line, let payload = line["payload"]
        else { throw WebProblem(409, "there is no push of this number that can be sent again") }
        let fields = try fields(request)
        var bytes = Array(payload.rawBytes)
        if let given = fields.json("payload") {
            do throws(JSONError) { _ = try JSONDocument(scanning: given, limits: configurations.current.limits) } catch
            {
                throw WebProblem(400, "the payload is not JSON: \(error.message)", field: "payload")
            }
            // One line, as the daemon wants it.
            bytes = given.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 }
        }
        let delivery = story.request
        let state = try knownState(of: delivery)
        var writer = JSONWriter(reserving: bytes.count + 512)
        writer.object { writer in
            writer.member("op", Operation.deliver.rawValue)
            writer.member("platform", delivery.platform.rawValue)
            for (name, value) in [
                ("app", delivery.app), ("device", delivery.device), ("external_id", delivery.externalID),
            ] {
                if let value { writer.member(name, value) }
            }
            // A request names the state that it finds: the form's, else the device's, else that of the first time.
            for name in ActFields.statesAsText {
                if let value = fields[name] ?? state?[name]?.string ?? line[name]?.string { writer.member(name, value) }
            }
            let known = state?["locked"] ?? line["locked"]
            if let locked = fields["locked"] ?? known?.bool.map({ "\($0)" }) {
                writer.member("locked", locked == "true")
            }
            for name in ["transport", "headers"] {
                if let value = line[name] { writer.member(name, raw: value.rawBytes) }
            }
            writer.member("payload", raw: bytes)
        }
        return try accepted(request, writer.bytes, then: nil)
    }

    /// The state of a request's device, as an object; `nil`: nothing is known of it.
    private func knownState(of request: AcceptedRequest) throws(WebProblem) -> JSONNode? {
        guard let name = request.device else { return nil }
        let key = DeviceKey(app: request.app, device: name)
        guard let device = try reading({ () throws(SourceError) in try source.device(key) }) else { return nil }
        var writer = JSONWriter()
        writer.object { $0.members(of: device.detail.state) }
        return try? JSONDocument(scanning: writer.bytes).root
    }

    func session(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        let fields = try fields(request)
        guard let kind = fields["kind"], SessionRequest.Kind(rawValue: kind) != nil else {
            throw WebProblem(400, "kind is start or end", field: "kind")
        }
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("op", Operation.session.rawValue)
            writer.member("kind", kind)
            for name in ["platform", "app", "device", "external_id"] {
                if let value = fields[name] { writer.member(name, value) }
            }
        }
        let from = fields["from"].flatMap { Int64($0.dropFirst("/push/".count)) }.map { "/push/\($0)" }
        return try accepted(request, writer.bytes, then: from)
    }

    func setDevice(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        let fields = try fields(request)
        guard let device = fields["device"] else { throw WebProblem(400, "device is missing", field: "device") }
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("op", Operation.device.rawValue)
            writer.member("device", device)
            for name in ["platform", "app"] + ActFields.statesAsText {
                if let value = fields[name] { writer.member(name, value) }
            }
            if let locked = fields["locked"] { writer.member("locked", locked == "true") }
        }
        return try accepted(request, writer.bytes, then: "/devices")
    }

    // MARK: Dead letters

    func replay(_ request: WebRequest, _ seq: SequenceNumber?) throws(WebProblem) -> WebAnswer {
        guard let seq else { throw WebProblem(404, "there is no such request") }
        let reply = try daemon.ask(.replay([seq]))
        guard let other = reply["replayed"]?.elements.first?["seq"]?.int64 else {
            let reason = reply["refused"]?.elements.first?["reason"]?.string
            throw WebProblem(409, "request \(seq) is not replayed: \(reason ?? "the request has no dead letter")")
        }
        if request.isOfAPI { return .response(.json(Array(reply.rawBytes))) }
        return .response(.seeOther("/push/\(other)"))
    }

    func actOnDeadLetters(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        let fields = try fields(request)
        // The oldest first, as they came.
        let numbers = fields.numbers("requests").sorted()
        guard !numbers.isEmpty else { throw WebProblem(400, "no dead letter is chosen", field: "requests") }
        guard numbers.count <= ControlRequest.Operation.requestsMax else {
            throw WebProblem(400, "choose \(ControlRequest.Operation.requestsMax) at most", field: "requests")
        }
        switch fields["act"] {
        case "dry":
            let list = numbers.map { "<li>\(HTML.link("/push/\($0)", "#\($0)"))</li>" }.joined()
            let buttons = ["replay", "purge"].map { act in
                "<button name=\"act\" value=\"\(act)\">\(act == "replay" ? "Replay" : "Drop")</button> "
            }.joined()
            let hidden = numbers.map { "<input type=\"hidden\" name=\"requests\" value=\"\($0)\">" }.joined()
            let form =
                "<form method=\"post\" action=\"/deadletters\"><input type=\"hidden\" name=\"\(WebAccess.formField)\" value=\"\(facts.access.formToken)\">\(hidden)\(buttons)</form>\n"
            let text =
                "<p>\(counted(numbers.count, "request")) would be replayed; nothing was done yet.</p>\n<ul>\(list)</ul>\n"
            return .response(page(request, title: "Replay", text + form))
        case "replay":
            let reply = try daemon.ask(.replay(numbers))
            let done =
                reply["replayed"]?.elements.map { replay in
                    "<li>\(HTML.link("/push/\(replay["of"]?.int64 ?? 0)", "#\(replay["of"]?.int64 ?? 0)")) as \(HTML.link("/push/\(replay["seq"]?.int64 ?? 0)", "#\(replay["seq"]?.int64 ?? 0)"))</li>"
                } ?? []
            let refused =
                reply["refused"]?.elements.map { refusal in
                    "<li>#\(refusal["of"]?.int64 ?? 0) not replayed: \(markup(refusal["reason"]?.string ?? ""))</li>"
                } ?? []
            return .response(
                page(
                    request, title: "Replay",
                    "<p>\(counted(done.count, "request")) replayed, \(refused.count) refused.</p>\n<ul>\((done + refused).joined())</ul>\n"
                ))
        case "purge":
            _ = try daemon.ask(.purge(numbers))
            return .response(.seeOther("/deadletters"))
        default: throw WebProblem(400, "act is dry, replay or purge", field: "act")
        }
    }

    /// The acts on dead letters of the API.
    enum DeadLetterAct { case replay, purge }

    func apiDeadLetters(_ request: WebRequest, _ act: DeadLetterAct) throws(WebProblem) -> WebAnswer {
        let numbers = try fields(request).numbers("requests").sorted()
        guard (1...ControlRequest.Operation.requestsMax).contains(numbers.count) else {
            throw WebProblem(
                400, "requests is a list of 1 to \(ControlRequest.Operation.requestsMax) numbers", field: "requests")
        }
        let reply = try daemon.ask(act == .replay ? .replay(numbers) : .purge(numbers))
        return .response(.json(Array(reply.rawBytes)))
    }
}
