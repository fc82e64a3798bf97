public import PushModel

/// The contents of `web.conf`.
public struct WebSettings: Fillable, Sendable {
    /// `Listen=`
    public var listen: [SocketAddress] = []
    /// `Host=`
    public var hosts: [String] = []
    /// `Token=`
    public var token: String?
    /// `Proxy=`
    public var proxy: String?
    /// `ProxyHeader=`
    public var proxyHeader = "X-Forwarded-User"
    /// `FullTokens=`
    public var fullTokens = false
    /// `StreamsMax=`
    public var streamsMax = 32
    /// `ConnectionsMax=`
    public var connectionsMax = 1024

    /// Those that hold without a file.
    public init() {}

    /// The default address to listen on.
    public static let standardAddress = "127.0.0.1:18080"

    /// Reads the files, the main one and its drop-ins, in their order.
    ///
    /// - Returns: the settings, unless something is wrong, and all that is to be said.
    public static func load(_ files: [(path: String, bytes: [UInt8])]) -> (WebSettings?, [Diagnostic]) {
        var settings = WebSettings()
        var diagnostics: [Diagnostic] = []
        for file in files {
            var report = FileReport(file: file.path)
            _ = Schema.web.read(file.bytes, into: &settings, report: &report)
            diagnostics += report.diagnostics
        }
        return (diagnostics.contains { $0.severity == .error } ? nil : settings, diagnostics)
    }

    /// Why the page must not listen where other machines reach it; `nil`: it may.
    public var reasonAgainstOtherMachines: String? {
        token == nil
            ? "other machines reach it, and anybody could read every push: name a file with a token by Token= in web.conf"
            : nil
    }
}

extension Schema<WebSettings> {
    /// The keys of `web.conf`.
    public static let web = Schema(keys: [
        Key(
            "Web", "Listen", addingTo: { $1(&$0.listen) },
            Form<SocketAddress> { text throws(ValueError) in try SocketAddress(text) }.list,
            default: WebSettings.standardAddress,
            meaning: """
                Addresses to listen on: a numeric address and a port, or `unix:` and an absolute path. With sockets of the \
                service manager they are not used. An address that other machines reach needs `Token=`.
                """),
        Key(
            "Web", "Host", addingTo: { $1(&$0.hosts) },
            Form<String> { text throws(ValueError) in try Self.host(text) }.list,
            meaning: """
                Host names by which browsers reach the page, beside `localhost`, `127.0.0.1` and `[::1]`. A request for any other \
                name is refused: a foreign page could make a name of its own resolve to this address.
                """),
        Key(
            "Web", "Token", { $1(&$0.token) }, Form<String>.secretFile.optional, showsValue: false,
            meaning: """
                The absolute path of a file with the token that a browser logs in with, and that a program sends as `Authorization: Bearer`. It has \
                at least 16 characters on its first line. The user of the service, `pushrouter-web`, must be able to read it.
                """),
        Key(
            "Web", "Proxy", { $1(&$0.proxy) }, Form<String> { text throws(ValueError) in text }.optional,
            meaning: """
                The name of a user of this machine. Requests of that user over a Unix socket come from a proxy, which \
                has checked the person: they need no token, and may have any host name.
                """),
        Key(
            "Web", "ProxyHeader", { $1(&$0.proxyHeader) },
            Form<String> { text throws(ValueError) in try Self.header(text) },
            default: "X-Forwarded-User",
            meaning: "The header by which the proxy names the person. From other users the header is ignored."),
        Key(
            "Web", "FullTokens", { $1(&$0.fullTokens) }, .boolean, default: "no",
            meaning: "Whether the page shows whole push tokens in place of their beginnings."),
        Key(
            "Web", "StreamsMax", { $1(&$0.streamsMax) }, .integer(1...1024), default: "32",
            meaning: """
                The maximum number of live streams and waiting requests at once. Beyond it the oldest of the client with \
                the most ends for a client with fewer.
                """),
        Key(
            "Web", "ConnectionsMax", { $1(&$0.connectionsMax) }, .integer(2...65_536), default: "1024",
            meaning: """
                The maximum number of connections at once. Beyond it the longest idle one of the client with the most is \
                closed for a new one.
                """),
    ])

    private static func host(_ text: String) throws(ValueError) -> String {
        let name = text.lowercased()
        guard !name.isEmpty, name.utf8.count <= 253,
            name.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value < 0x7F }),
            !name.contains("/"), !name.contains("@")
        else { throw ValueError("must be a host name, such as push.example.com") }
        return name
    }

    private static func header(_ text: String) throws(ValueError) -> String {
        let isName =
            !text.isEmpty
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte.isDigit
                    || byte == UInt8(ascii: "-")
            }
        guard isName else { throw ValueError("must be the name of a header, such as X-Forwarded-User") }
        return text
    }
}
