import PushModel

/// A push as a row of a list.
struct PushRow {
    private let push: PushSummary
    private var request: AcceptedRequest { push.facts.story.request }

    init(_ story: RequestStory) { push = PushSummary(PushFacts(story)) }

    /// The heads of the columns.
    static let heads = [
        "Push", "Time", "From", "Platform", "App and device", "Owner", "Callback", "Outcome", "Deadline used", "Marks",
    ]

    /// One row, on one line.
    var html: String {
        let (mark, kind) = Self.mark(push.main)
        let from = push.facts.sender?.client ?? push.facts.story.producer ?? "uid \(request.peer.uid)"
        let place = [request.app ?? "any app", request.device ?? "any device"].map(markup).joined(separator: "<br>")
        let used = push.share.map { share in
            let percent = Int((min(share, 9.99) * 100).rounded())
            return
                "<meter min=\"0\" max=\"1\" value=\"\(min(1, max(0, share)))\" aria-label=\"\(percent) % of the deadline\"></meter> \(percent) %"
        }
        let title = push.title
        let cells = [
            HTML.time(request.acceptedAt.wall, short: true), markup(String(from.prefix(60))),
            request.platform.shownName, place, markup(push.owner.map { $0 == "none" ? "no provider" : $0 } ?? "-"),
            markup(push.main?.callback.rawValue ?? request.operation.rawValue),
            "<span class=\"\(kind)\"><span aria-hidden=\"true\">\(mark)</span> \(markup(push.outcome ?? "-"))</span>",
            used ?? "-", badges,
        ]
        let shownTitle = title.isEmpty ? "" : " <span class=\"title\">\(markup(String(title.prefix(120))))</span>"
        let head = "<th scope=\"row\"><a href=\"/push/\(request.seq)\">#\(request.seq)\(shownTitle)</a></th>"
        return
            "<tr id=\"p\(request.seq)\" data-seq=\"\(request.seq)\">\(head)\(Self.labeled(cells))</tr>"
    }

    /// The cells behind the first one. A small screen shows a column's name beside its cell.
    private static func labeled(_ cells: [String]) -> String {
        zip(heads.dropFirst(), cells).map { "<td data-label=\"\($0)\">\($1)</td>" }.joined()
    }

    private var badges: String {
        var badges: [String] = []
        if let campaign = push.facts.campaign { badges.append("campaign \(campaign)") }
        if let opened = push.opened { badges.append("opened (\(opened))") }
        if push.facts.losesOpen { badges.append("open is lost") }
        if push.isDead { badges.append("dead letter") }
        for replay in push.facts.story.replays.suffix(1) { badges.append("replayed as #\(replay)") }
        if let former = request.replayOf { badges.append("replay of \(former)") }
        if push.attempts > 1 { badges.append("\(push.attempts) attempts") }
        if request.operation != .deliver { badges.append(request.operation.rawValue) }
        if request.isErased { badges.append("erased") }
        return badges.map { "<span class=\"badge\" title=\"\(markup($0))\">\(markup($0))</span>" }.joined(
            separator: " ")
    }

    /// A shape and a class for the outcome of an invocation.
    static func mark(_ invocation: InvocationRecord?) -> (mark: String, kind: String) {
        guard let invocation else { return ("·", "soft") }
        guard let outcome = invocation.result?.outcome else { return ("…", "soft") }
        if outcome.isMissed { return ("◷", "bad") }
        if outcome.isFailure || outcome == .sdkNotReady { return ("✗", "bad") }
        return outcome == .handled || outcome == .handedToTracker ? ("✓", "good") : ("–", "soft")
    }

    /// A table of rows.
    static func table(_ stories: [RequestStory], id: String, caption: String, attributes: String = "") -> String {
        let heads = Self.heads.map { "<th scope=\"col\">\($0)</th>" }.joined()
        let rows = stories.map { PushRow($0).html }.joined(separator: "\n")
        return """
            <div class="wide" role="region" tabindex="0" aria-label="\(markup(caption))">
            <table id="\(id)" class="pushes"\(attributes)><caption>\(markup(caption))</caption>
            <thead><tr>\(heads)</tr></thead>
            <tbody>
            \(rows)
            </tbody></table></div>

            """
    }
}

extension Platform {
    /// Its name, where it stands alone.
    var shownName: String { self == .web ? "Web" : name }
}
