extension SessionRequest {
    static let keys = Request.keys + Target.keys + [.kind]

    init(_ reader: ObjectReader) throws(ProtocolError) {
        guard let kind = try reader.word(.kind, Kind.self) else {
            throw reader.missing(.kind, ": \(Kind.inWords)")
        }
        self.init(target: try Target(reader), kind: kind)
    }
}

extension TokenRequest {
    static let keys = Request.keys + Target.keys + [.kind, .token]

    /// The largest token in bytes: tokens of the services have a few hundred bytes today and may grow.
    static let longestToken = 4096

    init(_ reader: ObjectReader) throws(ProtocolError) {
        let kind = try reader.word(.kind, Kind.self) ?? .new
        let token = try reader.string(.token)
        guard token != nil || kind == .unregistered else {
            throw reader.missing(.token, "; only kind unregistered may leave it out")
        }
        guard token?.utf8.count ?? 0 <= Self.longestToken else {
            throw reader.invalid(.token, "token is longer than \(Self.longestToken) bytes")
        }
        self.init(target: try Target(reader), kind: kind, token: token)
    }
}
