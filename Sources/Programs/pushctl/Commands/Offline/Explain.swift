import LinuxSystem
import PushModel
import PushRouter
import PushSettings
import PushViews

extension Command {
    static let explain = Command(
        name: "explain", summary: "show the decision for a payload, and the reasons",
        description: [
            """
            Shows, without a daemon, the owner of a payload, the callbacks that the platform would run, the handlers \
            that would get them, the event that a tap counts as, and the reasons. It also shows which routes do not \
            match, and the entries that the tracks would send for its receipt, a tap, each button and a dismissal. It \
            decides as the daemon does, with the same configuration. Nothing is sent or recorded. It takes the same \
            payloads and files as "inject", and directories.
            """,
            """
            It reads a pasted payload with a fault that has one repair, too, and says what it assumed: a comma at the \
            end of a line or closing brackets that are missing, a masked value or a variable, a link that a mail \
            program broke, an FCM v1 message without its target. A check of payloads refuses these.
            """,
            """
            Without --platform the platform is the one that a request names; ios for .apns files and for payloads with \
            an object "aps" at their top; else android. With --platform web a text without a payload, or an empty file, \
            is a web push of plain text, as the service worker gets it; with --transport web_push any text but an object \
            is. --json prints an object for each payload, in the order of the files.
            """,
            """
            --app-state all and --platform all print a table instead: a line for each state of the app, on each platform \
            that the payload can be for, with the owner, the callbacks, the outcome, the event that a tap \
            counts as, and whether a session that starts a minute later is an influenced open. The warnings say why it is \
            for no other platform. A * marks a cell that differs from the state above, a ! a loss: a push or an open that \
            nobody gets. --format html prints the tables of all payloads, also of a directory, as \
            one page for a ticket; it has all states without --app-state, and all platforms without --platform. A \
            second line "background" has the device in Doze, or in low power, for a push that comes late then.
            """,
            """
            With a directory, --expect, --fail-on-warning, or the formats junit and github it checks payloads: a line \
            each, with its owner, callbacks, outcome and first warning. In a directory all files at any depth are read \
            whose names end in \(PayloadFiles.suffixes.joined(separator: ", ")), in the order of their names; \
            standard error names the others. The exit status is then 0 when every payload is as expected, 1 when a \
            payload is not, 65 when a payload cannot be read or would be refused, and 66 when a file is missing or a \
            directory has no payload. --json prints an object for each with its place, "failures" and "explanation". \
            --platform all checks the parts "apns" and "webpush" of an FCM v1 body, too. On GitHub \
            (GITHUB_ACTIONS=true) annotations follow the text.
            """,
            """
            --example explains an accident of the catalogue instead: its payload, its outcome and the fix. The \
            configuration decides the outcome. With --json, scenario is a file for "test" that shows both.
            """,
        ],
        operands: Operands(usage: "FILE|DIR...|-", count: 0...Int.max),
        options: [
            .platform.allowing(also: Option.all).meaning("the platform that the payload is for, or all, side by side"),
            .transport,
            .appState.allowing(also: Option.all).meaning("the state of the app (background), or all, side by side"),
            .locked, .app, .device, .notifications, .osVersion, .sdk, .providers,
            .expect, .failOnWarning, .format.allowing(ExplainFormat.self), .example, .json,
        ],
        examples: [
            Example(line: "pushctl explain --platform android push.json", meaning: "with the app in the background"),
            Example(
                line: "pushctl explain --platform all --app-state all push.json",
                meaning: "on every platform, in every state of the app"),
            Example(
                line: "pushctl explain --format html push.json >push.html", meaning: "the same as a page for a ticket"),
            Example(
                line: "pushctl explain --platform ios --app-state foreground --json push.json", meaning: "for a program"
            ),
            Example(
                line: "pushctl explain --expect provider=braze --fail-on-warning templates",
                meaning: "a check of all templates, for CI"),
            Example(line: "adb logcat -d | pushctl explain -", meaning: "the Bundles that an app printed"),
            Example(line: "pushctl explain --example notification-block", meaning: "an open that is lost, and the fix"),
        ]
    ) { arguments, session throws(Failure) in
        if let name = arguments[.example] { return try session.explainExample(name, arguments) }
        guard !arguments.operands.isEmpty else { throw arguments.usageFailure("FILE|DIR...|- is missing") }
        for word in arguments.operands where !PayloadFiles.exists(word) {
            for (option, isValue) in [
                (Option.platform, Platform(rawValue: word) != nil), (.appState, AppState(rawValue: word) != nil),
            ] where isValue {
                throw arguments.usageFailure("there is no file \(word); did you mean --\(option.name) \(word)?")
            }
        }
        let format = try ExplainFormat(arguments)
        if var check = try ExplainDirectory(arguments, format, session) { return check.run() }
        var explain = Explain(arguments, format, try session.settings(arguments), session.output)
        return explain.run(arguments.operands)
    }
}

/// Explains the payloads of files.
private struct Explain {
    private let settings: Settings
    private let template: RequestTemplate
    private let output: Output
    private let format: ExplainFormat
    /// Whether every platform, or every state of the app, is explained: the answers are a table then.
    private let hasAllPlatforms: Bool
    private let hasAllStates: Bool
    /// Whether the options say that it is a web push.
    private let isWebPush: Bool
    /// The tables of the HTML page.
    private var tables: [PayloadMatrix] = []
    private var status = ExitStatus.done
    /// The places of the messages of FCM that were explained, by id.
    private var places: [String: String] = [:]
    /// The limit of such places: a pipe may have any number of payloads.
    private static let placesMax = 4096

    init(_ arguments: Arguments, _ format: ExplainFormat, _ settings: Settings, _ output: Output) {
        (self.format, self.settings, self.output) = (format, settings, output)
        let (platform, state) = (arguments[.platform], arguments[.appState])
        hasAllPlatforms = platform == Option.all || format == .html && platform == nil
        hasAllStates = state == Option.all || format == .html && state == nil
        isWebPush = arguments[.transport] == Transport.webPush.rawValue
        template = RequestTemplate(arguments)
    }

    mutating func run(_ operands: [String]) -> ExitStatus {
        for operand in operands {
            do throws(Failure) {
                let files = try PayloadFiles.list(operand, note: output.note)
                for file in files {
                    // The next file may be right.
                    do throws(Failure) { try explain(file) } catch { note(error) }
                }
                if files.isEmpty { throw PayloadFiles.none(in: operand) }
            } catch {
                note(error)
            }
        }
        if !tables.isEmpty { output.print(tables.page(by: "pushctl \(pushrouterdVersion)", at: Moment.now().wall)) }
        return status
    }

    private mutating func explain(_ operand: String) throws(Failure) {
        let file = try InputFile(operand)
        if let push = try webPush(in: file) { return try explain(push, of: file) }
        var payloads = PayloadReader(
            pasted: file, for: template.chosenPlatform, repairs: true, note: output.note)
        while let record = try payloads.nextOrNote({ note($0) }) {
            do throws(Failure) {
                try explain(record, of: file)
            } catch {
                // The next payload of the file may be right.
                note(error)
            }
            if file.mustWait { output.flush() }
        }
    }

    /// The text of a web push, if the options say that the file is one: by its transport always, by its platform if it
    /// has no payload and no name.
    private func webPush(in file: InputFile) throws(Failure) -> PayloadRecord? {
        guard isWebPush || template.chosenPlatform == .web, let text = try file.whole(upTo: WebPushText.max + 1) else {
            return nil
        }
        let limits = settings.daemon.jsonLimits
        guard let found = PayloadEnvelope.webPush(of: text, isSaid: isWebPush, limits: limits),
            let document = try? JSONDocument(scanning: found.json, limits: limits)
        else { return nil }
        output.note("\(file.name): read as \(found.name ?? "")")
        return PayloadRecord(document: document, place: file.name, platform: .web)
    }

    private mutating func explain(_ record: PayloadRecord, of file: InputFile) throws(Failure) {
        try file.check(record)
        var guesses: [String] = []
        let (_, deliver, platform) = try template.delivery(
            in: record, isAPNs: file.isAPNs, settings: settings, verb: "explained", guessed: { guesses.append($0) })
        if !hasAllPlatforms, let guess = guesses.first {
            output.note(guess)
            let parts = [("apns", Platform.ios), ("webpush", .web)].filter { part, own in
                own != platform && deliver.payload["message"]?[part] != nil
            }.map(\.0)
            if !parts.isEmpty {
                output.note(
                    "\(record.place): it has \(parts.joined(separator: " and ")), too: --platform all explains them")
            }
        }
        guard hasAllPlatforms || hasAllStates || format == .html else {
            let explanation = try explanation(of: deliver, platform, record)
            if !guesses.isEmpty, !record.isBehindText, explanation.decision.braze == nil,
                explanation.decision.providers.isEmpty,
                PayloadEnvelope.isOfNoService(record.document.root)
            {
                throw Failure(
                    .badData,
                    """
                    \(record.place): no push that is known: none of its keys is a push service's, and FCM's data has \
                    texts alone; --platform android explains it as data, and --platform web as the data of a web push
                    """)
            }
            if !guesses.isEmpty, record.name == nil, record.document.root.count > 0,
                !["aps", "message", "data", "notification", "extras"].contains(where: {
                    record.document.root[$0] != nil
                }),
                explanation.isOfBareData
            {
                output.note(
                    "\(record.place): the object is taken for the data of FCM's message: it has no key of a send body, and no aps"
                )
            }
            // Some hide the ids of what they show.
            if let id = explanation.decision.message?.messageID, id.hasPrefix("0:"), id.contains("%"),
                places.count < Self.placesMax,
                let before = places.updateValue(record.place, forKey: id)
            {
                output.note("\(record.place): the message of \(before) again: one push, printed twice")
            }
            return format == .json
                ? output.write(document: explanation.json) : output.print(folding: explanation.lines(at: record.place))
        }
        let all = hasAllPlatforms ? PayloadPlatforms(deliver) : nil
        let matrix = ExplanationMatrix(
            deliver, platforms: all?.possible ?? [platform], leftOut: all?.leftOut ?? [],
            state: hasAllStates ? nil : deliver.state, table: settings.routing)
        guard format != .json else { return output.write(document: matrix.json) }
        let table = matrix.table(name: record.place, payload: Array(deliver.payload.rawBytes))
        if format == .html { tables.append(table) } else { output.print(table.lines(width: output.width)) }
    }

    private mutating func note(_ failure: Failure) {
        output.note(failure.message)
        status = failure.status
    }

    /// Reads the payload as the daemon reads a request, so that the same errors are found.
    private func explanation(
        of deliver: DeliverRequest, _ platform: Platform, _ record: PayloadRecord
    ) throws(Failure) -> Explanation {
        do {
            return try Explanation(deliver, platform: platform, table: settings.routing)
        } catch {
            throw record.failure(field: error.field, error.message)
        }
    }
}

extension Option {
    /// The word that `--example` takes beside the names of the catalogue.
    static let listOfExamples = "list"
    static let example = Option(
        "example", .words(Accident.names + [listOfExamples]),
        "instead of FILE: an accident of the catalogue, its outcome and the fix; list prints the names")
}

extension Session {
    /// Lists the accidents of the catalogue.
    func listExamples(_ arguments: Arguments) -> ExitStatus {
        if arguments.has(.json) { output.write(document: Accident.jsonList) } else { output.print(Accident.list) }
        return .done
    }

    /// Explains an accident of the catalogue under the configuration, or lists the accidents.
    func explainExample(_ name: String, _ arguments: Arguments) throws(Failure) -> ExitStatus {
        let shared = Set(Option.everywhere + [.example, .json])
        if let other = arguments.values.keys.first(where: { !shared.contains($0) }) {
            throw arguments.usageFailure("--example has a payload of its own: it takes no --\(other.name)")
        }
        if let operand = arguments.operands.first {
            throw arguments.usageFailure("--example has a payload of its own: \(operand) is one operand too many")
        }
        let printsJSON = arguments.has(.json)
        guard let accident = Accident.named(name) else { return listExamples(arguments) }
        let table = try settings().routing
        do throws(PayloadError) {
            if printsJSON {
                output.write(document: try accident.json(by: table))
            } else {
                output.print(try accident.text(by: table))
            }
        } catch {
            throw Failure(.badData, "\(name): \(error.message)")
        }
        return .done
    }
}

/// The forms of the output of `explain`. The raw values are those of the command line.
enum ExplainFormat: String, CaseIterable {
    /// For people.
    case text
    /// For programs.
    case json
    /// For a ticket: one self-contained page.
    case html
    /// For CI: a test report.
    case junit
    /// For GitHub: annotations on the files.
    case github

    /// The form that `--format` or `--json` asks for; text without either.
    init(_ arguments: Arguments) throws(Failure) {
        let format = arguments.word(.format, ExplainFormat.self)
        if arguments.has(.json), format ?? .json != .json {
            throw arguments.usageFailure("--json and --format \(arguments[.format] ?? "") exclude each other")
        }
        self = arguments.has(.json) ? .json : format ?? .text
    }
}

extension Explanation {
    /// Whether FCM's service gets the object as the data of a message, and no provider has it.
    fileprivate var isOfBareData: Bool {
        decision.message == nil && decision.providers.isEmpty && decision.callbacks.contains(.onMessageReceived)
    }
}
