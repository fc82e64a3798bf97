import PushModel
import PushRouter

/// A push as a row of a list: what the user read, who had it, and what it cost.
struct PushRow {
    let push: PushSummary
    private let verdict: PushVerdict
    private var request: AcceptedRequest { push.facts.story.request }

    init(_ push: PushSummary) { (self.push, verdict) = (push, push.verdict) }

    /// One row, on one line.
    var html: Markup {
        let seq = request.seq
        return
            "<li id=\"p\(seq)\" data-seq=\"\(seq)\"><a class=\"row\(Markup.when(isSilent, " silent"))\" href=\"/push/\(seq)\">\(tile)\(what)\(how)\(time)</a></li>"
    }

    /// A row for pushes that are alike, with this one as the newest.
    ///
    /// - Parameter rows: all of them, the newest first.
    func group(_ rows: [PushRow], target: String) -> Markup {
        let devices = rows.prefix(3).map { $0.request.device ?? "any device" }.joined(separator: ", ")
        let opened = rows.count { $0.push.opened != nil }
        let more: Markup = opened > 0 ? "<b class=\"opened\">\(opened) of \(rows.count) opened</b> " : ""
        return """
            <li id="p\(request.seq)" data-seq="\(request.seq)"><a class="row group" href="\(target)">\(tile)<span class="what"><b>\(title)</b><small>\(request.platform.icon.image) \(rows.count) alike: \(devices)</small></span>\
            <span class="how \(verdict.tone.rawValue)">\(mark.image) \(push.word)<small>\(more)\(push.facts.campaign ?? push.main?.handler ?? "")</small></span>\(time)</a></li>
            """
    }

    /// The facts that pushes alike share: those of one minute that read and ended the same.
    var likeness: [String] {
        [
            title, push.word, push.facts.campaign ?? "", push.owner ?? "", request.app ?? "",
            "\(request.acceptedAt.wall.seconds / 60)", request.operation.rawValue,
        ]
    }

    /// Whether it has its end, so that it may stand in a row with others.
    var mayJoin: Bool { request.operation == .deliver && !push.facts.story.isPending && !request.isErased }

    /// Whether a person would see nothing of it.
    private var isSilent: Bool { request.operation == .deliver && push.facts.content == nil }

    /// Whether the gateway refused it, so that it reached nobody.
    private var isRefused: Bool { push.main?.result?.reasonCode == .refusedSend }

    /// The title of the push: its title, or what it is.
    var title: String {
        if request.isErased { return "Erased" }
        if isRefused { return "Refused send" }
        if isSilent { return "Silent push" }
        let title = push.title.isEmpty ? request.operation.rawValue : push.title
        return request.operation == .deliver ? title : "\(request.operation.rawValue) \(push.title)"
    }

    private var tile: Markup {
        let name = push.main?.provider
        guard let name, request.operation == .deliver else {
            return "<span class=\"tile\">\(Icon.bell.image)</span>"
        }
        let letters = name.prefix(1).uppercased()
        return
            "<span class=\"tile t\(Self.colour(name))\" title=\"\(name.capitalizingFirstLetter)\"><span class=\"sr\">\(name): </span>\(letters)</span>"
    }

    /// One of eight colours for a provider, the same on each page.
    static func colour(_ name: String) -> Int { name.utf8.reduce(0) { ($0 * 31 + Int($1)) % 8 } }

    private var what: Markup {
        let device = request.device ?? "any device"
        let body = push.facts.content?.body ?? ""
        let keys =
            isRefused
            ? push.facts.sender?.client ?? "" : isSilent ? push.facts.keys.prefix(4).joined(separator: ", ") : ""
        let more = [device, body.isEmpty ? keys : String(body.prefix(120))].filter { !$0.isEmpty }
        return
            "<span class=\"what\"><b>\(String(title.prefix(120)))</b><small>\(request.platform.icon.image) \(more.joined(separator: " · "))</small><span class=\"sr\">\(request.platform.shownName), \(request.app ?? "any app")</span></span>"
    }

    private var how: Markup {
        let opened: Markup = push.opened != nil ? "<b class=\"opened\">opened</b> " : ""
        var marks = ""
        if push.isDead { marks += " · dead letter" }
        if request.replayOf != nil { marks += " · replay" }
        if push.attempts > 1 { marks += " · \(push.attempts) attempts" }
        return
            "<span class=\"how \(verdict.tone.rawValue)\">\(mark.image) \(push.word)<small>\(opened)\(push.cost)\(marks)</small></span>"
    }

    private var mark: Icon { Self.mark(push, verdict.tone) }

    private var time: Markup { Markup(made: HTML.time(request.acceptedAt.wall, short: true)) }

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

extension PushFacts {
    /// The keys at the top of its payload.
    var keys: [String] {
        guard let payload = line?["payload"] else { return [] }
        let message = payload["message"] ?? payload
        let data = message["data"] ?? message["extras"] ?? message
        return data.members.map(\.key)
    }
}
