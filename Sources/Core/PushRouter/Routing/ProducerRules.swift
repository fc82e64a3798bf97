public import PushModel

/// A file of `producers.d`: names senders, and tells what they may send.
public struct ProducerRule: Hashable, Sendable {
    /// A user or group of this machine.
    public struct Member: Hashable, Sendable {
        /// The name or number, as the file has it.
        public let text: String
        /// The number; `nil`: the name was not looked up, or nobody has it.
        public var number: UInt32?

        /// - Parameter text: a name, which is still to be looked up, or a number.
        public init(_ text: String) { (self.text, number) = (text, UInt32(text)) }
    }

    /// The file name without its extension. Rules are tried in order of their names; the first match decides.
    public var name: String
    /// The users of the sender's connection; empty: all.
    public var users: [Member] = []
    /// The groups of the sender's connection; empty: all.
    public var groups: [Member] = []
    /// The credentials that the gateway names; empty: all.
    public var accounts: [Glob] = []
    /// The projects that the gateway names; empty: all.
    public var projects: [Glob] = []

    /// Whether the sender may send nothing.
    public var refusesAll = false
    /// The operations that are allowed; empty: all.
    public var operations: [Operation] = []
    /// The apps that are allowed; empty: all.
    public var apps: [Glob] = []
    /// The users of apps that are allowed; empty: all.
    public var externalIDs: [Glob] = []
    /// The requests that are allowed in a second; `nil`: any number.
    public var rate: Int?
    /// The requests that are allowed at once; `nil`: as many as in a second.
    public var burst: Int?

    /// - Parameter name: the name. The rule matches all senders, and allows everything.
    public init(name: String) { self.name = name }

    /// The largest rate and burst.
    public static let rateMax = 1_000_000

    /// Whether the rule has a condition on the account or the project, which only the request names.
    fileprivate var asksForCredential: Bool { !accounts.isEmpty || !projects.isEmpty }

    /// Whether the rule may match requests of a connection.
    fileprivate func mayMatch(user: UInt32, groups own: () -> [UInt32]) -> Bool {
        (users.isEmpty || users.contains { $0.number == user })
            && (groups.isEmpty || own().contains { group in groups.contains { $0.number == group } })
    }

    fileprivate func matches(_ credential: Credential) -> Bool {
        Self.matches(accounts, credential.account) && Self.matches(projects, credential.project)
    }

    /// Whether there is no condition, or a text matches it. Only a pattern for every text matches a missing one.
    private static func matches(_ patterns: [Glob], _ text: String?) -> Bool {
        patterns.isEmpty || patterns.contains { pattern in text.map(pattern.matches) ?? pattern.matchesAll }
    }

    /// Throws if the rule does not allow a request, at whatever rate.
    fileprivate func check(_ request: Request) throws(ProtocolError) {
        guard !refusesAll else { throw refusal(nil, "allows its senders nothing", of: request) }
        guard operations.isEmpty || operations.contains(request.operation) else {
            let words = operations.map(\.rawValue).joined(separator: ", ")
            throw refusal("op", "does not allow op \(request.operation.rawValue); it allows \(words)", of: request)
        }
        let target = request.target
        guard Self.matches(apps, target.app) else {
            let words = printable(apps.map(\.description).joined(separator: " "))
            let what = target.app == nil ? "a request without app" : "this app"
            throw refusal("app", "does not allow \(what); it allows \(words)", of: request)
        }
        guard Self.matches(externalIDs, target.externalID) else {
            // The allowed ids may be those of other persons.
            let what = target.externalID == nil ? "a request without external_id" : "this external_id"
            throw refusal("external_id", "does not allow \(what)", of: request)
        }
    }

    private func refusal(_ field: String?, _ reason: String, of request: Request) -> ProtocolError {
        ProtocolError(
            .notAllowed, field: field, message: "the rule producers.d/\(name).producer \(reason)", id: request.id,
            rule: name)
    }

    fileprivate func refusal(of request: Request, until wait: Int64) -> ProtocolError {
        let most = burst.map { ", and \($0) at once" } ?? ""
        return ProtocolError(
            .overloaded,
            message: "the rule producers.d/\(name).producer allows \(counted(rate ?? 0, "request")) a second\(most)",
            // Rounded up: a client that waits as long as it is told is not refused again.
            retryAfter: .milliseconds((wait + 999_999) / 1_000_000), id: request.id, rule: name)
    }
}

/// The facts of the sender that a request has, as the gateway names them.
private struct Credential {
    var account: String?
    var project: String?

    init(_ request: Request) {
        let sender = PushSender(ofLine: request.document.root)
        account = sender?.account
        switch request.action {
        // A change of a topic names no sender. It and a publish name a project themselves, and that project counts.
        case .topic(let topic): project = topic.topic.project
        case .publish(let publish): project = publish.project
        case .deliver, .interact, .session, .token, .log, .device: project = sender?.project
        }
    }
}

/// The rules of `producers.d`, and how much of their rates is left.
public struct ProducerRules: Sendable {
    /// The indices of the rules that may decide about the requests of one connection, by its user and its groups.
    public typealias Places = [Int]

    /// The share of a rate that a request took.
    public struct Taken: Sendable {
        fileprivate let place: Int?
    }

    private let rules: [ProducerRule]
    private var buckets: [TokenBucket?]

    /// - Parameters:
    ///   - rules: the rules in their order.
    ///   - earlier: the rules so far: a rule with the same rate keeps what is left of it.
    public init(_ rules: [ProducerRule] = [], after earlier: ProducerRules? = nil) {
        self.rules = rules
        buckets = rules.map { rule in
            guard let rate = rule.rate else { return nil }
            let bucket = TokenBucket(rate: rate, burst: rule.burst ?? rate)
            let place = earlier?.rules.firstIndex { $0.name == rule.name }
            guard let rest = place.flatMap({ earlier?.buckets[$0] }), rest.hasRate(of: bucket) else { return bucket }
            return rest
        }
    }

    /// Whether everybody may send everything.
    public var isEmpty: Bool { rules.isEmpty }

    /// The names of the rules.
    public var names: some Sequence<String> { rules.lazy.map(\.name) }

    /// Returns the rules for a connection.
    ///
    /// - Parameters:
    ///   - user: its user.
    ///   - groups: finds its groups; called only if a rule asks for groups.
    public func places(ofUser user: UInt32, groups: () -> [UInt32]) -> Places {
        var found: Places = []
        for (place, rule) in rules.enumerated() where rule.mayMatch(user: user, groups: groups) {
            found.append(place)
            guard rule.asksForCredential else { break }
        }
        return found
    }

    /// Returns the name of the rule that decides about a request; `nil`: none does, and the request is allowed.
    ///
    /// - Parameter places: the rules for its connection.
    public func rule(of request: Request, among places: Places) -> String? {
        place(of: request, among: places).map { rules[$0].name }
    }

    private func place(of request: Request, among places: Places) -> Int? {
        // Most files ask for users and groups alone; then nothing of the request is read.
        guard let first = places.first, rules[first].asksForCredential else { return places.first }
        let credential = Credential(request)
        return places.first { rules[$0].matches(credential) }
    }

    /// Takes a request that arrived at `now` into account.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - places: the rules for its connection.
    ///   - now: monotonic nanoseconds.
    /// - Returns: what the request took, for ``giveBack(_:)``.
    /// - Throws: the refusal, with the rule. A refused request takes nothing of a rate.
    public mutating func admit(
        _ request: Request, among places: Places, at now: Int64
    ) throws(ProtocolError) -> Taken {
        guard let place = place(of: request, among: places) else { return Taken(place: nil) }
        try rules[place].check(request)
        guard let wait = buckets[place]?.take(at: now) else { return Taken(place: place) }
        throw rules[place].refusal(of: request, until: wait)
    }

    /// Gives back what a request took of a rate, because it was refused after that.
    public mutating func giveBack(_ taken: Taken) { if let place = taken.place { buckets[place]?.giveBack() } }
}

/// The unused part of a rate, counted in billionths of a request. Each nanosecond adds `rate` of them, and a request
/// takes 10^9. All numbers are whole, so rounding never loses a part of a request.
private struct TokenBucket: Sendable {
    private static let request: Int64 = 1_000_000_000

    private let rate: Int64
    private let full: Int64
    private var parts: Int64
    private var countedAt: Int64?

    init(rate: Int, burst: Int) {
        (self.rate, full) = (Int64(rate), Int64(burst) * Self.request)
        parts = full
    }

    func hasRate(of other: TokenBucket) -> Bool { rate == other.rate && full == other.full }

    /// Takes a request.
    ///
    /// - Parameter now: monotonic nanoseconds, never less than before.
    /// - Returns: the nanoseconds until there is room for it; `nil`: it is taken.
    mutating func take(at now: Int64) -> Int64? {
        // After this many nanoseconds it is full; a longer time could overflow.
        let passed = min(now - (countedAt ?? now), full / rate + 1)
        parts = min(full, parts + passed * rate)
        countedAt = now
        guard parts < Self.request else {
            parts -= Self.request
            return nil
        }
        return (Self.request - parts + rate - 1) / rate
    }

    mutating func giveBack() { parts = min(full, parts + Self.request) }
}
