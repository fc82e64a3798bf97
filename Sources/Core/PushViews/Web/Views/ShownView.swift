import PushModel
import PushRouter

/// A notification as Android, iOS or a browser shows it.
struct ShownView {
    private let shown: ShownNotification
    private let platform: Platform
    private let app: String
    private let device: String?
    private let actions: [BrazeFacts.Action]

    /// - Parameters:
    ///   - request: its request.
    ///   - explanation: its explanation, for buttons that the app titles.
    init(_ shown: ShownNotification, _ request: AcceptedRequest, _ explanation: Explanation?) {
        self.init(shown, platform: request.platform, app: request.app, device: request.device, explanation)
    }

    init(
        _ shown: ShownNotification, platform: Platform, app: String?, device: String? = nil, _ explanation: Explanation?
    ) {
        (self.shown, self.platform, self.device) = (shown, platform, device)
        self.app = app ?? "your app"
        actions = explanation?.decision.braze?.actions ?? []
    }

    /// The picture.
    ///
    /// - Parameters:
    ///   - action: the path of the push, whose acts the presses ask for; `nil`: it is a picture.
    ///   - token: the proof of the page's own forms.
    ///   - hint: a line below it.
    func figure(action: String?, token: String = "", hint: Markup? = nil) -> Markup {
        let place = [platform.shownName, device].compactMap(\.self).joined(separator: ", ")
        let body: Markup = shown.by == .nobody ? nothing : note(action)
        let hidden: Markup =
            action == nil ? "" : "<input type=\"hidden\" name=\"\(WebAccess.formField)\" value=\"\(token)\">"
        let line: Markup? =
            shown.by == .app ? "<p class=\"fine\">\(shown.reason.capitalizingFirstLetter).</p>" : hint
        let screen: Markup =
            action.map { "<form class=\"screen\" method=\"post\" action=\"\($0)/tap\">\(hidden)\(body)\(line)</form>" }
            ?? "<div class=\"screen\">\(body)\(line)</div>"
        return """
            <figure class="shot \(platform.rawValue)"><figcaption><span>\(platform.icon.image) \(place)</span><span>\(shown.by.words)</span></figcaption>
            \(screen)</figure>

            """
    }

    private var nothing: Markup {
        "<div class=\"nothing\">\(Icon.moon.image)<p><b>Nothing is shown</b></p><p>\(shown.reason.capitalizingFirstLetter).</p></div>"
    }

    private func note(_ action: String?) -> Markup {
        guard let content = shown.content else { return "" }
        let inner: Markup = """
            <span class="tile t\(PushRow.colour(app))" aria-hidden="true">\(app.split(separator: ".").last.map { $0.prefix(1).uppercased() } ?? "")</span>\
            <span class="says"><i>\(app) · now</i><b>\(content.title)</b><span>\(String(content.body.prefix(600)))</span></span>
            """
        let image: Markup? = content.image.map { _ in "<span class=\"img\">picture, not loaded</span>" }
        let press: Markup =
            action == nil
            ? "<div class=\"tap\">\(inner)\(image)</div>"
            : "<button class=\"tap\" title=\"Tap it as the user would\" aria-label=\"Tap\">\(inner)\(image)</button>"
        let ghost: Markup = shown.by == .app ? " ghost" : ""
        return "<div class=\"bubble\(ghost)\">\(press)\(buttons(content, action))</div>"
    }

    /// The buttons: those with a title, and those whose titles the app has.
    private func buttons(_ content: NotificationContent, _ action: String?) -> Markup {
        var all = content.buttons.map { ($0.id, $0.title) }
        for known in actions where all.count < NotificationContent.buttonsMax {
            guard let id = known.id, !all.contains(where: { $0.0 == id }) else { continue }
            all.append((id, known.title ?? id))
        }
        guard !all.isEmpty else { return "" }
        let parts = all.map { id, title -> Markup in
            action.map {
                "<button formaction=\"\($0)/button\" name=\"action\" value=\"\(id)\">\(title)</button>"
            } ?? "<span>\(title)</span>"
        }
        return "<div class=\"btns\">\(parts)</div>"
    }
}

/// The reasons of an explanation, and the routes that do not match.
struct ExplanationView {
    private let explanation: Explanation

    init(_ explanation: Explanation) { self.explanation = explanation }

    var content: Markup {
        let reasons = explanation.reasons.map { reason -> Markup in "<li>\(reason)</li>\n" }
        let rules = explanation.decision.providers.compactMap(\.originText)
        let callbacks = explanation.invocations.map(\.text)
        let outcome = explanation.decision.outcome.map {
            ["no callback of the app runs; the outcome is \($0.rawValue)"]
        }
        let not = explanation.unmatchedRoutes.map { "\($0.route): \($0.reason)" }
        return """
            <p><b>\(explanation.headline.capitalizingFirstLetter).</b></p>
            <p class="soft">\(explanation.platform.shownName), app in state \(explanation.state.rawValue), \(explanation.mode.rawValue) mode</p>
            <ol class="why">\(reasons)</ol>
            \(list("What runs", (outcome ?? []) + callbacks))\(list("Routes that do not match, and why", not))\
            \(list("Warnings", explanation.warnings, "warn"))\(list("Remarks", rules + explanation.remarks))
            """
    }

    private func list(_ heading: String, _ lines: [String], _ kind: String = "") -> Markup {
        guard !lines.isEmpty else { return "" }
        let items = lines.map { line -> Markup in "<li>\(line)</li>\n" }
        return "<h3>\(heading)</h3>\n<ul class=\"plain \(kind)\">\(items)</ul>\n"
    }
}
