import PushModel

/// The service of a requested host. It decides which paths exist.
public enum PushHost: Hashable, Sendable {
    /// FCM, with its topics and the ended `/batch`.
    case fcm
    /// Google's endpoint of access tokens.
    case oauth
    /// The endpoint of topics for older clients.
    case instanceID
    /// APNs, or its sandbox.
    case apns(isSandbox: Bool)
    /// Another name, or none: the gateway serves every path there.
    case other

    /// - Parameter authority: the host with an optional port; `nil` if the request names none.
    public init(authority: String?) {
        let host = (authority ?? "").utf8.prefix { $0 != UInt8(ascii: ":") }
        // A text of its own, in lower case, would cost each send an allocation.
        self = Self.names.first { $0.name.utf8.elementsEqual(host) { $0 == $1 || $0 == $1 | 0x20 } }?.host ?? .other
    }

    /// The names of the services, which the gateway's certificate contains.
    ///
    /// Source: the hosts that clients asked, in the recordings, and H.1 of the notes beside them.
    public static let names: [(name: String, host: PushHost)] = [
        ("fcm.googleapis.com", .fcm),
        ("oauth2.googleapis.com", .oauth), ("www.googleapis.com", .oauth),
        ("iid.googleapis.com", .instanceID),
        ("api.push.apple.com", .apns(isSandbox: false)),
        ("api.sandbox.push.apple.com", .apns(isSandbox: true)),
        ("api.development.push.apple.com", .apns(isSandbox: true)),
    ]

    /// The default address of a gateway.
    public static let standardGatewayAddress = "127.0.0.1:18443"

    /// Whether this host serves the paths of a service; every host serves the gateway's own paths.
    public func has(_ service: PushHost) -> Bool {
        switch (self, service) {
        case (.other, _), (_, .other), (.fcm, .fcm), (.oauth, .oauth), (.instanceID, .instanceID), (.apns, .apns): true
        default: false
        }
    }
}
