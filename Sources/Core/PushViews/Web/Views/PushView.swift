import PushModel
import PushRouter
import PushSettings

extension WebDesk {
    /// One push.
    func push(_ request: WebRequest, _ seq: SequenceNumber?) throws(WebProblem) -> WebAnswer {
        let view = PushView(try story(seq), desk: self)
        return .response(page(request, title: view.title, view.article))
    }

    /// One push as a file that opens anywhere: its style within, no form, nothing to load.
    func file(_ seq: SequenceNumber?) throws(WebProblem) -> WebAnswer {
        let view = PushView(try story(seq), desk: self, isFile: true)
        let text = HTMLPage.file(
            title: "\(view.title) - pushrouter", "\(Icon.sprite)\n<main id=\"main\">\n\(view.article)</main>\n")
        var response = WebResponse.html(text)
        response.headers.append(("Content-Disposition", "attachment; filename=\"push-\(seq?.value ?? 0).html\""))
        return .response(response)
    }

    /// The form that sends a changed push.
    func edit(_ request: WebRequest, _ seq: SequenceNumber?) throws(WebProblem) -> WebAnswer {
        // With whole tokens: the form sends the edited payload.
        guard let seq, case .story(let story) = try reading({ () throws(SourceError) in try source.story(of: seq) }),
            let payload = PushFacts(story).line?["payload"]
        else { throw WebProblem(409, "there is no push of this number that can be sent again") }
        let number = story.request.seq
        let text = HTML.pretty(payload)
        let form = """
            <label for="payload">Payload</label>
            <textarea id="payload" name="payload" rows="20" spellcheck="false">\(text.shownLines.joined(separator: "\n").escapedForMarkup)</textarea>
            \(stateFields(story.request.platform, story.request.state?.rawValue))
            """
        let content =
            "<p>\(HTML.link("/push/\(number)", "#\(number)")) is sent again, as a push of its own.</p>\n"
            + button("/push/\(number)/send", "Send", more: form)
        return .response(page(request, title: "Edit and send #\(number)", content))
    }

    /// Fields for what the app, and the person, let happen.
    func stateFields(_ platform: Platform, _ state: String?) -> String {
        HTML.choice(
            "state", "State of the app", platform.appStates.map(\.rawValue), chosen: state, none: "as the device's")
            + HTML.choice(
                "notifications", "Notifications", NotificationPermission.allCases.map(\.rawValue), chosen: nil,
                none: "as the device's")
            + HTML.choice("locked", "Locked", ["true", "false"], chosen: nil, none: "as the device's")
    }
}

/// One push: for its page, the pane beside the list, and a file.
struct PushView {
    private let story: RequestStory
    private let push: PushSummary
    private let desk: WebDesk
    private let isFile: Bool
    private let verdict: PushVerdict
    private let configuration: (used: UsedConfiguration, sentence: String)
    /// Its request; `nil` if it cannot be read.
    private let line: Request?
    /// The explanation of a delivery, by that configuration.
    private let explanation: Explanation?
    private var table: RoutingTable { configuration.used.table }
    private var request: AcceptedRequest { story.request }

    init(_ story: RequestStory, desk: WebDesk, isFile: Bool = false) {
        (self.story, self.desk, self.isFile) = (story, desk, isFile)
        configuration = desk.configuration(of: story)
        let table = configuration.used.table
        push = PushSummary(PushFacts(story, detection: table.detection))
        verdict = push.verdict
        // Limits may have been higher when it was accepted.
        line = try? Request(acceptedLine: story.request.body)
        explanation =
            if case .deliver(let deliver) = line?.action {
                try? Explanation(deliver, platform: story.request.platform, table: table)
            } else { nil }
    }

    private var heading: String { PushRow(push).title }

    var title: String { "#\(request.seq) \(heading)" }

    /// The whole article.
    var article: Markup {
        let seq = request.seq
        return """
            <article class="push" aria-labelledby="push-h">
            <div class="hero">
            \(picture)<div><p class="soft"><a href="/">Pushes</a> / #\(seq)</p>
            <h1 id="push-h">\(heading)</h1>
            \(answer)\(facts)\(acts)</div></div>
            \(section("path", "Its path", path))\(section("why", "Why", why))\(section("payload", "Payload", payload))\
            \(section("receipts", "Receipts, opens and custom data", receipts))\(section("request", "Request and answer", requestAndAnswer))
            </article>

            """
    }

    private func section(_ id: String, _ heading: String, _ content: Markup) -> Markup {
        content.isEmpty
            ? ""
            : "<section class=\"card\" id=\"\(id)\" aria-labelledby=\"\(id)-h\"><h2 id=\"\(id)-h\">\(heading)</h2>\n\(content)</section>\n"
    }

    /// Whether the reader may act on it here.
    private var mayAct: Bool {
        !isFile && !request.isErased && request.operation == .deliver && desk.daemon.mayInject
    }

    // MARK: What the person sees

    /// The notification, which is also the control: a press on it is the person's press.
    private var picture: Markup {
        guard !request.isErased, let shown = explanation?.shown else { return "" }
        let press: Markup? =
            mayAct && shown.by != .nobody
            ? "<p class=\"fine\">Press it, or a button of it: it counts as the user's.</p>" : nil
        return ShownView(shown, request, explanation).figure(
            action: mayAct && shown.by != .nobody ? "/push/\(request.seq)" : nil, token: desk.facts.access.formToken,
            hint: press)
    }

    private var answer: Markup {
        let more: Markup? =
            verdict.sentences.isEmpty ? nil : "<p>\(verdict.sentences.joined(separator: " "))</p>"
        let tap: Markup? = explanation.flatMap { explanation in
            guard explanation.decision.braze != nil, explanation.tap.isPossible, push.opened == nil else { return nil }
            return "<p>A tap: \(explanation.tap.text).</p>"
        }
        return
            "<div class=\"verdict \(verdict.tone.rawValue)\">\(PushRow.mark(push, verdict.tone).image)<div><p><b>\(verdict.head)</b></p>\(more)\(tap)</div></div>\n"
    }

    // MARK: Facts

    private var facts: Markup {
        func link(_ word: QueryWord, _ value: String?) -> Markup? {
            guard let value else { return nil }
            let quoted = value.contains(where: { $0.isWhitespace || $0 == "," || $0 == "\"" }) ? "\"\(value)\"" : value
            return isFile
                ? "\(value)" : "<a href=\"/?query=\("\(word.rawValue):\(quoted)".percentEncoded)\">\(value)</a>"
        }
        func number(_ seq: SequenceNumber) -> Markup { "<a href=\"/push/\(seq)\">#\(seq)</a>" }
        let priority = request.originalPriority.map { original in
            original.rawValue + (request.deliveredPriority.map { ", delivered as \($0.rawValue)" } ?? "")
        }
        let pairs: [(String, Markup?)] = [
            ("Received", Markup(made: HTML.time(request.acceptedAt.wall))),
            ("App", link(.app, request.app)), ("Device", link(.device, request.device)),
            ("User", link(.user, request.externalID)),
            ("Platform", "\(request.platform.shownName)"), ("App was", request.state.map { "\($0.rawValue)" }),
            ("Provider", push.main?.provider.map { "\($0.capitalizingFirstLetter)" }),
            ("Campaign", link(.campaign, push.facts.campaign)),
            ("Mode", request.mode == .device ? nil : "\(request.mode.rawValue)"),
            ("Transport", request.transport.map { "\($0.rawValue)" }), ("Priority", priority.map { "\($0)" }),
            ("Producer's id", link(.id, request.id)), ("Message id", link(.id, request.messageID)),
            ("Replay of", request.replayOf.map(number)),
            (
                "Replayed as",
                story.replays.isEmpty ? nil : "\(story.replays.map { seq -> Markup in "\(number(seq)) " })"
            ),
            ("Dead letter", push.isDead ? "yes" : nil), ("Became", story.verdict.map { "\($0.rawValue)" }),
        ]
        let rows = pairs.compactMap { name, value -> Markup? in
            value.map { "<div><dt>\(name)</dt><dd>\($0)</dd></div>" }
        }
        return "<dl class=\"facts\">\(rows)</dl>\n"
    }

    // MARK: Acts

    private var acts: Markup {
        guard !isFile, !request.isErased else { return "" }
        let path = "/push/\(request.seq)"
        var parts: [Markup] = []
        func made(_ html: String) -> Markup { Markup(made: html) }
        if push.isDead, desk.daemon.mayControl { parts.append(made(desk.button("\(path)/replay", "Replay"))) }
        if mayAct {
            let send = made(desk.button("\(path)/send", "Send", more: desk.stateFields(request.platform, nil)))
            parts.append(menu("Send again", "\(send)<p><a href=\"\(path)/edit\">Change the payload first</a></p>"))
            let press = made(
                desk.button(
                    "\(path)/button", "Press",
                    more: HTML.field("action", "Button's id") + HTML.field("text", "Answer (text)")))
            var more: Markup = "\(made(desk.button("\(path)/dismiss", "Dismiss")))\(press)"
            if let device = request.device {
                let target = [
                    ("app", request.app ?? ""), ("device", device), ("platform", request.platform.rawValue),
                    ("external_id", request.externalID ?? ""), ("from", path),
                ]
                more += made(desk.button("/session", "Start session", target + [("kind", "start")]))
                more += made(desk.button("/session", "End session", target + [("kind", "end")]))
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
        let number = request.seq
        let json = String(decoding: payload.rawBytes, as: UTF8.self)
        var options = ["--platform \(request.platform.rawValue)"]
        for (name, value) in [
            ("app", request.app), ("device", request.device), ("external-id", request.externalID),
            ("app-state", request.state?.rawValue),
        ] {
            if let value { options.append("--\(name) \(value.asShellWord)") }
        }
        let inject = "pushctl inject \(options.joined(separator: " ")) - <<'END'\n\(json)\nEND\n"
        let curl =
            "curl -H 'X-Pushrouter: 1' -H 'Content-Type: application/json' -d \("{\"payload\":\(json)}".asShellWord) "
            + "http://\(WebSettings.standardAddress)/api/pushes/\(number)/send\n"
        return """
            <p><button type="button" data-copy="link" hidden>Copy the link</button>
            <a class="button" href="/push/\(number)/file">Save as one HTML file</a>
            <a class="button" href="/push/\(number)/scenario">Save as a scenario for pushctl test</a></p>
            \(folded("As pushctl inject", pre(inject, "As pushctl inject")))\(folded("As curl", pre(curl, "As curl")))
            """
    }

    private func pre(_ text: String, _ label: String) -> Markup { Markup(made: HTML.pre(text, label: label)) }

    private func folded(_ summary: String, _ content: Markup) -> Markup {
        Markup(made: HTML.details(summary, content.html))
    }

    // MARK: Its path

    private var path: Markup {
        guard request.operation != .publish, let main = push.main else { return "" }
        let sender = push.facts.sender
        let peer = story.producer ?? "uid \(request.peer.uid)"
        var steps: [Markup] = []
        func step(_ tone: String, _ name: String, _ head: String, _ more: String) {
            steps.append(
                "<li class=\"\(tone)\"><span class=\"dot\" aria-hidden=\"true\"></span><small class=\"k\">\(name)</small><b>\(head)</b><small>\(more)</small></li>\n"
            )
        }
        if let sender {
            step("good", "Sender", sender.client ?? peer, sender.project.map { "project \($0)" } ?? sender.team ?? "")
            let answer = sender.answer.map { "answered \($0)" } ?? ""
            step(
                (sender.answer ?? 200) < 400 ? "good" : "bad", "Gateway", answer,
                sender.reason ?? sender.times.map { "time \($0)" } ?? "")
        } else {
            step("good", "Sender", peer, "pid \(request.peer.pid)")
        }
        step(
            "good", "Decision", main.provider?.capitalizingFirstLetter ?? "your push",
            main.callback == .none ? "no callback" : main.callback.rawValue)
        if let result = main.result, result.queue >= .milliseconds(500), result.outcome.isDue {
            step(
                "warn", "Lane", "waited \(roundedSpan(result.queue))",
                result.ahead.map { "\($0) ahead on this device" } ?? "")
        }
        if let handler = main.handler {
            let took = main.result.map { "\(roundedSpan($0.exec)) of \(spanInWords(main.budget))" } ?? "running"
            step(verdict.tone == .bad ? "bad" : "good", "Handler", handler, took)
        }
        step(
            verdict.tone.rawValue, "Outcome", push.word,
            main.result.map { "after \(roundedSpan($0.total))" } ?? "not yet")
        return "<ol class=\"path\">\n\(steps)</ol>\n\(budget(main))\(timelines)"
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
        let late = result.outcome.isMissed
        let waited = roundedSpan(result.queue)
        let label =
            "Waited \(waited), then ran \(roundedSpan(result.exec)) of a budget of \(spanInWords(main.budget))."
        let costs = isRelay ? "counts" : "costs none of the budget"
        let waiting: Markup = wait >= 1 ? "<li class=\"lw\">waited \(waited): \(costs)</li>" : ""
        return """
            <svg class="budget" height="30" role="img" aria-label="\(label)"><rect class="w" x="0" y="8" width="\(part(wait))" height="14"/>\
            <rect class="\(late ? "late" : "run")" x="\(part(wait))" y="8" width="\(part(ran))" height="14"/>\
            <rect class="box" x="\(part(begin))" y="4" width="\(part(budget))" height="22" rx="3"/></svg>
            <ul class="legend">\(waiting)<li class="\(late ? "ll" : "lr")">\(main.handler ?? "the handler") ran \(roundedSpan(result.exec))</li>\
            <li class="lb">budget: \(spanInWords(main.budget)) from the \(isRelay ? "acceptance" : "call")</li></ul>

            """
    }

    /// The steps of each invocation, and what its handlers wrote.
    private var timelines: Markup {
        var parts: [Markup] = []
        for invocation in story.invocations {
            let observes: Markup = invocation.isObserver ? " (observer)" : ""
            var table = HTMLTable(
                "\(invocation.callback.rawValue): steps since the acceptance", [.name("Time"), .words("Step")])
            let steps = story.steps(of: invocation)
            if steps.isEmpty { table.add(["0 ms", "accepted and decided"]) }
            for step in steps { table.add(step.map(markup)) }
            if let ahead = invocation.result?.waitedFor {
                table.add([
                    "",
                    "longest before it: \(HTML.link("/push/\(ahead.id.seq)", "#\(ahead.id.seq)")) (\(markup(ahead.handler ?? "tracker")))\(ahead.took.map { ", \($0.milliseconds) ms" } ?? "")",
                ])
            }
            let outcome = invocation.result?.outcome.rawValue ?? PushSummary.inFlight
            let handler = invocation.handler.map { "handler \($0)" } ?? "no handler"
            let route = invocation.route.map { " by route \($0)" } ?? ""
            let output = story.outputs(of: invocation)
            let isWell = invocation.result.map { !$0.outcome.isFailure && !$0.outcome.isMissed } ?? true
            let written: Markup =
                output.isEmpty
                ? "" : isWell ? folded("Standard error", pre(output, "Standard error")) : pre(output, "Standard error")
            parts.append(
                "<details\(Markup.when(!isWell, " open"))><summary>\(invocation.callback.rawValue)\(observes): \(outcome), \(handler)\(route)</summary>\n\(Markup(made: table.text))\(written)</details>\n"
            )
        }
        return "\(parts)"
    }

    // MARK: Why

    private var why: Markup {
        guard let explanation else { return "" }
        return "<p class=\"soft\">\(Markup(made: configuration.sentence))</p>\n"
            + ExplanationView(explanation).content
    }

    // MARK: Payload

    private var payload: Markup {
        guard let payload = push.facts.line?["payload"] else { return "" }
        var text = Markup(
            made: HTML.details("As JSON", HTML.pre(HTML.pretty(payload), label: "Payload as JSON"), open: true))
        text += folded("Received bytes", pre(String(decoding: payload.rawBytes, as: UTF8.self), "Received payload"))
        if let decision = explanation?.decision {
            let keys = decision.keys
            text += table(Self.nameOfKeys(request.platform), keys.own)
            if decision.braze != nil { text += table("Key-values of Braze's dashboard", keys.keyValues) }
        }
        return text + handlerInputs
    }

    /// The standard input of each handler.
    private var handlerInputs: Markup {
        guard let line else { return "" }
        let inputs = story.invocations.map { invocation -> Markup in
            guard let name = invocation.handler, let handler = table.handlers[name] else { return "" }
            let run = HandlerRun(past: invocation, of: request, line: line, handler: handler)
            let object = HandlerInput.object(run, at: request.acceptedAt)
            let text = (try? JSONDocument(scanning: object)).map { HTML.pretty($0.root) } ?? ""
            return folded("Input of handler \(name)", pre(text, "Input of handler \(name)"))
        }
        return "\(inputs)"
    }

    /// The name under which an app has its keys.
    private static func nameOfKeys(_ platform: Platform) -> String {
        switch platform {
        case .android: "As extras of an Intent"
        case .ios: "As userInfo"
        case .web: "As data of the push event"
        }
    }

    private func table(_ name: String, _ pairs: [(key: String, value: String)]) -> Markup {
        guard !pairs.isEmpty else { return "" }
        var table = HTMLTable("Keys and their values", [.name("Key"), .words("Value")])
        for (key, value) in pairs { table.add([markup(key), markup(value)]) }
        return folded(name, Markup(made: table.text))
    }

    // MARK: Request and receipts

    private var requestAndAnswer: Markup {
        var rows: [Markup] = []
        push.facts.sender?.forEachFact { name, value in
            rows.append("<div><dt>\(name)</dt><dd>\(value)</dd></div>")
        }
        let facts: Markup = rows.isEmpty ? "" : "<dl class=\"facts\">\(rows)</dl>\n"
        return facts
            + folded("Received line", pre(String(decoding: request.body, as: UTF8.self), "Request line"))
    }

    private var receipts: Markup {
        var text = ""
        if !story.events.isEmpty {
            var table = HTMLTable(
                "Events", [.name("Event"), .words("Time"), .words("By request"), .words("Campaign, button")])
            for event in story.events {
                let subject = [event.push?.campaignID, event.button.map { "button \($0.id)" }].compactMap(\.self)
                    .joined(separator: ", ")
                table.add([
                    markup(event.kind.rawValue), HTML.time(WallTime(milliseconds: event.time * 1000)),
                    HTML.link("/push/\(event.seq)", "#\(event.seq)"), markup(subject.isEmpty ? "-" : subject),
                ])
            }
            text += table.text
        }
        if !story.entries.isEmpty {
            var table = HTMLTable("Custom data", [.name("Entry"), .words("Kind"), .words("Name"), .words("State")])
            for record in story.entries {
                let reason = record.reason.map { ": \($0)" } ?? ""
                table.add([
                    "\(record.entry.number)", markup(record.entry.kind.rawValue), markup(record.entry.name ?? "-"),
                    markup(record.state.rawValue + reason),
                ])
            }
            text += table.text
        }
        return Markup(made: text)
    }
}
