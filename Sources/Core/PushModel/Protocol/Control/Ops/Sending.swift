extension ControlOp {
    static let sending = ControlOp("sending", [.instance, .phase, .reason, .failures, .until]) {
        reader throws(ProtocolError) in .sending(try SendingReport(reader))
    }
}

/// `op: sending`
public struct SendingReport: Hashable, Sendable {
    /// The run of the forwarder.
    public var instance: UUID128
    /// The phase of the forwarder.
    public var phase: SendingState.Phase
    /// The reason for people; `nil` while it sends.
    public var reason: String?
    /// The number of consecutive failed requests.
    public var failures: Int
    /// The end of its wait.
    public var until: WallTime?

    /// Joins the parts; cuts a long reason at its end.
    public init(
        instance: UUID128, phase: SendingState.Phase, reason: String? = nil, failures: Int = 0, until: WallTime? = nil
    ) {
        self.instance = instance
        self.phase = phase
        self.reason = reason?.prefix(bytes: Settlement.longestReason)
        self.failures = failures
        self.until = until
    }
}

extension SendingReport {
    init(_ reader: ObjectReader) throws(ProtocolError) {
        guard let phase = try reader.word(.phase, SendingState.Phase.self) else {
            throw reader.missing(.phase, ": \(SendingState.Phase.inWords)")
        }
        let failures = reader[.failures] == nil ? 0 : Int(try reader.integer(.failures, in: 0...1_000_000_000))
        self.init(
            instance: try reader.instance(), phase: phase, reason: try reader.string(.reason), failures: failures,
            until: try reader.time(.until))
    }

    func write(to writer: inout JSONWriter) {
        writer.member("instance", instance.description)
        writer.member("phase", phase.rawValue)
        if let reason { writer.member("reason", reason) }
        writer.member("failures", failures)
        if let until { writer.member("until", until.rfc3339) }
    }
}
