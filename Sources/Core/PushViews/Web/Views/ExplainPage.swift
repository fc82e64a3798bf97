import PushModel
import PushRouter

extension WebDesk {
    /// The example that an explanation begins with.
    private static let usual = "notification-block"

    /// Explains what becomes of a payload, on all its platforms and in all states; stores nothing.
    func explain(_ request: WebRequest) throws(WebProblem) -> WebAnswer {
        let form = request.form
        let isAsked = request.method == "POST"
        let name = request.query["example"] ?? Self.usual
        let example = Accident.catalogue.first { $0.name == name }?.accident.examples.first
        guard isAsked || example != nil else {
            throw WebProblem(404, "there is no example \(name)", field: "example")
        }
        let pushed = try isAsked ? nil : number("push", of: request).map { (seq) throws(WebProblem) in try story(seq) }
        if let pushed, pushed.request.operation != .deliver || pushed.request.isErased {
            throw WebProblem(404, "request \(pushed.request.seq) has no payload to explain", field: "push")
        }
        let text =
            isAsked
            ? form?.raw("payload") ?? ""
            : (pushed.flatMap { PushFacts($0).line?["payload"] } ?? example?.request.payload).map(HTML.pretty) ?? ""
        var fields: [(String, String)] = []
        for key in ["platform", "state", "app", "notifications", "sdk"] {
            if let value = form?[key] { fields.append((key, value)) }
        }
        if let pushed {
            fields.append(("platform", pushed.request.platform.rawValue))
            let line = PushFacts(pushed).line
            for (name, value) in [
                ("app", pushed.request.app), ("state", pushed.request.state?.rawValue),
                ("notifications", line?["notifications"]?.string), ("sdk", line?["sdk"]?.string),
            ] {
                if let value { fields.append((name, value)) }
            }
        } else if !isAsked, let example {
            fields.append(("platform", example.platform.rawValue))
        }
        var status = 200
        let answer: Markup
        do throws(WebProblem) {
            answer = try self.answer(Array(text.utf8), fields)
        } catch {
            status = error.status
            answer = "<p class=\"problem\" role=\"alert\">\(error.message.capitalizingFirstLetter).</p>\n"
        }
        let content: Markup = """
            <div class="whole">
            <h1>Explain</h1>
            <p>Paste a push as you have it: JSON, a line of a log, a curl command, what a plugin printed. Nothing is stored, and no handler runs.</p>
            <nav class="chips" aria-label="Examples">\(examples(isAsked || pushed != nil ? nil : name))</nav>
            <div class="compose">
            \(self.form(text, form))<div id="result" aria-live="polite">\(answer)</div>
            </div>
            </div>

            """
        return .response(page(request, title: "Explain", content, status: status))
    }

    private func examples(_ current: String?) -> [Markup] {
        Accident.catalogue.map { accident in
            let mark: Markup = accident.name == current ? " aria-current=\"true\"" : ""
            return "<a href=\"/explain?example=\(accident.name)\"\(mark)>\(accident.title)</a>"
        }
    }

    private func form(_ text: String, _ form: WebParameters?) -> Markup {
        let states = Platform.allCases.flatMap(\.appStates).reduce(into: [AppState]()) {
            if !$0.contains($1) { $0.append($1) }
        }
        func choice(_ name: String, _ label: String, _ words: [String], _ none: String) -> Markup {
            Markup(made: HTML.choice(name, label, words, chosen: form?[name], none: none))
        }
        let shown = Markup(made: text.shownLines.map(\.escapedForMarkup).joined(separator: "\n"))
        return """
            <form method="post" action="/explain" id="explain"><input type="hidden" name="\(WebAccess.formField)" value="\(facts.access.formToken)">
            <label for="payload">Payload</label>
            <textarea id="payload" name="payload" rows="16" spellcheck="false" required>\(shown)</textarea>
            \(choice("platform", "Platform", Platform.allCases.map(\.rawValue), "found by its form"))\
            \(choice("state", "State of the app", states.map(\.rawValue), "background"))\
            \(choice("notifications", "Notifications", NotificationPermission.allCases.map(\.rawValue), "allowed"))\
            \(choice("sdk", "Braze's SDK", SDKState.allCases.map(\.rawValue), "ready"))\
            \(Markup(made: HTML.field("app", "App", value: form?["app"])))
            <button class="main">Explain</button></form>

            """
    }

    /// The answer: pictures, the states, and why.
    private func answer(_ payload: [UInt8], _ members: [(String, String)]) throws(WebProblem) -> Markup {
        let (deliver, platforms, used) = try deliver(payload, members)
        var pictures: [Markup] = []
        var first: Explanation?
        var problem: PayloadError?
        for platform in platforms {
            var target = deliver.target
            target.platform = platform
            let moved = deliver.redirected(to: target, state: deliver.state)
            do throws(PayloadError) {
                let explanation = try Explanation(moved, platform: platform, table: used.table)
                first = first ?? explanation
                pictures.append(
                    ShownView(explanation.shown, platform: platform, app: explanation.decision.app, explanation).figure(
                        action: nil)
                )
            } catch {
                problem = problem ?? error
            }
        }
        guard let first else {
            throw WebProblem(400, problem?.message ?? "this is not a payload", field: problem?.field ?? "payload")
        }
        let matrix = ExplanationMatrix(deliver, platforms: platforms, state: nil, table: used.table)
            .table(name: "payload", payload: payload)
        return """
            \(headline(first))<div class="three">\(pictures)</div>
            \(states(matrix))<section class="card" aria-labelledby="why-h"><h2 id="why-h">Why, on \(first.platform.shownName) with the app in state \(first.state.rawValue)</h2>
            \(ExplanationView(first).content)<p class="soft">\(Markup(made: sentence(about: used)))</p></section>

            """
    }

    /// The answer in a sentence, and what to do about it.
    private func headline(_ explanation: Explanation) -> Markup {
        let warning = explanation.warnings.first.map { "\($0.capitalizingFirstLetter)." }
        let isLost = explanation.decision.losesOpen
        let tone = isLost ? "bad" : explanation.warnings.isEmpty ? "plain" : "warn"
        let tap: Markup? =
            explanation.decision.braze != nil && explanation.tap.isPossible
            ? "<p>A tap: \(explanation.tap.text).</p>" : nil
        let more: Markup? = warning.map { "<p>\($0)</p>" }
        let icon: Icon = isLost ? .cross : explanation.warnings.isEmpty ? .good : .info
        return
            "<div class=\"verdict \(tone)\">\(icon.image)<div><p><b>\(explanation.headline.capitalizingFirstLetter).</b></p>\(tap)\(more)</div></div>\n"
    }

    private func states(_ matrix: PayloadMatrix) -> Markup {
        let heads = (["Platform and state"] + matrix.columns).map { head -> Markup in "<th scope=\"col\">\(head)</th>" }
        let rows = matrix.rows.map { row -> Markup in
            let cells = row.cells.map { cell -> Markup in
                cell.differs ? "<td><mark>\(cell.text)</mark></td>" : "<td>\(cell.text)</td>"
            }
            let lost: Markup = row.isLost ? " class=\"lost\"" : ""
            return
                "<tr\(lost)><th scope=\"row\">\(row.place.platform.shownName), \(row.place.state.rawValue)</th>\(cells)</tr>\n"
        }
        return """
            <section class="card" aria-labelledby="states-h"><h2 id="states-h">In each state of the app</h2>
            <div class="wide" role="region" tabindex="0" aria-label="Decision by platform and state"><table class="text"><caption>A marked cell differs from the state above it</caption><thead><tr>\(heads)</tr></thead><tbody>
            \(rows)</tbody></table></div></section>

            """
    }

    /// Explains a payload as the daemon would read it, by the configuration in force.
    ///
    /// - Parameters:
    ///   - payload: as somebody pasted it.
    ///   - members: of the request beside it.
    func explanation(
        payload: [UInt8], _ members: [(String, String)]
    ) throws(WebProblem) -> (Explanation, UsedConfiguration) {
        let (deliver, _, used) = try deliver(payload, members)
        do throws(PayloadError) {
            let platform = deliver.target.platform ?? deliver.transport?.platform ?? .android
            return (try Explanation(deliver, platform: platform, table: used.table), used)
        } catch {
            throw WebProblem(400, error.message, field: error.field)
        }
    }

    /// Reads a payload as a delivery, and the platforms to explain it for: those that it has parts for.
    private func deliver(
        _ payload: [UInt8], _ members: [(String, String)]
    ) throws(WebProblem) -> (DeliverRequest, [Platform], UsedConfiguration) {
        let used = configurations.refreshed()
        let platform = members.first { $0.0 == "platform" }?.1
        let object: JSONNode
        var template = RequestTemplate(platform: platform)
        do throws(PayloadFormError) {
            let read = try PayloadEnvelope.read(payload, for: platform.flatMap(Platform.init), limits: used.limits)
            object = read.object
            template = template.completed(
                platform: read.facts.platform, app: read.facts.app, transport: read.facts.transport,
                headers: read.facts.headers)
        } catch {
            throw WebProblem(400, error.message, field: "payload")
        }
        for (name, value) in members where name != "platform" {
            guard name == "locked" else {
                template.add(name, value, to: [.deliver])
                continue
            }
            template.add(name, raw: Array((value == "true" ? "true" : "false").utf8), to: [.deliver])
        }
        let line = template.line(for: object, isAPNs: false)
        do throws(ProtocolError) {
            let request = try Request(line: line, limits: used.limits)
            guard case .deliver(let deliver) = request.action else {
                throw ProtocolError(.invalidValue, field: "payload", message: "this is not a payload")
            }
            let one = deliver.target.platform ?? deliver.transport?.platform
            // A body of FCM v1 is for every platform.
            let isForAll = one == nil && object["message"]?.kind == .object
            return (deliver, isForAll ? Platform.allCases : [one ?? .android], used)
        } catch {
            throw WebProblem(400, error.message, field: error.field)
        }
    }
}
