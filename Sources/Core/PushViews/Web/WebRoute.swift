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

    /// A parameter of the query, or a field of a form or of a JSON object.
    struct Parameter: Sendable {
        let name: String
        let meaning: String
        var isRequired = false
        var type = "string"
    }

    let method: String
    /// The parts; `{seq}` stands for a number.
    let path: [String]
    let kind: Kind
    let meaning: String
    var parameters: [Parameter] = []
    var right: Right?
    /// Whether the answer needs the daemon. An act needs it always.
    var asksDaemon: Bool { showsDaemon || right != nil }
    private(set) var showsDaemon = false
    let answer: @Sendable (WebDesk, WebRequest, SequenceNumber?) throws(WebProblem) -> WebAnswer

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
    private static let query = Parameter(name: "query", meaning: "a query in the query language")
    private static let before = Parameter(
        name: "before", meaning: "only requests with a lower number, to continue a search", type: "integer")
    private static let each = Parameter(
        name: "each", meaning: "1: each push has a row, also those that are alike", type: "integer")
    private static let window = [
        Parameter(name: "since", meaning: "accepted from then on: RFC 3339, a date, today, -1h"),
        Parameter(name: "until", meaning: "accepted before then"),
    ]
    private static let state = [
        Parameter(
            name: "state",
            meaning: "the state of the app: foreground, background, terminated, force_stopped, force_quit"),
        Parameter(name: "notifications", meaning: "allowed or denied"),
        Parameter(name: "locked", meaning: "whether the screen is locked: true or false", type: "boolean"),
        Parameter(name: "os_version", meaning: "the version of the operating system"),
        Parameter(name: "sdk", meaning: "whether the app has a Braze instance: ready, nil or delayed"),
    ]
    private static let target = [
        Parameter(name: "app", meaning: "package name or bundle id"),
        Parameter(name: "device", meaning: "the device", isRequired: true),
        Parameter(name: "platform", meaning: "android, ios or web"),
        Parameter(name: "external_id", meaning: "the user"),
    ]
    private static let button = Parameter(name: "action", meaning: "the button's id", isRequired: true)
    private static let text = Parameter(name: "text", meaning: "the text that was typed")
    private static let kind = Parameter(name: "kind", meaning: "start or end", isRequired: true)
    private static let requests = Parameter(
        name: "requests", meaning: "numbers of requests", isRequired: true, type: "array")
    private static let payload = Parameter(
        name: "payload", meaning: "another payload, in place of the former one", type: "object")

    /// All of them.
    static let all: [WebRoute] = pages + forms + api

    private static let pages: [WebRoute] = [
        WebRoute(
            method: "GET", path: [], kind: .page, meaning: "the list of pushes", parameters: [query, before, each],
            answer: { (desk, request, _) throws(WebProblem) in try desk.list(request) }),
        WebRoute(
            method: "GET", path: ["push", number], kind: .page, meaning: "one push",
            answer: { (desk, request, seq) throws(WebProblem) in try desk.push(request, seq) }),
        WebRoute(
            method: "GET", path: ["push", number, "scenario"], kind: .page,
            meaning: "one push with its interactions, as a scenario for pushctl test",
            answer: { (desk, _, seq) throws(WebProblem) in try desk.scenario(seq) }),
        WebRoute(
            method: "GET", path: ["push", number, "file"], kind: .page,
            meaning: "one push as a file that opens anywhere",
            answer: { (desk, _, seq) throws(WebProblem) in try desk.file(seq) }),
        WebRoute(
            method: "GET", path: ["push", number, "edit"], kind: .page, meaning: "edit a push and send it again",
            answer: { (desk, request, seq) throws(WebProblem) in try desk.edit(request, seq) }),
        WebRoute(
            method: "GET", path: ["explain"], kind: .page, meaning: "explain a payload; nothing is stored",
            parameters: [
                Parameter(name: "example", meaning: "the name of an accident, to begin with"),
                Parameter(name: "push", meaning: "the number of a push, to begin with", type: "integer"),
            ],
            answer: { (desk, request, _) throws(WebProblem) in try desk.explain(request) }),
        WebRoute(
            method: "GET", path: ["devices"], kind: .page, meaning: "devices and their states",
            answer: { (desk, request, _) throws(WebProblem) in try desk.devices(request) }),
        WebRoute(
            method: "GET", path: ["lanes"], kind: .page, meaning: "the lanes and their waiting pushes",
            showsDaemon: true,
            answer: { (desk, request, _) throws(WebProblem) in try desk.lanes(request) }),
        WebRoute(
            method: "GET", path: ["handlers"], kind: .page, meaning: "the figures of handlers", showsDaemon: true,
            answer: { (desk, request, _) throws(WebProblem) in try desk.handlers(request) }),
        WebRoute(
            method: "GET", path: ["campaigns"], kind: .page, meaning: "opens and clicks of campaigns",
            parameters: window,
            answer: { (desk, request, _) throws(WebProblem) in try desk.campaigns(request) }),
        WebRoute(
            method: "GET", path: ["deadletters"], kind: .page, meaning: "the dead letters of relay mode",
            parameters: [query, before],
            answer: { (desk, request, _) throws(WebProblem) in try desk.deadLetters(request) }),
        WebRoute(
            method: "GET", path: ["report"], kind: .page, meaning: "the compliance with deadlines",
            parameters: window + [
                Parameter(name: "by", meaning: "a breakdown: one or two dimensions"),
                Parameter(name: "baseline", meaning: "the begin of the time to compare with"),
            ],
            answer: { (desk, request, _) throws(WebProblem) in try desk.report(request) }),
        WebRoute(
            method: "GET", path: ["senders"], kind: .page, meaning: "the clients of the gateway",
            showsDaemon: true,
            answer: { (desk, request, _) throws(WebProblem) in try desk.senders(request) }),
        WebRoute(
            method: "GET", path: ["help"], kind: .page, meaning: "the query language, the keys and the API",
            answer: { (desk, request, _) throws(WebProblem) in desk.help(request) }),
        WebRoute(
            method: "GET", path: ["login"], kind: .page, meaning: "log in with the token",
            answer: { (desk, request, _) throws(WebProblem) in desk.loginForm(request) }),
    ]

    private static let forms: [WebRoute] = [
        WebRoute(
            method: "POST", path: ["login"], kind: .form, meaning: "log in",
            answer: { (desk, request, _) throws(WebProblem) in desk.login(request) }),
        WebRoute(
            method: "POST", path: ["explain"], kind: .form, meaning: "explain a payload; nothing is stored",
            showsDaemon: true,
            answer: { (desk, request, _) throws(WebProblem) in try desk.explain(request) }),
        form(["push", number, "tap"], "tap", .inject) { (desk, request, seq) throws(WebProblem) in
            try desk.interact(request, seq, .opened)
        },
        form(["push", number, "button"], "press a button", .inject) { (desk, request, seq) throws(WebProblem) in
            try desk.interact(request, seq, .action)
        },
        form(["push", number, "dismiss"], "sweep away", .inject) { (desk, request, seq) throws(WebProblem) in
            try desk.interact(request, seq, .dismissed)
        },
        form(["push", number, "send"], "send again", .inject) { (desk, request, seq) throws(WebProblem) in
            try desk.send(request, seq)
        },
        form(["push", number, "replay"], "replay its dead letters", .control) {
            (desk, request, seq) throws(WebProblem) in
            try desk.replay(request, seq)
        },
        form(["session"], "begin or end a session", .inject) { (desk, request, _) throws(WebProblem) in
            try desk.session(request)
        },
        form(["devices"], "set the state of a device", .inject) { (desk, request, _) throws(WebProblem) in
            try desk.setDevice(request)
        },
        form(["deadletters"], "replay or drop dead letters", .control) { (desk, request, _) throws(WebProblem) in
            try desk.actOnDeadLetters(request)
        },
    ]

    private static func form(
        _ path: [String], _ meaning: String, _ right: Right,
        _ answer: @escaping @Sendable (WebDesk, WebRequest, SequenceNumber?) throws(WebProblem) -> WebAnswer
    ) -> WebRoute {
        WebRoute(method: "POST", path: path, kind: .form, meaning: meaning, right: right, answer: answer)
    }

    private static let api: [WebRoute] = [
        WebRoute(
            method: "GET", path: ["api", "pushes"], kind: .api,
            meaning: "search, or wait for the first match that has its outcome",
            parameters: [
                query, before,
                Parameter(name: "after", meaning: "only requests with a higher number", type: "integer"),
                Parameter(name: "limit", meaning: "how many at most: 1 to 500, 50 unless given", type: "integer"),
                Parameter(
                    name: "wait",
                    meaning:
                        "how long to wait for the first match with all its outcomes: 10s, 60s at most; a query that names "
                        + "is:pending takes others, too"),
            ],
            answer: { (desk, request, _) throws(WebProblem) in try desk.apiList(request) }),
        WebRoute(
            method: "DELETE", path: ["api", "pushes"], kind: .api,
            meaning: "list only pushes that come later, for all clients until the page restarts; nothing is erased",
            right: .inject,
            answer: { (desk, _, _) throws(WebProblem) in try desk.apiClear() }),
        WebRoute(
            method: "GET", path: ["api", "pushes", number], kind: .api, meaning: "the whole story of one request",
            answer: { (desk, _, seq) throws(WebProblem) in try desk.apiStory(seq) }),
        WebRoute(
            method: "GET", path: ["api", "devices"], kind: .api, meaning: "the devices that are known",
            answer: { (desk, _, _) throws(WebProblem) in try desk.apiDevices() }),
        WebRoute(
            method: "GET", path: ["api", "campaigns"], kind: .api, meaning: "the figures of campaigns",
            parameters: window,
            answer: { (desk, request, _) throws(WebProblem) in try desk.apiCampaigns(request) }),
        WebRoute(
            method: "GET", path: ["api", "report"], kind: .api, meaning: "the compliance report", parameters: window,
            answer: { (desk, request, _) throws(WebProblem) in try desk.apiReport(request) }),
        WebRoute(
            method: "GET", path: ["api", "status"], kind: .api, meaning: "the present state of the daemon",
            showsDaemon: true,
            answer: { (desk, _, _) throws(WebProblem) in .response(.json(Array(try desk.status().rawBytes))) }),
        WebRoute(
            method: "GET", path: ["api", "openapi.json"], kind: .api, meaning: "this description",
            answer: { (_, _, _) throws(WebProblem) in .response(.json(OpenAPI.document)) }),
        WebRoute(
            method: "GET", path: ["events"], kind: .stream,
            meaning: "the live stream: each event is a push's whole present state",
            parameters: [
                query, Parameter(name: "rows", meaning: "1: rows of the page's list, in place of JSON"),
                Parameter(
                    name: "position",
                    meaning: "the id of the stream's last event that the client has; Last-Event-ID does the same"),
            ],
            answer: { (desk, request, _) throws(WebProblem) in try desk.stream(request) }),
        WebRoute(
            method: "POST", path: ["api", "explain"], kind: .api, meaning: "explain a payload; nothing is stored",
            parameters: [payload] + target.map { Parameter(name: $0.name, meaning: $0.meaning, type: $0.type) } + state,
            showsDaemon: true,
            answer: { (desk, request, _) throws(WebProblem) in try desk.apiExplain(request) }),
        act(["api", "pushes", number, "tap"], "tap it", .inject) { (desk, request, seq) throws(WebProblem) in
            try desk.interact(request, seq, .opened)
        },
        act(["api", "pushes", number, "button"], "press a button", .inject, [button, text]) {
            (desk, request, seq) throws(WebProblem) in try desk.interact(request, seq, .action)
        },
        act(["api", "pushes", number, "dismiss"], "dismiss the notification", .inject) {
            (desk, request, seq) throws(WebProblem) in
            try desk.interact(request, seq, .dismissed)
        },
        act(["api", "pushes", number, "send"], "send the push again", .inject, [payload] + state) {
            (desk, request, seq) throws(WebProblem) in try desk.send(request, seq)
        },
        act(["api", "pushes", number, "replay"], "replay its dead letters", .control) {
            (desk, request, seq) throws(WebProblem) in try desk.replay(request, seq)
        },
        act(["api", "session"], "begin or end a session", .inject, target + [kind]) {
            (desk, request, _) throws(WebProblem) in try desk.session(request)
        },
        act(
            ["api", "devices"], "set the state of a device", .inject, target.filter { $0.name != "external_id" } + state
        ) {
            (desk, request, _) throws(WebProblem) in try desk.setDevice(request)
        },
        act(["api", "deadletters", "replay"], "replay dead letters", .control, [requests]) {
            (desk, request, _) throws(WebProblem) in try desk.apiDeadLetters(request, .replay)
        },
        act(["api", "deadletters", "purge"], "drop dead letters", .control, [requests]) {
            (desk, request, _) throws(WebProblem) in try desk.apiDeadLetters(request, .purge)
        },
    ]

    private static func act(
        _ path: [String], _ meaning: String, _ right: Right, _ parameters: [Parameter] = [],
        _ answer: @escaping @Sendable (WebDesk, WebRequest, SequenceNumber?) throws(WebProblem) -> WebAnswer
    ) -> WebRoute {
        WebRoute(
            method: "POST", path: path, kind: .api, meaning: meaning, parameters: parameters, right: right,
            answer: answer)
    }
}
