import PushModel
import PushRouter
import PushSettings

extension WebDesk {
    /// One push.
    func push(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        let view = PushView(try story(request), desk: self, origin: origin(of: request))
        return .response(page(request, title: view.title, view.article, hasHeading: true))
    }

    /// One push as a file that opens anywhere: its style within, no form, nothing to load.
    func file(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        let view = PushView(try story(request), desk: self, origin: nil)
        let text = HTMLPage.file(
            title: "\(view.title) - pushrouter", "\(Icon.sprite)\n<main id=\"main\">\n\(view.article)</main>\n")
        return .response(WebResponse.html(text).saved(as: "push-\(request.number?.value ?? 0).html"))
    }

    /// The address at which the browser finds the page.
    func origin(of request: WebRequest) -> String {
        let scheme = request.headers["x-forwarded-proto"] == "https" ? "https" : "http"
        return "\(scheme)://\(request.headers["host"] ?? WebSettings.standardAddress)"
    }

    /// Fields for what the app, and the person, let happen.
    func stateFields(_ platform: Platform, _ state: String? = nil) -> Markup {
        func choice(_ name: String, _ label: String, _ words: [String], _ chosen: String? = nil) -> Markup {
            HTML.choice(name, label, words, chosen: chosen, none: "as the device's")
        }
        return choice("state", "State of the app", platform.appStates.map(\.rawValue), state)
            + choice("notifications", "Notifications", NotificationPermission.allCases.map(\.rawValue))
            + choice("locked", "Locked", ["true", "false"])
    }
}

/// One push: for its page, the pane beside the list, and a file.
struct PushView {
    private let story: RequestStory
    private let push: PushSummary
    private let desk: WebDesk
    /// The address of the page; `nil` for a file.
    private let origin: String?
    /// Whether it has tokens of which only the beginning is shown.
    private let isShortened: Bool
    private let verdict: PushVerdict
    private let configuration: (used: UsedConfiguration, sentence: Markup)
    /// Its request; `nil` if it cannot be read.
    private let line: Request?
    /// The explanation of a delivery, by that configuration.
    private let explanation: Explanation?
    private var request: AcceptedRequest { story.request }

    init(_ original: RequestStory, desk: WebDesk, origin: String?) {
        story = desk.shown(original)
        (self.desk, self.origin, isShortened) = (desk, origin, story.request.body != original.request.body)
        configuration = desk.configuration(of: story, isFile: origin == nil)
        let table = configuration.used.table
        let facts = PushFacts(story, table: table)
        facts.names = desk.configurations.campaignNames
        push = PushSummary(facts)
        verdict = push.verdict
        // Limits may have been higher when it was accepted.
        line = try? Request(acceptedLine: story.request.body)
        explanation =
            if case .deliver(let deliver) = line?.action {
                try? Explanation(deliver, platform: story.request.platform, table: table)
            } else { nil }
    }

    private var heading: String { push.heading }

    var title: String { "#\(request.seq) \(heading)" }

    /// The way back to the list, which a file has not.
    private var back: Markup { origin == nil ? "" : "<a href=\"/\">Pushes</a> / " }

    /// The whole article.
    var article: Markup {
        """
        <article class="push" aria-labelledby="push-h" data-path="/push/\(request.seq)">
        <div class="hero">
        \(picture)<div><p class="soft">\(back)#\(request.seq)</p>
        <h1 id="push-h" tabindex="-1">\(heading)</h1>
        \(answer)\(facts)\(acts)</div></div>
        \(HTML.section("path", "Its path", path))\(HTML.section("why", "Why", why))\(HTML.section("payload", "Payload", payload))\
        \(HTML.section("receipts", "Receipts, opens and custom data", receipts))\(HTML.section("request", "Request and answer", requestAndAnswer))
        </article>

        """
    }

    /// Whether the reader may act on it here.
    private var mayAct: Bool {
        origin != nil && !request.isErased && request.operation == .deliver && desk.daemon.mayInject
    }

    /// The notification, which is also the control: a press on it is the person's press.
    private var picture: Markup {
        guard !request.isErased, let shown = explanation?.shown else { return "" }
        let view = ShownView(
            shown, platform: request.platform, app: request.app, device: request.device, explanation)
        return view.figure(
            action: mayAct && shown.by != .nobody ? "/push/\(request.seq)" : nil, token: desk.formToken)
    }

    private var answer: Markup {
        let canOpen = explanation.map { $0.decision.braze != nil && $0.tap.isPossible } ?? false
        let tap =
            canOpen && push.opened == nil && !push.facts.losesOpen ? explanation.map { "A tap: \($0.tap.text)." } : nil
        let obstacle = push.facts.obstacleToInfluence(configuration.used.table.tracking).map {
            "No influenced open: \($0)."
        }
        let whole = PushVerdict(
            tone: verdict.tone, head: verdict.head, sentences: verdict.sentences + [tap, obstacle].compactMap(\.self))
        return HTML.verdict(whole, PushRow.mark(push, verdict.tone))
    }

    private var facts: Markup {
        func link(_ word: QueryWord, _ value: String?) -> Markup? {
            value.map { origin == nil || $0.hasSuffix("…") ? "\($0)" : HTML.search(word, $0) }
        }
        let priority = request.originalPriority.map { original in
            original.rawValue + (request.deliveredPriority.map { ", delivered as \($0.rawValue)" } ?? "")
        }
        let campaign = push.facts.campaign.map { id -> Markup in
            let name: Markup? = push.facts.names[id].map { "\($0), " }
            return "\(name)\(link(.campaign, id))"
        }
        let replays = story.replays.map { seq -> Markup in "\(HTML.push(seq)) " }
        let pairs: [(String, Markup?)] = [
            ("Received", HTML.time(request.acceptedAt.wall)), ("App", link(.app, request.app)),
            ("Device", link(.device, request.device)), ("User", link(.user, request.externalID)),
            ("Platform", "\(request.platform.shownName)"), ("App was", request.state.map { "\($0.rawValue)" }),
            ("Provider", push.main?.provider.map { "\($0.capitalizingFirst)" }),
            ("Campaign", campaign),
            ("Mode", request.mode == .device ? nil : "\(request.mode.rawValue)"),
            ("Transport", request.transport.map { "\($0.rawValue)" }), ("Priority", priority.map { "\($0)" }),
            ("Of push", request.operation == .interact ? target : nil), ("Producer's id", link(.id, request.id)),
            ("Message id", link(.id, request.messageID)),
            ("Replay of", request.replayOf.map { HTML.push($0) }),
            ("Replayed as", replays.isEmpty ? nil : "\(replays)"), ("Dead letter", push.isDead ? "yes" : nil),
            ("Became", story.verdict.map { "\($0.rawValue)" }),
        ]
        return HTML.facts(pairs.compactMap { name, value in value.map { (name, $0) } })
    }

    /// The push of an interaction: its number, or the pushes with its message id.
    private var target: Markup? {
        guard let message = push.facts.line?["message"] else { return nil }
        if let number = message.int64 { return HTML.push(SequenceNumber(number)) }
        return message.string.map { origin == nil ? "\($0)" : HTML.search(.id, $0) }
    }

    private var acts: Markup {
        guard origin != nil, !request.isErased else { return "" }
        let path = "/push/\(request.seq)"
        var parts: [Markup] = []
        if push.isDead, desk.daemon.mayControl { parts.append(desk.button("\(path)/replay", "Replay")) }
        if mayAct {
            let send = desk.button("\(path)/send", "Send", more: desk.stateFields(request.platform))
            parts.append(
                menu(
                    "Send again", "\(send)<p><a href=\"/explain?push=\(request.seq)\">Change the payload first</a></p>")
            )
            var more = desk.button("\(path)/dismiss", "Dismiss")
            more += desk.button(
                "\(path)/button", "Press",
                more: HTML.field("action", "Button's id") + HTML.field("text", "Answer (text)"))
            if let device = request.device {
                let target = [
                    ("app", request.app ?? ""), ("device", device), ("platform", request.platform.rawValue),
                    ("external_id", request.externalID ?? ""), ("from", path),
                ]
                for kind in ["start", "end"] {
                    more += desk.button(
                        "/session", "\(kind.capitalizingFirst) session", target + [("kind", kind)])
                }
            }
            parts.append(menu("More acts", more))
        }
        if request.operation == .deliver {
            parts.append(menu("Share", share))
            parts.append("<a class=\"button\" href=\"/explain?push=\(request.seq)\">Explain</a>\n")
        }
        return parts.isEmpty ? "" : "<div class=\"acts\" role=\"group\" aria-label=\"Acts\">\(parts)</div>\n"
    }

    private func menu(_ name: String, _ content: Markup) -> Markup {
        "<details class=\"menu\"><summary class=\"button\">\(name)</summary><div>\(content)</div></details>\n"
    }

    private var share: Markup {
        guard let payload = push.facts.line?["payload"] else { return "" }
        let json = String(decoding: payload.rawBytes, as: UTF8.self)
        let options: [(String, String?)] = [
            ("platform", request.platform.rawValue), ("app", request.app), ("device", request.device),
            ("external-id", request.externalID), ("app-state", request.state?.rawValue),
        ]
        let words = options.compactMap { name, value in value.map { "--\(name) \($0.asShellWord)" } }
        let inject = "pushctl inject \(words.joined(separator: " ")) - <<'END'\n\(json)\nEND\n"
        let curl =
            "curl -H 'X-Pushrouter: 1' -H 'Content-Type: application/json' -d \("{\"payload\":\(json)}".asShellWord) "
            + "\("\(origin ?? "")/api/pushes/\(request.seq)/send".asShellWord)\n"
        let mark: Markup =
            isShortened
            ? "<p class=\"soft\"><span>Push tokens are cut (…) here, so a command with one sends another push. <code>pushrouter-web --full-tokens</code> shows them whole.</span></p>\n"
            : ""
        let isHere = ["//127.", "//[::1]", "//localhost"].contains { origin?.has($0) ?? false }
        let here: Markup =
            "<p class=\"soft\">The link and curl lead to this machine alone. The file opens anywhere.</p>\n"
        let handlers = Set(story.invocations.compactMap(\.handler)).sorted().joined(separator: ", ")
        let needs: Markup =
            "<p class=\"soft\">The scenario names \(handlers): it needs a configuration that has it.</p>\n"
        return """
            <p><button type="button" data-copy="link" hidden>Copy the link</button>
            <a class="button" href="/push/\(request.seq)/file">Save as one HTML file</a>
            <a class="button" href="/push/\(request.seq)/scenario">Save as a scenario for pushctl test</a></p>
            \(Markup.when(isHere, here))\(Markup.when(!handlers.isEmpty, needs))\(mark)\(HTML.details("As pushctl inject", HTML.command(inject)))\(HTML.details("As curl", HTML.command(curl)))
            """
    }

    private var path: Markup {
        guard request.operation != .publish, let main = push.main else { return "" }
        func step(_ tone: PushVerdict.Tone, _ name: String, _ head: String, _ more: String?) -> Markup {
            "<li class=\"\(tone.rawValue)\"><span class=\"dot\" aria-hidden=\"true\"></span><small class=\"k\">\(name)</small><b>\(head)</b><small>\(more ?? "")</small></li>\n"
        }
        let peer = story.producer ?? "uid \(request.peer.uid)"
        var steps: [Markup] = []
        if let sender = push.facts.sender {
            steps.append(
                step(
                    .good, "Sender", sender.client ?? peer, sender.project.map { "project \($0)" } ?? sender.team))
            steps.append(
                step(
                    (sender.answer ?? 200) < 400 ? .good : .bad, "Gateway",
                    sender.answer.map { "answered \($0)" } ?? "", sender.reason ?? sender.times.map { "time \($0)" }))
        } else {
            steps.append(step(.good, "Sender", peer, "pid \(request.peer.pid)"))
        }
        steps.append(
            step(
                .good, "Decision", main.provider?.capitalizingFirst ?? "your push",
                main.callback == .none ? "no callback" : main.callback.rawValue))
        if let result = main.result, result.queue >= .milliseconds(500), result.outcome.isDue {
            let ahead = result.ahead.map { "\($0) ahead on this device" }
            steps.append(step(.warn, "Lane", "waited \(roundedSpan(result.queue))", ahead))
        }
        if let handler = main.handler {
            let took = main.result.map { "\(roundedSpan($0.exec)) of \(spanInWords(main.budget))" } ?? "running"
            steps.append(step(verdict.tone == .bad ? .bad : .good, "Handler", handler, took))
        }
        let end = main.result.map { "after \(roundedSpan($0.total))" } ?? "not yet"
        steps.append(step(verdict.tone, "Outcome", push.word, end))
        return "<ol class=\"path\">\n\(steps)</ol>\n\(budget(main))\(story.invocations.map(timeline))"
    }

    /// The budget as a box that begins with the call; the wait stands before it.
    private func budget(_ main: InvocationRecord) -> Markup {
        guard let result = main.result, result.outcome.isDue else { return "" }
        let isRelay = request.mode == .relay
        let (wait, ran) = (Double(result.queue.milliseconds), Double(result.exec.milliseconds))
        let budget = Double(main.budget.milliseconds)
        let begin = isRelay ? 0 : wait
        let whole = max(begin + budget, wait + ran, 1)
        func part(_ value: Double) -> String { "\(rounded(value / whole * 100, decimals: 2))%" }
        let kind = result.outcome.isMissed ? "out" : "in"
        let (waited, took) = (roundedSpan(result.queue), roundedSpan(result.exec))
        let waiting: Markup =
            "<li class=\"lw\">waited \(waited): \(isRelay ? "counts" : "costs none of the budget")</li>"
        return """
            <svg class="budget" height="30" role="img" aria-label="Waited \(waited), then ran \(took) of a budget of \(spanInWords(main.budget))."><rect class="w" x="0" y="8" width="\(part(wait))" height="14"/>\
            <rect class="\(kind)" x="\(part(wait))" y="8" width="\(part(ran))" height="14"/>\
            <rect class="box" x="\(part(begin))" y="4" width="\(part(budget))" height="22" rx="3"/></svg>
            <ul class="legend">\(Markup.when(wait >= 1, waiting))<li class="l\(kind)">\(main.handler ?? "the handler") ran \(took)</li>\
            <li>budget: \(spanInWords(main.budget)) from the \(isRelay ? "acceptance" : "call")</li></ul>

            """
    }

    /// The steps of an invocation, and what its handlers wrote.
    private func timeline(_ invocation: InvocationRecord) -> Markup {
        var steps = story.steps(of: invocation).map { row in row.map { text -> Markup in "\(text)" } }
        if steps.isEmpty { steps = [["0 ms", "accepted and decided"]] }
        if let ahead = invocation.result?.waitedFor {
            let took = ahead.took.map { ", \($0.milliseconds) ms" } ?? ""
            steps.append([
                "", "longest before it: \(HTML.push(ahead.id.seq)) (\(ahead.handler ?? "tracker"))\(took)",
            ])
        }
        let table = HTML.table(
            "\(invocation.callback.rawValue): steps since the acceptance", steps,
            [.name("Time") { $0[0] }, .words("Step") { $0[1] }])
        let output = story.outputs(of: invocation)
        let isWell = invocation.result.map { !$0.outcome.isFailure && !$0.outcome.isMissed } ?? true
        let outcome = invocation.result?.outcome.rawValue ?? PushSummary.inFlight
        let handler = invocation.handler.map { "handler \($0)" } ?? "no handler"
        let route = invocation.route.map { " by route \($0)" } ?? ""
        return HTML.details(
            "\(invocation.callback.rawValue)\(invocation.isObserver ? " (observer)" : ""): \(outcome), \(handler)\(route)",
            table + (output.isEmpty ? "" : HTML.pre(output, "Standard error")), open: !isWell)
    }

    private var why: Markup {
        explanation.map {
            "<p class=\"soft\">\(configuration.sentence)</p>\n\($0.view)"
        } ?? ""
    }

    private var payload: Markup {
        guard let payload = push.facts.line?["payload"] else { return "" }
        return HTML.details("As JSON", HTML.pre(HTML.pretty(payload), "Payload as JSON"), open: true)
            + "\(story.invocations.map(input))"
    }

    /// The standard input of a handler, as at its call.
    private func input(_ invocation: InvocationRecord) -> Markup {
        guard let line, let name = invocation.handler, let handler = configuration.used.table.handlers[name] else {
            return ""
        }
        let queue = invocation.result?.queue ?? .zero
        let call = Moment(
            monotonic: request.acceptedAt.monotonic + queue,
            wall: WallTime(milliseconds: request.acceptedAt.wall.milliseconds + queue.milliseconds))
        var run = HandlerRun(past: invocation, of: request, line: line, handler: handler)
        // In device mode the budget begins with the call.
        if request.mode == .device { run.deadline = call.monotonic + invocation.budget }
        let object = HandlerInput.object(run, at: call)
        let text = (try? JSONDocument(scanning: object)).map { HTML.pretty($0.root) } ?? ""
        return HTML.details("Input of handler \(name)", HTML.pre(text, "Input of handler \(name)"))
    }

    private var requestAndAnswer: Markup {
        var rows: [(name: String, value: Markup)] = []
        push.facts.sender?.forEachFact { rows.append(($0, "\($1)")) }
        return HTML.facts(rows)
            + HTML.details(
                "Received line", HTML.pre(String(decoding: request.body, as: UTF8.self), "Request line"))
    }

    /// The taps and presses that came for it, also those that Braze's SDK never saw.
    private var interactions: Markup {
        guard origin != nil, request.operation == .deliver, let device = request.device else { return "" }
        let found = desk.interactions(on: device, after: request.seq)
        let taps = found.stories.filter { tap in
            let message = PushFacts(tap).line?["message"]
            return message?.int64 == request.seq.value || message?.string.map { $0 == request.messageID } ?? false
        }
        let all = "op:interact device:\(device.asQueryValue)"
        let rest: Markup =
            "<p class=\"soft\">Taps before \(found.lookedBackTo.map { HTML.time($0) }) were not searched: \(HTML.link("/?query=\(all.percentEncoded)", "all of this device")).</p>\n"
        return HTML.table(
            "Taps and presses", taps.map { PushSummary(PushFacts($0)) },
            [
                .name("Act") { HTML.push($0.facts.story.request.seq, $0.title) },
                .words("Time") { HTML.time($0.facts.story.request.acceptedAt.wall) },
                .words("Result") { "\($0.sentence)" },
            ]) + Markup.when(found.next != nil, rest)
    }

    private var receipts: Markup {
        interactions
            + HTML.table(
                "Events", story.events,
                [
                    .name("Event") { "\($0.kind.rawValue)" },
                    .words("Time") { HTML.time(WallTime(milliseconds: $0.time * 1000)) },
                    .words("By request") { HTML.push($0.seq) },
                    .words("Campaign, button") { event in
                        let subject = [event.push?.campaignID, event.button.map { "button \($0.id)" }].compactMap(
                            \.self)
                        return "\(subject.isEmpty ? "-" : subject.joined(separator: ", "))"
                    },
                ])
            + HTML.table(
                "Custom data", story.entries,
                [
                    .name("Entry") { "\($0.entry.number.description)" }, .words("Kind") { "\($0.entry.kind.rawValue)" },
                    .words("Name") { "\($0.entry.name ?? "-")" },
                    .words("State") { "\($0.state.rawValue + ($0.reason.map { ": \($0)" } ?? ""))" },
                ])
    }
}
