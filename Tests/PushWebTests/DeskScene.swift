@testable import PushModel
@testable import PushRouter
@testable import PushSettings
@testable import PushViews

/// Pushes that a test puts there.
final class StoredPushes: PushSource {
    var stories: [RequestStory] = []
    var delay: String?
    var known: [KnownDevice] = []
    var change: Int64 = 0
    /// How often something but the number of changes was read.
    var readings = 0
    var problem: SourceError?

    private func read() throws(SourceError) {
        readings += 1
        if let problem { throw problem }
    }

    func search(_ search: PushSearch) throws(SourceError) -> PushPage {
        try read()
        var page = PushPage()
        page.stories = stories.reversed().filter { story in
            (search.before.map { story.request.seq < $0 } ?? true)
                && (search.after.map { story.request.seq > $0 } ?? true) && search.query.matches(PushFacts(story))
        }
        page.lookedBackTo = stories.first?.request.acceptedAt.wall
        if page.stories.count > search.limit {
            page.stories = Array(page.stories.prefix(search.limit))
            page.next = page.stories.last?.request.seq
        }
        return page
    }

    func story(of seq: SequenceNumber) throws(SourceError) -> FoundStory {
        try read()
        if let story = stories.first(where: { $0.request.seq == seq }) { return .story(story) }
        let last = stories.last?.request.seq ?? SequenceNumber(0)
        return seq > last ? .toCome(last: last) : .gone
    }

    func position() throws(SourceError) -> SourcePosition {
        try read()
        return SourcePosition(last: stories.last?.request.seq ?? SequenceNumber(0), event: 0)
    }

    func changes(since position: inout SourcePosition, limit: Int) throws(SourceError) -> SourceChanges {
        try read()
        var changes = SourceChanges()
        let last = position.last
        changes.stories = Array(stories.filter { $0.request.seq > last }.prefix(limit))
        position.last = changes.stories.last?.request.seq ?? last
        return changes
    }

    func changeNumber() throws(SourceError) -> Int64 { change }

    func report(_ order: ReportOrder) throws(SourceError) -> ReportDocument {
        try read()
        return ReportDocument(
            report: ComplianceReport(window: order.window, mode: .device, budget: .seconds(9)), detail: ReportDetail())
    }

    func campaigns(_ window: ReportWindow) throws(SourceError) -> CampaignReport {
        try read()
        return CampaignReport(window: window)
    }

    func device(_ key: DeviceKey) throws(SourceError) -> KnownDevice? {
        try read()
        return known.first { $0.key == key }
    }

    func devices(limit: Int) throws(SourceError) -> [KnownDevice] {
        try read()
        return known
    }

    func live() throws(SourceError) -> LiveFigures {
        try read()
        return LiveFigures(since: DeskScene.now)
    }
}

/// A daemon that notes what it is asked.
final class NotingDaemon: WebDaemon {
    var mayInject = true
    var mayControl = true
    var lines: [String] = []
    var asked: [ControlRequest.Operation] = []
    var reply = #"{"ok":true,"seq":77}"#

    func inject(_ line: [UInt8]) throws(WebProblem) -> JSONNode {
        lines.append(String(decoding: line, as: UTF8.self))
        return Self.json(reply)
    }

    func ask(_ operation: ControlRequest.Operation) throws(WebProblem) -> JSONNode {
        asked.append(operation)
        return switch operation {
        case .status: Self.json(#"{"ok":true,"status":{"state":"running","handlers":{},"lanes":{"longest":[]}}}"#)
        case .replay: Self.json(#"{"replayed":[{"of":1,"seq":9}],"refused":[{"of":2,"reason":"gone"}]}"#)
        default: Self.json(#"{"ok":true}"#)
        }
    }

    func gatewayStatus() -> JSONNode? { nil }

    private static func json(_ text: String) -> JSONNode {
        guard let document = try? JSONDocument(scanning: Array(text.utf8)) else { preconditionFailure(text) }
        return document.root
    }
}

/// Configurations that a test sets.
final class FixedConfigurations: WebConfigurations {
    var current: UsedConfiguration
    var earlier: [UsedConfiguration] = []
    /// The one that the daemon has in force, if it is not the current one.
    var next: UsedConfiguration?
    var campaignNames: [String: String] = [:]

    init(_ table: RoutingTable) { current = UsedConfiguration(id: nil, table: table, limits: JSONLimits()) }

    func refreshed() -> UsedConfiguration {
        if let next { current = next }
        return current
    }

    /// How often an earlier one was asked for.
    private(set) var pastCount = 0

    func past(_ id: ConfigurationID) -> UsedConfiguration? {
        pastCount += 1
        return earlier.first { $0.id == id }
    }
}

/// A desk over both.
final class DeskScene {
    static let now = WallTime(milliseconds: 1_760_000_000_000)
    let source = StoredPushes()
    let daemon = NotingDaemon()
    let configurations = FixedConfigurations(Settings().routing)
    var notes: [String] = []
    var access = DeskScene.access()

    static func access(token: String? = nil, proxy: UInt32? = nil, hosts: [String] = []) -> WebAccess {
        WebAccess(
            hosts: hosts, token: token, proxy: proxy, proxyHeader: "X-Forwarded-User",
            random: (0..<32).map { UInt8($0) })
    }

    /// The token of forms.
    static let formToken = "101112131415161718191a1b1c1d1e1f"

    var desk: WebDesk {
        WebDesk(
            WebDesk.Facts(
                access: access, fullTokens: false, actor: "pushrouter-web (uid 995)"),
            source: source, daemon: daemon, configurations: configurations, now: { Self.now },
            note: { [unowned self] in notes.append($0) })
    }

    static func request(
        _ method: String, _ target: String, headers: [(name: String, value: String)] = [("Host", "localhost")],
        body: String = "", peer: WebPeer = WebPeer(name: "127.0.0.1")
    ) -> WebRequest? {
        WebRequest(method: method, target: target, headers: headers, body: Array(body.utf8), peer: peer)
    }

    /// The answer to a GET.
    func get(_ target: String) -> WebResponse {
        guard let request = Self.request("GET", target) else { return WebResponse(0, "") }
        if case .response(let response) = desk.answer(request) { return response }
        return WebResponse(0, "")
    }

    /// The answer to a form, or for the API to JSON.
    func post(_ target: String, _ body: String = "") -> WebResponse {
        let type = target.hasPrefix("/api") ? "application/json" : "application/x-www-form-urlencoded"
        guard let request = Self.request("POST", target, headers: [("Host", "h"), ("Content-Type", type)], body: body),
            case .response(let response) = desk.answer(request)
        else { return WebResponse(0, "") }
        return response
    }

    /// A delivery with an invocation.
    static func story(
        _ seq: Int64 = 1, payload: String = #"{"data":{"_ab":"true","cid":"spring","t":"Sale","a":"Today"}}"#,
        outcome: Outcome? = .handedToTracker, handler: String? = nil, provider: String? = "braze",
        total: Duration = .zero
    ) -> RequestStory {
        let request = AcceptedRequest(
            seq: SequenceNumber(seq), operation: .deliver, id: nil, peer: Peer(uid: 1000, gid: 100, pid: 42),
            acceptedAt: Moment(monotonic: Instant(nanoseconds: 0), wall: now), boot: UUID128(high: 1, low: 2),
            mode: .device, platform: .android, app: "shop", device: "pixel", externalID: "anna", messageID: nil,
            state: .background, body: Array(#"{"op":"deliver","platform":"android","payload":\#(payload)}"#.utf8))
        let result = outcome.map {
            InvocationResult(
                outcome: $0, reason: nil, queue: .zero, exec: total, total: total, completion: nil, decidedAt: now)
        }
        let invocation = InvocationRecord(
            id: InvocationID(seq: SequenceNumber(seq), n: 0), callback: .onMessageReceived, provider: provider,
            route: handler.map { "50-\($0)" }, handler: handler, budget: .seconds(9), deadline: nil, started: true,
            result: result)
        return RequestStory(request: request, invocations: [invocation])
    }
}

extension WebResponse {
    /// Returns the text of a page without markup, white space folded.
    var readable: String {
        var text = ""
        var isInTag = false
        for character in self.text {
            switch character {
            case "<": isInTag = true
            case ">":
                isInTag = false
                text += " "
            default: if !isInTag { text.append(character) }
            }
        }
        return text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
