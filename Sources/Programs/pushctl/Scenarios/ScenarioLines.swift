import PushModel
import PushRouter
import PushSettings
import PushViews

/// The lines of a scenario file, with the payloads of `payload_file` inserted.
struct ScenarioLines {
    let file: InputFile
    private let settings: Settings

    /// - Parameter settings: the limits of a request.
    init(_ file: InputFile, _ settings: Settings) {
        self.file = file
        self.settings = settings
    }

    /// The next line; `nil` at the end.
    ///
    /// - Throws: the error in a payload file, with the place in the scenario and in the payload file.
    func next() throws(Failure) -> [UInt8]? {
        guard let line = try file.nextLine() else { return nil }
        let reference: PayloadReference?
        do { reference = try PayloadReference(line, number: file.lineNumber) } catch {
            throw Failure(.badData, "\(place): \(error.message)")
        }
        guard let reference else { return line }
        do throws(Failure) { return try withPayload(reference) } catch {
            throw Failure(error.status, "\(place): payload_file: \(error.message)")
        }
    }

    private var place: String { "\(file.name):\(file.lineNumber)" }

    private func withPayload(_ reference: PayloadReference) throws(Failure) -> [UInt8] {
        let scenario = self.file.name
        let directory = scenario.lastIndex(of: "/").map { String(scenario[...$0]) } ?? ""
        let path = reference.file.hasPrefix("/") ? reference.file : directory + reference.file
        // In a scenario "-" is a file's name, not standard input.
        let file = try InputFile(path == "-" ? "./-" : path)
        try checkForm(of: file)
        var limits = settings.daemon.jsonLimits
        // The request around the payload takes one level.
        limits.depth -= 1
        var payloads = PayloadReader(file, limits: limits)
        guard let payload = try payloads.next() else { preconditionFailure("the reader throws when there is none") }
        guard payload.document.bytes.count <= settings.daemon.requestLengthMax else {
            let limit = settings.daemon.requestLengthMax
            throw Failure(.badData, "\(file.name): \(ProtocolError.tooLong(limit: limit).message)")
        }
        guard try payloads.next() == nil else {
            throw Failure(.badData, "\(file.name):\(file.lineNumber):1: a second payload: a file of a scenario has one")
        }
        try file.check(payload)
        return reference.line(with: payload.document.root, isAPNs: file.isAPNs)
    }

    /// Accepts one JSON object only: a scenario must mean the same everywhere, so no other form is guessed.
    private func checkForm(of file: InputFile) throws(Failure) {
        guard file.canRewind else { throw Failure(.noInput, "\(file.name): not a regular file") }
        let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = try file.rest().drop { $0.isJSONWhiteSpace || byteOrderMark.contains($0) }
        guard text.first == UInt8(ascii: "{") else {
            throw Failure(.badData, "\(file.name): not a JSON object: a payload file has one payload, as it is sent")
        }
        try file.rewind()
    }
}

/// Finds scenario files.
enum ScenarioFiles {
    /// The suffixes of scenarios in a directory; an operand may have any suffix.
    static let suffixes = [".jsonl", ".ndjson"]

    /// The scenarios of an operand: the file itself, or the files in the directory and below it, sorted by name. Skips
    /// names that begin with a dot, and follows no symbolic links to directories.
    static func list(_ operand: String) throws(Failure) -> [String] {
        guard Directory.exists(operand) else { return [operand] }
        let files = try Directory.files(below: operand).filter {
            suffixes.contains(where: $0.hasSuffix) && Directory.hasRegular($0)
        }
        guard !files.isEmpty else {
            throw Failure(
                .noInput,
                "\(operand): no scenario in this directory: scenario files end in \(suffixes.joined(separator: " or "))"
            )
        }
        return files
    }

    /// The directory `config` beside a scenario; `nil` if there is none.
    static func configuration(beside file: String) -> String? {
        let directory = file.lastIndex(of: "/").map { String(file[...$0]) } ?? ""
        let path = directory + "config"
        return Directory.exists(path) ? path : nil
    }
}
