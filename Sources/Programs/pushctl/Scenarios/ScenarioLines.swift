import PushModel
import PushRouting
import PushSettings

/// The lines of a scenario file, in which the payloads of `payload_file` stand where they belong.
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
    /// - Throws: what is wrong with a payload file, with the place of the line and that in the payload file.
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
        let directory = reference.file.hasPrefix("/") ? "" : ScenarioFiles.directory(of: file.name)
        let path = directory + reference.file
        // A file of that name, not standard input.
        let file = try InputFile(path == "-" ? "./-" : path)
        var limits = settings.daemon.jsonLimits
        // The line around it is one more level.
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
}
