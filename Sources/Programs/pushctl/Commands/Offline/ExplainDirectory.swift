import Glibc
import PushModel
import PushRouter
import PushSettings
import PushViews

extension Option {
    static let expect = Option(
        "expect", .text("KEY=VALUE"),
        """
        exit with 1 when this does not hold for a payload; * matches any text, none stands for no value; given several \
        times, all must hold; KEY is \(ExplainExpectation.Key.allCases.map(\.rawValue).joined(separator: ", ")); \
        kind is \(BrazeFacts.Kind.allCases.map(\.rawValue).joined(separator: ", ")); confidence is \
        \(ProviderRule.Confidence.allCases.map(\.rawValue).joined(separator: ", ")); outcome is "handler NAME" where a \
        handler decides it; a value that a key cannot have is told, with those that it can
        """)
    static let failOnWarning = Option("fail-on-warning", .none, "exit with 1 when a payload has a warning")
}

/// Finds payload files.
enum PayloadFiles {
    /// The suffixes of payload files in a directory; an operand may have any suffix.
    static let suffixes = [".json", ".ndjson", ".jsonl", ".apns", ".txt"]
    /// As many files as a note names.
    private static let namedMax = 5

    /// The payload files of an operand: the file itself, or the regular files in the directory and below it; empty for
    /// a directory without any.
    ///
    /// - Parameter note: takes a note about files that are left out.
    static func list(_ operand: String, note: (String) -> Void) throws(Failure) -> [String] {
        guard Directory.exists(operand) else { return [operand] }
        var files: [String] = []
        var leftOut: [String] = []
        for file in try Directory.files(below: operand) {
            if suffixes.contains(where: file.hasSuffix), Directory.hasRegular(file), try !isProse(file) {
                files.append(file)
            } else {
                leftOut.append(file)
            }
        }
        if !leftOut.isEmpty {
            let more = leftOut.count > namedMax ? " and \(leftOut.count - namedMax) more" : ""
            note("\(operand): left out: \(leftOut.prefix(namedMax).joined(separator: ", "))\(more)")
        }
        return files
    }

    /// Whether a path is there.
    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// The failure for a directory without any.
    static func none(in directory: String) -> Failure {
        Failure(
            .noInput,
            "\(directory): no payload file in this directory: payload files end in \(suffixes.joined(separator: ", "))")
    }

    /// Whether a text file has no form of a payload.
    private static func isProse(_ path: String) throws(Failure) -> Bool {
        guard path.hasSuffix(".txt") else { return false }
        let file = try InputFile(path)
        while let line = try file.nextLine() {
            if line.contains(where: { !$0.isJSONWhiteSpace }) {
                return PayloadStart(in: line) == nil && !PayloadStart.isLog(line)
            }
        }
        return true
    }
}

/// Checks the payloads of files and directories, with one line of output for each.
struct ExplainDirectory {
    private let operands: [String]
    private let expectations: [ExplainExpectation]
    private let failsOnWarning: Bool
    /// Whether each part of an FCM v1 message is checked, for its platform.
    private let hasAllPlatforms: Bool
    /// Whether annotations for GitHub follow the text.
    private let isOnGitHub: Bool
    private let format: ExplainFormat
    private let settings: Settings
    private let template: RequestTemplate
    private let output: Output
    private var payloads: [ExplainedPayload] = []
    /// The exit status of the last payload that cannot be read or would be refused.
    private var status = ExitStatus.done

    /// - Returns: `nil` if the payloads are to be explained at length.
    init?(_ arguments: Arguments, _ format: ExplainFormat, _ session: Session) throws(Failure) {
        let checks = arguments.has(.expect) || arguments.has(.failOnWarning) || format == .junit || format == .github
        guard checks || format != .html && arguments.operands.contains(where: Directory.exists) else { return nil }
        guard format != .html else {
            throw arguments.usageFailure(
                "--format html: --expect and --fail-on-warning have the formats text, json, junit and github")
        }
        guard arguments[.appState] != Option.all else {
            throw arguments.usageFailure("--app-state all: a check of files takes one state")
        }
        settings = try session.settings(arguments)
        var expectations: [ExplainExpectation] = []
        for text in arguments.all(.expect) {
            guard let expectation = ExplainExpectation(text) else {
                let keys = ExplainExpectation.Key.allCases.map(\.rawValue)
                let key = String(text.prefix { $0 != "=" })
                throw arguments.usageFailure(
                    "--expect \(text): written as KEY=VALUE; the keys are \(keys.joined(separator: ", "))"
                        + suggestion(for: key, among: keys))
            }
            if let complaint = expectation.complaint(under: settings.routing) {
                throw arguments.usageFailure("--expect \(text): \(complaint)")
            }
            expectations.append(expectation)
        }
        self.expectations = expectations
        self.format = format
        operands = arguments.operands
        failsOnWarning = arguments.has(.failOnWarning)
        hasAllPlatforms = arguments[.platform] == Option.all
        isOnGitHub = !arguments.has(.format) && Output.environment("GITHUB_ACTIONS") == "true"
        template = RequestTemplate(arguments)
        output = session.output
    }

    mutating func run() -> ExitStatus {
        for operand in operands {
            do {
                let files = try PayloadFiles.list(operand, note: output.note)
                for file in files { try explain(file) }
                if files.isEmpty { note(PayloadFiles.none(in: operand), file: operand, isNone: true) }
            } catch {
                note(error, file: operand)
            }
        }
        let report = ExplainedPayloads(payloads, failsOnWarning: failsOnWarning)
        switch format {
        case .text, .html:
            output.print(report.lines(width: output.width))
            if isOnGitHub { output.write(report.annotations.utf8) }
        case .json: break
        case .junit: output.write(report.junit.utf8)
        case .github: output.write(report.annotations.utf8)
        }
        return status == .done && report.hasFailures ? .no : status
    }

    private mutating func explain(_ path: String) throws(Failure) {
        let file: InputFile
        do { file = try InputFile(path) } catch { return note(error, file: path) }
        var reader = PayloadReader(pasted: file, for: template.chosenPlatform, note: output.note)
        var problems: [Failure] = []
        while true {
            let record: PayloadRecord?
            do { record = try reader.nextOrNote { problems.append($0) } } catch {
                problems.append(error)
                record = nil
            }
            problems.forEach { note($0, file: file.name, isNone: reader.hasNoPayload) }
            problems = []
            guard let record else { return }
            do { try explain(record, of: file) } catch { note(error, file: file.name, line: record.firstLine) }
        }
    }

    private mutating func explain(_ record: PayloadRecord, of file: InputFile) throws(Failure) {
        try file.check(record)
        let (_, deliver, platform) = try template.delivery(
            in: record, isAPNs: file.isAPNs, settings: settings, verb: "explained", guessed: { _ in })
        for platform in hasAllPlatforms ? deliver.platforms(beside: platform) : [platform] {
            var target = deliver.target
            target.platform = platform
            try explain(deliver.redirected(to: target, state: deliver.state), for: platform, record, of: file)
        }
    }

    private mutating func explain(
        _ deliver: DeliverRequest, for platform: Platform, _ record: PayloadRecord, of file: InputFile
    ) throws(Failure) {
        let explanation: Explanation
        do { explanation = try Explanation(deliver, platform: platform, table: settings.routing) } catch {
            throw record.failure(field: error.field, error.message)
        }
        var payload = ExplainedPayload(
            file: file.name, line: record.line, place: record.place, annotatedLine: record.firstLine)
        payload.platform = platform.rawValue
        payload.provider = explanation.decision.provider
        payload.callbacks = explanation.callbackNames
        payload.outcome = explanation.outcomeWord
        payload.warnings = explanation.warnings
        let json = explanation.json
        if !expectations.isEmpty, let object = try? JSONDocument(scanning: json).root {
            payload.failures = expectations.compactMap { $0.failure(in: explanation, object) }
        }
        if format == .json { output.write(document: payload.json(explanation: json)) }
        payloads.append(payload)
    }

    /// - Parameters:
    ///   - line: the first line of the payload, for a message without a line; `nil`: the message is about the file.
    ///   - isNone: whether the file or directory has no payload.
    private mutating func note(_ failure: Failure, file: String, line: Int? = nil, isNone: Bool = false) {
        status = failure.status
        // A failure's place is "file:line".
        let place = failure.message.hasPrefix("\(file):") ? failure.message.dropFirst(file.count + 1) : ""
        let told = Int(place.prefix { $0.isASCII && $0.isNumber })
        var payload = ExplainedPayload(file: file, line: told, place: file, annotatedLine: told ?? line)
        payload.error = failure.message
        payload.isNone = isNone
        payloads.append(payload)
        if format != .text { output.note(failure.message) }
    }
}

extension DeliverRequest {
    /// The platforms that its payload is for: one, and those with a part of their own in an FCM v1 message.
    func platforms(beside first: Platform) -> [Platform] {
        let message = payload["message"]
        let others: [Platform] = (message?["apns"] == nil ? [] : [.ios]) + (message?["webpush"] == nil ? [] : [.web])
        return [first] + others.filter { $0 != first }
    }
}
