import PushModel
import PushRouter
import PushSettings

extension WebDesk {
    /// One push.
    func push(_ request: WebRequest, _ seq: SequenceNumber?) throws(WebProblem) -> WebAnswer {
        let story = try story(seq)
        let view = PushView(story, desk: self)
        return .response(page(request, title: view.title, view.content, live: false))
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

/// The page of one push.
struct PushView {
    private let story: RequestStory
    private let push: PushSummary
    private let desk: WebDesk
    private let configuration: (used: UsedConfiguration, sentence: String)
    private var table: RoutingTable { configuration.used.table }
    private var request: AcceptedRequest { story.request }

    init(_ story: RequestStory, desk: WebDesk) {
        (self.story, self.desk) = (story, desk)
        push = PushSummary(PushFacts(story))
        configuration = desk.configuration(of: story)
    }

    var title: String { "#\(request.seq) \(push.title)".trimmingEndSpaces }

    var content: String {
        let erased =
            request.isErased
            ? "<p class=\"problem\">Erased: \"pushctl erase\" deleted the payload and the person's data.</p>\n" : ""
        return "<p class=\"sentence\">\(markup(push.sentence))</p>\n" + erased + acts + facts
            + HTML.section("timeline", "Timeline", timeline) + HTML.section("why", "Owner and reasons", why)
            + HTML.section("payload", "Payload", payload)
            + HTML.section("request", "Request and answer", requestAndAnswer)
            + HTML.section("receipts", "Receipts, opens and custom data", receipts)
            + HTML.section("copy", "Copy", copies)
    }

    // MARK: Acts

    private var acts: String {
        guard !request.isErased else { return "" }
        var buttons = ""
        let path = "/push/\(request.seq)"
        let isDelivery = request.operation == .deliver
        if isDelivery, desk.daemon.mayInject {
            buttons += desk.button("\(path)/tap", "Tap") + desk.button("\(path)/dismiss", "Dismiss")
            for button in push.facts.content?.buttons ?? [] {
                buttons += desk.button("\(path)/button", button.title, [("action", button.id)])
            }
            buttons += desk.button(
                "\(path)/button", "Press",
                more: HTML.field("action", "Button's id") + HTML.field("text", "Answer (text)"))
            if let device = request.device {
                let target = [
                    ("app", request.app ?? ""), ("device", device), ("platform", request.platform.rawValue),
                    ("external_id", request.externalID ?? ""), ("from", path),
                ]
                buttons += desk.button("/session", "Start session", target + [("kind", "start")])
                buttons += desk.button("/session", "End session", target + [("kind", "end")])
            }
            buttons += desk.button("\(path)/send", "Send again", more: desk.stateFields(request.platform, nil))
            buttons += "<p><a href=\"\(path)/edit\">Edit and send</a></p>\n"
        }
        if push.isDead, desk.daemon.mayControl { buttons += desk.button("\(path)/replay", "Replay") }
        return buttons.isEmpty
            ? "" : "<div class=\"acts\" role=\"group\" aria-label=\"Actions of the user\">\n\(buttons)</div>\n"
    }

    // MARK: Facts

    private var facts: String {
        func link(_ word: QueryWord, _ value: String?) -> String? {
            guard let value else { return nil }
            let quoted = value.contains(where: { $0.isWhitespace || $0 == "," || $0 == "\"" }) ? "\"\(value)\"" : value
            return HTML.link("/?query=\(WebParameters.encoded("\(word.rawValue):\(quoted)"))", value)
        }
        let sender = push.facts.sender
        let from = [
            sender?.client, sender?.project.map { "project \($0)" }, sender?.account, sender?.team.map { "team \($0)" },
        ]
        .compactMap(\.self)
        let peer = story.producer ?? "uid \(request.peer.uid)"
        return HTML.facts([
            ("Accepted", HTML.time(request.acceptedAt.wall)),
            ("From", markup(from.isEmpty ? "\(peer), pid \(request.peer.pid)" : from.joined(separator: ", "))),
            ("App", link(.app, request.app)), ("Device", link(.device, request.device)),
            ("User", link(.user, request.externalID)),
            (
                "Platform",
                markup("\(request.platform.shownName), \(request.state?.rawValue ?? "no state")")
            ),
            ("Mode", markup(request.mode.rawValue)), ("Transport", request.transport.map { markup($0.rawValue) }),
            (
                "Priority",
                request.originalPriority.map { original in
                    markup(
                        original.rawValue + (request.deliveredPriority.map { ", delivered as \($0.rawValue)" } ?? ""))
                }
            ),
            ("Producer's id", link(.id, request.id)), ("Message id", link(.id, request.messageID)),
            ("Campaign", link(.campaign, push.facts.campaign)),
            ("Replay of", request.replayOf.map { HTML.link("/push/\($0)", "#\($0)") }),
            (
                "Replayed as",
                story.replays.isEmpty
                    ? nil : story.replays.map { HTML.link("/push/\($0)", "#\($0)") }.joined(separator: ", ")
            ),
            ("Dead letter", push.isDead ? "yes" : nil),
            ("Became", story.verdict.map { markup($0.rawValue) }),
        ])
    }

    // MARK: Timeline

    private var timeline: String {
        var text = ""
        for invocation in story.invocations {
            let name = invocation.callback.rawValue + (invocation.isObserver ? " (observer)" : "")
            let (mark, kind) = PushRow.mark(invocation)
            var table = HTMLTable("\(name): steps since the acceptance", [.name("Time"), .words("Step")])
            let steps = story.steps(of: invocation)
            if steps.isEmpty {
                table.add(["0 ms", "accepted and decided"])
            }
            for step in steps { table.add(step.map(markup)) }
            if let ahead = invocation.result?.waitedFor {
                table.add([
                    "",
                    "longest before it: \(HTML.link("/push/\(ahead.id.seq)", "#\(ahead.id.seq)")) (\(markup(ahead.handler ?? "tracker")))\(ahead.took.map { ", \($0.milliseconds) ms" } ?? "")",
                ])
            }
            let result = invocation.result
            let reason = result?.reason.map { ": \(markup($0))" } ?? ""
            text +=
                "<h3>\(markup(name)) <span class=\"\(kind)\"><span aria-hidden=\"true\">\(mark)</span> \(result?.outcome.rawValue ?? PushSummary.inFlight)</span></h3>\n"
            text +=
                "<p>\(markup(invocation.provider.map { "\($0)'s".capitalizingFirstLetter } ?? "No known provider's")), "
            text +=
                "\(markup(invocation.handler.map { "handler \($0)" } ?? "no handler"))\(invocation.route.map { " by route \(markup($0))" } ?? "")\(reason)</p>\n"
            if let result, result.outcome.isDue { text += ruler(invocation, result) }
            text += table.text
            let output = story.outputs(of: invocation)
            if !output.isEmpty { text += HTML.pre(output, label: "Standard error of the handlers") }
        }
        return text
    }

    /// The time that was used, beside the limits of the platforms.
    private func ruler(_ invocation: InvocationRecord, _ result: InvocationResult) -> String {
        let width = 640.0
        let longest = 30.0
        func place(_ seconds: Double) -> String { rounded(min(seconds, longest) / longest * width, decimals: 1) }
        func seconds(_ span: Duration) -> Double { Double(span.microseconds) / 1_000_000 }
        let budget = seconds(invocation.budget)
        // The deadline's name stands above the bar: it may be near a limit of the platforms.
        let marks = [
            (budget, "\(rounded(budget, decimals: 1)) s deadline", 11), (10, "10 s ANR", 56), (20, "20 s FCM", 56),
            (30, "30 s iOS", 56),
        ]
        let lines = marks.map { at, name, height in
            let anchor = at > 27 ? "end" : at < 3 ? "start" : "middle"
            return
                "<line x1=\"\(place(at))\" x2=\"\(place(at))\" y1=\"16\" y2=\"42\" class=\"limit\"/>"
                + "<text x=\"\(place(at))\" y=\"\(height)\" text-anchor=\"\(anchor)\">\(markup(name))</text>"
        }
        let label =
            "waited \(result.queue.milliseconds) ms, ran \(result.exec.milliseconds) ms of \(spanInWords(invocation.budget))"
        return """
            <svg class="ruler" viewBox="0 0 640 62" role="img" aria-label="\(markup(label))"><rect x="0" y="22" width="640" height="14" class="frame"/>\
            <rect x="0" y="22" width="\(place(seconds(result.queue)))" height="14" class="waited"/>\
            <rect x="\(place(seconds(result.queue)))" y="22" width="\(place(seconds(result.exec)))" height="14" class="ran"/>\
            \(lines.joined())</svg>
            <p class="soft">\(markup(label.capitalizingFirstLetter)).</p>

            """
    }

    // MARK: Why

    private var delivery: (deliver: DeliverRequest, explanation: Explanation?)? {
        // Limits may have been higher when it was accepted.
        guard let request = try? Request(acceptedLine: story.request.body), case .deliver(let deliver) = request.action
        else {
            return nil
        }
        return (deliver, try? Explanation(deliver, platform: story.request.platform, table: table))
    }

    private var why: String {
        guard let explanation = delivery?.explanation else { return "" }
        return "<p class=\"soft\">\(configuration.sentence)</p>\n"
            + ExplanationView.content(explanation.lines())
    }

    // MARK: Payload

    private var payload: String {
        guard let payload = push.facts.line?["payload"] else { return "" }
        var text = HTML.details("As JSON", HTML.pre(HTML.pretty(payload), label: "Payload as JSON"), open: true)
        text += HTML.details(
            "Received bytes",
            HTML.pre(String(decoding: payload.rawBytes, as: UTF8.self), label: "Received payload"))
        if let (deliver, _) = delivery,
            let decision = try? decide(
                Delivery(deliver, platform: request.platform), settings: table.detection)
        {
            let keys = decision.keys
            text += table(Self.nameOfKeys(request.platform), keys.own)
            if decision.braze != nil { text += table("Key-values of Braze's dashboard", keys.keyValues) }
        }
        text += handlerInputs
        if let content = push.facts.content {
            text += HTML.details(
                "Visible text (text)",
                HTML.facts([
                    ("Title", markup(content.title)), ("Text", content.body.isEmpty ? nil : markup(content.body)),
                    ("Image (not fetched)", content.image.map(markup)),
                    (
                        "Buttons",
                        content.buttons.isEmpty
                            ? nil : content.buttons.map { markup("\($0.title) (\($0.id))") }.joined(separator: ", ")
                    ),
                ]), open: true)
        }
        return text
    }

    /// The standard input of each handler.
    private var handlerInputs: String {
        guard let line = try? Request(acceptedLine: request.body) else { return "" }
        return story.invocations.map { invocation in
            guard let name = invocation.handler, let handler = table.handlers[name] else { return "" }
            let run = HandlerRun(past: invocation, of: request, line: line, handler: handler)
            let object = HandlerInput.object(run, at: request.acceptedAt)
            let text = (try? JSONDocument(scanning: object)).map { HTML.pretty($0.root) } ?? ""
            return HTML.details("Input of handler \(name)", HTML.pre(text, label: "Input of handler \(name)"))
        }.joined()
    }

    /// The name under which an app has its keys.
    private static func nameOfKeys(_ platform: Platform) -> String {
        switch platform {
        case .android: "As extras of an Intent"
        case .ios: "As userInfo"
        case .web: "As data of the push event"
        }
    }

    private func table(_ name: String, _ pairs: [(key: String, value: String)]) -> String {
        guard !pairs.isEmpty else { return "" }
        var table = HTMLTable("Keys and their values", [.name("Key"), .words("Value")])
        for (key, value) in pairs { table.add([markup(key), markup(value)]) }
        return HTML.details(name, table.text)
    }

    // MARK: Request, receipts, copies

    private var requestAndAnswer: String {
        var text = ""
        if let sender = push.facts.sender {
            var facts: [(String, String?)] = []
            sender.forEachFact { facts.append(($0, markup($1))) }
            text += HTML.facts(facts)
        }
        return text
            + HTML.details(
                "Received line", HTML.pre(String(decoding: request.body, as: UTF8.self), label: "Request line"))
    }

    private var receipts: String {
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
        return text
    }

    private var copies: String {
        guard !request.isErased, request.operation == .deliver, let payload = push.facts.line?["payload"] else {
            return ""
        }
        let json = String(decoding: payload.rawBytes, as: UTF8.self)
        let number = request.seq
        var options = ["--platform \(request.platform.rawValue)"]
        for (name, value) in [
            ("app", request.app), ("device", request.device), ("external-id", request.externalID),
            ("state", request.state?.rawValue),
        ] {
            if let value { options.append("--\(name) \(Self.quoted(value))") }
        }
        let inject = "pushctl inject \(options.joined(separator: " ")) - <<'END'\n\(json)\nEND\n"
        let curl =
            "curl -H 'X-Pushrouter: 1' -H 'Content-Type: application/json' -d \(Self.quoted("{\"payload\":\(json)}")) "
            + "http://\(WebSettings.standardAddress)/api/pushes/\(number)/send\n"
        return HTML.details("As curl", HTML.pre(curl, label: "As curl"))
            + HTML.details("As pushctl inject", HTML.pre(inject, label: "As pushctl inject"))
            + HTML.details(
                "As a scenario",
                HTML.pre(ScenarioText(story, interactions: []).text, label: "As a scenario")
                    + "<p><a href=\"/push/\(number)/scenario\">With its interactions, as a file for pushctl test</a></p>\n"
            )
    }

    /// A word for a shell.
    private static func quoted(_ text: String) -> String {
        let isPlain =
            !text.isEmpty
            && text.utf8.allSatisfy {
                $0.isDigit || ($0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A) || "._-@".utf8.contains($0)
            }
        guard !isPlain else { return text }
        return "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}

extension String {
    fileprivate var trimmingEndSpaces: String {
        var text = self[...]
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}

/// An explanation as a part of a page.
enum ExplanationView {
    /// Headings, and what stands below them.
    static func content(_ lines: [ReportLine]) -> String {
        var text = ""
        var isInList = false
        func endList() {
            if isInList { text += "</ul>\n" }
            isInList = false
        }
        for line in lines where !line.text.isEmpty {
            let shown = line.text.drop { $0 == " " }
            guard line.text.hasPrefix(" ") else {
                endList()
                text += "<h3>\(markup(String(shown)))</h3>\n"
                continue
            }
            if !isInList { text += "<ul class=\"plain\">\n" }
            isInList = true
            text += "<li>\(markup(String(shown)))</li>\n"
        }
        endList()
        return text
    }
}
