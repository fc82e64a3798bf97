public import PushModel
import PushSettings

/// The state of a gateway for people: its connections, its answers, and its clients.
public struct GatewayStatus: Sendable {
    /// One kind of client, by its `User-Agent` and the service of its requests.
    public struct Client: Hashable, Sendable {
        /// `User-Agent`; `nil` if the client sends none.
        public var name: String?
        /// The service.
        public var service: String
        /// The number of requests.
        public var requests = 0
        /// The status of the last answer.
        public var answer = 0
        /// The time of that answer.
        public var at = WallTime(milliseconds: 0)
    }

    /// The number of open connections.
    public var connections = 0
    /// The numbers of connections that came, and of those that the gateway closed at once.
    public var accepted = 0
    public var refused = 0
    /// The numbers of requests that came, and of those answered 503 because too many waited.
    public var requests = 0
    public var overloaded = 0
    /// The number of sends over a quota of Google's or Apple's.
    public var overQuota = 0
    /// The numbers of connections closed for a flood of frames, and for a slow client.
    public var floods = 0
    public var tooSlow = 0
    /// The number of `CONNECT` requests to hosts that are no push services.
    public var refusedTunnels = 0
    /// The numbers of failed TLS handshakes, by OpenSSL's reason. A client that does not trust the authority appears
    /// here.
    public var failedHandshakes: [String: Int] = [:]
    /// The numbers of answers by service and status. A list, because it is short, and each send looks into it.
    private var counts: [(service: String, status: Int, count: Int)] = []
    /// The numbers of answers, by status.
    public var answers: [Int: Int] {
        Dictionary(counts.map { ($0.status, $0.count) }, uniquingKeysWith: +)
    }
    /// The numbers of senders' keys that were read: `accounts` of Google's, `keys` of Apple's.
    public var credentials: [String: Int] = [:]
    /// The clients, at most 64.
    public private(set) var clients: [Client] = []
    /// The refusals.
    public var refusals = Refusals()
    /// The reason why the daemon takes no requests; `nil` if it takes them.
    public var daemonProblem: String?

    /// The end of the server's certificate, which the gateway renews by itself.
    public var certificateEnds: WallTime?
    /// The end of the authority's validity.
    public var authorityEnds: WallTime?
    /// Whether the gateway already hands out the next authority, which clients must install.
    public var hasNextAuthority = false
    /// The certificates for clients to trust, in PEM.
    public var authorities = ""

    private static let clientsMax = 64

    /// Creates the state of a gateway that has just started.
    public init() {}

    /// Counts an answer.
    ///
    /// - Parameter service: the word for the service of the request.
    public mutating func note(_ status: Int, client: String?, service: String, at now: WallTime) {
        if let place = counts.firstIndex(where: { $0.status == status && $0.service == service }) {
            counts[place].count += 1
        } else {
            counts.append((service, status, 1))
        }
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
            writer.member(
                "services",
                object: { object in
                    let services = Dictionary(grouping: counts, by: \.service)
                    for (service, answers) in services.sorted(by: { $0.key < $1.key }) {
                        object.member(
                            service,
                            object: { object in
                                for answer in answers.sorted(by: { $0.status < $1.status }) {
                                    object.member("\(answer.status)", answer.count)
                                }
                            })
                    }
                })
            writer.member(
                "credentials",
                object: { object in
                    for (kind, count) in credentials.sorted(by: { $0.key < $1.key }) { object.member(kind, count) }
                })
            writer.member(
                "refusals",
                object: { object in
                    for (reason, count) in refusals.counts.sorted(by: { $0.key < $1.key }) {
                        object.member(reason, count)
                    }
                })
            writer.member(
                "last_refusals",
                array: { list in
                    for refused in refusals.latest {
                        list.object { object in
                            object.member("at", refused.at.rfc3339)
                            object.member("client", refused.client)
                            object.member("connection", refused.connection)
                            object.member("request", refused.request)
                            object.member("answer", refused.answer)
                            object.member("reason", refused.refusal.reason)
                            object.member("cause", refused.refusal.cause)
                        }
                    }
                })
            writer.member("daemon_problem", daemonProblem)
            writer.member("certificate_ends", certificateEnds?.rfc3339)
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
    /// The word for the service.
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

/// Why a request was refused: what the answer says of it, and what the answer of the real service leaves out.
struct GatewayRefusal: Hashable, Sendable {
    /// The service whose answer it is, in words; `nil`: the gateway's own answer.
    let service: String?
    /// The reason in the service's own word: `BadDeviceToken`, `UNREGISTERED`.
    let reason: String
    /// The cause, for people; `nil` if the reason says it all.
    let cause: String?
    /// Whether somebody asked for this answer (errors on demand).
    var isOnDemand = false

    init(_ service: String?, _ reason: String, _ cause: String?) {
        (self.service, self.reason, self.cause) = (service, reason, cause)
    }
}

/// A refused request.
struct RefusedRequest: Hashable, Sendable {
    /// The time of the request.
    let at: WallTime
    /// The peer and the connection's number.
    let connection: String
    /// The client program, as it names itself.
    let client: String?
    /// The method and the path, with secrets shortened.
    let request: String
    /// The HTTP status of the answer.
    let answer: Int
    /// The reason.
    let refusal: GatewayRefusal
}

/// The refusals since the start: how many for each reason, and the latest ones.
public struct Refusals: Sendable {
    /// The number of refusals by reason. The reasons are those of the services, a closed set.
    private(set) var counts: [String: Int] = [:]
    /// The latest refusals, the latest last.
    private(set) var latest: [RefusedRequest] = []
    private var told = (minute: Int64.min, count: 0)

    /// The limit of the latest refusals.
    static let latestMax = 16
    /// The most refusals of a minute that go to the journal and the ledger: a sender may repeat a refused request for
    /// ever.
    static let toldPerMinute = 30

    /// Counts a refusal.
    ///
    /// - Parameter now: monotonic nanoseconds.
    /// - Returns: whether it may be told, and whether it is the last one of this minute.
    mutating func note(_ request: RefusedRequest, at now: Int64) -> (mayBeTold: Bool, isLast: Bool) {
        counts[request.refusal.reason, default: 0] += 1
        latest.append(request)
        if latest.count > Self.latestMax { latest.removeFirst() }
        let minute = now / 60_000_000_000
        if told.minute != minute { told = (minute, 0) }
        told.count += 1
        return (told.count <= Self.toldPerMinute, told.count == Self.toldPerMinute)
    }
}

/// A request that is being answered, for the case that it is refused.
struct SenderRequest: Sendable {
    let request: GatewayRequest
    let connection: ConnectionFacts
    let now: GatewayDesk.Now
    /// The target of a send; `nil` for any other request.
    var target: Target?

    /// The sender's facts that need no credentials.
    var sender: PushSender {
        var sender = PushSender()
        sender.client = request.client
        sender.connection = connection.name
        sender.method = request.method
        sender.path = request.target.shortened
        return sender
    }

    /// The bytes of a refused body that its row keeps.
    private static let bodyMax = 4096

    /// Returns the line by which the daemon keeps a refused send: a delivery that reaches no device. Its payload is the
    /// body as a text, for a body that no service takes is perhaps no payload.
    func line(_ answer: GatewayResponse, _ refusal: GatewayRefusal) -> [UInt8]? {
        guard var target else { return nil }
        // A sender chooses these names, and the daemon takes neither an empty one nor a NUL.
        func name(_ text: String?) -> String? {
            let name = text.map { String($0.showingControls()).cut(toBytes: Target.longestName) }
            return name?.isEmpty == true ? nil : name
        }
        (target.app, target.device) = (name(target.app), name(target.device))
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("body", String(decoding: request.body.prefix(Self.bodyMax), as: UTF8.self))
        }
        guard let payload = try? JSONDocument(scanning: writer.bytes).root else { return nil }
        var sender = sender
        sender.answer = Int64(answer.status)
        sender.reason = refusal.reason
        sender.cause = refusal.isOnDemand ? "an error on demand" : refusal.cause
        return DeliverLine(DeliverRequest(target: target, payload: payload), sender: Indirect(sender)).bytes
    }
}

extension GatewayResponse {
    /// Returns the same answer with the reason of its refusal.
    func because(_ service: String?, _ reason: String, _ cause: String?) -> GatewayResponse {
        var response = self
        response.refusal = GatewayRefusal(service, reason, cause)
        return response
    }

    /// Returns the same answer as one that somebody asked for.
    func onDemand() -> GatewayResponse {
        var response = self
        response.refusal?.isOnDemand = true
        return response
    }
}
