public import PushModel

/// The contents of `gateway.conf`.
public struct GatewaySettings: Fillable, Sendable {
    /// `Provider=`
    public enum Provider: String, Sendable, CaseIterable {
        case any, strict
    }

    /// The answer to a token that no device registered.
    public enum Unknown: String, Hashable, Sendable, CaseIterable {
        /// Accepts the push for the presumed device.
        case accept
        /// Answers FCM's `UNREGISTERED` or APNs' `Unregistered`.
        case unregistered
    }

    /// The push services of browsers, by their answers where they differ.
    public enum WebPushService: String, Hashable, Sendable, CaseIterable {
        case google, mozilla
    }

    /// `Listen=`
    public var listen: [SocketAddress] = []
    /// `Names=`
    public var names: [String] = []
    /// `Anyone=`
    public var anyone = false
    /// `Credentials=`
    public var credentials: String?
    /// `Keys=`
    public var keys: String?
    /// `Provider=`
    public var provider = Provider.any
    /// `Unknown=`
    public var unknown = Unknown.accept
    /// `Service=`
    public var webPush = WebPushService.google
    /// `ErrorTokens=`
    public var errorTokens = false
    /// `Errors=`
    public var errors: String?
    /// `TokensAreHexadecimal=`
    public var hexadecimalTokens = false
    /// `ProjectPerMinute=`
    public var projectPerMinute = 600_000
    /// `DevicePerMinute=`
    public var devicePerMinute = 240
    /// `DevicePerHour=`
    public var devicePerHour = 5000
    /// `AppleDevicePerMinute=`
    public var appleDevicePerMinute = 0
    /// `ConnectionsMax=`
    public var connectionsMax = 4096
    /// `StreamsMax=`
    public var streamsMax = 100
    /// `BodySizeMax=`
    public var bodySizeMax = 256 << 10
    /// `IdleTimeout=`
    public var idleTimeout: Duration = .seconds(300)

    /// Creates the defaults.
    public init() {}
}

extension GatewaySettings {
    /// The default address to listen on.
    public static let standardAddress = PushHost.standardGatewayAddress

    /// Reads the main file and its drop-ins, in their order.
    ///
    /// - Returns: the settings, or `nil` after an error, and all messages.
    public static func load(_ files: [(path: String, bytes: [UInt8])]) -> (GatewaySettings?, [Diagnostic]) {
        var settings = GatewaySettings()
        var diagnostics: [Diagnostic] = []
        // The last line that sets the key: the settings that must fit together may be in several files.
        var provider: (file: String, line: Int)?
        for file in files {
            var report = FileReport(file: file.path)
            let lines = Schema.gateway.read(file.bytes, into: &settings, report: &report)
            if let line = lines?["Provider"] { provider = (file.path, line) }
            diagnostics += report.diagnostics
        }
        if let provider, settings.provider == .strict, settings.keys == nil {
            diagnostics.append(
                Diagnostic(
                    .error, file: provider.file, line: provider.line,
                    message: "Provider=strict: needs Keys=, the directory of Apple's keys (.p8)"))
        }
        return (diagnostics.contains { $0.severity == .error } ? nil : settings, diagnostics)
    }

    /// The reason why the gateway must not listen on an address that other machines reach; `nil` if it may.
    public var reasonAgainstOtherMachines: String? {
        guard !anyone else { return nil }
        var missing: [String] = []
        if credentials == nil { missing.append("Credentials=") }
        if provider != .strict { missing.append("Provider=strict") }
        guard !missing.isEmpty else { return nil }
        return "other machines reach it, and anybody could send pushes: set \(missing.joined(separator: " and ")) in "
            + "gateway.conf, or Anyone=yes to allow that"
    }
}

extension Schema<GatewaySettings> {
    /// The keys of `gateway.conf`.
    public static let gateway = Schema(keys: [
        Key(
            "Gateway", "Listen", addingTo: { $1(&$0.listen) },
            Form<SocketAddress> { text throws(ValueError) in try SocketAddress(text) }.list,
            default: GatewaySettings.standardAddress,
            meaning: """
                Addresses to listen on: a numeric address and a port, or `unix:` and an absolute path. With sockets of the \
                service manager they are not used.
                """),
        Key(
            "Gateway", "Names", addingTo: { $1(&$0.names) },
            Form<String> { text throws(ValueError) in try hostName(text) }.list,
            meaning: """
                Host names, and IPv4 addresses, of the certificate in addition to the hosts of the push services. The \
                authority may vouch for them, and clients must take the new authority after a change.
                """),
        Key(
            "Gateway", "Credentials", { $1(&$0.credentials) }, Form<String>.secretFile.optional, showsValue: false,
            meaning: """
                A directory of service account files (`*.json`), whose accounts alone may send to FCM. Without it each \
                assertion gets an access token, and a send needs none. The user of the service, `pushrouter-gateway`, \
                must be able to read the files.
                """),
        Key(
            "Gateway", "Keys", { $1(&$0.keys) }, Form<String>.secretFile.optional, showsValue: false,
            meaning:
                "A directory of keys of Apple's, `AuthKey_KEYID.p8`, for `Provider=strict`. `pushrouter-gateway` reads them."
        ),
        Key(
            "Gateway", "Provider", { $1(&$0.provider) }, .choice, default: "any",
            meaning: """
                `strict`: a push to APNs needs a provider token whose age and signature are right, and one connection \
                may change the token of a key every 20 minutes. `any`: the gateway does not check it.
                """),
        Key(
            "Gateway", "Anyone", { $1(&$0.anyone) }, .boolean, default: "no",
            meaning: """
                Whether the gateway listens on an address that other machines reach although every client may send. \
                Without it such an address needs `Credentials=` and `Provider=strict`.
                """),
        Key(
            "Gateway", "Unknown", { $1(&$0.unknown) }, .choice, default: "accept",
            meaning: """
                The answer to a token that no registration names. `accept`: the push is for a device of that name. \
                `unregistered`: `UNREGISTERED` of FCM, `Unregistered` of APNs. A push over APNs to the token of another \
                app, or of an Android device, is refused in any case.
                """),
        Key(
            "Gateway", "TokensAreHexadecimal", { $1(&$0.hexadecimalTokens) }, .boolean, default: "no",
            meaning: "Whether a token of APNs that is not an even number of hexadecimal digits gets `BadDeviceToken`."),
        Key(
            "Gateway", "Service", { $1(&$0.webPush) }, .choice, default: "google",
            meaning: """
                The service whose answers web pushes get where services differ. `google`: a wrong proof of the sender \
                (VAPID) gets 403. `mozilla`: it gets 401.
                """),
        Key(
            "Gateway", "ErrorTokens", { $1(&$0.errorTokens) }, .boolean, default: "no",
            meaning: """
                Whether a token that begins with `err-` gets the error that it names, such as `err-UNREGISTERED` or \
                `err-QUOTA_EXCEEDED+ra`, which has `Retry-After` too. Another name gets 400.
                """),
        Key(
            "Gateway", "Errors", { $1(&$0.errors) }, Form<String>.absolutePath.optional,
            meaning: """
                A file of rules by which requests get another answer: one JSON object on each line, such as \
                `{"answer":"UNAVAILABLE","probability":20}`. pushrouter-gateway(8) has the keys of a rule.
                """),
        Key(
            "Gateway", "ProjectPerMinute", { $1(&$0.projectPerMinute) }, .integer(0...1_000_000_000), default: "600000",
            meaning: """
                The maximum number of sends a minute of one project at Google. Beyond it a warning says that Google \
                would answer 429; the gateway still takes the push. 0: no limit, as for the next three settings.
                """),
        Key(
            "Gateway", "DevicePerMinute", { $1(&$0.devicePerMinute) }, .integer(0...1_000_000_000), default: "240",
            meaning: "The same for the sends a minute to one registration of FCM."),
        Key(
            "Gateway", "DevicePerHour", { $1(&$0.devicePerHour) }, .integer(0...1_000_000_000), default: "5000",
            meaning: "The same for the sends an hour to one registration of FCM."),
        Key(
            "Gateway", "AppleDevicePerMinute", { $1(&$0.appleDevicePerMinute) }, .integer(0...1_000_000_000),
            default: "0", meaning: "The same for the sends a minute to one token of APNs. Apple names no figure."),
        Key(
            "Gateway", "ConnectionsMax", { $1(&$0.connectionsMax) }, .integer(1...1_000_000), default: "4096",
            meaning:
                "The maximum number of connections at once. One address or user may have half of them, and loopback all."
        ),
        Key(
            "Gateway", "StreamsMax", { $1(&$0.streamsMax) }, .integer(1...10_000), default: "100",
            meaning: "The maximum number of requests under way on an HTTP/2 connection."),
        Key(
            "Gateway", "BodySizeMax", { $1(&$0.bodySizeMax) }, .byteSize(8 << 10...16 << 20), default: "256K",
            meaning: "The maximum length of a request's body."),
        Key(
            "Gateway", "IdleTimeout", { $1(&$0.idleTimeout) }, .timeSpan(.seconds(1) ... .seconds(86_400)),
            default: "5min", meaning: "The maximum time of a connection without a request."),
    ])
}

/// A host name in lower case, or an IPv4 address.
private func hostName(_ text: String) throws(ValueError) -> String {
    let name = text.lowercased()
    let labels = name.split(separator: ".", omittingEmptySubsequences: false)
    let isName = name.utf8.count <= 253 && labels.allSatisfy { (1...63).contains($0.utf8.count) && $0.first != "-" }
    // No top-level domain is a number, so a name with a numeric last label must be an address.
    let isAddress = labels.count == 4 && labels.allSatisfy { UInt8($0).map { String($0) } ?? "" == $0 }
    let isNumeric = labels.last.map { $0.utf8.allSatisfy(\.isDigit) } ?? false
    let fits = name.utf8.allSatisfy { byte in
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
    }
    guard isName, fits, isAddress || !isNumeric else {
        throw ValueError("must be host names or addresses of IPv4, such as push.staging.example")
    }
    return name
}

/// An order to end the gateway's authority before its certificate does: a file in the gateway's state directory.
public struct AuthorityRotation: Hashable, Sendable {
    /// When the authority ends, in seconds since 1970.
    public var ends: Int64
    /// The end by the certificate of the authority that is meant; `nil`: the gateway has not seen the order.
    public var authority: Int64?

    /// The name of the file.
    public static let file = "rotate"
    /// The days that clients have to take the next authority, unless somebody names a time.
    public static let noticeDays: Int64 = 14

    public init(ends: Int64) { self.ends = ends }

    /// Reads the order; `nil` for other bytes.
    public init?(_ bytes: [UInt8]) {
        let words = String(decoding: bytes, as: UTF8.self).split { $0 == " " || $0 == "\n" }
        let range: ClosedRange<Int64> = 0...1 << 40
        let numbers = words.compactMap { Int64($0) }
        guard (1...2).contains(words.count), numbers.count == words.count, numbers.allSatisfy(range.contains) else {
            return nil
        }
        ends = numbers[0]
        authority = numbers.count > 1 ? numbers[1] : nil
    }

    /// The contents of the file.
    public var bytes: [UInt8] { Array("\(ends)\(authority.map { " \($0)" } ?? "")\n".utf8) }
}

/// The schedule of the gateway's certificates, by dates in seconds since 1970.
public enum AuthorityPlan {
    /// The validity of an authority, in days.
    public static let authorityDays: Int64 = 730
    /// The validity of a server's certificate, in days.
    public static let leafDays: Int64 = 30
    /// The days before the end of the present authority at which the next one is made: the time for clients to install
    /// it.
    static let noticeDays: Int64 = 90
    /// The days before the end of the present authority from which the next one signs, if clients had as many days to
    /// install it.
    static let changeDays: Int64 = 14

    /// The next step for the authorities.
    public enum Step: Hashable, Sendable {
        /// Keep both.
        case keep
        /// No valid authority exists: make one.
        case start
        /// Make the next authority, and hand out both.
        case announce
        /// Replace the present authority by the next one.
        case change
    }

    private static func days(until end: Int64, from now: Int64) -> Int64 { (end - now) / 86400 }

    /// Returns the next step. The caller carries it out and asks again, until the answer is `keep`.
    ///
    /// - Parameters:
    ///   - present: the end of the present authority; `nil` if there is none.
    ///   - next: the end of the next one; `nil` if there is none.
    public static func step(present: Int64?, next: Int64?, now: Int64) -> Step {
        let next = next.flatMap { $0 > max(now, present ?? now) ? $0 : nil }
        guard let present, present > now else { return next == nil ? .start : .change }
        guard days(until: present, from: now) < noticeDays else { return .keep }
        guard let next else { return .announce }
        let notice = authorityDays - days(until: next, from: now)
        let isKnown = days(until: present, from: now) < changeDays && notice >= changeDays
        // On the last day the change is due in any case: keeping the old authority one more day would help no client.
        return isKnown || days(until: present, from: now) < 1 ? .change : .keep
    }

    /// Whether a server's certificate is due for renewal: in the last third of its validity.
    public static func needsLeaf(ends: Int64, now: Int64) -> Bool { days(until: ends, from: now) < leafDays / 3 }

    /// The names in a server's certificate.
    public static func leafNames(_ own: [String]) -> [String] {
        var names = PushHost.names.map(\.name)
        names += ["api-manage-broadcast.push.apple.com", "api-manage-broadcast.sandbox.push.apple.com"]
        return names + own.filter { !names.contains($0) } + ["localhost", "127.0.0.1", "::1"]
    }

    /// The domains and addresses that the authority may certify, beside loopback addresses.
    public static func domains(_ own: [String]) -> [String] {
        ["googleapis.com", "push.apple.com", "localhost"] + own
    }
}
