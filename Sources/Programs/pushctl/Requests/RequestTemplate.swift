import PushModel
import PushRouter
import PushSettings
import PushViews

extension RequestTemplate {
    /// Reads the options that set members of a request; a missing option sets none, and neither does "all".
    init(_ arguments: Arguments) {
        // Only the gateway sends requests about topics.
        let all = Set(Operation.allCases).subtracting([.topic, .publish])
        self.init(platform: arguments.word(.platform, Platform.self)?.rawValue)
        add("id", arguments[.id], to: all)
        add("app", arguments[.app], to: all)
        add("device", arguments[.device], to: all)
        add("external_id", arguments[.externalID], to: all)
        add("transport", arguments[.transport], to: [.deliver])
        add("state", arguments.word(.appState, AppState.self)?.rawValue, to: [.deliver])
        add("notifications", arguments[.notifications], to: [.deliver])
        add("os_version", arguments[.osVersion], to: [.deliver])
        add("sdk", arguments[.sdk], to: [.deliver, .interact])
        add("suite", arguments[.suite], to: [.log])
        add("braze_id", arguments[.brazeID], to: [.log])
        if arguments.has(.locked) { add("locked", raw: Array("true".utf8), to: [.deliver]) }
        if arguments.has(.wait) { add("wait", "outcome", to: all) }
    }
}

extension RequestTemplate {
    /// The request line for a record, without its line feed.
    func line(for record: PayloadRecord, isAPNs: Bool) -> [UInt8] {
        completed(
            platform: record.platform, app: record.app, transport: record.transport, headers: record.headers
        ).line(for: record.document.root, isAPNs: isAPNs)
    }
}

extension InputFile: PayloadSource {
    /// Returns the failure for a fault in the file.
    func fault(_ message: String) -> Failure { Failure(.badData, message) }

    /// Whether the file is one of the iOS simulator.
    var isAPNs: Bool { name.hasSuffix(".apns") }

    /// Applies the checks of the simulator, if the file is one of its files.
    func check(_ record: PayloadRecord) throws(Failure) {
        guard isAPNs, record.document.root["op"] == nil else { return }
        do {
            try SimulatorFile.check(record.document.root, length: size)
        } catch {
            throw Failure(.badData, "\(record.place): \(error.field): \(error.message)")
        }
    }
}

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
        in record: PayloadRecord, isAPNs: Bool, settings: Settings, verb: String, guessed: (String) -> Void
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
        guard platform == nil else { return (request, deliver, platform ?? .android) }
        let (part, likely) = Self.onlyPart(of: deliver.payload)
        let reason = part.map { ", for \($0) is its only part" } ?? ""
        guessed("\(record.place): no --platform given: using \(likely.rawValue)\(reason)")
        return (request, deliver, likely)
    }
}

extension RequestTemplate {
    /// The platform whose part a message of FCM v1 has alone; Android for any other payload.
    private static func onlyPart(of payload: JSONNode) -> (name: String?, platform: Platform) {
        let parts = ["data", "notification", "android", "apns", "webpush"].filter { payload["message"]?[$0] != nil }
        return switch parts {
        case ["apns"]: (parts[0], .ios)
        case ["webpush"]: (parts[0], .web)
        default: (nil, .android)
        }
    }
}

extension PayloadRecord {
    /// The failure for an error in the record.
    func failure(field: String?, _ message: String) -> Failure {
        Failure(.badData, "\(place): \(field.map { "\($0): " } ?? "")\(message)")
    }
}
