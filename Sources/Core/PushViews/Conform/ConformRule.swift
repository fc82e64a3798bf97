public import PushModel

/// A rule for a dispatcher. The raw values are the codes.
enum ConformRule: String, Sendable, CaseIterable {
    case threw, owner
    case notHandled = "not_handled"
    case handledTwice = "handled_twice"
    case returnValue = "return_value"
    case completed
    case completedLate = "completed_late"
    case completedNever = "completed_never"
    case resultWord = "result_word"
    case shownTwice = "shown_twice"
    case overPolicy = "over_policy"
    case overPlatform = "over_platform"
    case superNotCalled = "super_not_called"
    case notRun = "not_run"

    /// Whether it is a hint, which fails nothing.
    var isNote: Bool { self == .superNotCalled }

    /// The fault, for people.
    var meaning: String {
        switch self {
        case .threw: "an error left the callback; no other rule is tested then"
        case .owner: "another one got the call than its owner"
        case .notHandled: "nobody got the call"
        case .handledTwice: "the call went to two owners, or twice to one"
        case .returnValue: "Braze's method returned something else than true for Braze's push and false for another"
        case .completed: "the completion handler was called more than once"
        case .completedLate: "the completion handler was called behind the deadline; the callback had returned in time"
        case .completedNever: "the completion handler was not called"
        case .resultWord: "the completion handler got a word that it does not take"
        case .shownTwice: "the notification was shown twice, or beside the one that the system or Braze's SDK shows"
        case .overPolicy: "the callback took the deadline or longer: 9 seconds by Braze's policy"
        case .overPlatform: "the callback took as long as the platform allows, or longer"
        case .superNotCalled: "a super method was not called: a note, which fails nothing"
        case .notRun: "the results have no line for the case"
        }
    }
}

/// A case as the judge reads it from its line: the model's answer, and how to explain it.
public struct JudgedCase: Sendable {
    /// Its name.
    public let name: String
    let platform: Platform
    /// `nil`: no code of the app runs, so there is nothing to judge.
    let callback: Callback?
    let owner: String?
    let returned: Bool?
    let completions: Int64?
    let results: [String]
    let deadline: Double?
    let shownBy: String?
    let why: [String]
    let explain: String?

    /// Reads the line of a case.
    public init(_ line: JSONNode) throws(ConformError) {
        let members = ConformMembers(object: line)
        let want = try members.required("want", members.object("want"))
        name = try members.required("name", members.text("name"))
        platform = try members.required("platform", members.word("platform", Platform.self))
        callback = try members.word("callback", Callback.self)
        owner = try want.text("owner")
        returned = try want.bool("returned")
        completions = try want.value("completions", "a number", \.int64)
        results = try want.texts("results")
        deadline = try want.value("deadline_ms", "milliseconds", \.double)
        shownBy = try want.object("shown")?.text("by")
        why = try members.texts("why")
        explain = try members.text("explain")
    }

    /// Returns the rules that a result breaks, each with the difference.
    func faults(of result: ConformResult) -> [ConformFault] {
        if let thrown = result.thrown { return [ConformFault(.threw, thrown)] }
        return ownerFaults(of: result) + completionFaults(of: result) + otherFaults(of: result)
    }

    private func ownerFaults(of result: ConformResult) -> [ConformFault] {
        let got = result.owners.joined(separator: ", ")
        var faults: [ConformFault] = []
        if result.owners.count > 1 {
            faults.append(ConformFault(.handledTwice, "\(got) got it\(owner.map { ", wanted \($0) alone" } ?? "")"))
        } else if let owner, let first = result.owners.first, first != owner {
            faults.append(ConformFault(.owner, "\(first) got it, wanted \(owner)"))
        } else if let owner, result.owners.isEmpty {
            faults.append(ConformFault(.notHandled, "nobody got it, wanted \(owner)"))
        }
        if let returned, let other = result.returned, other != returned {
            faults.append(ConformFault(.returnValue, "Braze's method returned \(other), wanted \(returned)"))
        }
        return faults
    }

    private func completionFaults(of result: ConformResult) -> [ConformFault] {
        guard let completions else { return [] }
        var faults: [ConformFault] = []
        // On the web the owner completes: an event without one is not completed either.
        if result.completions.isEmpty, callback?.isOfWorker != true || !result.owners.isEmpty {
            faults.append(ConformFault(.completedNever, "not completed, wanted once"))
        } else if result.completions.count > completions {
            faults.append(ConformFault(.completed, "completed \(result.completions.count) times, wanted once"))
        }
        let words = result.completions.flatMap { $0.result?.split(separator: ",").map(String.init) ?? [] }
        if let word = words.first(where: { !results.isEmpty && !results.contains($0) }) {
            let known = results.joined(separator: ", ")
            faults.append(ConformFault(.resultWord, "completed with \(word); the handler takes \(known)"))
        }
        let last = result.completions.compactMap(\.milliseconds).max() ?? 0
        if let deadline, last >= deadline, !isLate(result) {
            faults.append(ConformFault(.completedLate, "completed after \(last) ms, the deadline is \(deadline) ms"))
        }
        return faults
    }

    private func isLate(_ result: ConformResult) -> Bool {
        guard let deadline, let took = result.milliseconds else { return false }
        return took >= deadline
    }

    /// The time after which the platform ends the call or stops to protect it; `nil`: none is known.
    private var platformLimit: Double? {
        let limits = PlatformLimit.all.filter {
            $0.platform == platform && $0.callback == callback && $0.priority ?? .normal == .normal
        }
        return limits.map { Double($0.limit.milliseconds) }.filter { $0 > deadline ?? 0 }.min()
    }

    private func otherFaults(of result: ConformResult) -> [ConformFault] {
        var faults: [ConformFault] = []
        let isDouble =
            switch shownBy {
            case "system": !result.shown.isEmpty
            case "sdk": result.shown.count > 1 || result.shown.contains { $0 != owner }
            default: result.shown.count > 1
            }
        if isDouble {
            let first = ["system": "; the system shows it, too", "sdk": "; the SDK shows it"][shownBy ?? ""] ?? ""
            faults.append(ConformFault(.shownTwice, "shown by \(result.shown.joined(separator: ", "))\(first)"))
        }
        if let took = result.milliseconds, let deadline, isLate(result) {
            if let platformLimit, took >= platformLimit {
                let text = "took \(took) ms, the platform allows \(platformLimit) ms"
                faults.append(ConformFault(.overPlatform, text))
            } else {
                faults.append(ConformFault(.overPolicy, "took \(took) ms, the deadline is \(deadline) ms"))
            }
        }
        if result.calledSuper == false { faults.append(ConformFault(.superNotCalled, "a super method was not called")) }
        return faults
    }
}

/// A rule that a result breaks.
struct ConformFault: Hashable, Sendable {
    let rule: ConformRule
    /// The difference, for people.
    let text: String

    init(_ rule: ConformRule, _ text: String) { (self.rule, self.text) = (rule, text) }
}
