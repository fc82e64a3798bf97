public import PushHosts
public import PushModel

/// The state of a gateway for people: its connections, its answers, and the clients that were seen.
public struct GatewayStatus: Sendable {
    /// One kind of client, by its `User-Agent` and the service that it asks.
    public struct Client: Hashable, Sendable {
        /// `User-Agent`; `nil`: the client sends none.
        public var name: String?
        /// The service.
        public var service: String
        /// How many requests came.
        public var requests = 0
        /// The status of the last answer.
        public var answer = 0
        /// When that was.
        public var at = WallTime(milliseconds: 0)
    }

    /// Connections that there are.
    public var connections = 0
    /// Connections that came, and those of them that were closed at once.
    public var accepted = 0
    public var refused = 0
    /// Requests that came, and those of them that were answered 503 because too many waited.
    public var requests = 0
    public var overloaded = 0
    /// Sends that were over a quota of Google's or Apple's.
    public var overQuota = 0
    /// Connections that ended for a flood of frames, or because their client took too long.
    public var floods = 0
    public var tooSlow = 0
    /// `CONNECT` to hosts that are no push services.
    public var refusedTunnels = 0
    /// Handshakes of TLS that failed, by OpenSSL's reason. A client that does not trust the authority says so.
    public var failedHandshakes: [String: Int] = [:]
    /// Answers by their status.
    public private(set) var answers: [Int: Int] = [:]
    /// The clients that were seen, bounded.
    public private(set) var clients: [Client] = []
    /// Why the daemon takes no requests; `nil`: it does.
    public var daemonProblem: String?

    /// When the authority ends.
    public var authorityEnds: WallTime?
    /// Whether the next authority is handed out too, so that clients must take it.
    public var hasNextAuthority = false
    /// The certificates that clients are to trust, in PEM.
    public var authorities = ""

    private static let clientsMax = 64

    /// Nothing happened.
    public init() {}

    /// Notes an answer.
    public mutating func note(_ status: Int, client: String?, host: PushHost, at now: WallTime) {
        answers[status, default: 0] += 1
        let service = host.word
        if let place = clients.firstIndex(where: { $0.name == client && $0.service == service }) {
            clients[place].requests += 1
            clients[place].answer = status
            clients[place].at = now
        } else if clients.count < Self.clientsMax {
            clients.append(Client(name: client, service: service, requests: 1, answer: status, at: now))
        }
    }

    /// The state as JSON, for `GET /status`.
    public var json: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("connections", connections)
            writer.member("accepted", accepted)
            writer.member("refused", refused)
            writer.member("requests", requests)
            writer.member("overloaded", overloaded)
            writer.member("over_quota", overQuota)
            writer.member("floods", floods)
            writer.member("too_slow", tooSlow)
            writer.member("refused_tunnels", refusedTunnels)
            writer.member(
                "failed_handshakes",
                object: { object in
                    for (reason, count) in failedHandshakes.sorted(by: { $0.key < $1.key }) {
                        object.member(reason, count)
                    }
                })
            writer.member(
                "answers",
                object: { object in
                    for (status, count) in answers.sorted(by: { $0.key < $1.key }) { object.member("\(status)", count) }
                })
            writer.member("daemon_problem", daemonProblem)
            writer.member("authority_ends", authorityEnds?.rfc3339)
            writer.member("next_authority", hasNextAuthority)
            writer.member("authorities", authorities)
            writer.member(
                "clients",
                array: { list in
                    for client in clients {
                        list.object { object in
                            object.member("client", client.name)
                            object.member("service", client.service)
                            object.member("requests", client.requests)
                            object.member("answer", client.answer)
                            object.member("at", client.at.rfc3339)
                        }
                    }
                })
        }
        return writer.line()
    }
}

extension PushHost {
    /// The service, in a word.
    var word: String {
        switch self {
        case .fcm: "fcm"
        case .oauth: "oauth2"
        case .instanceID: "iid"
        case .apns(isSandbox: false): "apns"
        case .apns(isSandbox: true): "apns sandbox"
        case .other: "other"
        }
    }
}
