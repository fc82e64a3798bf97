public import PushModel

/// One address of the page or the API: declared here alone, for the desk, the OpenAPI document and the tests.
struct WebRoute: Sendable {
    /// The kinds of answers.
    enum Kind: Sendable {
        /// A page for a person.
        case page
        /// A form of a page.
        case form
        /// JSON for a program.
        case api
        /// The live stream.
        case stream
    }

    /// The socket that an act needs.
    enum Right: Sendable {
        case inject, control
    }

    /// A parameter of the query of the API, or a field of a JSON object.
    struct Parameter: Sendable {
        let name: String
        let meaning: String
        let type: String
        let isRequired: Bool

        init(_ name: String, _ meaning: String, _ type: String = "string", isRequired: Bool = false) {
            (self.name, self.meaning, self.type, self.isRequired) = (name, meaning, type, isRequired)
        }
    }

    typealias Answer = @Sendable (WebDesk) -> (WebRequest) throws(WebProblem) -> WebAnswer

    let method: String
    /// The parts; `{seq}` stands for a number.
    let path: [String]
    let kind: Kind
    let meaning: String
    let parameters: [Parameter]
    let right: Right?
    /// Whether the answer needs the daemon. An act needs it always.
    let asksDaemon: Bool
    let answer: Answer

    /// - Parameter address: method and path: `GET /push/{seq}`.
    private init(
        _ address: String, _ meaning: String, _ answer: @escaping Answer, _ parameters: [Parameter] = [],
        right: Right? = nil, asksDaemon: Bool = false
    ) {
        let parts = address.split(separator: " ").map { String($0) }
        method = parts[0]
        path = parts[1].split(separator: "/").map { String($0) }
        kind = path.first == "events" ? .stream : path.first == "api" ? .api : method == "GET" ? .page : .form
        (self.meaning, self.parameters, self.right, self.answer) = (meaning, parameters, right, answer)
        self.asksDaemon = asksDaemon || right != nil
    }

    /// The place of a number in a path.
    static let number = "{seq}"

    /// `/api/pushes/{seq}/tap`.
    var pattern: String { "/" + path.joined(separator: "/") }

    /// Whether a path is its own.
    ///
    /// - Returns: the number in it, where it has one; `nil`: another path, or no number where one belongs.
    func matches(_ parts: [String]) -> (isOwn: Bool, number: SequenceNumber?) {
        guard parts.count == path.count else { return (false, nil) }
        var number: SequenceNumber?
        for (part, expected) in zip(parts, path) {
            if expected == Self.number {
                guard let value = Int64(part), value > 0, part.utf8.allSatisfy(\.isDigit) else { return (false, nil) }
                number = SequenceNumber(value)
            } else if part != expected {
                return (false, nil)
            }
        }
        return (true, number)
    }
}

/// The answer to a request.
public enum WebAnswer: Sendable {
    case response(WebResponse)
    /// A live stream begins.
    case stream(WebSubscription)
    /// From now on the API lists requests with higher numbers alone.
    case cleared(through: SequenceNumber, WebResponse)
    /// Nothing matches yet: the first match is the answer, or nothing after a time.
    case wait(WebSubscription, atMost: Duration)
}

extension WebRoute {
    private static let query = Parameter("query", "a query in the query language")
    private static let before = Parameter(
        "before", "only requests with a lower number, to continue a search", "integer")
    private static let window = [
        Parameter("since", "accepted from then on: RFC 3339, a date, today, -1h"),
        Parameter("until", "accepted before then"),
    ]
    private static let list = [
        Parameter("after", "only requests with a higher number", "integer"),
        Parameter("limit", "how many at most: 1 to 500, 50 unless given", "integer"),
        Parameter(
            "wait",
            "how long to wait for the first match with all its outcomes: 10s, 60s at most; a query that names "
                + "is:pending takes others, too"),
    ]
    private static let stream = [
        Parameter("rows", "1: rows of the page's list, in place of JSON"),
        Parameter(
            "position", "the id of the stream's last event that the client has; Last-Event-ID does the same"),
    ]
    private static let state = [
        Parameter("state", "the state of the app: foreground, background, terminated, force_stopped, force_quit"),
        Parameter("notifications", "allowed or denied"),
        Parameter("locked", "whether the screen is locked: true or false", "boolean"),
        Parameter("os_version", "the version of the operating system"),
        Parameter("sdk", "whether the app has a Braze instance: ready, nil or delayed"),
    ]
    private static let app = Parameter("app", "package name or bundle id")
    private static let device = Parameter("device", "the device", isRequired: true)
    private static let platform = Parameter("platform", "android, ios or web")
    private static let user = Parameter("external_id", "the user")
    private static let press = [
        Parameter("action", "the button's id", isRequired: true), Parameter("text", "the text that was typed"),
    ]
    private static let kind = Parameter("kind", "start or end", isRequired: true)
    private static let requests = Parameter("requests", "numbers of requests", "array", isRequired: true)
    private static let payload = Parameter("payload", "another payload, in place of the former one", "object")

    /// All of them.
    static let all: [WebRoute] =
        [
            WebRoute("GET /", "the list of pushes", WebDesk.list),
            WebRoute("GET /push/{seq}", "one push", WebDesk.push),
            WebRoute(
                "GET /push/{seq}/scenario", "one push with its interactions, as a scenario for pushctl test",
                WebDesk.scenario),
            WebRoute("GET /push/{seq}/file", "one push as a file that opens anywhere", WebDesk.file),
            WebRoute("GET /explain", "explain a payload; nothing is stored", WebDesk.explain),
            WebRoute("POST /explain", "explain a payload; nothing is stored", WebDesk.explain, asksDaemon: true),
            WebRoute("GET /devices", "devices and their states", WebDesk.devices),
            WebRoute("GET /campaigns", "opens and clicks of campaigns", WebDesk.campaigns),
            WebRoute("GET /deadletters", "the dead letters of relay mode", WebDesk.deadLetters),
            WebRoute(
                "GET /report", "the compliance with deadlines, and what waits now", WebDesk.report, asksDaemon: true),
            WebRoute("GET /senders", "the clients of the gateway", WebDesk.senders, asksDaemon: true),
            WebRoute("GET /help", "the query language, the keys and the API", WebDesk.help),
            WebRoute("GET /login", "log in with the token", WebDesk.loginForm),
            WebRoute("POST /login", "log in", WebDesk.login),
            WebRoute(
                "GET /api/pushes", "search, or wait for the first match that has its outcome", WebDesk.apiList,
                [query, before] + list),
            WebRoute(
                "DELETE /api/pushes",
                "list only pushes that come later, for all clients until the page restarts; nothing is erased",
                WebDesk.apiClear, right: .inject),
            WebRoute("GET /api/pushes/{seq}", "the whole story of one request", WebDesk.apiStory),
            WebRoute("GET /api/devices", "the devices that are known", WebDesk.apiDevices),
            WebRoute("GET /api/campaigns", "the figures of campaigns", WebDesk.apiCampaigns, window),
            WebRoute("GET /api/report", "the compliance report", WebDesk.apiReport, window),
            WebRoute("GET /api/status", "the present state of the daemon", WebDesk.apiStatus, asksDaemon: true),
            WebRoute("GET /api/openapi.json", "this description", WebDesk.apiDescription),
            WebRoute(
                "GET /events", "the live stream: each event is a push's whole present state", WebDesk.stream,
                [query] + stream),
            WebRoute(
                "POST /api/explain", "explain a payload; nothing is stored", WebDesk.apiExplain,
                [payload, app, Parameter("device", "the device"), platform, user] + state, asksDaemon: true),
        ]
        + act("/push/{seq}/tap", "tap it", .inject, [], WebDesk.tap)
        + act("/push/{seq}/button", "press a button", .inject, press, WebDesk.press)
        + act("/push/{seq}/dismiss", "dismiss the notification", .inject, [], WebDesk.dismiss)
        + act("/push/{seq}/send", "send the push again", .inject, [payload] + state, WebDesk.send)
        + act("/push/{seq}/replay", "replay its dead letters", .control, [], WebDesk.replay)
        + act("/session", "begin or end a session", .inject, [app, device, platform, user, kind], WebDesk.session)
        + act("/devices", "set the state of a device", .inject, [app, device, platform] + state, WebDesk.setDevice)
        + act("/deadletters/replay", "replay dead letters", .control, [requests], WebDesk.replayChosen)
        + act("/deadletters/purge", "drop dead letters", .control, [requests], WebDesk.purgeChosen)

    /// An act, for a form of the page and for a program.
    private static func act(
        _ path: String, _ meaning: String, _ right: Right, _ parameters: [Parameter], _ answer: @escaping Answer
    ) -> [WebRoute] {
        ["", "/api"].map { prefix in
            let isOfPush = !prefix.isEmpty && path.hasPrefix("/push/")
            let whole = prefix + (isOfPush ? "/pushes/" + path.dropFirst("/push/".count) : path)
            return WebRoute("POST \(whole)", meaning, answer, parameters, right: right)
        }
    }
}
