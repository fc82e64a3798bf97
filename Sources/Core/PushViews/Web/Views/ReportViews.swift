import PushModel
import PushRouter

// Campaigns and the report.
extension WebDesk {
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
}
