import PushModel
import PushRouter
import PushSettings
import PushViews

extension Command {
    static let conform = Command(
        name: "conform", summary: "make test cases for an app's dispatcher, judge its results",
        description: [
            """
            cases prints a file for the tests of an app, to be kept beside them: a JSON line a case, with a call of the \
            platform, the payload as the app sees it, and "want", what the app must do with the call. The tests need \
            neither Linux nor a daemon. packaging/examples/conform has test files for Java, Swift and service workers, \
            in which a team fills in one function. The first line names this program, the id of the configuration and \
            the SDKs of the app.
            """,
            """
            "data" and "notification" are those of a RemoteMessage, "userInfo" is that of iOS, "event" what a service \
            worker reads; for a click the data of the notification. "callback" is null where the platform calls no \
            code of the app, and "want.owner" then says what becomes of the push, such as own_receiver. "want" has owner (a provider, or own; \
            null: the model leaves it open), returned (what Braze's method returns), completions (how often the call is \
            completed, on the web by the end of waitUntil), results (the words that the completion handler takes), \
            deadline_ms, shown (what a person sees, and who shows it), tap and tap_without_instance (whether a tap \
            counts). "why" and "explain" tell more.
            """,
            """
            The cases are of Braze's payloads and those that are nearly Braze's, of the catalogue of accidents, and of \
            each provider that is known. /foreground in a name is another state of the app, /nil an app without a Braze \
            instance, /again the same push once more. --providers names the SDKs of the app; the payload of another \
            provider is the app's own. PATTERN chooses by name. --payloads and --from-ledger add cases. What production \
            sent is masked: letters become x, digits 0, but keys stay, and values that decide.
            """,
            """
            --check decides the cases of a file again, prints each one that has changed with the reason, and ends with 1 \
            if any has.
            """,
            """
            judge reads a JSON line a case, which a team's tests write: what a dispatcher did. RESULT LINES in the man \
            page has its members, RULES the codes. It prints what is not as wanted. A line of the --known file is NAME: \
            reason, with patterns in NAME; each of its cases must fail. The exit status is 0 if all is as wanted or known, \
            1 if not, and 65 for a line that cannot be read.
            """,
        ],
        operands: Operands(
            usage: "cases [PATTERN...]|judge RESULTS", count: 1...Int.max, words: ConformOrder.allCases.map(\.rawValue)),
        options: [
            .platform.meaning("cases: only those of this platform"), .providers, .payloads, .fromLedger, .unmasked,
            .check,
            .cases, .known, .format.allowing(ConformFormat.self).meaning("judge: the format of the output (text)"),
        ],
        examples: [
            Example(
                line: "pushctl conform cases --providers braze,onesignal > push-cases.jsonl",
                meaning: "the cases of an app with two SDKs"),
            Example(
                line: "pushctl conform cases --check push-cases.jsonl", meaning: "in CI: whether the model has changed"),
            Example(
                line: "pushctl conform judge results.jsonl --cases push-cases.jsonl",
                meaning: "what the dispatcher did otherwise"),
        ]
    ) { arguments, session throws(Failure) in
        guard let order = ConformOrder(rawValue: arguments.operands[0]) else {
            let words = ConformOrder.allCases.map(\.rawValue)
            throw arguments.usageFailure(
                "\(arguments.operands[0]): one of \(words.joined(separator: ", "))"
                    + suggestion(for: arguments.operands[0], among: words))
        }
        for option in arguments.values.keys where !Option.everywhere.contains(option) && !order.takes(option) {
            throw arguments.usageFailure("--\(option.name) is not for \(order.rawValue)")
        }
        switch order {
        case .cases:
            if let path = arguments[.check] { return try ConformFiles.check(path, arguments, session) }
            var cases = try ConformCases(arguments, session)
            return try cases.print()
        case .judge: return try ConformFiles.judge(arguments, session)
        }
    }
}

/// The orders of `conform`. The raw values are the words of the command line.
private enum ConformOrder: String, CaseIterable {
    case cases, judge

    func takes(_ option: Option) -> Bool {
        let ofJudge: [Option] = [.cases, .known, .format]
        return (self == .judge) == ofJudge.contains(option)
    }
}

/// The forms of the output of `conform judge`. The raw values are those of the command line.
enum ConformFormat: String, CaseIterable {
    case text, junit, json
}

extension Option {
    static let providers = Option(
        "providers", .text("NAME,..."), "the SDKs of the app: payloads of other providers are the app's own")
    static let payloads = Option(
        "payloads", .text("DIR|FILE"), "cases: also the pushes of these files, as explain reads them")
    static let fromLedger = Option(
        "from-ledger", .text("TIME"), "cases: also the pushes that the ledger has since then, such as -7d, masked")
    static let unmasked = Option("unmasked", .none, "cases: leave texts and numbers from the ledger as they are")
    static let check = Option("check", .file, "cases: decide the cases of this file again, and print what has changed")
    static let cases = Option("cases", .file, "judge: the file of the cases")
    static let known = Option("known", .file, "judge: a file with the faults that the team knows, each with a reason")
}

extension Session {
    /// The configuration, with the rules of the SDKs that `--providers` names alone.
    ///
    /// - Parameter usual: the SDKs without the option; `nil`: all.
    func settings(_ arguments: Arguments, usual: [String]? = nil) throws(Failure) -> Settings {
        var settings = try settings()
        let known = settings.routing.detection.providers
        guard let names = arguments.providers ?? usual else { return settings }
        for name in names where !known.contains(where: { $0.name == name }) {
            let near = suggestion(for: name, among: known.map(\.name))
            throw arguments.usageFailure("--providers: there is no provider \(name)\(near)")
        }
        settings.routing.detection.providers = known.filter { names.contains($0.name) }
        return settings
    }
}

extension Arguments {
    /// The names in `--providers`; `nil` without it.
    var providers: [String]? { self[.providers]?.split(separator: ",").map(String.init) }
}
