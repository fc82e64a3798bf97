import LinuxSystem
import PushModel
import PushRouter
import PushSettings
import PushViews
import Store

extension Command {
    static let show = Command(
        name: "show", summary: "show everything about one request, or list the pushes of a query",
        description: [
            """
            Prints the ledger's record of the request with the number SEQ: its producer and its time, the request as \
            the daemon received it, each invocation with its steps and their times: the acceptance, the wait and the \
            invocations ahead, each attempt with its answer and the end of the handler's standard error, and the \
            outcome; the analytics events that it caused, such as a later open, and its custom data with the state of \
            each entry. It works with or without a daemon.
            """,
            """
            For a delivery it prints the owner and the reasons, as "explain" does, by the configuration that decided the \
            delivery, and says since when that was in force and whether it still is. If that configuration cannot be \
            read, or the delivery is older than the record of configurations, it explains by the files as they are.
            """,
            """
            Without SEQ it lists the pushes that match --query, the newest first, as the list of the page does; without \
            --query all. With --json each is an object on a line of its own, as the API has it; csv has a row for each. \
            The exit status is 1 when no push matches. \(LocalTime.forms)
            """,
        ],
        operands: Operands(usage: "[SEQ]", count: 0...1),
        options: [
            .query, .since, .until, .limit.meaning("show at most this many (text: 100, json and csv: all)"),
            .format.allowing(Session.ListFormat.self), .names, .fullTokens, .utc, .json,
        ],
        examples: [
            Example(line: "pushctl show 41", meaning: "the request that inject called seq 41"),
            Example(
                line: "pushctl show --query 'campaign:spring outcome:shown_by_system' --since -7d",
                meaning: "the lost opens of a campaign"),
            Example(
                line: "pushctl show --query is:problem --format csv", meaning: "what went wrong, for a spreadsheet"),
        ]
    ) { arguments, session throws(Failure) in
        let ofLists: [Option] = [.query, .since, .until, .limit, .format]
        guard let operand = arguments.operands.first else { return try session.list(arguments) }
        if let option = ofLists.first(where: { arguments.has($0) }) {
            throw arguments.usageFailure("--\(option.name) chooses pushes for a list: leave out SEQ, or the option")
        }
        guard let number = Int64(operand), number > 0 else {
            throw arguments.usageFailure("SEQ is a number, such as 41; \"pushctl inject\" and the CSV report print it")
        }
        return try session.show(SequenceNumber(number), arguments)
    }
}

extension Session {
    /// Reads the story of a request.
    ///
    /// - Throws: when the ledger has no such request, with the reason.
    func story(of number: SequenceNumber) throws(Failure) -> RequestStory {
        let (story, last) = try reading { ledger throws(StoreError) in
            var story = try ledger.story(of: number)
            if let request = story?.request {
                story?.producer = try ledger.producer(request.peer.uid)
                story?.sessionAfter = try ledger.sessionAfter(request)
            }
            return (story, try ledger.highestSequenceNumber())
        }
        guard let story else {
            let reason = number > last ? "the last one is \(last)" : "it is older than Retention=, or was refused"
            throw Failure(.no, "the ledger has no request \(number): \(reason)")
        }
        return story
    }

    /// Prints the story of a request.
    func show(_ number: SequenceNumber, _ arguments: Arguments) throws(Failure) -> ExitStatus {
        let story = try story(of: number)
        let explained = explanation(of: story, in: arguments.zone)
        let shown = story.showingTokens(arguments)
        if arguments.has(.json) {
            var more = explained.map { Array(#","explanation":"#.utf8) + $0.explanation.json } ?? []
            if let obstacle = explained?.obstacle {
                var writer = JSONWriter()
                writer.string(obstacle)
                more += Array(#","not_influenced":"#.utf8) + writer.bytes
            }
            output.write(document: shown.json.dropLast() + more + Array("}".utf8))
        } else {
            let facts = explained.map { PushFacts(shown, table: $0.table) } ?? PushFacts(shown)
            facts.names = try campaignNames(arguments).names
            output.print(folding: shown.lines(facts, in: arguments.zone) + (explained?.lines ?? []))
        }
        return .done
    }
}

/// The reasons for the owner and the callbacks of a delivery, by the configuration that decided it.
struct ExplainedStory {
    /// The configuration, as a sentence.
    let sentence: String
    let explanation: Explanation
    /// The configuration.
    let table: RoutingTable
    /// Why no session counted as its influenced open.
    let obstacle: String?

    /// The part of the story for people.
    var lines: [ReportLine] {
        [ReportLine(""), ReportLine("Owner and reasons", .heading), ReportLine("  \(sentence)")]
            + (obstacle.map { [ReportLine("  No influenced open: \($0).")] } ?? [])
            + explanation.lines().map { ReportLine($0.text.isEmpty ? "" : "  \($0.text)", $0.tone) }
    }
}

extension Session {
    /// Explains a delivery by the configuration that decided it, else by the files as they are.
    ///
    /// - Returns: `nil` for other requests, and without any configuration.
    func explanation(of story: RequestStory, in zone: LocalZone) -> ExplainedStory? {
        guard let request = try? Request(acceptedLine: story.request.body), case .deliver(let deliver) = request.action,
            let (settings, sentence) = configuration(of: story, in: zone),
            let explanation = try? Explanation(
                deliver, platform: story.request.platform, table: settings.routing)
        else { return nil }
        return ExplainedStory(
            sentence: sentence, explanation: explanation, table: settings.routing,
            obstacle: PushFacts(story, detection: settings.routing.detection)
                .obstacleToInfluence(settings.routing.tracking))
    }

    private func configuration(of story: RequestStory, in zone: LocalZone) -> (Settings, String)? {
        guard let deciding = story.configuration else {
            return (try? settings()).map { ($0, "As the configuration decides today.") }
        }
        let id = deciding.period.id
        let sentence = "Decided by the configuration \(id), in force from \(zone.text(deciding.period.since)) on."
        guard let settings = settings(of: id) else {
            return (try? settings()).map {
                ($0, "\(sentence) This user cannot read it any more: as the configuration decides today.")
            }
        }
        let end = deciding.isInForce ? "It is still in force." : "Another one is in force now."
        return (settings, "\(sentence) \(end)")
    }

    /// A configuration that was in force: from its file, or from the daemon, which withholds what may be secret.
    func settings(of id: ConfigurationID) -> Settings? {
        if let sources = ConfigurationKeeper(state: directories.state).sources(of: id) {
            return Settings.read(sources).settings
        }
        guard let reply = try? control(.configuration(id)), let text = ConfigurationText(reply),
            let sources = ConfigurationSources(keptText: text.text)
        else { return nil }
        return Settings.read(sources).settings
    }
}

extension RequestStory {
    /// The story for people.
    func lines(_ facts: PushFacts, in zone: LocalZone) -> [ReportLine] {
        let head = titled("Request \(request.seq)", Text.columns(requestFacts(zone), indent: 2))
        let body =
            request.isErased
            ? [ReportLine(""), ReportLine("Erased: \"pushctl erase\" removed the payload and the names of the person")]
            : titled("As received", "  \(String(decoding: request.body, as: UTF8.self).showingControls())\n")
        let short = titled("In short", "  \(facts.sentence.showingControls())\n")
        return head.dropFirst() + short + senderList
            + body + invocationList(zone) + eventList(zone) + entryList(zone)
    }

    /// The facts about the sender, if a gateway passed the push on.
    private var senderList: [ReportLine] {
        guard let line = try? JSONDocument(scanning: request.body, limits: JSONLimits(depth: .max)),
            let sender = PushSender(ofLine: line.root)
        else { return [] }
        var facts: [[String]] = []
        sender.forEachFact { key, value in facts.append([key, value.showingControls()]) }
        return facts.isEmpty ? [] : titled("Sent by", Text.columns(facts, indent: 2))
    }

    /// A part of the story: a blank line, its title, and its text.
    private func titled(_ title: String, _ text: String, _ tone: ReportLine.Tone = .heading) -> [ReportLine] {
        [ReportLine(""), ReportLine(title, tone)] + text.split(separator: "\n").map { ReportLine(String($0)) }
    }

    private func invocationList(_ zone: LocalZone) -> [ReportLine] {
        guard invocations.isEmpty else {
            return invocations.flatMap { invocation in
                let steps = steps(of: invocation)
                return titled(
                    invocation.title,
                    Text.columns(invocation.facts(request.mode, zone), indent: 2)
                        + (steps.isEmpty ? "" : "  steps\n" + Text.columns(steps, indent: 4)) + outputs(of: invocation),
                    invocation.result?.outcome.tone ?? .heading)
            }
        }
        let isMissing = request.operation.hasInvocations
        return [
            ReportLine(""),
            ReportLine("No invocation" + (isMissing ? ", although there should be one: the ledger is damaged" : "")),
        ]
    }

    private func requestFacts(_ zone: LocalZone) -> [[String]] {
        let peer = request.peer
        let facts: [(String, String?)] = [
            ("op", request.operation.rawValue),
            ("accepted", zone.text(request.acceptedAt.wall, milliseconds: true)),
            ("from", "\(producer ?? "uid \(peer.uid)"), gid \(peer.gid), pid \(peer.pid)"),
            ("id", request.id),
            ("replay of", request.replayOf.map { "request \($0)" }),
            ("replayed as", replays.isEmpty ? nil : replays.map { "request \($0)" }.joined(separator: ", ")),
            (
                "dead letter",
                deadLetters.isEmpty ? nil : "yes: \"pushctl replay \(request.seq)\" accepts the request again"
            ),
            ("mode", request.mode.rawValue),
            ("platform", request.platform.rawValue),
            ("app", request.app),
            ("device", request.device),
            ("user", request.externalID),
            ("message id", request.messageID),
            ("state", request.state?.rawValue),
            ("transport", request.transport?.rawValue),
            ("priority", request.priorities),
        ]
        let ends = [("became", verdict?.rawValue), ("reaches", fanOut?.inWords)]
        return (facts + request.requestMembers + ends).compactMap { name, value in value.map { [name, $0] } }
    }

    private func eventList(_ zone: LocalZone) -> [ReportLine] {
        guard !events.isEmpty else { return [] }
        let rows = events.map { event in
            [
                zone.text(WallTime(milliseconds: event.time * 1000)), event.kind.rawValue,
                "by request \(event.seq)", event.subject,
            ]
        }
        return titled("Events", Text.columns(rows, indent: 2))
    }
}

extension AcceptedRequest {
    /// FCM's priorities, as sent and as delivered; `nil` if the payload has none.
    fileprivate var priorities: String? {
        guard originalPriority != nil || deliveredPriority != nil else { return nil }
        let delivered =
            deliveredPriority == originalPriority ? "" : ", delivered as \(deliveredPriority?.rawValue ?? "unknown")"
        return "\(originalPriority?.rawValue ?? "unknown")\(delivered)"
    }
}

extension AnalyticsEvent {
    /// The name of a custom event, or the campaign and the button that was pressed.
    fileprivate var subject: String {
        if case .customEvent(let name, _) = content { return name }
        let campaign = push?.campaignID.map { "campaign \($0)" } ?? "no campaign"
        return campaign + (button.map { ", button \($0.id)" } ?? "")
    }
}

extension RequestStory {
    private func entryList(_ zone: LocalZone) -> [ReportLine] {
        guard !entries.isEmpty else { return [] }
        let rows = entries.map { record in
            let entry = record.entry
            let end = record.settledAt.map { " \(zone.text($0, milliseconds: true))" } ?? ""
            let by = record.settledBy.map { " by request \($0)" } ?? ""
            let reason = record.reason.map { ": \($0)" } ?? ""
            return [
                "\(entry.number)", entry.kind.rawValue, entry.name ?? "-", entry.destination.displayText,
                "\(record.state.rawValue)\(end)\(by)\(reason)",
            ]
        }
        return titled("Custom data", Text.columns(rows, indent: 2))
    }
}

extension EntryDestination {
    fileprivate var displayText: String {
        if case .stored(let suite, _) = self { "in \(suite)" } else { "(direct)" }
    }
}

extension AcceptedRequest {
    /// The members of the request line that are neither the payload nor the target.
    fileprivate var requestMembers: [(String, String?)] {
        let keys: [String] =
            switch operation {
            case .interact: ["kind", "action", "text", "message"]
            case .session: ["kind"]
            case .token: ["kind", "token"]
            case .log: ["kind", "suite", "braze_id", "name"]
            case .topic: ["kind", "project", "topic"]
            case .publish: ["project", "topic", "condition"]
            case .deliver, .device: []
            }
        // The limits may have been higher when the request was accepted.
        guard !keys.isEmpty, let line = try? JSONDocument(scanning: body, limits: JSONLimits(depth: .max)) else {
            return []
        }
        return keys.map { key in (key, line.root[key].map { $0.string ?? String(decoding: $0.rawBytes, as: UTF8.self) })
        }
    }
}

extension Predecessor {
    fileprivate var text: String {
        "invocation \(id.n) of request \(id.seq), " + (handler.map { "handler \($0)" } ?? "the tracker")
            + (took.map { ", \($0.milliseconds) ms" } ?? "")
    }
}

extension InvocationRecord {
    fileprivate var title: String {
        "\(isObserver ? "Observer" : "Invocation") \(id.n): \(callback.rawValue), \(result?.outcome.rawValue ?? "in flight")"
    }

    fileprivate func facts(_ mode: DispatchMode, _ zone: LocalZone) -> [[String]] {
        let times = result.map { result in
            let (waited, ran) = (result.queue.milliseconds, result.exec.milliseconds)
            let (total, budget) = (result.total.milliseconds, budget.milliseconds)
            // The daemon or leader was gone, so the waiting and the running time are unknown.
            if [.daemonCrashed, .leaderLost].contains(result.reasonCode) {
                return "started; \(total) ms in all, \(budget) ms allowed"
            }
            return switch mode {
            case .device: "waited \(waited) ms, ran \(ran) of \(budget) ms"
            case .relay: "waited \(waited) ms, ran \(ran) ms: \(total) of \(budget) ms"
            }
        }
        let completion = result?.completion.map { completion in
            let options = completion.options.isEmpty ? "" : ", options \(completion.options.joined(separator: " "))"
            return "by \(completion.by.rawValue), \(completion.times) x, \(completion.result.rawValue)\(options)"
        }
        let facts: [(String, String?)] = [
            ("provider", provider),
            ("route", route),
            ("handler", handler),
            ("reason", result?.reason),
            ("reason code", result?.reasonCode?.rawValue),
            ("times", times ?? (started ? "started" : "not started")),
            ("ahead of it", result?.ahead.map(String.init)),
            ("longest before it", result?.waitedFor.map(\.text)),
            ("completed", completion),
            ("decided", result.map { zone.text($0.decidedAt, milliseconds: true) }),
        ]
        return facts.compactMap { name, value in value.map { [name, $0] } }
    }
}
