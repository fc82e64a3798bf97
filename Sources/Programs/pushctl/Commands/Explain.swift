import PushDispatch
import PushModel
import PushRouting
import PushSettings

extension Command {
    static let explain = Command(
        name: "explain", summary: "say what would happen to a payload, and why",
        description: [
            """
            Says without a daemon whose payload it is, which callbacks the platform would run, who would get them, and \
            why. It decides as the daemon does, by the same configuration; nothing is sent or recorded. Payloads are \
            those that "inject" takes, and so are files.
            """,
            """
            The platform left out is the one in a request, ios for .apns files, else android. --json prints one object a \
            payload, in the order of the files.
            """,
        ],
        operands: Operands(usage: "FILE...|-", count: 1...Int.max),
        options: [.platform, .transport, .appState, .locked, .app, .device, .notifications, .osVersion, .sdk, .json],
        examples: [
            Example(line: "pushctl explain --platform android push.json", meaning: "with the app in the background"),
            Example(
                line: "pushctl explain --platform ios --state foreground --json push.json", meaning: "for a program"),
        ]
    ) { arguments, session throws(Failure) in
        let explain = Explain(
            settings: try session.settings(), template: RequestTemplate(arguments), output: session.output,
            printsJSON: arguments.has(.json))
        return explain.run(arguments.operands)
    }
}

/// Explains the payloads of files.
private struct Explain {
    let settings: Settings
    let template: RequestTemplate
    let output: Output
    let printsJSON: Bool

    func run(_ operands: [String]) -> ExitStatus {
        var status = ExitStatus.done
        for operand in operands {
            do {
                try explain(operand)
            } catch {
                // Other files may be right.
                output.note(error.message)
                status = error.status
            }
        }
        return status
    }

    private func explain(_ operand: String) throws(Failure) {
        let file = try InputFile(operand)
        var payloads = PayloadReader(file)
        while let record = try payloads.next() {
            try file.check(record)
            let explanation = try explanation(of: record, isAPNs: file.isAPNs)
            if printsJSON {
                output.write(line: explanation.json)
            } else {
                output.print("\(record.place): \(explanation.text)")
            }
            if file.mustWait { output.flush() }
        }
    }

    /// Reads the payload as the daemon would, as a request, so that the same things are wrong with it.
    private func explanation(of record: Record, isAPNs: Bool) throws(Failure) -> Explanation {
        let line = template.line(for: record.document.root, isAPNs: isAPNs)
        let request: Request
        do {
            request = try Request(line: line, limits: JSONLimits(depth: settings.daemon.jsonDepthMax))
        } catch {
            throw failure(record, field: error.field, error.message)
        }
        guard case .deliver(let deliver) = request.action else {
            throw failure(record, field: "op", "only what delivers a payload can be explained")
        }
        let platform = deliver.target.platform ?? deliver.transport?.platform
        if platform == nil {
            output.note("\(record.place): no --platform: taken as android")
        }
        do {
            return try Explanation(deliver, platform: platform ?? .android, table: settings.routing)
        } catch {
            throw failure(record, field: error.field, error.message)
        }
    }

    private func failure(_ record: Record, field: String?, _ message: String) -> Failure {
        Failure(.badData, "\(record.place): \(field.map { "\($0): " } ?? "")\(message)")
    }
}
