import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushViews

/// A missing precondition of a test.
struct TestFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// JSON that a test wrote itself.
func json(_ text: String) -> JSONNode {
    guard let document = try? JSONDocument(scanning: Array(text.utf8)) else { preconditionFailure("no JSON: \(text)") }
    return document.root
}

/// Stories in memory, as a ledger would give them. It counts what it is asked.
final class FakeSource: PushSource {
    /// In the order of their numbers.
    var stories: [RequestStory] = []
    var known: [KnownDevice] = []
    var change: Int64 = 1
    /// Thrown by whatever is asked.
    var problem: SourceError?
    var hasMore = false
    /// The rows of its report.
    var rows: [ReportRow] = []
    /// The events of its report of campaigns.
    var events: [AnalyticsEvent] = []
    var delay: String?
    /// The numbers of the requests that changed after they came, in that order.
    private var changed: [SequenceNumber] = []
    private var calls: [String: Int] = [:]

    /// How often a function was called.
    func count(_ name: String) -> Int { calls[name, default: 0] }

    /// Adds a request, or puts another state in its place.
    func commit(_ story: RequestStory) {
        change += 1
        if let place = stories.firstIndex(where: { $0.request.seq == story.request.seq }) {
            stories[place] = story
            changed.append(story.request.seq)
        } else {
            stories.append(story)
        }
    }

    private var place: SourcePosition {
        SourcePosition(last: stories.last?.request.seq ?? SequenceNumber(0), event: Int64(changed.count))
    }

    private func note(_ name: String) throws(SourceError) {
        calls[name, default: 0] += 1
        if let problem { throw problem }
    }

    func search(_ search: PushSearch) throws(SourceError) -> PushPage {
        try note("search")
        var page = PushPage()
        for story in stories.reversed()
        where (search.before.map { story.request.seq < $0 } ?? true)
            && (search.after.map { story.request.seq > $0 } ?? true)
        {
            page.lookedBackTo = story.request.acceptedAt.wall
            guard search.query.matches(PushFacts(story)) else { continue }
            page.stories.append(story)
            if page.stories.count >= search.limit {
                page.next = story.request.seq
                return page
            }
        }
        return page
    }

    func story(of seq: SequenceNumber) throws(SourceError) -> FoundStory {
        try note("story")
        if let story = stories.first(where: { $0.request.seq == seq }) { return .story(story) }
        return seq > place.last ? .toCome(last: place.last) : .gone
    }

    func position() throws(SourceError) -> SourcePosition {
        try note("position")
        return place
    }

    func changes(since position: inout SourcePosition, limit: Int) throws(SourceError) -> SourceChanges {
        try note("changes")
        let touched = Set(changed.dropFirst(Int(position.event)))
        var changes = SourceChanges()
        changes.stories = stories.filter { $0.request.seq > position.last || touched.contains($0.request.seq) }
        changes.hasMore = hasMore
        position = place
        return changes
    }

    func changeNumber() throws(SourceError) -> Int64 {
        try note("changeNumber")
        return change
    }

    func report(_ order: ReportOrder) throws(SourceError) -> ReportDocument {
        try note("report")
        var report = ComplianceReport(window: order.window, mode: .device, budget: .seconds(9))
        var detail = ReportDetail(crossed: order.crossed)
        for row in rows {
            report.add(row)
            detail.add(row)
        }
        return ReportDocument(report: report, detail: detail)
    }

    func campaigns(_ window: ReportWindow) throws(SourceError) -> CampaignReport {
        try note("campaigns")
        var report = CampaignReport(window: window)
        for event in events { report.add(event) }
        return report
    }

    func device(_ key: DeviceKey) throws(SourceError) -> KnownDevice? {
        try note("device")
        return known.first { $0.key == key }
    }

    func devices(limit: Int) throws(SourceError) -> [KnownDevice] {
        try note("devices")
        return Array(known.prefix(limit))
    }

    func live() throws(SourceError) -> LiveFigures {
        try note("live")
        return LiveFigures(since: Sample.now)
    }
}

/// A daemon that notes what it is sent, and says what it is told to.
final class FakeDaemon: WebDaemon {
    var mayInject = true
    var mayControl = true
    /// The lines that were injected.
    private(set) var lines: [String] = []
    /// The requests over `control.sock`.
    private(set) var orders: [ControlRequest.Operation] = []
    var reply = #"{"ok":true,"seq":77}"#
    var replayed = #"{"ok":true,"replayed":[{"of":41,"seq":78}],"refused":[]}"#
    var status = #"{"ok":true,"status":{"lanes":{"waiting":0,"longest":[]}}}"#
    var gateway: String?
    /// Thrown by whatever is asked.
    var problem: WebProblem?

    func inject(_ line: [UInt8]) throws(WebProblem) -> JSONNode {
        lines.append(String(decoding: line, as: UTF8.self))
        if let problem { throw problem }
        return json(reply)
    }

    func ask(_ operation: ControlRequest.Operation) throws(WebProblem) -> JSONNode {
        orders.append(operation)
        if let problem { throw problem }
        switch operation {
        case .status: return json(status)
        case .replay: return json(replayed)
        default: return json(#"{"ok":true}"#)
        }
    }

    func gatewayStatus() -> JSONNode? { gateway.map(json) }
}

/// A desk with its source and its daemon.
final class Scene {
    /// The journal's entries about acts of a person.
    final class Notes { var lines: [String] = [] }

    let source = FakeSource()
    let daemon = FakeDaemon()
    let notes = Notes()
    let clock = Clock()
    let configurations: FixedConfigurations
    let desk: WebDesk

    /// The time that the page has.
    final class Clock {
        var now = Sample.now
    }

    init(
        _ stories: [RequestStory] = [], token: String? = nil, fullTokens: Bool = false,
        table: RoutingTable = Sample.table
    ) {
        source.stories = stories
        let (notes, clock) = (notes, clock)
        configurations = FixedConfigurations(table)
        desk = WebDesk(
            WebDesk.Facts(
                access: Sample.access(token: token),
                fullTokens: fullTokens, actor: "pushrouter-web (uid 995)"),
            source: source, daemon: daemon, configurations: configurations, now: { clock.now },
            note: { notes.lines.append($0) })
    }

    /// The answer to a request that is answered at once.
    func response(_ request: WebRequest) throws -> WebResponse {
        switch desk.answer(request) {
        case .response(let response), .cleared(_, let response): return response
        case .stream, .wait: throw TestFailure("\(request.method) \(request.path) is not answered at once")
        }
    }

    func get(_ target: String, _ headers: [(String, String)] = []) throws -> WebResponse {
        try response(try .test("GET", target, headers))
    }

    /// Sends a form of a page.
    func post(_ target: String, _ fields: [(String, String)] = []) throws -> WebResponse {
        try response(try .form(target, fields))
    }

    /// Asks for something to be done, as a program.
    func act(_ target: String, _ body: String = "{}") throws -> WebResponse {
        try response(try .test("POST", target, [("X-Pushrouter", "1")], body: body))
    }
}

extension WebRequest {
    /// - Parameter host: of the header `Host`; `nil`: there is none.
    static func test(
        _ method: String, _ target: String, _ headers: [(String, String)] = [], body: String = "",
        host: String? = "localhost:18080", peer: WebPeer = WebPeer(name: "127.0.0.1")
    ) throws -> WebRequest {
        let all = (host.map { [("Host", $0)] } ?? []) + headers
        return try #require(
            WebRequest(
                method: method, target: target, headers: all.map { (name: $0.0, value: $0.1) }, body: Array(body.utf8),
                peer: peer), "\(target)")
    }

    /// A form as a browser sends it.
    static func form(
        _ target: String, _ fields: [(String, String)], _ headers: [(String, String)] = [],
        host: String? = "localhost:18080", peer: WebPeer = WebPeer(name: "127.0.0.1")
    ) throws -> WebRequest {
        let body = fields.map { "\(($0.0).percentEncoded)=\(($0.1).percentEncoded)" }
        return try test(
            "POST", target, [("Content-Type", "application/x-www-form-urlencoded")] + headers,
            body: body.joined(separator: "&"), host: host, peer: peer)
    }
}

extension WebResponse {
    var text: String { String(decoding: body, as: UTF8.self) }

    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

    /// The body as JSON.
    var root: JSONNode { get throws { try JSONDocument(scanning: body).root } }
}

/// Stories for tests: a Braze push, a push of the app's own, a tap.
enum Sample {
    /// 2026-11-24T13:00:00Z.
    static let now = WallTime(milliseconds: 1_795_525_200_000)
    /// An hour before.
    static let accepted = WallTime(milliseconds: 1_795_521_600_000)
    static let table = RoutingTable(routes: [], handlers: [:])
    /// A text that steers a browser or a terminal if it is not escaped.
    static let hostile = "<script>alert(1)</script>\"onmouseover=x \u{1B}[31m\u{202E}"
    static let formToken = "101112131415161718191a1b1c1d1e1f"
    static let session = "000102030405060708090a0b0c0d0e0f"

    static let braze =
        #"{"op":"deliver","id":"order-7","app":"com.example.shop","device":"pixel-1","external_id":"anna","#
        + #""payload":{"messageId":"m41","data":{"_ab":"true","cid":"spring","t":"Spring sale","a":"All must go"}}}"#
    static let plain =
        #"{"op":"deliver","app":"com.example.shop","device":"pixel-1","#
        + #""payload":{"messageId":"m41","data":{"title":"News","k":"v"}}}"#

    static func access(token: String? = nil, proxy: UInt32? = nil) -> WebAccess {
        WebAccess(
            hosts: ["Push.example.com"], token: token, proxy: proxy, proxyHeader: "X-Forwarded-User",
            random: Array(0..<32))
    }

    static func request(_ seq: Int64, _ body: String, _ operation: PushModel.Operation = .deliver) -> AcceptedRequest {
        AcceptedRequest(
            seq: SequenceNumber(seq), operation: operation, id: operation == .deliver ? "order-7" : nil,
            peer: Peer(uid: 1000, gid: 100, pid: 4242),
            acceptedAt: Moment(
                monotonic: Instant(nanoseconds: 0), wall: WallTime(milliseconds: accepted.milliseconds + seq - 41)),
            boot: UUID128(high: 1, low: 2), mode: .device, platform: .android, app: "com.example.shop",
            device: "pixel-1", externalID: "anna", messageID: operation == .deliver ? "m\(seq)" : nil,
            state: operation == .deliver ? .background : nil, body: Array(body.utf8))
    }

    static func invocation(
        _ seq: Int64, _ outcome: Outcome?, provider: String? = nil, handler: String? = nil, reason: String? = nil,
        exec: Duration = .zero
    ) -> InvocationRecord {
        InvocationRecord(
            id: InvocationID(seq: SequenceNumber(seq), n: 0), callback: .onMessageReceived, provider: provider,
            route: handler.map { "50-\($0)" }, handler: handler, budget: .seconds(9), deadline: nil,
            started: handler != nil,
            result: outcome.map {
                InvocationResult(
                    outcome: $0, reason: reason, queue: .zero, exec: exec, total: exec, completion: nil,
                    decidedAt: accepted)
            })
    }

    static func event(_ seq: Int64, _ delivery: Int64, _ content: AnalyticsEvent.Content) -> AnalyticsEvent {
        AnalyticsEvent(
            id: UUID128(high: 1, low: UInt64(seq)), time: accepted.seconds, seq: SequenceNumber(seq),
            delivery: SequenceNumber(delivery), externalUserID: "anna", deviceID: "pixel-1", appID: "com.example.shop",
            platform: .android, content: content)
    }

    /// A push of Braze's that the tracker has.
    static func handed(_ seq: Int64 = 41) -> RequestStory {
        let push = AnalyticsEvent.Push(campaignID: "spring", messageID: "m\(seq)")
        return RequestStory(
            request: request(seq, braze), invocations: [invocation(seq, .handedToTracker, provider: "braze")],
            events: [event(seq, seq, .received(push))])
    }

    /// A story of a minute of its own, so that it is not like the others.
    static func apart(_ minute: Int64, _ story: RequestStory) -> RequestStory {
        var story = story
        story.request.acceptedAt.wall = WallTime(
            milliseconds: story.request.acceptedAt.wall.milliseconds + minute * 60_000)
        return story
    }

    /// A push that the handler `crm` had.
    static func handled(_ seq: Int64 = 41, _ outcome: Outcome? = .handled) -> RequestStory {
        RequestStory(
            request: request(seq, plain),
            invocations: [invocation(seq, outcome, handler: "crm", exec: .milliseconds(1200))])
    }

    /// A tap on a push.
    static func tap(_ seq: Int64, on delivery: Int64 = 41) -> RequestStory {
        let body =
            #"{"op":"interact","kind":"opened","message":\#(delivery),"platform":"android","#
            + #""app":"com.example.shop","device":"pixel-1"}"#
        var story = RequestStory(request: request(seq, body, .interact))
        story.request.acceptedAt.wall = WallTime(milliseconds: accepted.milliseconds + 10_000)
        return story
    }

    /// A push whose every text steers what shows it.
    static func hostilePush(_ seq: Int64 = 41) -> RequestStory {
        var body = JSONWriter()
        body.object { writer in
            writer.member("op", "deliver")
            writer.member(
                "payload",
                object: { payload in
                    payload.member("messageId", hostile)
                    payload.member(
                        "data",
                        object: {
                            for key in ["cid", "t", "a", "title", hostile] { $0.member(key, hostile) }
                            $0.member("_ab", "true")
                        })
                })
            writer.member("sender", object: { for key in ["client", "account", "path"] { $0.member(key, hostile) } })
        }
        var story = RequestStory(
            request: request(seq, String(decoding: body.bytes, as: UTF8.self)),
            invocations: [invocation(seq, .failed, provider: hostile, handler: hostile, reason: hostile)],
            events: [event(seq, seq, .received(AnalyticsEvent.Push(campaignID: hostile, messageID: hostile)))])
        (story.request.app, story.request.device, story.request.externalID) = (hostile, hostile, hostile)
        (story.request.id, story.request.messageID, story.producer) = (hostile, hostile, hostile)
        let id = InvocationID(seq: SequenceNumber(seq), n: 0)
        story.attempts = [
            AttemptRecord(
                id: id, route: hostile, handler: hostile, asked: .zero, started: .zero, ended: .zero,
                answer: .rejected, reason: hostile, output: ErrorOutput(Array(hostile.utf8)))
        ]
        story.deadLetters = [DeadLetter(id: id, at: accepted, byteCount: 1)]
        return story
    }
}
