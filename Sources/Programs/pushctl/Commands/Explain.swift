import PushDispatch
import PushModel
import PushRouting
import PushSettings

extension Command {
    static let explain = Command(
        name: "explain", summary: "show what would happen to a payload, and why",
        description: [
            """
            Shows, without a daemon, whose payload it is, which callbacks the platform would run, which handlers would \
            get them, and why. It also shows which routes do not match, and what the tracks would send for its \
            receipt, a tap, each button and a dismissal. It decides as the daemon does, with the same configuration. \
            Nothing is sent or recorded. It takes the same payloads and files as "inject".
            """,
            """
            Without --platform the platform is the one that a request names; ios for .apns files and for payloads with \
            an object "aps" at their top; else android. --json prints one object for each payload, in the order of the \
            files.
            """,
            """
            With a directory, --expect, --fail-on-warning, or the formats junit and github it checks payloads: a line \
            each, with its owner, callbacks, outcome and first warning. In a directory all files at any depth are read \
            whose names end in \(ExplainDirectory.suffixes.joined(separator: ", ")), in the order of their names; \
            standard error names the others. The exit status is then 0 when all is as expected, 1 when a payload is \
            not, and 65 when one cannot be read or would be refused. --json prints an object for each with its place, \
            "failures" and "explanation".
            """,
        ],
        operands: Operands(usage: "FILE|DIR...|-", count: 1...Int.max),
        options: [
            .platform, .transport, .appState, .locked, .app, .device, .notifications, .osVersion, .sdk, .expect,
            .failOnWarning, .explainFormat, .json,
        ],
        examples: [
            Example(line: "pushctl explain --platform android push.json", meaning: "with the app in the background"),
            Example(
                line: "pushctl explain --platform ios --state foreground --json push.json", meaning: "for a program"),
            Example(
                line: "pushctl explain --expect provider=braze --fail-on-warning templates",
                meaning: "a check of all templates, for CI"),
            Example(line: "adb logcat -d | pushctl explain -", meaning: "the Bundles that an app printed"),
        ]
    ) { arguments, session throws(Failure) in
        let format = try ExplainFormat(arguments)
        if var check = try ExplainDirectory(arguments, format, session) { return check.run() }
        guard format != .html else {
            throw arguments.usageFailure("--format html: for one payload there are text and json")
        }
        let explain = Explain(
            settings: try session.settings(), template: RequestTemplate(arguments), output: session.output,
            printsJSON: format == .json)
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
                try explain(operand, &status)
            } catch {
                // Other files may be right.
                note(error, &status)
            }
        }
        return status
    }

    private func explain(_ operand: String, _ status: inout ExitStatus) throws(Failure) {
        let file = try InputFile(operand)
        var payloads = PayloadReader(file, tell: output.note)
        while let record = try payloads.nextOrNote({ note($0, &status) }) {
            do {
                try explain(record, of: file)
            } catch {
                // Other payloads of the file may be right.
                note(error, &status)
            }
            if file.mustWait { output.flush() }
        }
    }

    private func explain(_ record: Record, of file: InputFile) throws(Failure) {
        try file.check(record)
        let explanation = try explanation(of: record, isAPNs: file.isAPNs)
        if printsJSON {
            output.write(document: explanation.json)
        } else {
            output.print("\(record.place): \(explanation.text)")
        }
    }

    private func note(_ failure: Failure, _ status: inout ExitStatus) {
        output.note(failure.message)
        status = failure.status
    }

    /// Reads the payload as the daemon would, as a request, so that the same things are wrong with it.
    private func explanation(of record: Record, isAPNs: Bool) throws(Failure) -> Explanation {
        let (_, deliver, platform) = try template.delivery(
            in: record, isAPNs: isAPNs, settings: settings, verb: "explained", output: output)
        do {
            return try Explanation(deliver, platform: platform, table: settings.routing)
        } catch {
            throw record.failure(field: error.field, error.message)
        }
    }
}
