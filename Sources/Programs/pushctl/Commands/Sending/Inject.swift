import PushModel
import PushRouter
import PushSettings
import PushViews

extension Command {
    static let inject = Command(
        name: "inject", summary: "send push payloads to the daemon",
        description: [
            """
            Sends deliveries: payloads that reach an app on a device. A FILE is one JSON object, on one line or \
            several; or any number of objects, one a line (NDJSON), or in an array; or an .apns file of the iOS \
            simulator. "-" is standard input.
            """,
            """
            The command converts other forms to JSON, and standard error says so, once for a file: \
            \(PayloadForm.namesOfOthers). A printed Bundle or map escapes no character: a comma and a space end a \
            value if a key and "=" follow, except within matching brackets and before a key that the map already has. \
            The other lines of a log or of a text are left out. A command in the file may take several lines; its words \
            are neither run nor expanded. A payload may be in the event of a plugin or in the send body of a service \
            that passes it on. The platform, the app, the transport and the headers of APNs that the form names count \
            if no option names them. What is no push, such as the answer of a service, is named and not sent. The \
            daemon itself takes JSON only.
            """,
            """
            These payloads are accepted: an FCM v1 send body ("message"), the extras of an intent ("extras"), a \
            RemoteMessage ("data", "notification"), a bare data map; an APNs userInfo; a web push data object. Values \
            are passed on byte for byte.
            """,
            """
            An object is a request, and is sent as it is, if its "op" is a known operation (deliver, interact, \
            session, token, log), or if it has both "op" and "payload". The options add keys that a request with a \
            known operation lacks. Any other object is a payload. "locked", "os_version", "notifications" and "sdk" \
            have no option here: write a request to set them.
            """,
            """
            Without --platform the platform is ios for a payload with an object "aps" at its top and for .apns files, \
            which have at most 4,096 bytes; else the daemon uses the device's last known platform, or android. A line \
            that is not a JSON object is reported with file, line and reason, and the other lines are sent. Replies \
            come in the order of the payloads; "accepted" means that the daemon has the request on disk. When a line \
            or a request was refused, the last line on standard error gives the number of accepted requests.
            """,
            """
            The exit status is 0 when all requests were accepted and none of their custom data was rejected, 65 when a \
            line is not JSON, and 1 when the daemon refused a request or rejected custom data. With --wait the command \
            ends when the outcome of each invocation has come; for an unsuccessful outcome it prints the standard \
            error of the handler, if you may read the ledger. After 15 s without an outcome, as on a full disk, the \
            command says so once on standard error. With --fail as well the exit status is 1 when an outcome is \
            neither handled nor handed_to_tracker.
            """,
        ],
        operands: Operands(usage: "FILE...|-", count: 0...Int.max),
        options: [
            .platform, .transport, .app, .device, .externalID, .appState, .id, .wait, .fail,
            .example.meaning("instead of FILE: the pushes of an accident that explain shows; list prints the names"),
            .json,
        ],
        examples: [
            Example(line: "pushctl inject --platform ios --app com.example.app push.json", meaning: "send one payload"),
            Example(
                line: "pushctl inject --device pixel-1 --wait push.json",
                meaning: "send one payload and print its outcome"),
            Example(
                line: "pushctl inject --example notification-block", meaning: "a push that Android shows by itself"),
            Example(line: "generate | pushctl inject -", meaning: "send a stream of payloads, one a line"),
        ]
    ) { arguments, session throws(Failure) in
        if let name = arguments[.example] {
            if let operand = arguments.operands.first {
                throw arguments.usageFailure("--example has a payload of its own: \(operand) is one operand too many")
            }
            guard let accident = Accident.named(name) else { return session.listExamples(arguments) }
            var exchange = try Exchange(
                path: session.directories.injectSocket, arguments, output: session.output,
                readOutputs: session.outputs)
            let template = RequestTemplate(arguments)
            for request in accident.requests {
                try exchange.send(template.line(for: request.root, isAPNs: false), from: name)
            }
            try exchange.finish()
            return exchange.refused > 0 ? .no : .done
        }
        guard !arguments.operands.isEmpty else { throw arguments.usageFailure("FILE...|- is missing") }
        var inject = Inject(arguments, session)
        return try inject.run()
    }
}

/// Sends the payloads of files, in order.
private struct Inject {
    private let session: Session
    private let template: RequestTemplate
    private let arguments: Arguments
    private var exchange: Exchange?
    private var status = ExitStatus.done
    /// The number of lines and files that could not be read.
    private var unreadable = 0
    private var sent = 0

    init(_ arguments: Arguments, _ session: Session) {
        self.session = session
        template = RequestTemplate(arguments)
        self.arguments = arguments
    }

    mutating func run() throws(Failure) -> ExitStatus {
        try Exchange.check(arguments)
        for operand in arguments.operands {
            guard let file = checking({ () throws(Failure) in try Self.checked(operand) }) else { continue }
            try send(file)
        }
        try exchange?.finish()
        printSummary()
        return status == .done && exchange?.refused ?? 0 > 0 ? .no : status
    }

    /// Prints the number of accepted requests, if others were not accepted.
    private func printSummary() {
        let refused = exchange?.refusedRequests ?? 0
        guard unreadable + refused > 0, !arguments.has(.json) else { return }
        var parts = ["\(counted(exchange?.accepted ?? 0, "request")) accepted"]
        if refused > 0 { parts.append("\(refused) refused by the daemon") }
        if unreadable > 0 { parts.append("\(unreadable) not readable") }
        session.output.note(parts.joined(separator: ", "))
    }

    /// Opens a file. A file of the iOS simulator has one payload, which is checked before it is sent.
    private static func checked(_ operand: String) throws(Failure) -> InputFile {
        let file = try InputFile(operand)
        guard file.isAPNs, file.canRewind else { return file }
        var payloads = PayloadReader(file)
        while let record = try payloads.next() { try file.check(record) }
        try file.rewind()
        return file
    }

    private mutating func send(_ file: InputFile) throws(Failure) {
        var payloads = PayloadReader(pasted: file, for: template.chosenPlatform, note: session.output.note)
        while true {
            var problems: [Failure] = []
            let record = checking { () throws(Failure) in try payloads.nextOrNote { problems.append($0) } } ?? nil
            problems.forEach { note($0) }
            guard let record else { return }
            let line = template.line(for: record, isAPNs: file.isAPNs)
            guard sent == 0 || !arguments.has(.id) else {
                throw arguments.usageFailure("--id names one request: the first was sent, and \(record.place) was not")
            }
            try open()
            try exchange?.send(line, from: record.place)
            sent += 1
            // A writer of one payload at a time gets the outcome of each before the next.
            if file.mustWait { try exchange?.settle() }
        }
    }

    /// Reads input. Prints an error, and returns `nil`: other input, and what was sent, stay valid.
    private mutating func checking<Value>(_ read: () throws(Failure) -> Value) -> Value? {
        do {
            return try read()
        } catch {
            note(error)
            return nil
        }
    }

    private mutating func note(_ problem: Failure) {
        session.output.note(problem.message)
        status = problem.status
        unreadable += 1
    }

    /// Connects once there is a request to send: errors in a file are found without a daemon.
    private mutating func open() throws(Failure) {
        guard exchange == nil else { return }
        exchange = try Exchange(
            path: session.directories.injectSocket, arguments, output: session.output,
            readOutputs: session.outputs)
    }
}
