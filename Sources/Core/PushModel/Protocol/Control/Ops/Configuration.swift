extension ControlOp {
    static let configuration = ControlOp("configuration", [.configuration], readOnly: "configuration") {
        reader throws(ProtocolError) in
        guard let text = try reader.string(.configuration) else { return .configuration(nil) }
        guard let id = ConfigurationID(text) else {
            throw ProtocolError(
                .invalidValue, field: "configuration", message: "the id of a configuration has 16 hexadecimal digits")
        }
        return .configuration(id)
    }
}

/// A configuration that was in force, as far as explanations need it: without comments, and without values that may be
/// secrets.
public struct ConfigurationText: Hashable, Sendable {
    /// The longest text in a reply, in bytes.
    public static let lengthMax = 4 << 20

    /// Its id.
    public var id: ConfigurationID
    /// When it came into force last, if that is known.
    public var since: WallTime?
    /// Whether it is the daemon's last configuration.
    public var isInForce: Bool
    /// Its files (PushSettings: `ConfigurationSources.init(keptText:)`).
    public var text: [UInt8]

    /// Joins the parts.
    public init(id: ConfigurationID, since: WallTime?, isInForce: Bool, text: [UInt8]) {
        (self.id, self.since, self.isInForce, self.text) = (id, since, isInForce, text)
    }

    /// Writes the members of the answer.
    public func write(to reply: inout JSONWriter) {
        reply.member("configuration", id.description)
        reply.member("since", since?.rfc3339)
        reply.member("in_force", isInForce)
        reply.member("files", String(decoding: text, as: UTF8.self))
    }

    /// Reads the answer; `nil` if it is none.
    public init?(_ reply: JSONNode) {
        guard let id = reply["configuration"]?.string.flatMap(ConfigurationID.init),
            let isInForce = reply["in_force"]?.bool, let text = reply["files"]?.string
        else { return nil }
        self.init(
            id: id, since: reply["since"]?.string.flatMap(WallTime.init(rfc3339:)), isInForce: isInForce,
            text: Array(text.utf8))
    }
}
