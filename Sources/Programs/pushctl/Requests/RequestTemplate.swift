import PushDispatch
import PushModel

/// What the options say of requests: makes one of a payload, and fills in what a request leaves out.
struct RequestTemplate {
    /// A member of a request; the value is JSON.
    private struct Member {
        let key: String
        let value: [UInt8]
        /// The operations that take it.
        let operations: Set<Operation>
    }

    private var members: [Member] = []
    private let platform: String?

    /// Reads the options that belong into a request; those that the command does not have are left out.
    init(_ arguments: Arguments) {
        let all = Set(Operation.allCases)
        platform = arguments[.platform]
        add("id", arguments[.id], to: all)
        add("app", arguments[.app], to: all)
        add("device", arguments[.device], to: all)
        add("external_id", arguments[.externalID], to: all)
        add("transport", arguments[.transport], to: [.deliver])
        add("state", arguments[.appState], to: [.deliver])
        add("notifications", arguments[.notifications], to: [.deliver])
        add("os_version", arguments[.osVersion], to: [.deliver])
        add("sdk", arguments[.sdk], to: [.deliver, .interact])
        add("suite", arguments[.suite], to: [.log])
        add("braze_id", arguments[.brazeID], to: [.log])
        if arguments.has(.locked) {
            members.append(Member(key: "locked", value: Array("true".utf8), operations: [.deliver]))
        }
        if arguments.has(.wait) { add("wait", "outcome", to: all) }
    }

    private mutating func add(_ key: String, _ text: String?, to operations: Set<Operation>) {
        guard let text else { return }
        var writer = JSONWriter()
        writer.string(text)
        members.append(Member(key: key, value: writer.bytes, operations: operations))
    }

    /// The request line for an object of a file, without its line feed.
    ///
    /// - Parameters:
    ///   - object: a payload, or a request.
    ///   - isAPNs: whether the file is an `.apns` file, and so for iOS.
    func line(for object: JSONNode, isAPNs: Bool) -> [UInt8] {
        var template = self
        template.add("platform", platform ?? (isAPNs ? Platform.ios.rawValue : nil), to: Set(Operation.allCases))
        let operation = object["op"]?.string.flatMap(Operation.init(rawValue:))
        if operation != nil || object["op"] != nil && object["payload"] != nil {
            return template.filling(object, operation)
        }
        var writer = JSONWriter(reserving: object.rawBytes.count + 256)
        writer.object { writer in
            writer.member("op", Operation.deliver.rawValue)
            for member in template.members { writer.member(member.key, raw: member.value) }
            writer.member("payload", raw: object.rawBytes)
        }
        return writer.bytes
    }

    /// A request with what it lacks; as it came when it lacks nothing.
    private func filling(_ request: JSONNode, _ operation: Operation?) -> [UInt8] {
        let missing = members.filter { member in
            request[member.key] == nil && operation.map(member.operations.contains) ?? false
        }
        guard !missing.isEmpty else { return Array(request.rawBytes) }
        var writer = JSONWriter(reserving: request.rawBytes.count + 256)
        writer.object { writer in
            for (key, value) in request.members { writer.member(key, raw: value.rawBytes) }
            for member in missing { writer.member(member.key, raw: member.value) }
        }
        return writer.bytes
    }
}

extension InputFile {
    /// Whether it is a file of the iOS simulator.
    var isAPNs: Bool { name.hasSuffix(".apns") }

    /// Refuses what the simulator refuses, if it is a file of its.
    func check(_ record: Record) throws(Failure) {
        guard isAPNs, record.document.root["op"] == nil else { return }
        do {
            try SimulatorFile.check(record.document.root, length: size)
        } catch {
            throw Failure(.badData, "\(record.place): \(error.field): \(error.message)")
        }
    }
}
