import PushModel
import PushRouter

/// A notification as Android, iOS or a browser shows it.
struct ShownView {
    private let shown: ShownNotification
    private let platform: Platform
    private let app: String
    private let device: String?
    private let actions: [BrazeFacts.Action]
    private let isLost: Bool

    /// - Parameter explanation: its explanation, for buttons that the app titles.
    init(
        _ shown: ShownNotification, platform: Platform, app: String?, device: String? = nil, _ explanation: Explanation?
    ) {
        (self.shown, self.platform, self.device) = (shown, platform, device)
        self.app = app ?? "your app"
        actions = explanation?.decision.braze?.actions ?? []
        isLost = explanation?.decision.losesOpen ?? false
    }

    /// The picture.
    ///
    /// - Parameters:
    ///   - action: the path of the push, whose acts the presses ask for; `nil`: it is a picture.
    ///   - token: the proof of the page's own forms.
    func figure(action: String?, token: [Markup] = []) -> Markup {
        let place = [platform.shownName, device].compactMap(\.self).joined(separator: ", ")
        let body: Markup = shown.by == .nobody ? nothing : note(action)
        var hint: Markup =
            action == nil
            ? ""
            : "<p class=\"fine\">Press it, or a button of it, as the user would\(isLost ? ": this open is lost" : "").</p>"
        if shown.by == .app { hint = "<p class=\"fine\">\(shown.reason.capitalizingFirst).</p>" }
        let screen: Markup =
            action.map { "<form class=\"screen\" method=\"post\" action=\"\($0)/tap\">\(token)\(body)\(hint)</form>" }
            ?? "<div class=\"screen\">\(body)\(hint)</div>"
        return """
            <figure class="shot \(platform.rawValue)"><figcaption><span>\(platform.icon.image) \(place)</span><span>\(shown.by.words)</span></figcaption>
            \(screen)</figure>

            """
    }

    private var nothing: Markup {
        "<div class=\"nothing\">\(Icon.moon.image)<p><b>Nothing is shown</b></p><p>\(shown.reason.capitalizingFirst).</p></div>"
    }

    private func note(_ action: String?) -> Markup {
        guard let content = shown.content else { return "" }
        let inner: Markup = """
            <span class="tile t\(PushRow.colour(app))" aria-hidden="true">\(app.split(separator: ".").last.map { $0.prefix(1).uppercased() } ?? "")</span>\
            <span class="says"><i>\(app) · now</i><b>\(content.title)</b><span>\(String(content.body.prefix(600)))</span></span>\
            \(Markup.when(content.image != nil, "<span class=\"img\">picture, not loaded</span>"))
            """
        let press: Markup =
            action == nil
            ? "<div class=\"tap\">\(inner)</div>"
            : "<button class=\"tap\" title=\"Tap it as the user would\" aria-label=\"Tap\">\(inner)</button>"
        return
            "<div class=\"bubble\(Markup.when(shown.by == .app, " ghost"))\">\(press)\(buttons(content, action))</div>"
    }

    /// The buttons: those with a title, and those whose titles the app has.
    private func buttons(_ content: NotificationContent, _ action: String?) -> Markup {
        var all = content.buttons.map { ($0.id, $0.title) }
        for known in actions where all.count < NotificationContent.buttonsMax {
            guard let id = known.id, !all.contains(where: { $0.0 == id }) else { continue }
            all.append((id, known.title ?? id))
        }
        let parts = all.map { id, title -> Markup in
            action.map { "<button formaction=\"\($0)/button\" name=\"action\" value=\"\(id)\">\(title)</button>" }
                ?? "<span>\(title)</span>"
        }
        return all.isEmpty ? "" : "<div class=\"btns\">\(parts)</div>"
    }
}

extension Explanation {
    /// Why a push is decided as it is: the reasons, what runs, and the routes that do not match.
    var view: Markup {
        func list(_ heading: String, _ lines: [String], _ kind: String = "") -> Markup {
            lines.isEmpty ? "" : "<h3>\(heading)</h3>\n\(HTML.list(lines, kind))"
        }
        let steps = reasons.map { reason -> Markup in "<li>\(reason)</li>\n" }
        let outcome = decision.outcome.map { ["no callback of the app runs; the outcome is \($0.rawValue)"] }
        return """
            <p><b>\(headline.capitalizingFirst).</b></p>
            <p class="soft">\(platform.shownName), app in state \(state.rawValue), \(mode.rawValue) mode</p>
            <ol class="why">\(steps)</ol>
            \(list("What runs", (outcome ?? []) + invocations.map(\.text)))\
            \(list("Routes that do not match, and why", unmatchedRoutes.map { "\($0.route): \($0.reason)" }))\
            \(list("Warnings", warnings, "warn"))\(list("Remarks", decision.providers.compactMap(\.originText) + remarks))
            """
    }
}
