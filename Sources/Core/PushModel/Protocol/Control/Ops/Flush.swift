extension ControlOp {
    static let flush = ControlOp("flush", Target.keys + [.suite]) { reader throws(ProtocolError) in
        .flush(try FlushRequest(reader))
    }
}

/// `op: flush`
public struct FlushRequest: Hashable, Sendable {
    /// The app, device and user to flush for, as at a session start; the app is required.
    public var target: Target
    /// The suite to flush; `nil`: all suites.
    public var suite: String?

    /// Joins the two.
    public init(target: Target, suite: String? = nil) {
        self.target = target
        self.suite = suite
    }
}

extension FlushRequest {
    init(_ reader: ObjectReader) throws(ProtocolError) {
        _ = try reader.requiredName(.app)
        self.init(target: try Target(reader), suite: try reader.name(.suite))
    }

    func write(to writer: inout JSONWriter) {
        if let platform = target.platform { writer.member("platform", platform.rawValue) }
        if let app = target.app { writer.member("app", app) }
        if let device = target.device { writer.member("device", device) }
        if let user = target.externalID { writer.member("external_id", user) }
        if let suite { writer.member("suite", suite) }
    }
}
