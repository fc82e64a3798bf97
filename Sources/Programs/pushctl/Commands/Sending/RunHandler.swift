import Glibc
import PushModel
import PushRouter
import PushSettings
import PushViews

extension Command {
    static let runHandler = Command(
        name: "run-handler", summary: "run a real handler on payloads, without a daemon",
        description: [
            """
            Runs the handler NAME of the configuration, or the PROGRAM whose path has a / in it, on each payload as \
            the daemon does: the same input, environment and working directory, the same deadline, and at the end it \
            kills every process that the handler started, also a detached one. Nothing is recorded, and no other \
            handler runs. The command prints the input of the handler (for http the request to its endpoint), its \
            standard output and standard error (the last 4 KiB of each), the answer in that output, the outcome and \
            the duration. A remark gives the reason if the output of an exec handler is no answer.
            """,
            """
            A worker, a socket or http keeps its program or connection from one payload to the next. journal and \
            discard are built in and run no program. The handler runs as the user who runs this command, outside of \
            the sandbox and the limits of the service. The service may forbid the network, home directories or code \
            that a program generates as it runs; with --as-service it runs as in the service. The handler also gets a \
            payload that another handler would get, and runs for a callback that the platform would not run; a remark \
            then says so. For the callbacks of taps and tokens write a scenario, and run it with "test \
            --real-handlers".
            """,
            """
            A PROGRAM needs no configuration: it runs as a handler of Type=exec with the defaults. --seq N gives the \
            handler request N of the ledger: its payload, app, device, user and state, and the callback that ran. A \
            remark prints these facts and the outcome in the ledger. "pushctl show N" prints the full record.
            """,
            """
            Payloads and files have the forms that "inject" takes. The exit status is 0 when every payload was \
            handled, 1 when a payload was not handled, and 66 when PROGRAM or a file is missing. --json prints one \
            object for each payload.
            """,
        ],
        operands: Operands(usage: "NAME|PROGRAM FILE...|-", count: 1...Int.max),
        options: [
            .seq, .callback, .deadline, .platform, .transport, .appState, .locked, .app, .device, .externalID,
            .notifications,
            .osVersion, .sdk, .asService, .verbose, .json,
        ],
        examples: [
            Example(line: "pushctl run-handler orders order.json", meaning: "as the daemon would run it"),
            Example(
                line: "pushctl run-handler orders --deadline 500ms --app-state foreground *.json",
                meaning: "with half a second for each, the app in the foreground"),
            Example(line: "pushctl run-handler ./on-order order.json", meaning: "a program, without any configuration"),
            Example(line: "pushctl run-handler orders --seq 17", meaning: "again, with the payload of request 17"),
            Example(
                line: "sudo pushctl run-handler orders --as-service order.json",
                meaning: "with the permissions of the service only"),
        ]
    ) { arguments, session throws(Failure) in
        let seq = try arguments.seqOfRequest()
        var settings = try session.settings()
        let name = arguments.operands[0]
        let isProgram = name.utf8.contains(UInt8(ascii: "/"))
        let handler =
            try isProgram
            ? Handler.program(at: name) : arguments.handler(name, of: settings, session, mayBeProgram: true)
        settings.routing.handlers[handler.name] = handler
        if arguments.has(.asService) {
            return try ServiceTrial.run(
                arguments, program: isProgram ? handler.kind.command?.arguments.first : nil,
                words: Array(CommandLine.arguments.dropFirst()))
        }
        let deadline = try arguments[.deadline].map { text throws(Failure) in
            guard let span = Duration(timeSpan: text), Trials.deadlines.contains(span) else {
                throw arguments.usageFailure("--deadline \(text): a time from 1ms to 1h, such as 500ms or 1min 30s")
            }
            return span
        }
        var trials = Trials(
            handler: handler, isProgram: isProgram, settings: settings, bridgeCommand: session.bridgeCommand,
            template: RequestTemplate(arguments),
            callback: arguments.word(.callback, Callback.self), deadline: deadline, output: session.output,
            form: arguments.has(.json) ? .json : arguments.has(.verbose) ? .verbose : .text)
        let past = try seq.map { number throws(Failure) in
            try PastRequest(session.story(of: number), handler: handler.name, zone: arguments.zone)
        }
        return try trials.run(Array(arguments.operands.dropFirst()), past)
    }
}

extension Arguments {
    /// The options whose values the ledger has, or that a service's sandbox hides.
    private static let excludedBySeq: [Option] = [
        .platform, .transport, .appState, .locked, .app, .device, .externalID, .notifications, .osVersion, .sdk,
        .asService,
    ]

    /// The number in `--seq`; `nil` with files.
    fileprivate func seqOfRequest() throws(Failure) -> SequenceNumber? {
        guard let text = self[.seq] else {
            guard operands.count > 1 else { throw usageFailure("FILE...|- is missing, or --seq N") }
            return nil
        }
        guard let number = Int64(text), number > 0 else {
            throw usageFailure("--seq \(text): the number of a request, such as 41")
        }
        if operands.count > 1 { throw usageFailure("--seq and \(operands[1]) exclude each other") }
        if let other = Self.excludedBySeq.first(where: has) {
            throw usageFailure("--seq and --\(other.name) exclude each other: the ledger has this fact of the request")
        }
        return SequenceNumber(number)
    }
}

/// Runs a handler on the payloads of files.
private struct Trials {
    /// The form of the output.
    enum Form { case text, verbose, json }

    static let deadlines = Duration.milliseconds(1)...Duration.seconds(3600)

    let handler: Handler
    /// Whether the handler is a program, and not one of the configuration.
    let isProgram: Bool
    let settings: Settings
    let bridgeCommand: (Bridge) -> Handler.Command?
    let template: RequestTemplate
    let callback: Callback?
    let deadline: Duration?
    let output: Output
    let form: Form
    /// The worst status so far: wrong input takes precedence over a failed handler.
    private var status = ExitStatus.done

    init(
        handler: Handler, isProgram: Bool, settings: Settings, bridgeCommand: @escaping (Bridge) -> Handler.Command?,
        template: RequestTemplate,
        callback: Callback?, deadline: Duration?,
        output: Output, form: Form
    ) {
        self.handler = handler
        self.isProgram = isProgram
        self.settings = settings
        self.bridgeCommand = bridgeCommand
        self.template = template
        self.callback = callback
        self.deadline = deadline
        self.output = output
        self.form = form
    }

    /// Runs the handler on the payloads of files, or on a request of the ledger.
    mutating func run(_ operands: [String], _ past: PastRequest?) throws(Failure) -> ExitStatus {
        let trial: HandlerTrial
        do { trial = try HandlerTrial(handler, settings, bridgeCommand: bridgeCommand) } catch {
            throw Self.failure(error)
        }
        output.beforeExit = { trial.endAtOnce() }
        defer { output.beforeExit = {} }
        do throws(Failure) {
            if let past {
                try run(
                    past.deliver, of: past.request, past.platform, at: "request \(past.seq)",
                    as: callback ?? past.callback, remark: past.summary, trial)
            }
        } catch {
            note(error)
        }
        for operand in operands {
            do throws(Failure) {
                try run(operand, trial)
            } catch {
                // The next file may be right.
                note(error)
            }
        }
        output.flush()
        do { try trial.end() } catch { throw Self.failure(error) }
        return status
    }

    private mutating func run(_ operand: String, _ trial: HandlerTrial) throws(Failure) {
        let file = try InputFile(operand)
        var payloads = PayloadReader(pasted: file, for: template.chosenPlatform, note: output.note)
        while let record = try next(of: &payloads, in: file, trial) {
            do throws(Failure) {
                try run(record, of: file, trial)
            } catch {
                // The next payload of the file may be right.
                note(error)
            }
        }
    }

    private mutating func next(
        of payloads: inout PayloadReader<InputFile>, in file: InputFile, _ trial: HandlerTrial
    ) throws(Failure) -> PayloadRecord? {
        if let descriptor = file.awaitedDescriptor {
            do { try trial.wait(forInput: descriptor) } catch { throw Self.failure(error) }
        }
        return try payloads.nextOrNote { note($0) }
    }

    private mutating func run(_ record: PayloadRecord, of file: InputFile, _ trial: HandlerTrial) throws(Failure) {
        try file.check(record)
        let (request, deliver, platform) = try template.delivery(
            in: record, isAPNs: file.isAPNs, settings: settings, verb: "given to a handler", guessed: output.note)
        try run(deliver, of: request, platform, at: record.place, as: callback, trial)
    }

    private mutating func run(
        _ deliver: DeliverRequest, of request: Request, _ platform: Platform, at place: String, as callback: Callback?,
        remark: String? = nil, _ trial: HandlerTrial
    ) throws(Failure) {
        let explanation: Explanation
        do {
            explanation = try Explanation(deliver, platform: platform, table: settings.routing)
        } catch {
            throw Failure(.badData, "\(place): \(error.field): \(error.message)")
        }
        let plan = TrialPlan(
            explanation, handler: handler.name, isProgram: isProgram, callback: callback, deadline: deadline,
            remark: remark, table: settings.routing)
        let result: Trial
        do {
            result = try trial.run(deliver, of: request, at: place, plan)
        } catch let refusal as Refusal {
            let error = ProtocolError(refusal, id: nil)
            throw Failure(.badData, "\(place): \(error.field.map { "\($0): " } ?? "")\(error.message)")
        } catch { throw Self.failure(error) }
        switch form {
        case .json: output.write(document: result.json)
        case .text: output.print(result.text(isVerbose: false))
        case .verbose: output.print(result.text(isVerbose: true))
        }
        // Flushed, so that a person sees the results before a slow handler ends.
        output.flush()
        if !result.isHandled, status == .done { status = .no }
    }

    private mutating func note(_ failure: Failure) {
        output.note(failure.message)
        status = failure.status
    }

    private static func failure(_ error: any Error) -> Failure {
        Failure(.inputOutput, "cannot run handlers: \(error)")
    }
}

extension Arguments {
    /// Finds a handler by name.
    ///
    /// - Throws: a failure with the known names, and the directories of the configuration.
    func handler(
        _ name: String, of settings: Settings, _ session: Session, mayBeProgram: Bool = false
    ) throws(Failure) -> Handler {
        if let handler = settings.routing.handlers[name] { return handler }
        let names = settings.routing.handlers.keys.sorted()
        let near = nearest(to: name, among: names).map { "; did you mean \($0)?" } ?? ""
        let places = session.directories.configuration.joined(separator: ", ")
        let isFile = mayBeProgram && access(name, F_OK) == 0 && !Directory.exists(name)
        let program = isFile ? "; the program in this directory is ./\(name)" : ""
        let known = names.isEmpty ? "there are none" : "the handlers are \(names.joined(separator: ", "))"
        throw usageFailure("there is no handler \(name)\(near)\(program); \(known) in \(places)")
    }
}
