import Glibc
import LinuxSystem
import PushModel
import PushSettings
import PushViews

/// Finds out why a client of FCM or APNs does not reach the gateway, or is refused by it.
enum ClientDiagnosis {
    /// The findings in a gateway's status, the reply to `GET /status`.
    ///
    /// - Parameter isReached: whether a request through the proxy of this shell arrived.
    static func findings(ofStatus status: JSONNode, isReached: Bool) -> [HealthFinding] {
        func number(_ key: String) -> Int64 { status[key]?.int64 ?? 0 }
        func answers(_ code: String) -> Int64 { status["answers"]?[code]?.int64 ?? 0 }
        var findings: [HealthFinding] = []
        if let problem = status["daemon_problem"]?.string {
            findings.append(
                .error(.gateway, "the gateway does not reach the daemon: \(problem)", do: "start pushrouterd"))
        } else {
            findings.append(.fine(.gateway, "the gateway answers, and reaches the daemon"))
        }
        if status["next_authority"]?.bool == true {
            findings.append(
                .warning(
                    .gateway,
                    "the gateway's authority ends \(status["authority_ends"]?.string ?? "soon"): clients must trust the "
                        + "next authority before that",
                    do:
                        "give the clients the certificates of \"pushctl gateway ca\" again: the output has both "
                        + "authorities"
                ))
        }
        for (reason, count) in status["failed_handshakes"]?.members ?? [] {
            let text = "\(counted(Int(count.int64 ?? 0), "handshake")) of TLS failed: \(reason)"
            let trusts = ["unknown ca", "bad certificate", "certificate unknown"].contains { reason.hasSuffix($0) }
            findings.append(
                trusts
                    ? .error(
                        .client, "\(text): the client does not trust the authority",
                        do: "eval \"$(pushctl gateway env)\" in the client's shell, and start it again")
                    : .warning(.client, text, do: "look at the client's own log"))
        }
        let clients = status["clients"]?.elements ?? []
        if clients.isEmpty, isReached {
            findings.append(.warning(.client, "no client has sent a request yet", do: "send a push from this shell"))
        } else if clients.isEmpty {
            findings.append(
                .error(
                    .client, number("accepted") > 0 ? "clients connected, and sent no request" : "no client connected",
                    do: number("accepted") > 0
                        ? "see whether the client trusts the authority: \"pushctl gateway env\""
                        : "point the client at the gateway: HTTPS_PROXY of \"pushctl gateway env\", or the hosts' names"
                ))
        }
        for client in clients {
            let name = client["client"]?.string ?? "a client without User-Agent"
            findings.append(
                .fine(
                    .client,
                    "\(name) sent \(client["requests"]?.int64 ?? 0) requests to \(client["service"]?.string ?? ""), the "
                        + "last one was answered \(client["answer"]?.int64 ?? 0) at \(client["at"]?.string ?? "")"))
        }
        for (code, text, remedy) in Self.refusals where answers(code) > 0 {
            findings.append(.warning(.client, "\(answers(code)) requests were answered \(code): \(text)", do: remedy))
        }
        if number("refused_tunnels") > 0 {
            findings.append(
                .warning(
                    .client, "the client asked for tunnels to hosts that are no push services",
                    do: "set NO_PROXY for those hosts"))
        }
        return findings
    }

    private static let refusals = [
        ("401", "the access token is not one of the gateway's", "see Credentials= in gateway.conf"),
        ("403", "the provider token is missing, old or signed by another key", "see Keys= in gateway.conf"),
        ("404", "the path or the token is not there", "see the gateway's journal, and registrations"),
        ("503", "the daemon took no request", "see \"pushctl doctor\""),
    ]

    /// The findings about the variables of this shell.
    ///
    /// - Parameters:
    ///   - authorities: the certificates that clients must trust, in PEM; empty: the gateway does not list them.
    ///   - environment: the value of a variable.
    ///   - contents: reads a file; `nil`: this user cannot read it.
    static func findings(
        authorities: String, environment: (String) -> String?, contents: (String) -> [UInt8]?
    ) -> [HealthFinding] {
        let remedy = "eval \"$(pushctl gateway env)\""
        var findings: [HealthFinding] = []
        for (name, readers) in ClientVariables.bundles + ClientVariables.additions {
            guard let path = environment(name) else {
                findings.append(
                    .warning(.client, "\(name) is not set: \(readers) trust the system's authorities alone", do: remedy)
                )
                continue
            }
            guard let bytes = contents(path) else {
                findings.append(.error(.client, "\(name) is \(path), which this user cannot read", do: remedy))
                continue
            }
            findings.append(
                has(bytes, authorities)
                    ? .fine(.client, "\(name) is \(path)")
                    : .error(
                        .client, "\(name) is \(path), which lacks a certificate of the gateway's authority", do: remedy)
            )
        }
        let (upper, lower) = (environment(ClientVariables.proxy), environment(ClientVariables.proxyInLowerCase))
        if let upper, let lower, upper != lower {
            findings.append(
                .error(
                    .client,
                    "\(ClientVariables.proxyInLowerCase) is \(lower), and curl and requests prefer it to "
                        + "\(ClientVariables.proxy)", do: remedy))
        }
        for name in ClientVariables.exceptions {
            guard let value = environment(name), let corrected = ClientVariables.corrected(value) else { continue }
            findings.append(
                .error(
                    .client, "\(name) is \(value): clients ask push hosts without the gateway",
                    do: "export \(name)=\(corrected.asShellWord)"))
        }
        if upper == nil {
            findings.append(
                .warning(
                    .client,
                    "\(ClientVariables.proxy) is not set: the push hosts must be names of the gateway's machine",
                    do: remedy))
        }
        return findings
    }

    /// The finding about a request for the gateway's state through the proxy of this shell.
    ///
    /// - Parameters:
    ///   - proxy: the proxy's address.
    ///   - bundle: the file whose certificates were trusted; `nil`: the system's.
    ///   - status: the exit status of curl(1).
    ///   - text: the answer, or the error.
    static func finding(ofProbeOf proxy: String, _ bundle: String?, status: Int32, text: String) -> HealthFinding {
        let remedy = "eval \"$(pushctl gateway env)\" in the directory of \"pushctl dev\", or on the gateway's machine"
        let subject = "\(ClientVariables.proxy) is \(proxy)"
        switch status {
        case 0 where state(in: text) != nil:
            return .fine(.client, "\(subject): a request to \(probedHost) arrives, and TLS is trusted")
        case 0:
            return .error(.client, "\(subject), which leads to no gateway of pushrouterd on this machine", do: remedy)
        case 5, 6: return .error(.client, "\(subject), and there is no such host", do: remedy)
        case 7: return .error(.client, "\(subject), and nothing listens there", do: "start the gateway; then \(remedy)")
        case 28: return .error(.client, "\(subject), which does not answer", do: remedy)
        case 35, 51, 58, 60, 77:
            let file = bundle.map { "the certificates in \($0)" } ?? "the system's certificates"
            return .error(.client, "\(subject), and \(file) do not vouch for its TLS", do: remedy)
        case 127: return .warning(.client, "\(subject): not asked, because curl is missing", do: "apt-get install curl")
        default: return .error(.client, "\(subject): \(text.split(separator: "\n").last ?? "it fails")", do: remedy)
        }
    }

    /// The push host that the request names.
    static let probedHost = "fcm.googleapis.com"

    /// A gateway's status in an answer; `nil`: it is another program's.
    static func state(in text: String) -> JSONNode? {
        let root = (try? JSONDocument(scanning: Array(text.utf8)))?.root
        return root?["authorities"] == nil ? nil : root
    }

    /// Whether a file has all of these certificates. Both are PEM, so their lines are compared.
    private static func has(_ file: [UInt8], _ authorities: String) -> Bool {
        let known = Set(file.split(separator: UInt8(ascii: "\n")))
        return Array(authorities.utf8).split(separator: UInt8(ascii: "\n")).allSatisfy(known.contains)
    }
}

extension Session {
    /// The findings about a client of a gateway, the gateway's state first.
    ///
    /// - Parameter given: the gateway's Unix socket; `nil`: the gateway that the proxy of this shell leads to, else the
    ///   socket in the directories.
    func clientFindings(_ given: String?) -> [HealthFinding] {
        let probe = Output.environment(ClientVariables.proxy).map(probe)
        let state: [HealthFinding]
        var authorities = ""
        do {
            let socket = given ?? directories.gatewaySocket
            let told = given == nil ? probe?.state : nil
            let status = try told ?? GatewayStatusQuestion.ask(socket, timeoutMilliseconds: 5000)
            authorities = status["authorities"]?.string ?? ""
            state = ClientDiagnosis.findings(ofStatus: status, isReached: probe?.state != nil)
        } catch {
            let start =
                DevDirectory.start(of: directories.controlSocket) ?? HealthFinding.revival(of: "pushrouter-gateway")
            let remedy =
                "start the gateway: \(start); a gateway started by hand needs "
                + "Listen=unix:PATH, and this command --gateway PATH"
            state = [.error(.gateway, "\(error)", do: remedy)]
        }
        return state + [probe?.finding].compactMap(\.self)
            + ClientDiagnosis.findings(
                authorities: authorities, environment: { name in getenv(name).map { String(cString: $0) } },
                contents: { path in (try? SmallFile.read(path)) ?? nil })
    }

    /// Asks for the gateway's state as a client would: by CONNECT to a push host, with the certificates of this shell.
    private func probe(_ proxy: String) -> (finding: HealthFinding, state: JSONNode?) {
        let bundle = Output.environment("SSL_CERT_FILE")
        var words = ["curl", "-sS", "--max-time", "5", "--noproxy", "", "--proxy", proxy]
        if let bundle { words += ["--cacert", bundle] }
        words.append("https://\(ClientDiagnosis.probedHost)/status")
        let answer = ShellCommand.output(of: words.map(\.asShellWord).joined(separator: " ") + " 2>&1")
        let (status, text) = answer ?? (127, "")
        let finding = ClientDiagnosis.finding(ofProbeOf: proxy, bundle, status: status, text: text)
        return (finding, status == 0 ? ClientDiagnosis.state(in: text) : nil)
    }
}
