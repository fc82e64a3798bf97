public import PushModel
public import PushRouter

/// An error in a line of cases or results: the member and the message.
public struct ConformError: Error, Hashable, Sendable {
    /// The member, or the member in an object that is a member.
    public let field: String
    /// The error and the remedy.
    public let message: String

    init(_ field: String, _ message: String) { (self.field, self.message) = (field, message) }
    init(_ error: PayloadError) { self.init(error.field, error.message) }
}

/// Reads the members of an object in such a line.
struct ConformMembers {
    let object: JSONNode
    /// The path of the object, for errors: `want.`.
    var path = ""

    /// Returns what `read` makes of a member; `nil` if there is none, or it is null.
    ///
    /// - Throws: `ConformError` if `read` makes nothing of it.
    func value<Value>(_ name: String, _ wanted: String, _ read: (JSONNode) -> Value?) throws(ConformError) -> Value? {
        guard let node = object[name], node.kind != .null else { return nil }
        guard let value = read(node) else {
            let text = node.string.map { " \"\(String($0.prefix(40)).showingControls())\"" } ?? ""
            throw ConformError(path + name, "it is \(node.kind.name)\(text); wanted: \(wanted)")
        }
        return value
    }

    func text(_ name: String) throws(ConformError) -> String? { try value(name, "a text", \.string) }
    func bool(_ name: String) throws(ConformError) -> Bool? { try value(name, "true or false", \.bool) }

    func word<Word: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ type: Word.Type
    ) throws(ConformError) -> Word? {
        try value(name, "one of \(Word.allCases.map(\.rawValue).joined(separator: ", "))") {
            $0.string.flatMap(Word.init(rawValue:))
        }
    }

    func texts(_ name: String) throws(ConformError) -> [String] {
        try value(name, "a list of texts") { node in
            let texts = node.elements.compactMap(\.string)
            return node.kind == .array && texts.count == node.count ? texts : nil
        } ?? []
    }

    func object(_ name: String) throws(ConformError) -> ConformMembers? {
        try value(name, "an object") { $0.kind == .object ? ConformMembers(object: $0, path: "\(path)\(name).") : nil }
    }

    /// The value of a member that must be there.
    func required<Value>(_ name: String, _ value: Value?) throws(ConformError) -> Value {
        guard let value else { throw ConformError(path + name, "it is missing") }
        return value
    }
}

/// The first line of a file of cases: who made it.
public struct ConformHeading: Sendable {
    /// The program with its version.
    public let model: String
    /// The id of the configuration.
    public let configuration: String
    /// The SDKs of the app.
    public let providers: [String]

    /// Joins the parts.
    public init(model: String, configuration: String, providers: [String]) {
        (self.model, self.configuration, self.providers) = (model, configuration, providers)
    }

    /// Reads the first line of a file.
    public init(_ line: JSONNode) throws(ConformError) {
        let members = ConformMembers(object: line)
        guard try members.value("conform", "the number 1", \.int64) == 1 else {
            throw ConformError(
                "conform", "a file of cases begins with {\"conform\":1,...}: make it with pushctl conform cases")
        }
        model = try members.required("model", members.text("model"))
        configuration = try members.required("configuration", members.text("configuration"))
        providers = try members.texts("providers")
    }

    /// The line, without its line feed.
    public var line: [UInt8] {
        var writer = JSONWriter()
        writer.object {
            $0.member("conform", 1)
            $0.member("model", model)
            $0.member("configuration", configuration)
            $0.member("providers", array: { list in providers.forEach { list.string($0) } })
        }
        return writer.bytes
    }
}

extension ConformCall {
    /// Reads the call of a case.
    init(_ members: ConformMembers) throws(ConformError) {
        let platform = try members.required("platform", members.word("platform", Platform.self))
        let payload = try members.required(platform.seenName, members.object(platform.seenName)).object
        let notification = try members.object("notification")
        var writer = JSONWriter()
        writer.object {
            $0.member(platform.seenName, raw: payload.rawBytes)
            if let notification { $0.member("notification", raw: notification.object.rawBytes) }
        }
        self.init(
            name: try members.required("name", members.text("name")), platform: platform,
            transport: try members.word("transport", Transport.self),
            callback: try members.word("callback", Callback.self) ?? .none,
            state: try members.required("state", members.word("state", AppState.self)),
            sdk: try members.word("sdk", SDKState.self) ?? .ready, isRepeat: try members.bool("repeat") ?? false,
            messageID: try members.text("message_id"), seen: Self.document(writer.bytes))
    }
}

extension ConformCase {
    /// Decides the case of a line again, and compares.
    ///
    /// - Parameters:
    ///   - line: the case as it was made.
    ///   - table: the configuration, with the rules of the app's SDKs alone.
    /// - Returns: each member that differs, with both values; then the reasons of the new answer.
    public static func changes(
        in line: JSONNode, by table: RoutingTable
    ) throws(ConformError) -> (name: String, changes: [String], why: [String]) {
        let members = ConformMembers(object: line)
        let call = try ConformCall(members)
        let old = try members.required("want", members.object("want"))
        let one: ConformCase
        do { one = try ConformCase(call, by: table) } catch {
            return (call.name, ["the payload is refused now"], ["\(error.field): \(error.message)"])
        }
        var writer = JSONWriter()
        one.want.write(to: &writer)
        var changes: [String] = []
        if one.want.callback != call.callback {
            changes.append("callback: \(call.callback.rawValue) -> \(one.want.callback.rawValue)")
        }
        compare(old.object, ConformCall.document(writer.bytes).root, at: "want", &changes)
        return (call.name, changes, one.want.why)
    }

    private static func compare(_ old: JSONNode?, _ new: JSONNode, at path: String, _ changes: inout [String]) {
        // The words for people may change without a change of the model.
        guard !["want.shown.reason", "want.tap.as", "want.tap_without_instance.as"].contains(path) else { return }
        if let old, old.kind == .object, new.kind == .object {
            for (key, value) in new.members { compare(old[key], value, at: "\(path).\(key)", &changes) }
        } else if old?.isEquivalent(to: new) != true {
            let was = old.map { String(decoding: $0.compactBytes, as: UTF8.self) } ?? "missing"
            changes.append("\(path): \(was) -> \(String(decoding: new.compactBytes, as: UTF8.self))")
        }
    }
}
