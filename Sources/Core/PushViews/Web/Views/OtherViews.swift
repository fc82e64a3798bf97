import PushModel
import PushRouter

extension WebDesk {
    // MARK: Devices

    private static let devicesMax = 200

    func devices(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        let devices = try reading { () throws(SourceError) in try source.devices(limit: Self.devicesMax) }
        var table = HTMLTable(
            "Devices, the newest first",
            [
                .name("Device"), .words("App"), .words("Platform"), .words("User"), .words("Token"), .words("State"),
                .words("Topics"),
            ])
        var forms = ""
        for device in devices {
            let state = device.detail.state
            let words = [
                state.state?.rawValue, state.locked.map { $0 ? "locked" : "unlocked" },
                state.notifications.map { "notifications \($0.rawValue)" }, state.osVersion.map { "version \($0)" },
            ].compactMap(\.self)
            let token = device.token.map { facts.fullTokens ? $0 : PushTokens.shortened($0) }
            let query = "/?query=" + "device:\"\(device.key.device)\"".percentEncoded
            table.add([
                HTML.link(query, device.key.device), markup(device.key.app ?? "-"), markup(device.platform.name),
                markup(device.externalID ?? "-"), markup(token ?? "-"),
                markup(words.isEmpty ? "-" : words.joined(separator: ", ")),
                markup(device.detail.topics.prefix(5).map(\.topic.topic).joined(separator: ", ")),
            ])
            guard daemon.mayInject else { continue }
            let target = [
                ("app", device.key.app ?? ""), ("device", device.key.device), ("platform", device.platform.rawValue),
            ]
            let fields = stateFields(device.platform, state.state?.rawValue)
            forms += HTML.details(
                "Set \(device.key.device)\(device.key.app.map { " (\($0))" } ?? "")",
                button("/devices", "Set", target, more: fields))
        }
        let none = devices.isEmpty ? "<p>No device is known yet: a push, a session or a token names one.</p>\n" : ""
        let state =
            forms.isEmpty
            ? ""
            : HTML.section(
                "state", "State of a device",
                "<p>The next push finds the device in this state. A push can be sent again from its own page.</p>\n"
                    + forms)
        return .response(page(request, title: "Devices", none + table.text + state))
    }

    // MARK: Handlers and lanes

    private func table(_ live: LiveTable, _ caption: String) -> String {
        var table = HTMLTable(
            caption,
            live.heads.enumerated().map { index, head in
                index == 0 || !head.isNumber ? .name(head.title) : .number(head.title)
            })
        for row in live.rows {
            table.add(
                row.cells.enumerated().map { index, cell in
                    index == 0 && row.tone != .plain ? "<span class=\"bad\">✗ \(markup(cell))</span>" : markup(cell)
                })
        }
        return table.text
    }

    /// The status, or why there is none, for people.
    private func statusOrProblem() -> (status: JSONNode?, problem: String) {
        do throws(WebProblem) { return (try status(), "") } catch {
            return (nil, "<p class=\"problem\" role=\"alert\">\(markup(error.message.capitalizingFirstLetter)).</p>\n")
        }
    }

    func lanes(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        let (status, problem) = statusOrProblem()
        let live = LiveTable.lanes(status)
        let waiting = status?["lanes"]?["waiting"]?.int64 ?? 0
        let none = live.rows.isEmpty && status != nil ? "<p>No callback waits.</p>\n" : ""
        let text =
            live.rows.isEmpty
            ? ""
            : "<p>\(counted(waiting, "callback")) wait. A device's callbacks run one after the other, as on its platform.</p>\n"
        return .response(
            page(request, title: "Lanes", problem + none + text + table(live, "Lanes with the most waiting")))
    }

    func handlers(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        let (status, problem) = statusOrProblem()
        let figures = try reading { () throws(SourceError) in try source.live() }
        let live = LiveTable.handlers(status, figures)
        var content =
            problem + (live.rows.isEmpty ? "<p>There are no handlers.</p>\n" : "<p>Of the last five minutes.</p>\n")
        content += table(live, "Handlers, those with misses first")
        let failed = try reading { () throws(SourceError) in
            try source.search(PushSearch(try self.failures(), limit: 10))
        }
        for story in failed.stories.map(shown) {
            for invocation in story.invocations {
                let output = story.outputs(of: invocation)
                if !output.isEmpty {
                    content += HTML.details(
                        "Standard error at #\(story.request.seq), \(invocation.handler ?? "")",
                        HTML.pre(output, label: "Standard error"))
                }
            }
        }
        return .response(page(request, title: "Handlers", content))
    }

    private func failures() throws(SourceError) -> PushQuery {
        do throws(QueryError) { return try PushQuery("has:error op:deliver,interact,token", now: now()) } catch {
            throw SourceError(error.description)
        }
    }

    // MARK: Campaigns and report

    private func windowForm(_ request: WebRequest, path: String, more: String = "") -> String {
        let spans = [("Last hour", "-1h"), ("Last day", "-1d"), ("Last week", "-1w"), ("All", "")].map { name, since in
            let isCurrent = (request.query["since"] ?? "") == since && request.query["until"] == nil
            return
                "<a href=\"\(path)\(since.isEmpty ? "" : "?since=\(since)")\"\(isCurrent ? " aria-current=\"true\"" : "")>\(name)</a>"
        }
        return
            "<nav class=\"chips\" aria-label=\"Time\">\(spans.joined())</nav>\n<form class=\"search\" method=\"get\" action=\"\(path)\">"
            + HTML.field("since", "Since", value: request.query["since"], placeholder: "-1h")
            + HTML.field("until", "Until", value: request.query["until"], placeholder: "now") + more
            + "<button>Show</button></form>\n"
    }

    func campaigns(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        let window = try window(request)
        let report = try reading { () throws(SourceError) in try source.campaigns(window) }
        return .response(
            page(
                request, title: "Campaigns",
                windowForm(request, path: "/campaigns") + report.page.content + Self.pushes(of: report)))
    }

    /// Links to the pushes of each campaign.
    private static func pushes(of report: CampaignReport) -> String {
        let names = report.campaigns.keys.sorted().prefix(campaignsLinked)
        guard !names.isEmpty else { return "" }
        let links = names.map { name in
            "<li>\(HTML.link("/?query=" + "campaign:\"\(name)\"".percentEncoded, name))</li>"
        }
        return HTML.section("pushes", "The pushes of a campaign", "<ul class=\"plain\">\(links.joined())</ul>\n")
    }

    /// How many campaigns have a link.
    private static let campaignsLinked = 200

    func report(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        var order = ReportOrder(window: try window(request))
        if let text = request.query["by"] {
            guard let dimensions = Dimension.list(text) else {
                throw WebProblem(
                    400,
                    "by is one of \(Dimension.allCases.map(\.rawValue).joined(separator: ", ")), or two of them with a comma",
                    field: "by")
            }
            order.crossed = [dimensions]
        }
        if let text = request.query["baseline"] {
            guard let begin = WallTime(inWords: text, now: now()), begin < order.window.since ?? now() else {
                throw WebProblem(400, "baseline is a time before the window, such as -2h", field: "baseline")
            }
            let former = ReportOrder(window: ReportWindow(since: begin, until: order.window.since))
            let document = try reading { () throws(SourceError) in try source.report(former) }
            order.baseline = (try? JSONDocument(scanning: document.json)).flatMap { try? Baseline($0.root) }
        }
        let document = try reading { () throws(SourceError) in try source.report(order) }
        let more =
            HTML.field("by", "By", value: request.query["by"], placeholder: "handler,platform")
            + HTML.field(
                "baseline", "Compare with the time since", value: request.query["baseline"], placeholder: "-2h")
        let whole = document.page(linksPushes: true)
        return .response(
            page(
                request, title: whole.title, windowForm(request, path: "/report", more: more) + whole.content))
    }

    // MARK: Dead letters

    func deadLetters(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        let text = request.query["query"] ?? ""
        let query: PushQuery
        do throws(QueryError) { query = try PushQuery("is:dead op:deliver,interact,token \(text)", now: now()) } catch {
            throw WebProblem(error)
        }
        let before = try number("before", of: request)
        let found = try reading { () throws(SourceError) in
            try source.search(PushSearch(query, before: before, limit: 100, patience: .milliseconds(200)))
        }
        var table = HTMLTable(
            "Dead letters, the newest first",
            [
                .name("Push"), .words("Choose"), .words("Accepted"), .words("App"), .words("Handler"),
                .words("Outcome"), .words("Why"),
            ])
        for story in found.stories.map(shown) {
            let push = summary(story)
            let seq = story.request.seq
            table.add([
                HTML.link("/push/\(seq)", "#\(seq) \(push.title)"),
                "<input type=\"checkbox\" name=\"requests\" value=\"\(seq)\" aria-label=\"Choose #\(seq)\">",
                HTML.time(story.request.acceptedAt.wall), markup(story.request.app ?? "-"),
                markup(push.main?.handler ?? "-"),
                markup(push.outcome ?? "-"), markup(Self.reason(push, story)),
            ])
        }
        let intro =
            searchForm(text, path: "/deadletters")
            + "<p>Callbacks that failed, timed out, expired or found no route, in relay mode. A replay runs them again.</p>\n"
        guard !found.stories.isEmpty else {
            return .response(
                page(
                    request, title: "Dead letters",
                    intro + "<p>There are none\(found.next == nil ? "" : " so far").</p>\n"
                        + rest(found, path: "/deadletters?", text).html))
        }
        let acts =
            daemon.mayControl
            ? "<form method=\"post\" action=\"/deadletters\"><input type=\"hidden\" name=\"\(WebAccess.formField)\" value=\"\(facts.access.formToken)\">"
                + table.text
                + "<p><button name=\"act\" value=\"dry\">Preview the replay</button> <button name=\"act\" value=\"replay\">Replay</button> "
                + "<button name=\"act\" value=\"purge\">Drop</button></p></form>\n"
            : table.text + "<p class=\"soft\">This page may not replay: act-control.conf lets it.</p>\n"
        return .response(
            page(request, title: "Dead letters", intro + acts + rest(found, path: "/deadletters?", text).html))
    }

    /// The reason of its outcome, with the last line that its handler wrote to standard error.
    private static func reason(_ push: PushSummary, _ story: RequestStory) -> String {
        let written = push.main.flatMap { invocation in
            story.attempts.last { $0.id == invocation.id && $0.output != nil }?.output?.lastLine
        }
        let reason = push.main?.result?.reason ?? ""
        // That of a program that ended has the line already.
        guard let written, !reason.hasSuffix(written) else { return reason }
        return reason.isEmpty ? written : "\(reason): \(written)"
    }

    // MARK: Senders

    func senders(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        struct Sender {
            var name: String
            var count = 0
            var answers: [Int64: Int] = [:]
            var last: RequestStory
        }
        let everything = PushQuery.everything
        let found = try reading { () throws(SourceError) in
            try source.search(PushSearch(everything, limit: 1000, patience: .milliseconds(100)))
        }
        var senders: [String: Sender] = [:]
        for story in found.stories {
            guard let sender = PushFacts(story).sender else { continue }
            let name = [
                sender.client ?? "no User-Agent", sender.project.map { "project \($0)" }, sender.account,
                sender.team.map { "team \($0)" },
            ]
            .compactMap(\.self).joined(separator: ", ")
            senders[name, default: Sender(name: name, last: story)].count += 1
            if let answer = sender.answer { senders[name]?.answers[answer, default: 0] += 1 }
        }
        var table = HTMLTable(
            "Programs that sent through the gateway, of the last \(counted(found.stories.count, "push", "pushes"))",
            [.name("Program, project and account"), .number("Pushes"), .words("Answers"), .words("Last one")])
        for sender in senders.values.sorted(by: { $0.last.request.seq > $1.last.request.seq }) {
            let answers = sender.answers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(
                separator: ", ")
            let seq = sender.last.request.seq
            table.add([
                markup(sender.name), "\(sender.count)", markup(answers),
                HTML.link("/push/\(seq)", "#\(seq)") + " " + HTML.time(sender.last.request.acceptedAt.wall),
            ])
        }
        var content = senders.isEmpty ? "<p>No push of these came through the gateway.</p>\n" : table.text
        content += HTML.section("trouble", "Trust and authorization", gatewayTrouble)
        content += HTML.section(
            "demand", "Errors on demand",
            "<p>With <code>ErrorTokens=yes</code> in gateway.conf a token such as <code>err-UNREGISTERED</code> or "
                + "<code>err-QUOTA_EXCEEDED+ra</code> gets the error that it names. <code>Errors=</code> names a file of rules.</p>\n"
        )
        return .response(page(request, title: "Senders", content))
    }

    private var gatewayTrouble: String {
        guard let status = daemon.gatewayStatus() else {
            return "<p>The gateway does not answer on its Unix socket: it may not run.</p>\n"
        }
        var text = ""
        let handshakes = status["failed_handshakes"]?.members ?? []
        if handshakes.isEmpty {
            text += "<p>No handshake of TLS failed: each client trusts the gateway's authority.</p>\n"
        } else {
            var table = HTMLTable("Handshakes of TLS that failed", [.name("Reason"), .number("Times")])
            for (reason, count) in handshakes { table.add([markup(reason), "\(count.int64 ?? 0)"]) }
            text +=
                table.text
                + "<p>A client that does not trust the authority needs <code>pushctl gateway env</code>.</p>\n"
        }
        let answers = (status["answers"]?.members ?? []).filter { $0.key.hasPrefix("4") || $0.key.hasPrefix("5") }
        guard !answers.isEmpty else { return text + "<p>No request was refused.</p>\n" }
        var table = HTMLTable("Answers that refused", [.name("Status"), .number("Times")])
        for (status, count) in answers { table.add([markup(status), "\(count.int64 ?? 0)"]) }
        return text + table.text
    }

    // MARK: Help and login

    func help(_ request: WebRequest) -> WebAnswer {
        let keys = [
            ("/", "go to the search"), ("j, k", "next, previous push"), ("Enter", "open it"), ("?", "this help"),
        ]
        var table = HTMLTable("Keys", [.name("Key"), .words("What it does")])
        for (key, meaning) in keys { table.add(["<kbd>\(markup(key))</kbd>", markup(meaning)]) }
        var api = HTMLTable("API", [.name("Request"), .words("What it answers")])
        for route in WebRoute.all where route.kind == .api || route.kind == .stream {
            let parameters = route.parameters.map(\.name).joined(separator: ", ")
            api.add([
                "<code>\(route.method) \(markup(route.pattern))</code>",
                markup(route.meaning + (parameters.isEmpty ? "" : " (\(parameters))")),
            ])
        }
        let content =
            HTML.section("query", "Search", Self.words) + HTML.section("keys", "Keyboard", table.text)
            + HTML.section(
                "api", "For programs",
                "<p>\(HTML.link("/api/openapi.json", "OpenAPI document")). A POST or DELETE needs the header <code>X-Pushrouter: 1</code>. An unknown parameter is an error.</p>\n"
                    + api.text)
            + HTML.section(
                "send", "Send a push",
                "<p>By <code>pushctl inject FILE</code>, or with any client of FCM or APNs through the gateway: "
                    + "<code>pushctl gateway env</code> prints the client's settings.</p>\n")
        return .response(page(request, title: "Help", content))
    }

    func loginForm(_ request: WebRequest, problem: String? = nil) -> WebAnswer {
        let alert = problem.map { "<p class=\"problem\" role=\"alert\">\(markup($0))</p>\n" } ?? ""
        let form =
            "<form method=\"post\" action=\"/login\"><input name=\"username\" autocomplete=\"username\" value=\"page\" hidden><label>Token <input name=\"token\" type=\"password\" autocomplete=\"current-password\" required></label> <button>Log in</button></form>\n"
        return .response(page(request, title: "Log in", alert + form, status: problem == nil ? 200 : 403))
    }

    func login(_ request: WebRequest) -> WebAnswer {
        facts.access.login(request).map(WebAnswer.response) ?? loginForm(request, problem: "This is not the token.")
    }
}
