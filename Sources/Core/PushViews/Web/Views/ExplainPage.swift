import PushModel
import PushRouter

extension WebDesk {
    /// The example that an explanation begins with.
    private static let usual = "notification-block"
    /// The fields of the form beside the payload.
    private static let choices = ["platform", "state", "notifications", "sdk", "app"]

    /// Explains what becomes of a payload, on all its platforms and in all states; stores nothing.
    func explain(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        let isShared = request.query.raw("payload") != nil
        let form = request.method == "POST" ? request.form ?? WebParameters() : isShared ? request.query : nil
        var number = try number("push", of: request)
        if let form { number = request.number ?? form["push"].flatMap { Int64($0) }.map { SequenceNumber($0) } }
        let pushed = try number.map { (seq) throws(WebProblem) in try story(seq) }
        if let pushed, pushed.request.operation != .deliver || pushed.request.isErased {
            throw WebProblem(404, "request \(pushed.request.seq) has no payload to explain", field: "push")
        }
        // To send it again puts its whole tokens back.
        let line = pushed.flatMap { PushFacts(shown($0)).line }
        let name = request.query["example"] ?? Self.usual
        let example = Accident.catalogue.first { $0.name == name }?.accident.examples.first
        guard form != nil || pushed != nil || example != nil else {
            throw WebProblem(404, "there is no example \(name)", field: "example")
        }
        // The form decides, else the push, else the example.
        let text = form?.raw("payload") ?? (line?["payload"] ?? example?.request.payload).map { HTML.pretty($0) } ?? ""
        let chosen = Self.choices.compactMap { key -> (String, String)? in
            let known: String? =
                switch key {
                case _ where form != nil: (key == "platform" ? form?["as"] : nil) ?? form?[key]
                case "platform": (pushed?.request.platform ?? example?.platform)?.rawValue
                case "app": pushed?.request.app
                case "state": (pushed?.request.state ?? (pushed == nil ? example?.request.state : nil))?.rawValue
                case "sdk" where pushed == nil: example?.request.sdk.rawValue
                default: line?[key]?.string
                }
            return known.map { (key, $0) }
        }
        var (status, answer) = (200, Markup(""))
        do throws(WebProblem) {
            answer = try self.answer(
                ExplainRequest(Array(text.utf8), chosen, as: line, by: configurations.refreshed()), Array(text.utf8),
                share: share(text, chosen, number))
        } catch {
            // A table or an empty text has no place at which it is no JSON.
            let mayBePayload = text.contains { "{[".contains($0) }
            let none =
                "there is no payload in this: paste a push, or take one of the examples. The text of a web push is explained once its platform is Web"
            (status, answer) = (error.status, HTML.problem(mayBePayload ? error.message : none))
        }
        let examples = Accident.catalogue.map { accident -> Markup in
            let isCurrent = form == nil && pushed == nil && accident.name == name
            return
                "<a href=\"/explain?example=\(accident.name)\"\(Markup.when(isCurrent, " aria-current=\"true\""))>\(accident.title)</a>"
        }
        let content: Markup = """
            <p>Paste a push as you have it: JSON, a line of a log, a curl command, what a plugin printed. To explain it stores nothing and runs no handler.</p>
            <nav class="chips" aria-label="Examples">\(examples)</nav>
            <div class="compose">
            \(self.form(text, chosen, number))<div id="result" aria-live="polite">\(answer)</div>
            </div>

            """
        return .response(page(request, title: "Explain", content, status: status))
    }

    private func form(_ text: String, _ chosen: [(String, String)], _ number: SequenceNumber?) -> Markup {
        let states = Platform.allCases.flatMap(\.appStates).reduce(into: [String]()) {
            if !$0.contains($1.rawValue) { $0.append($1.rawValue) }
        }
        func choice(_ name: String, _ label: String, _ words: [String], _ none: String) -> Markup {
            HTML.choice(name, label, words, chosen: chosen.first { $0.0 == name }?.1, none: none)
        }
        let send: Markup? =
            daemon.mayInject
            ? number.map { "<button formaction=\"/push/\($0)/send\">Send it as a new push</button>" } : nil
        return """
            <form method="post" action="/explain" id="explain">\(formToken)\(HTML.hidden(number.map { [("push", "\($0)")] } ?? []))
            <label for="payload">Payload</label>
            <textarea id="payload" name="payload" rows="16" spellcheck="false">\(HTML.lines(text))</textarea>
            \(choice("platform", "Platform", Platform.allCases.map(\.rawValue), "found by its form"))\
            \(choice("state", "State of the app", states, "background"))\
            \(choice("notifications", "Notifications", NotificationPermission.allCases.map(\.rawValue), "allowed"))\
            \(choice("sdk", "Braze's SDK", SDKState.allCases.map(\.rawValue), "ready"))\
            \(HTML.field("app", "App", value: chosen.first { $0.0 == "app" }?.1))
            <button class="main">Explain</button>\(send)</form>

            """
    }

    /// The longest address of an answer: servers and browsers take that much.
    private static let linkMax = 6000

    /// A link that gives the same answer, as far as a link has room for the payload.
    private func share(_ text: String, _ chosen: [(String, String)], _ number: SequenceNumber?) -> Markup {
        let members = chosen + (number.map { [("push", "\($0)")] } ?? []) + [("payload", text)]
        let link = "/explain?" + members.map { "\($0.0)=\($0.1.percentEncoded)" }.joined(separator: "&")
        guard link.utf8.count <= Self.linkMax else {
            return
                "<p class=\"soft\">The payload is too long for a link: send it as a file, and <code>pushctl explain FILE</code> says the same.</p>\n"
        }
        return "<p>\(HTML.link(link, "Link to this answer")) <small>with the whole payload in it</small></p>\n"
    }

    /// The answer: in a sentence, as pictures, in each state, and why.
    private func answer(
        _ asked: ExplainRequest, _ payload: [UInt8], share: Markup
    ) throws(WebProblem) -> Markup {
        var pictures: [Markup] = []
        var (first, whys): (Explanation?, [Markup]) = (nil, [])
        var problem: WebProblem?
        for platform in asked.platforms {
            do throws(WebProblem) {
                let one = try asked.explanation(on: platform)
                // The first one has the anchor that links name.
                whys.append(
                    HTML.section(
                        first == nil ? "why" : "why-\(platform.rawValue)",
                        "Why, on \(platform.shownName) with the app in state \(one.state.rawValue)", one.view))
                first = first ?? one
                pictures.append(
                    ShownView(one.shown, platform: platform, app: one.decision.app, one).figure(action: nil))
            } catch {
                problem = problem ?? error
            }
        }
        guard let first else { throw problem ?? WebProblem(400, "this is not a payload", field: "payload") }
        let isLost = first.decision.losesOpen
        let tone: PushVerdict.Tone = isLost ? .bad : first.warnings.isEmpty ? .plain : .warn
        let tap = first.decision.braze != nil && first.tap.isPossible ? "A tap: \(first.tap.text)." : nil
        let warning = first.warnings.first.map { "\($0.capitalizingFirst)." }
        let verdict = PushVerdict(
            tone: tone, head: "\(first.headline.capitalizingFirst).", sentences: [tap, warning].compactMap(\.self))
        let matrix = ExplanationMatrix(
            asked.deliver, platforms: asked.platforms, state: nil, table: asked.used.table
        ).table(name: "payload", payload: payload)
        let others = asked.leftOut.map { other -> Markup in
            "<p>\(other.text). <button form=\"explain\" name=\"as\" value=\"\(other.platform.rawValue)\">The same on \(other.platform.shownName)</button></p>\n"
        }
        let left: Markup =
            "<p class=\"bad\">This is the first of \(asked.others + 1)\(asked.others == PayloadEnvelope.othersMax ? " or more" : "") payloads. The others are not explained here: <code>pushctl explain FILE</code> reads them all.</p>\n"
        let guess: Markup =
            "<p>Nothing in it names a platform: on Android it is read as the data of a push, in a browser as the object of a push event.</p>\n"
        return """
            \(Markup.when(asked.others > 0, left))\(HTML.list(asked.remarks, "warn"))\(HTML.verdict(verdict, isLost ? .cross : tone == .plain ? .good : .info))<div class="three">\(pictures)</div>
            \(Markup.when(asked.isGuess, guess))\(others)\(share)\(HTML.section("states", "In each state of the app", matrix.table))\
            \(whys)<p class="soft">\(sentence(about: asked.used))</p>
            """
    }
}

/// A payload that somebody pasted, read as the daemon would read it.
struct ExplainRequest {
    let deliver: DeliverRequest
    /// The platforms that it can be for, and why it is for no other.
    let platforms: [Platform]
    let leftOut: [PayloadPlatforms.LeftOut]
    let isGuess: Bool
    /// The form that it was read as, and the assumptions that repaired it.
    let remarks: [String]
    /// The number of payloads behind it in the text.
    let others: Int
    let used: UsedConfiguration

    /// - Parameters:
    ///   - payload: as it was pasted.
    ///   - members: of the request beside it.
    ///   - former: the line of the push that it was, for its transport and headers.
    init(
        _ payload: [UInt8], _ members: [(String, String)], as former: JSONNode? = nil, by used: UsedConfiguration
    ) throws(WebProblem) {
        self.used = used
        let platform = members.first { $0.0 == "platform" }?.1
        let object: JSONNode
        var template = RequestTemplate(platform: platform)
        do throws(PayloadFormError) {
            let read = try PayloadEnvelope.read(
                payload, for: platform.flatMap(Platform.init), limits: used.limits, repairs: true)
            (object, others) = (read.object, read.others)
            remarks = read.facts.remarks + (read.facts.name.map { ["read as \($0)"] } ?? [])
            for name in ["transport", "headers"] where former?["platform"]?.string ?? platform == platform {
                if let value = former?[name] { template.add(name, raw: Array(value.rawBytes), to: [.deliver]) }
            }
            template = template.completed(
                platform: read.facts.platform, app: read.facts.app, transport: read.facts.transport,
                headers: read.facts.headers)
        } catch {
            throw WebProblem(400, error.message, field: "payload")
        }
        for (name, value) in members where name != "platform" {
            let json = name == "locked" ? "\(value == "true")" : value.asJSON
            template.add(name, raw: Array(json.utf8), to: [.deliver])
        }
        do throws(ProtocolError) {
            let request = try Request(line: template.line(for: object, isAPNs: false), limits: used.limits)
            guard case .deliver(let deliver) = request.action else {
                throw ProtocolError(.invalidValue, field: "payload", message: "this is not a payload")
            }
            self.deliver = deliver
        } catch {
            throw WebProblem(400, error.message, field: error.field)
        }
        let all = PayloadPlatforms(deliver, isChosen: platform != nil)
        (platforms, leftOut, isGuess) = (all.possible, all.leftOut, all.isGuess)
    }

    /// The push on one platform: its fate, and the reasons.
    func explanation(on platform: Platform) throws(WebProblem) -> Explanation {
        var target = deliver.target
        target.platform = platform
        do throws(PayloadError) {
            return try Explanation(
                deliver.redirected(to: target, state: deliver.state), platform: platform, table: used.table)
        } catch {
            throw WebProblem(400, error.message, field: error.field)
        }
    }
}
