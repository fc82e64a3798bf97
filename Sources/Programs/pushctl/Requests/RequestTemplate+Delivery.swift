import PushModel
import PushSettings

extension RequestTemplate {
    /// Reads a record as the daemon reads a delivery request, so that the same errors are found.
    ///
    /// - Parameters:
    ///   - record: a payload, or a request.
    ///   - isAPNs: whether its file is an `.apns` file.
    ///   - settings: the limits.
    ///   - verb: the past participle for the message: `explained`.
    ///   - guessed: called if the platform is unknown and Android is assumed.
    func delivery(
        in record: Record, isAPNs: Bool, settings: Settings, verb: String, guessed: (String) -> Void
    ) throws(Failure) -> (request: Request, deliver: DeliverRequest, platform: Platform) {
        let line = line(for: record, isAPNs: isAPNs)
        let limit = settings.daemon.requestLengthMax
        guard line.count <= limit else {
            throw record.failure(field: nil, ProtocolError.tooLong(limit: limit).message)
        }
        let request: Request
        do {
            request = try Request(line: line, limits: settings.daemon.jsonLimits)
        } catch {
            throw record.failure(field: error.field, error.message)
        }
        guard case .deliver(let deliver) = request.action else {
            throw record.failure(field: "op", "only payloads and deliver requests can be \(verb)")
        }
        let platform = deliver.target.platform ?? deliver.transport?.platform
        if platform == nil { guessed("\(record.place): no --platform given: using android") }
        return (request, deliver, platform ?? .android)
    }
}

extension Record {
    /// The failure for an error in the record.
    func failure(field: String?, _ message: String) -> Failure {
        Failure(.badData, "\(place): \(field.map { "\($0): " } ?? "")\(message)")
    }
}
