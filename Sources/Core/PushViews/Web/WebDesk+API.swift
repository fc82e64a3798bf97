import PushModel
import PushRouter

extension WebDesk {
    /// How many pushes an answer has unless something else is asked, and at most.
    private static let lengths = (usual: 50, most: 500)
    /// How long a request may wait at most.
    private static let longestWait: Duration = .seconds(60)

    private func json(_ content: (inout JSONWriter) -> Void) -> WebResponse {
        var writer = JSONWriter()
        writer.object(content)
        return .json(writer.bytes)
    }

    private var position: SourcePosition {
        get throws(WebProblem) { try reading { () throws(SourceError) in try source.position() } }
    }

    func apiList(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        var query = try query(request)
        let after = try number("after", of: request) ?? request.clearedThrough
        let before = try number("before", of: request)
        let limit = try number("limit", of: request).map { Int($0.value) } ?? Self.lengths.usual
        guard (1...Self.lengths.most).contains(limit) else {
            throw WebProblem(400, "limit is a number from 1 to \(Self.lengths.most)", field: "limit")
        }
        var wait: Duration?
        if let text = request.query["wait"] {
            guard let span = Duration(timeSpan: text), span >= .zero, span <= Self.longestWait else {
                throw WebProblem(400, "wait is a time span of 60 s at most, such as 10s", field: "wait")
            }
            wait = span
            // A push that a handler still has would be an answer by chance.
            query = query.decided
        }
        // Before the search, so that nothing comes between the two.
        let position = try position
        let found = try search(PushSearch(query, before: before, after: after, limit: limit))
        if found.stories.isEmpty, let wait {
            let subscription = WebSubscription(query: query, position: position, after: after, isWaiting: true)
            return .wait(subscription, atMost: wait)
        }
        return .response(
            Self.list(
                found.stories.map { summary(shown($0)) }, next: found.next, lookedBackTo: found.lookedBackTo, position))
    }

    /// Lets the list of the API begin behind the last request. Nothing is erased: page, figures and ledger keep it.
    func apiClear(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        // The ledger is to have all that was acknowledged so far.
        _ = try daemon.ask(.sync(timeout: .seconds(2)))
        let last = try position.last
        return .cleared(through: last, json { $0.member("after", last.value) })
    }

    /// The answer to a search.
    static func list(
        _ pushes: [PushSummary], next: SequenceNumber?, lookedBackTo: WallTime?, _ position: SourcePosition
    ) -> WebResponse {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("pushes", array: { list in pushes.forEach { $0.write(to: &list) } })
            writer.member("next", next?.value)
            writer.member("looked_back_to", lookedBackTo?.rfc3339)
            writer.member("position", position.description)
        }
        return .json(writer.bytes)
    }

    func apiStory(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        let story = shown(try story(request))
        let object = json { writer in
            writer.key("push")
            summary(story).write(to: &writer)
            writer.member("story", raw: story.json)
            writer.member(
                "not_influenced",
                pushFacts(story).obstacleToInfluence(configuration(of: story).used.table.tracking))
        }
        return .response(object)
    }

    func apiDevices(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        let devices = try reading { () throws(SourceError) in try source.devices(limit: 1000) }
        let object = json { writer in
            writer.member(
                "devices",
                array: { list in
                    for device in devices {
                        list.object {
                            $0.member("platform", device.platform.rawValue)
                            $0.member("app", device.key.app)
                            $0.member("device", device.key.device)
                            $0.member("external_id", device.externalID)
                            $0.member("token", shownToken(of: device))
                            $0.member(
                                "topics",
                                array: { list in device.detail.topics.forEach { list.string($0.topic.topic) } })
                            $0.members(of: device.detail.state)
                        }
                    }
                })
        }
        return .response(object)
    }

    func apiCampaigns(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        let window = try window(request)
        return .response(.json(try reading { () throws(SourceError) in try source.campaigns(window).json }))
    }

    func apiReport(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        let order = ReportOrder(window: try window(request))
        return .response(.json(try reading { () throws(SourceError) in try source.report(order).json }))
    }

    func apiStatus(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        .response(.json(Array(try status().rawBytes)))
    }

    func apiDescription(_ request: WebRequest) -> WebAnswer { .response(.json(OpenAPI.document)) }

    func apiExplain(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        let fields = try fields(request)
        guard let payload = fields.json("payload") else {
            throw WebProblem(400, "payload is missing", field: "payload")
        }
        let asked = try ExplainRequest(
            payload,
            (["platform", "app", "device", "external_id", "locked"] + ActFields.statesAsText).compactMap { name in
                fields[name].map { (name, $0) }
            }, by: configurations.refreshed())
        let explanation = try asked.explanation(on: asked.platforms.count == 1 ? asked.platforms[0] : .android)
        var about = JSONWriter()
        about.object {
            $0.member("id", asked.used.id?.description)
            $0.member("since", asked.used.since?.rfc3339)
        }
        // The object has a member more than that of "pushctl explain": its configuration.
        return .response(
            .json(explanation.json.dropLast() + Array(#","configuration":"#.utf8) + about.bytes + Array("}".utf8)))
    }

    func stream(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        let query = try query(request)
        var begin = try position
        if let text = request.headers["last-event-id"] ?? request.query["position"] {
            guard let position = SourcePosition(text) else {
                throw WebProblem(400, "Last-Event-ID is not a position of this stream", field: "position")
            }
            begin = position
        }
        return .stream(WebSubscription(query: query, position: begin, sendsRows: request.query["rows"] == "1"))
    }
}
