/// Whose host a request asks. The host decides which paths there are.
public enum PushHost: Hashable, Sendable {
    /// FCM, which has its topics and the ended `/batch` too.
    case fcm
    /// Google's access tokens.
    case oauth
    /// The topics of the older clients.
    case instanceID
    /// APNs, or its sandbox.
    case apns(isSandbox: Bool)
    /// Any other name, or none: each path is served there.
    case other

    /// - Parameter authority: the host, and a port behind it; `nil`: the request names none.
    public init(authority: String?) {
        let name = (authority ?? "").prefix { $0 != ":" }.lowercased()
        self = Self.names.first { $0.name == name }?.host ?? .other
    }

    /// The names of the services, which the gateway's certificate has.
    ///
    /// Source: what clients asked, in the recordings, and H.1 of the notes beside them.
    public static let names: [(name: String, host: PushHost)] = [
        ("fcm.googleapis.com", .fcm),
        ("oauth2.googleapis.com", .oauth), ("www.googleapis.com", .oauth),
        ("iid.googleapis.com", .instanceID),
        ("api.push.apple.com", .apns(isSandbox: false)),
        ("api.sandbox.push.apple.com", .apns(isSandbox: true)),
        ("api.development.push.apple.com", .apns(isSandbox: true)),
    ]

    /// The address that a gateway listens on where nothing is said.
    public static let standardGatewayAddress = "127.0.0.1:18443"

    /// Whether a path of a service is served under this name; one of no service is under each.
    public func has(_ service: PushHost) -> Bool {
        switch (self, service) {
        case (.other, _), (_, .other), (.fcm, .fcm), (.oauth, .oauth), (.instanceID, .instanceID), (.apns, .apns): true
        default: false
        }
    }
}
