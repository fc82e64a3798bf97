import PushModel
import PushSettings
import PushViews

/// Builds the request lines of all operations but deliveries from the command line.
enum RequestLine {
    /// The line of an interaction with a notification.
    static func interaction(_ kind: InteractRequest.Kind, _ arguments: Arguments) throws(Failure) -> [UInt8] {
        let message = arguments.operands.first
        guard (message == nil) != (arguments[.payload] == nil) else {
            throw arguments.usageFailure("name the notification: give MESSAGE or --payload FILE")
        }
        let at = try time(arguments)
        let payload = try arguments[.payload].map { file throws(Failure) in try Self.payload(in: file) }
        let isApple = payload.map { $0.isAPNs || $0.root.isApplePayload } ?? false
        return try line(.interact, arguments, isApple: isApple) { writer in
            writer.member("kind", kind.rawValue)
            if let at { writer.member("at", raw: at) }
            if let action = arguments[.action] { writer.member("action", action) }
            if let text = arguments[.text] { writer.member("text", text) }
            if let payload { writer.member("payload", raw: payload.root.rawBytes) }
            guard let message else { return }
            if let seq = number(message) { writer.member("message", seq) } else { writer.member("message", message) }
        }
    }

    /// The line of a session's start or end.
    static func session(_ arguments: Arguments) throws(Failure) -> [UInt8] {
        let at = try time(arguments)
        guard let kind = arguments.operands.first.flatMap(SessionRequest.Kind.init(rawValue:)) else {
            throw arguments.usageFailure("\(arguments.operands[0]): must be start or end")
        }
        return try line(.session, arguments) { writer in
            writer.member("kind", kind.rawValue)
            if let at { writer.member("at", raw: at) }
        }
    }

    /// The line of a new or removed token.
    static func token(_ arguments: Arguments) throws(Failure) -> [UInt8] {
        let at = try time(arguments)
        let kind = arguments.word(.tokenKind, TokenRequest.Kind.self) ?? .new
        guard kind == .unregistered || !arguments.operands.isEmpty else {
            throw arguments.usageFailure("TOKEN is missing; only --kind unregistered may leave it out")
        }
        return try line(.token, arguments) { writer in
            writer.member("kind", kind.rawValue)
            if let at { writer.member("at", raw: at) }
            if let token = arguments.operands.first { writer.member("token", token) }
        }
    }

    /// The line of a change of a device's state.
    static func device(_ arguments: Arguments) throws(Failure) -> [UInt8] {
        var state = DeviceState()
        state.state = arguments.word(.appState, AppState.self)
        if arguments.has(.locked) || arguments.has(.unlocked) { state.locked = arguments.has(.locked) }
        state.osVersion = arguments[.osVersion]
        state.notifications = arguments.word(.notifications, NotificationPermission.self)
        state.sdk = arguments.word(.sdk, SDKState.self)
        guard !state.isEmpty else {
            throw arguments.usageFailure(
                "give at least one of --app-state, --locked, --notifications, --os-version and --sdk")
        }
        return try line(.device, arguments) { writer in
            writer.member("device", arguments.operands[0])
            writer.members(of: state)
        }
    }

    /// The line of a custom event, or of attributes.
    static func log(_ arguments: Arguments) throws(Failure) -> [UInt8] {
        let at = try time(arguments)
        let (kind, operands) = (arguments.operands[0], arguments.operands.dropFirst())
        guard let kind = LogWord(rawValue: kind) else {
            throw arguments.usageFailure("\(kind): must be event, attribute or user-attribute")
        }
        let isEvent = kind == .event
        if isEvent, operands.count > 1, let extra = operands.last {
            throw arguments.usageFailure("\(extra) is one operand too many; for a property write --property \(extra)")
        }
        if !isEvent, arguments.has(.property) {
            throw arguments.usageFailure("--property is for events; for an attribute write KEY=TEXT, without an option")
        }
        let fields = try Assignment.all(isEvent ? arguments.all(.property) : Array(operands), arguments)
        return try line(.log, arguments) { writer in
            writer.member("kind", kind.entryKind.rawValue)
            if let at { writer.member("at", raw: at) }
            if isEvent { writer.member("name", operands.first) }
            guard !isEvent || !fields.isEmpty else { return }
            writer.member(
                isEvent ? "properties" : "attributes",
                object: { object in fields.forEach { object.member($0.key, raw: $0.value) } })
        }
    }

    /// The line of an entry that an app stored.
    ///
    /// - Parameters:
    ///   - members: `name` and `properties`, or `attributes`.
    ///   - suite: the suite that it was stored in.
    ///   - id: the id of the request.
    static func log(
        _ kind: EntryKind, _ members: [(key: String, value: StoredValue)], suite: String, id: String,
        _ arguments: Arguments
    ) throws(Failure) -> [UInt8] {
        let at = try time(arguments)
        return try line(.log, arguments) { writer in
            writer.member("id", id)
            writer.member("kind", kind.rawValue)
            if let at { writer.member("at", raw: at) }
            writer.member("suite", suite)
            for (key, value) in members {
                writer.key(key)
                value.write(to: &writer)
            }
        }
    }

    /// The kinds of entries, as people write them.
    private enum LogWord: String {
        case event, attribute
        case userAttribute = "user-attribute"

        var entryKind: EntryKind {
            switch self {
            case .event: .customEvent
            case .attribute: .customAttributes
            case .userAttribute: .userAttributes
            }
        }
    }

    private static func line(
        _ operation: Operation, _ arguments: Arguments, isApple: Bool = false, _ members: (inout JSONWriter) -> Void
    ) throws(Failure) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("op", operation.rawValue)
            members(&writer)
        }
        let document: JSONDocument
        // A dictionary that an app stored may have a duplicate key, or a key with a NUL.
        do { document = try JSONDocument(scanning: writer.bytes, limits: JSONLimits(depth: .max)) } catch {
            throw Failure(.badData, "this cannot be sent as a request: \(error.message)")
        }
        return RequestTemplate(arguments).line(for: document.root, isAPNs: isApple)
    }

    private static func time(_ arguments: Arguments) throws(Failure) -> [UInt8]? {
        guard let at = arguments[.at] else { return nil }
        var writer = JSONWriter()
        if let milliseconds = number(at) {
            writer.int(milliseconds)
        } else if WallTime(rfc3339: at) != nil {
            writer.string(at)
        } else {
            throw arguments.usageFailure(
                "--at \(at): a time is written as 2026-11-21T09:00:00Z, or as Unix milliseconds")
        }
        return writer.bytes
    }

    private static func payload(in operand: String) throws(Failure) -> (root: JSONNode, isAPNs: Bool) {
        let file = try InputFile(operand)
        var payloads = PayloadReader(file)
        guard let record = try payloads.next() else { preconditionFailure("the reader throws when there is none") }
        return (record.document.root, file.isAPNs)
    }

    /// The value of a text of digits; `nil` for other texts.
    private static func number(_ text: String) -> Int64? {
        text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int64(text) : nil
    }
}

extension Session {
    /// Sends one request to the daemon, and prints the reply.
    ///
    /// - Parameters:
    ///   - line: the request without a line feed.
    ///   - command: the command line, whose options set the output.
    func send(_ line: [UInt8], _ command: Arguments) throws(Failure) -> ExitStatus {
        try exchange(line, command).status
    }

    /// The same, with the number of the request if the daemon accepted it.
    func exchange(
        _ line: [UInt8], _ command: Arguments
    ) throws(Failure) -> (status: ExitStatus, accepted: SequenceNumber?) {
        var exchange = try Exchange(
            path: directories.injectSocket, command, output: output,
            readOutputs: self.outputs)
        try exchange.send(line, from: command.command.name)
        try exchange.finish()
        return (exchange.refused > 0 ? .no : .done, exchange.lastAccepted)
    }
}
