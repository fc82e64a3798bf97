import PushModel
import PushRouter

/// A push as a row of a list: what the user read, who had it, and what it cost.
struct PushRow {
    let push: PushSummary
    private let verdict: PushVerdict
    private var request: AcceptedRequest { push.facts.story.request }

    init(_ push: PushSummary) { (self.push, verdict) = (push, push.verdict) }

    /// One row, on one line.
    ///
    /// - Parameter isChosen: whether its push is beside the list.
    func html(isChosen: Bool = false) -> Markup {
        let more = [device, String(push.subheading.prefix(120))].filter { !$0.isEmpty }
        let marks = push.marks.map { " · \($0)" }.joined()
        let name: Markup = "<span class=\"sr\">\(request.platform.shownName), \(request.app ?? "any app")</span>"
        let opened: Markup = Markup.when(push.opened != nil, "<b class=\"opened\">opened</b> ")
        return item(
            push.isSilent ? " silent" : "", "/push/\(request.seq)", isChosen: isChosen, more.joined(separator: " · "),
            name,
            "\(opened)\(push.cost)\(marks)")
    }

    /// A row for pushes that are alike, with this one as the newest.
    ///
    /// - Parameter rows: all of them, the newest first.
    func group(_ rows: [PushRow], target: String) -> Markup {
        let opened = rows.count { $0.push.opened != nil }
        let more: Markup = Markup.when(opened > 0, "<b class=\"opened\">\(opened) of \(rows.count) opened</b> ")
        return item(
            " group", target, "\(rows.count) alike: \(rows.prefix(3).map(\.device).joined(separator: ", "))", "",
            "\(more)\(push.facts.campaignName ?? push.main?.handler ?? "")")
    }

    private func item(
        _ kind: String, _ target: String, isChosen: Bool = false, _ more: String, _ name: Markup, _ cost: Markup
    ) -> Markup {
        """
        <li id="p\(request.seq)" data-seq="\(request.seq)"><a class="row\(kind)" href="\(target)"\(Markup.when(isChosen, " aria-current=\"true\""))>\(tile)\
        <span class="what"><b>\(String(push.heading.prefix(120)))</b><small>\(request.platform.icon.image) \(more)</small>\(name)</span>\
        <span class="how \(verdict.tone.rawValue)">\(Self.mark(push, verdict.tone).image) \(push.word)<small>\(cost)</small></span>\
        \(HTML.time(request.acceptedAt.wall, short: true))</a></li>
        """
    }

    private var device: String { request.device ?? "any device" }

    /// The facts that pushes alike share: those of one minute that read and ended the same.
    var likeness: [String] {
        [
            push.heading, push.word, push.facts.campaign ?? "", push.owner ?? "", request.app ?? "",
            "\(request.acceptedAt.wall.seconds / 60)", request.operation.rawValue,
        ]
    }

    /// Whether it has its end, so that it may stand in a row with others.
    var mayJoin: Bool { request.operation == .deliver && !push.facts.story.isPending && !request.isErased }

    private var tile: Markup {
        guard let name = push.main?.provider, request.operation == .deliver else {
            return "<span class=\"tile\">\(Icon.bell.image)</span>"
        }
        return
            "<span class=\"tile t\(Self.colour(name))\" title=\"\(name.capitalizingFirst)\"><span class=\"sr\">\(name): </span>\(name.prefix(1).uppercased())</span>"
    }

    /// One of eight colours for a provider, the same on each page.
    static func colour(_ name: String) -> Int { name.utf8.reduce(0) { ($0 * 31 + Int($1)) % 8 } }

    /// The picture for what became of a push.
    static func mark(_ push: PushSummary, _ tone: PushVerdict.Tone) -> Icon {
        guard let outcome = push.main?.result?.outcome else { return push.main == nil ? .info : .run }
        if outcome.isMissed { return .clock }
        if outcome == .notWoken { return .moon }
        switch tone {
        case .good: return .good
        case .bad: return .cross
        case .plain, .warn: return .info
        }
    }
}

extension Platform {
    /// Its name, where it stands alone.
    var shownName: String { self == .web ? "Web" : name }
}
