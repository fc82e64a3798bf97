public import PushModel
public import PushRouter

/// The settings of an `http` handler's requests. They contain no secret, only the places of secrets.
public struct HTTPEndpoint: Hashable, Sendable {
    /// The format of a request. The raw values are the configuration's.
    public enum Format: String, Hashable, Sendable, CaseIterable {
        /// CloudEvents 1.0 in binary mode: the attributes are headers, the object is the body.
        case cloudEvents = "cloudevents"
        /// CloudEvents 1.0 in structured mode: one JSON object has the attributes, and the object as its data.
        case structuredCloudEvents = "cloudevents-structured"
        /// The object is the body.
        case plain
    }

    /// The use of HTTP/2. The raw values are the configuration's.
    public enum HTTP2: String, Hashable, Sendable, CaseIterable {
        /// Uses HTTP/2 if the server agrees to it under TLS.
        case auto
        /// Never uses HTTP/2.
        case no
    }

    /// The address of the requests: `https://` or `http://`.
    public var url: String
    /// Further header lines, `Name: value`.
    public var headers: [String] = []
    /// The format of a request.
    public var format = Format.cloudEvents
    /// The secrets for signatures (Standard Webhooks): a file by its absolute path, or the name of a systemd
    /// credential; `nil` sends no signature.
    public var secretFile: String?
    /// The token of the header `Authorization: Bearer`, a file or a credential likewise; `nil` sends no such header.
    public var bearerFile: String?
    /// The certificates to trust instead of the system's, a PEM file; `nil` for the system's.
    public var authorityFile: String?
    /// The use of HTTP/2.
    public var http2 = HTTP2.auto
    /// The limit for setting up a connection to the server, TLS included.
    public var connectTimeout: Duration = .seconds(3)
    /// The limit of simultaneous connections to a server.
    public var connections = 16

    /// - Parameter url: the address of the requests.
    init(url: String) { self.url = url }
}

extension Handler.Kind {
    /// The endpoint of an `http` handler; `nil` for any other kind.
    public var endpoint: HTTPEndpoint? { bridge?.settings as? HTTPEndpoint }
}

extension HTTPEndpoint: BridgeSettings {
    public static let name = "http"
    public static let purpose = "posts to a web server"

    /// libcurl reads its proxy from these variables.
    public static let environment = ["https_proxy", "no_proxy"]

    public static let socketKey: (name: String, meaning: String)? = (
        "HTTPSocket",
        """
        The socket of pushrouter-http(8) where that is a service, such as /run/pushrouter-http.sock; an absolute path. \
        Default: none; the daemon starts the program itself when an `http` handler needs it, and the program has the \
        network and the user of the daemon.
        """
    )

    public static let keys: [Key<HTTPEndpoint>] = [
        // Messages never show the values of keys with `showsValue: false`: they may contain secrets.
        Key(
            "Handler", "URL", { $1(&$0.url) }, Form.webAddress, showsValue: false,
            meaning: """
                The address of an `http` handler's requests: `https://` or `http://`, a host, and optionally a port, a \
                path and a query. Messages never repeat it, since it may hold a secret. Redirects are not followed. \
                Required for `http`.
                """),
        Key(
            "Handler", "Header", addingTo: { $1(&$0.headers) }, .header, showsValue: false,
            meaning: "A header of the requests, `name: value`; a list, one in each line."),
        Key(
            "Handler", "Format", { $1(&$0.format) }, .choice, default: "cloudevents",
            meaning: """
                `cloudevents` makes a request an event of CloudEvents 1.0 in binary mode: its attributes are headers, its \
                data is the body. `cloudevents-structured` puts both into one object. `plain` sends the data alone.
                """),
        Key(
            "Handler", "SecretFile", { $1(&$0.secretFile) }, Form.secretPlace.optional, showsValue: false,
            meaning: """
                The secrets that sign requests by Standard Webhooks 1.0: the absolute path of a file that only its \
                owner can read, or the name of a systemd credential of pushrouter-http(8). The file has a secret in \
                each line, at most four: Base64, with or without `whsec_` before it. A request has a signature for \
                each secret. A changed file counts from the next request on. Default: none; nothing is signed.
                """),
        Key(
            "Handler", "BearerFile", { $1(&$0.bearerFile) }, Form.secretPlace.optional, showsValue: false,
            meaning: "The token of the header `Authorization: Bearer`, named in the same way."),
        Key(
            "Handler", "CAFile", { $1(&$0.authorityFile) }, Form.absolutePath.optional,
            meaning: """
                The certificates that vouch for the server, a PEM file by its absolute path. Default: the system's. \
                Certificates are always verified.
                """),
        // libcurl 7.88 of Debian 12 cannot reuse a connection that it opened with HTTP/2 by prior knowledge.
        Key(
            "Handler", "HTTP2", { $1(&$0.http2) }, .choice(of: HTTPEndpoint.HTTP2.allCases), default: "auto",
            meaning: "`auto` speaks HTTP/2 where the server agrees to it under TLS, `no` never."),
        Key(
            "Handler", "ConnectTimeout", { $1(&$0.connectTimeout) },
            .timeSpan(.milliseconds(1) ... .seconds(9)), default: "3s",
            meaning: """
                The maximum time to set up a connection to the server, TLS included; 1ms to 9s, and never longer than \
                the deadline.
                """),
        Key(
            "Handler", "Connections", { $1(&$0.connections) }, .integer(1...256), default: "16",
            meaning: """
                The maximum number of connections of the handler at once; 1 to 256. Requests beyond them wait.
                """),
    ]

    public init() { self.init(url: "") }

    public func isComplete(lines: [String: Int], report: inout FileReport) -> Bool {
        guard !url.isEmpty else {
            if lines["URL"] == nil { report.error("URL= is missing; Type=http posts to this address") }
            return false
        }
        if url.hasPrefix("http:") { checkPlain(lines: lines, report: &report) }
        if let line = lines["Header"], headers.contains(where: { $0.lowercased().hasPrefix("authorization:") }) {
            if bearerFile != nil {
                report.error("Header=Authorization: BearerFile= sets the same header; remove one of them", line: line)
            } else {
                report.warning(
                    "Header=Authorization: every reader of this file can read it; put a bearer token into a file of "
                        + "its own and name that with BearerFile=", line: line)
            }
        }
        return true
    }

    /// Checks the keys that depend on TLS.
    private func checkPlain(lines: [String: Int], report: inout FileReport) {
        if authorityFile != nil {
            report.warning(
                "CAFile= has no effect: URL= begins with http://, which has no certificates", line: lines["CAFile"])
        }
        if bearerFile != nil, !isLoopback {
            report.error(
                "BearerFile=: the token would leave this machine without TLS; begin URL= with https://",
                line: lines["BearerFile"])
        } else if !isLoopback {
            report.warning("URL= begins with http://, so payloads leave this machine without TLS", line: lines["URL"])
        }
    }

    public var files: [Bridge.File] {
        [
            ("CAFile", authorityFile, false, "no server would be trusted"),
            ("SecretFile", secretFile, true, "nothing is sent"), ("BearerFile", bearerFile, true, "nothing is sent"),
        ].compactMap { key, place, isSecret, consequence in
            place.map { Bridge.File(key: key, place: $0, isSecret: isSecret, consequence: consequence) }
        }
    }

    // The text does not show the address, which may contain a secret.
    public var network: Bridge.Network? {
        Bridge.Network(consequence: "nothing can be posted to its URL=", isLocal: isLoopback)
    }

    /// Whether the address names this machine.
    private var isLoopback: Bool {
        let authority = Array(url.utf8).split(separator: UInt8(ascii: "/")).dropFirst().first ?? []
        return (try? Form.hostAndPort(authority)).map { Form.isLoopback(host: $0.host) } ?? false
    }
}
