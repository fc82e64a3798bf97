import PushModel

/// The verdict on a request: a few words, and sentences behind them. The page, its API and `pushctl` say the same.
public struct PushVerdict: Hashable, Sendable {
    /// The attention that it wants. The raw values are classes of the page.
    public enum Tone: String, Sendable {
        case good, plain, warn, bad
    }

    /// The attention that it wants.
    public let tone: Tone
    /// The few words, with their full stop: `In time.`
    public let head: String
    /// The sentences behind them.
    public let sentences: [String]

    /// The words and the sentences, as one text.
    public var text: String { ([head] + sentences).joined(separator: " ") }
}

extension PushSummary {
    /// The verdict on the request.
    public var verdict: PushVerdict {
        let story = facts.story
        let request = story.request
        if request.isErased {
            return PushVerdict(
                tone: .plain, head: "Erased.", sentences: ["The payload and the person's data are deleted."])
        }
        switch request.operation {
        case .publish: return publish(story.fanOut)
        case .session, .log, .topic, .device:
            let place = [request.app, request.device].compactMap(\.self).joined(separator: " on ")
            return PushVerdict(
                tone: .plain, head: "Taken in.",
                sentences: ["It is a request \(request.operation.rawValue) of \(place)."])
        case .token, .deliver, .interact: break
        }
        guard let main else {
            return PushVerdict(tone: .plain, head: "Taken in.", sentences: ["The request led to no invocation."])
        }
        var (tone, head, sentences) =
            request.operation == .interact && main.result?.outcome == .handedToTracker
            ? ofInteraction(story.verdict) : ofInvocation(main)
        if request.operation == .deliver, let near = facts.nearRoute {
            if tone == .good { tone = .warn }
            sentences.insert("Route \(near.route) did not match, but nearly: \(near.reason).", at: 0)
        }
        return PushVerdict(
            tone: tone, head: head, sentences: sentences + [wait(main), openedInWords].compactMap(\.self))
    }

    private func publish(_ fanOut: FanOut?) -> PushVerdict {
        let audience = title.isEmpty ? "its topic" : title
        guard let fanOut else {
            return PushVerdict(tone: .plain, head: "Published.", sentences: ["It is for \(audience)."])
        }
        guard fanOut.members > 0 else {
            return PushVerdict(tone: .warn, head: "Nobody is subscribed.", sentences: ["It is for \(audience)."])
        }
        return PushVerdict(
            tone: fanOut.progress.leftOut > 0 ? .warn : .good, head: fanOut.toCome > 0 ? "Under way." : "Published.",
            sentences: ["It is for \(audience), \(fanOut.inWords)."])
    }

    var isDismissal: Bool { facts.line?["kind"]?.string == "dismissed" }

    /// The tracker's verdict on a tap, a press or a dismissal.
    private func ofInteraction(_ verdict: Interaction.Verdict?) -> (PushVerdict.Tone, String, [String]) {
        let campaign = facts.campaignTitle.map { ["Its campaign is \($0)."] } ?? []
        return switch verdict {
        case nil: (.plain, "Taken in.", ["Braze's SDK has not decided it yet."])
        case .opened: (.good, "Counted as a direct open.", campaign)
        case .closed: (.good, "Counted as a press of a close button.", campaign)
        case .duplicate: (.plain, "Not counted again.", ["The push was opened or closed before."])
        case .unattributed: (.warn, "Not counted.", ["The push has no campaign."])
        case .dismissed: (.plain, "Dismissed.", [])
        case .unknownAction: (.warn, "Not counted.", ["The push has no button of this id."])
        case .elsewhere: (.warn, "Not counted.", ["The push went to another device or app."])
        // A dismissal counts nothing, so none is lost.
        case .unmatched:
            (isDismissal ? .plain : .bad, "Not counted.", ["Braze's SDK saw no such push on this device."])
        }
    }

    private func ofInvocation(_ main: InvocationRecord) -> (PushVerdict.Tone, String, [String]) {
        let handler = main.handler.map { "Handler \($0)" } ?? "Its handler"
        let reason = main.result?.reason.map { ["\($0.capitalizingFirst)."] } ?? []
        let budget = spanInWords(main.budget)
        guard let result = main.result else {
            return (.plain, "Running.", ["\(handler) has \(budget)."])
        }
        let took = roundedSpan(facts.story.request.mode == .relay ? result.total : result.exec)
        switch result.outcome {
        case .handled: return (.good, "In time.", ["\(handler) took \(took) of its \(budget)."])
        case .timedOut:
            return (.bad, "Late.", ["\(handler) was not finished after \(budget), and was stopped."])
        case .expired: return (.bad, "Late.", ["\(handler) was not started before its deadline of \(budget)."])
        case .failed: return (.bad, "Failed.", ["\(handler) failed after \(took)."] + reason)
        case .handedToTracker:
            return (.good, "Braze has it.", facts.campaignTitle.map { ["Its campaign is \($0)."] } ?? [])
        case .unrouted:
            return (.bad, "No handler took it.", ["No route matches the callback \(main.callback.rawValue)."])
        case .duplicate: return (.plain, "Dropped as a duplicate.", reason)
        case .shownBySystem where facts.losesOpen:
            return (.bad, "Braze never saw it.", ["The system showed it, and a tap on it is lost."])
        case .shownBySystem:
            return (.plain, "The system showed it.", reason.isEmpty ? ["No code of the app runs."] : reason)
        case .notWoken: return (.warn, "The app was not woken.", reason)
        case .swallowed where result.reasonCode == .refusedSend:
            let cause = facts.sender?.cause.map { ["\($0.capitalizingFirst)."] } ?? []
            return (.bad, "The gateway refused it.", reason + cause)
        case .swallowed: return (.plain, "Taken in without a callback.", reason)
        case .ownReceiver:
            return (.plain, "\(providerName.capitalizingFirst)'s own receiver took it.", reason)
        case .sdkNotReady: return (.bad, "Lost: no Braze instance was ready.", reason)
        }
    }

    /// The wait before the call, if a person would notice it; in device mode it costs nothing of the budget.
    private func wait(_ main: InvocationRecord) -> String? {
        guard let result = main.result, result.queue >= .milliseconds(500), result.exec > .zero else { return nil }
        let behind = result.ahead.map { " behind \(counted($0, "other"))" } ?? ""
        let longest = result.waitedFor.map { first in
            "; the longest was #\(first.id.seq)\(first.took.map { ", \(roundedSpan($0))" } ?? "")"
        }
        return "Before that it waited \(roundedSpan(result.queue))\(behind)\(longest ?? "")."
    }

    private var openedInWords: String? {
        opened.map { $0 == "influenced" ? "A session counts as its influenced open." : "It was opened (\($0))." }
    }

    /// The provider's name, for people; `your push` for nobody's.
    var providerName: String { main?.provider ?? "your push" }

    /// The outcome in at most three words, for a list.
    var word: String {
        guard let main else { return "Taken in" }
        switch main.result?.outcome {
        case nil: return "Running"
        case .handled: return "Handled"
        case .handedToTracker where facts.story.request.operation == .interact:
            return switch facts.story.verdict {
            case nil: "Taken in"
            case .opened, .closed: "Counted"
            case .dismissed: "Dismissed"
            case .duplicate: "Not again"
            case .unattributed, .unknownAction, .elsewhere, .unmatched: "Not counted"
            }
        case .handedToTracker: return "Braze has it"
        case .timedOut: return "Timed out"
        case .expired: return "Not started"
        case .failed: return "Failed"
        case .unrouted: return "No handler"
        case .duplicate: return "Duplicate"
        case .shownBySystem: return facts.losesOpen ? "Open lost" : "System showed it"
        case .notWoken: return "Not woken"
        case .swallowed: return main.result?.reasonCode == .refusedSend ? "Gateway refused it" : "Taken in"
        case .ownReceiver: return "SDK took it"
        case .sdkNotReady: return "Lost"
        }
    }

    /// The handler and the cost, below the word.
    var cost: String {
        guard let main else { return facts.story.request.operation.rawValue }
        var parts: [String] = []
        if let handler = main.handler { parts.append(handler) }
        if let result = main.result, result.outcome.isDue {
            let wait = result.queue >= .milliseconds(500) ? " after \(roundedSpan(result.queue))" : ""
            if result.exec > .zero { parts.append(roundedSpan(result.exec) + wait) }
        } else if main.result?.reasonCode == .refusedSend, let sender = facts.sender {
            parts.append([sender.answer.map(String.init), sender.reason].compactMap(\.self).joined(separator: " "))
        } else if let campaign = facts.campaignName {
            parts.append(campaign)
        } else if main.result?.outcome == .shownBySystem {
            parts.append("no code ran")
        } else if let provider = main.provider {
            parts.append(provider)
        }
        return parts.joined(separator: " · ")
    }
}
