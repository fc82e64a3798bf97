import PushModel
import PushRouter

extension WebDesk {
    private static let devicesMax = 200

    /// The token of a device, as far as it is shown.
    func shownToken(of device: KnownDevice) -> String? {
        device.token.map { facts.fullTokens ? $0 : PushTokens.shortened($0) }
    }

    func devices(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        let devices = try reading { () throws(SourceError) in try source.devices(limit: Self.devicesMax) }
        // A column that no device fills says nothing.
        let columns: [(Column<KnownDevice>, isFilled: Bool)] = [
            (.name("Device") { HTML.search(.device, $0.key.device) }, true),
            (.words("The next push finds it") { state(of: $0) }, true),
            (.words("App") { "\($0.key.app ?? "")" }, devices.contains { $0.key.app != nil }),
            (.words("Platform") { "\($0.platform.shownName)" }, true),
            (
                .words("User") { $0.externalID.map { HTML.search(.user, $0) } ?? "" },
                devices.contains { $0.externalID != nil }
            ),
            (.words("Token") { "\(shownToken(of: $0) ?? "")" }, devices.contains { $0.token != nil }),
            (
                .words("Topics") { "\($0.detail.topics.prefix(5).map(\.topic.topic).joined(separator: ", "))" },
                devices.contains { !$0.detail.topics.isEmpty }
            ),
        ]
        let table = HTML.table("Devices, the newest first", devices, columns.filter(\.isFilled).map(\.0))
        let empty = HTML.empty(
            "No device is known yet: a push, a session or a token names one.",
            "pushctl inject --example notification-block --device pixel-8")
        return .response(page(request, title: "Devices", devices.isEmpty ? empty : table))
    }

    /// The state of a device, which opens to be set.
    private func state(of device: KnownDevice) -> Markup {
        let state = device.detail.state
        let words = [
            state.state?.inWords, state.locked.map { $0 ? "locked" : "unlocked" },
            state.notifications.map { "notifications \($0.rawValue)" }, state.osVersion.map { "system version \($0)" },
            state.sdk.map { "Braze's SDK \($0.inWords)" },
        ].compactMap(\.self)
        let text = words.isEmpty ? "in the state that the push names" : words.joined(separator: ", ")
        guard daemon.mayInject else { return "\(text)" }
        let target = [
            ("app", device.key.app ?? ""), ("device", device.key.device), ("platform", device.platform.rawValue),
        ]
        return HTML.details(
            text, button("/devices", "Set", target, more: stateFields(device.platform, state.state?.rawValue)))
    }

    // MARK: Campaigns and report

    private func windowForm(_ request: WebRequest, _ more: Markup = "") -> Markup {
        let path = "/\(request.path[0])"
        let spans = [("Last hour", "-1h"), ("Last day", "-1d"), ("Last week", "-1w"), ("All", "")].map {
            name, since -> Markup in
            let isCurrent = (request.query["since"] ?? "") == since && request.query["until"] == nil
            return
                "<a href=\"\(path)\(since.isEmpty ? "" : "?since=\(since)")\"\(Markup.when(isCurrent, " aria-current=\"true\""))>\(name)</a>"
        }
        return """
            <nav class="chips" aria-label="Time">\(spans)</nav>
            <form class="search" method="get" action="\(path)">\
            \(HTML.field("since", "Since", value: request.query["since"], placeholder: "-1h"))\
            \(HTML.field("until", "Until", value: request.query["until"], placeholder: "now"))\(more)<button>Show</button></form>

            """
    }

    func campaigns(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        let window = try window(request)
        var report = try reading { () throws(SourceError) in try source.campaigns(window) }
        report.names = configurations.campaignNames
        let empty = HTML.empty(
            "A push of Braze with a campaign begins the figures:", "pushctl inject --example notification-block")
        return .response(
            page(
                request, title: "Campaigns",
                "\(windowForm(request))\(report.page(linksPushes: true).content)\(Markup.when(report.campaigns.isEmpty, empty))"
            ))
    }

    func report(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        var order = ReportOrder(window: try window(request))
        if let text = request.query["by"] {
            guard let dimensions = Dimension.list(text) else {
                let names = Dimension.allCases.map(\.rawValue).joined(separator: ", ")
                throw WebProblem(400, "by is one of \(names), or two of them with a comma", field: "by")
            }
            order.crossed = [dimensions]
        }
        let whole = try reading { () throws(SourceError) in try source.report(order) }.page(linksPushes: true)
        let more = HTML.field("by", "By", value: request.query["by"], placeholder: "handler,platform")
        let content: Markup = "\(windowForm(request, more))\(whole.content)\(try now(request))"
        return .response(page(request, title: whole.title, content))
    }

    /// The waiting pushes and the handlers of this moment, as `pushctl top` shows it.
    private func now(_ request: WebRequest) throws(WebProblem) -> Markup {
        let figures = try reading { () throws(SourceError) in try source.live() }
        do throws(WebProblem) {
            let status = try status()
            let lanes = HTML.table("Devices with the most waiting callbacks", LiveLane.all(status), LiveLane.columns)
            let handlers = LiveHandler.all(status, figures).sorted { LiveHandler.precedes($0, $1, by: .misses) }
            let rest = StatusSummary.backlog(status).map { "<p>\($0.label): \($0.text)</p>\n" as Markup }
            return HTML.section(
                "now", "Now",
                """
                <p>\(counted(status["lanes"]?["waiting"]?.int64 ?? 0, "callback")) wait. A device's callbacks run one after the other, as on its platform.</p>
                \(rest)\(lanes)\(HTML.table("Handlers in the last five minutes", handlers, LiveHandler.columns))
                """)
        } catch {
            return HTML.section("now", "Now", HTML.problem(error.message))
        }
    }

    func deadLetters(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        let text = request.query["query"] ?? ""
        let query = try query(request, beginning: "is:dead op:deliver,interact,token ")
        let before = try number("before", of: request)
        let found = try search(PushSearch(query, before: before, limit: 100, patience: .milliseconds(200)))
        let mayReplay = daemon.mayControl
        let table = HTML.table(
            "Dead letters, the newest first", found.stories.map { summary(shown($0)) },
            [
                .name("Push") {
                    let seq = $0.facts.story.request.seq
                    let box: Markup =
                        "<input type=\"checkbox\" name=\"requests\" value=\"\(seq)\" aria-label=\"Choose #\(seq)\"> "
                    return "\(Markup.when(mayReplay, box))\(HTML.push(seq, "#\(seq) \($0.title)"))"
                }, .words("Why") { "\($0.verdict.sentences.joined(separator: " "))" },
                .words("Handler") { "\($0.main?.handler ?? "-")" }, .words("Outcome") { "\($0.word)" },
                .words("Accepted") { HTML.time($0.facts.story.request.acceptedAt.wall) },
                .words("App") { "\($0.facts.story.request.app ?? "-")" },
            ])
        let none: Markup = "<p>There are none\(found.next == nil ? "" : " so far").</p>\n"
        let acts: Markup =
            mayReplay
            ? """
            <form method="post" action="/deadletters/replay">\(formToken)\(table)<p><button>Replay the chosen ones</button> \
            <button formaction="/deadletters/purge">Drop them</button></p></form>

            """ : "\(table)<p class=\"soft\">This page may not replay: act-control.conf lets it.</p>\n"
        let content: Markup = """
            <p>Callbacks that failed, timed out, expired or found no route, in relay mode. A replay runs them again. <code>?query=</code> searches them.</p>
            \(found.stories.isEmpty ? none : acts)\(rest(found, path: "/deadletters?", text))
            """
        return .response(page(request, title: "Dead letters", content))
    }

    // MARK: Senders

    func senders(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        let found = try search(PushSearch(.everything, limit: 1000, patience: .milliseconds(100)))
        var senders: [(name: String, client: String?, answers: [Int64: Int], last: AcceptedRequest, count: Int)] = []
        for story in found.stories {
            guard let sender = PushFacts(story).sender else { continue }
            let name = [
                sender.client ?? "no User-Agent", sender.project.map { "project \($0)" }, sender.account,
                sender.team.map { "team \($0)" },
            ].compactMap(\.self).joined(separator: ", ")
            let place = senders.firstIndex { $0.name == name } ?? senders.count
            if place == senders.count { senders.append((name, sender.client, [:], story.request, 0)) }
            senders[place].count += 1
            if let answer = sender.answer { senders[place].answers[answer, default: 0] += 1 }
        }
        let table = HTML.table(
            "Programs that sent through the gateway, of the last \(counted(found.stories.count, "push", "pushes"))",
            senders,
            [
                .name("Program, project and account") { sender in
                    sender.client.map { HTML.link("/?query=\("client:\"\($0)\"".percentEncoded)", sender.name) }
                        ?? "\(sender.name)"
                }, .number("Pushes") { "\($0.count)" },
                .words("Answers") { sender in
                    let all = sender.answers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
                    return "\(all.joined(separator: ", "))"
                }, .words("Last one") { "\(HTML.push($0.last.seq)) \(HTML.time($0.last.acceptedAt.wall))" },
            ])
        let empty = HTML.empty(
            "No push of these came through the gateway. This prints the settings of a client:", "pushctl gateway env")
        let content: Markup = """
            \(senders.isEmpty ? empty : table)\(HTML.section("trouble", "Trust and authorization", gatewayTrouble))
            """
        return .response(page(request, title: "Senders", content))
    }

    private var gatewayTrouble: Markup {
        guard let status = daemon.gatewayStatus() else {
            return "<p>The gateway does not answer on its Unix socket: it may not run.</p>\n"
        }
        let handshakes = (status["failed_handshakes"]?.members ?? []).map { ("TLS: \($0.key)", $0.value) }
        let answers = (status["answers"]?.members ?? []).filter { $0.key.hasPrefix("4") || $0.key.hasPrefix("5") }
        let rows = handshakes + answers.map { ("Answer \($0.key)", $0.value) }
        let table = HTML.table(
            "Failed handshakes of TLS, and answers that refused", rows,
            [.name("What") { "\($0.0)" }, .number("Times") { "\($0.1.int64 ?? 0)" }])
        return table.isEmpty
            ? "<p>Each client trusts the gateway's authority, and no request was refused.</p>\n"
            : "\(table)<p>A client that does not trust the authority needs <code>pushctl gateway env</code>.</p>\n"
    }

    // MARK: Help and login

    func help(_ request: WebRequest) -> WebAnswer {
        let keys = [
            ("/", "go to the search"), ("j, k", "next, previous push"), ("Enter", "go into the push beside the list"),
            ("Esc", "back to the list"), ("?", "this help"),
        ]
        let api: Markup = """
            <p>\(HTML.link("/api/openapi.json", "The OpenAPI document")) describes each address. A POST or DELETE needs the header \
            <code>X-Pushrouter: 1</code>. An unknown parameter is an error.</p>

            """
        let send: Markup = """
            <p>By <code>pushctl inject FILE</code>, or with any client of FCM or APNs through the gateway: \
            <code>pushctl gateway env</code> prints the client's settings.</p>

            """
        let content: Markup = """
            \(HTML.section("query", "Search", Self.words))\
            \(HTML.section("keys", "Keyboard", HTML.table(
                "Keys", keys, [.name("Key") { "<kbd>\($0.0)</kbd>" }, .words("What it does") { "\($0.1)" }])))\
            \(HTML.section("api", "For programs", api))\(HTML.section("send", "Send a push", send))
            """
        return .response(page(request, title: "Help", content))
    }

    func loginForm(_ request: WebRequest) -> WebAnswer {
        // A request that was answered before had the wrong token.
        let isWrong = request.method == "POST"
        let form: Markup = """
            \(Markup.when(isWrong, HTML.problem("this is not the token")))<form method="post" action="/login">\
            <input name="username" autocomplete="username" value="page" hidden><label>Token \
            <input name="token" type="password" autocomplete="current-password" required></label> <button>Log in</button></form>

            """
        return .response(page(request, title: "Log in", form, status: isWrong ? 403 : 200))
    }

    func login(_ request: WebRequest) -> WebAnswer {
        facts.access.login(request).map(WebAnswer.response) ?? loginForm(request)
    }
}

extension AppState {
    /// The state of the app, for people.
    fileprivate var inWords: String {
        switch self {
        case .foreground: "app in front"
        case .background: "app in the background"
        case .terminated: "app not running"
        case .forceQuit: "app quit by the person"
        case .forceStopped: "app stopped in the settings"
        }
    }
}

extension SDKState {
    /// The state of Braze's SDK, for people.
    fileprivate var inWords: String {
        switch self {
        case .ready: "ready"
        case .missing: "without an instance"
        case .delayed: "with a late instance"
        }
    }
}
