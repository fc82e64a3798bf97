import Glibc
import LinuxSystem
import PushModel
import PushSettings

extension Command {
    static let gateway = Command(
        name: "gateway",
        summary: "print certificates and settings for clients, or rotate them",
        description: [
            """
            ca prints the certificate of the authority that vouches for the gateway, and the next one from 90 days \
            before the present one ends. Its name constraints let it vouch for the hosts of FCM and APNs, localhost \
            and Names= of gateway.conf alone.
            """,
            """
            env prints variables for a shell, by which unmodified clients trust the gateway and use it as their proxy: \
            eval "$(pushctl gateway env)". The file that they name, with the system's authorities and the gateway's, is \
            the gateway's own bundle.pem; with --directory it is written there. A client that trusts one file alone \
            takes this file. Where a "pushctl dev" is used, the address and the files are those of its gateway.
            """,
            """
            A gateway makes its authority at its first start. Where pushrouter-gateway.socket listens and the gateway has \
            not started yet, ca and env connect once, which starts it, and wait up to 10 s for the file.
            """,
            """
            rotate ends the gateway's authority at a date, by default in \(AuthorityRotation.noticeDays) days, for \
            instance because somebody may have read ca.key. The gateway makes the next authority at once, hands out \
            both until the date, and signs with the next one from the last day on. The command prints who has to do \
            what. "--end now" ends it at once: every client refuses the gateway until it has the new certificate.
            """,
            """
            compose prints a service for docker compose, whose network gives the gateway the names of the push hosts. \
            The service is an example; the tests of pushrouterd do not run it.
            """,
        ],
        operands: Operands(usage: GatewayOrder.usage, count: 1...1, words: GatewayOrder.allCases.map(\.rawValue)),
        options: [
            .stateDirectory.meaning("the directory of the gateway's authority (\(Directories.standardGateway))"),
            .gatewayAddress, .bundleDirectory, .authorityEnd,
        ],
        examples: [
            Example(line: "pushctl gateway ca > ca.pem", meaning: "for a client that trusts more than one file"),
            Example(line: "eval \"$(pushctl gateway env)\"", meaning: "then start the client in this shell"),
            Example(line: "pushctl gateway rotate --end 2026-12-24", meaning: "a new authority beside the old one"),
        ]
    ) { arguments, session throws(Failure) in
        guard let order = GatewayOrder(rawValue: arguments.operands[0]) else {
            throw arguments.usageFailure("\(arguments.operands[0]): one of \(GatewayOrder.usage)")
        }
        let state = arguments[.stateDirectory] ?? session.directories.gateway
        switch order {
        case .ca:
            session.output.write(try session.ownAuthorities(in: state))
        case .env:
            let bundle = try session.bundle(in: arguments[.bundleDirectory], from: state)
            let address: String
            if let given = arguments[.gatewayAddress] {
                address = given
            } else {
                address = try DevAddresses.gateway(in: session.directories) ?? PushHost.standardGatewayAddress
            }
            session.output.print(
                ClientVariables.exports(
                    ClientVariables.all(
                        bundle: bundle, authority: absolutePath("\(state)/ca.pem"), proxy: address,
                        environment: Output.environment)))
        case .rotate: session.output.print(try session.rotateAuthority(in: state, arguments))
        case .compose: session.output.print(Compose.example)
        }
        return .done
    }
}

/// An order. The raw values are the words of the command line.
private enum GatewayOrder: String, CaseIterable {
    case ca, env, rotate, compose

    static let usage = allCases.map(\.rawValue).joined(separator: "|")
}

extension Option {
    fileprivate static let gatewayAddress = Option(
        "address", .text("ADDRESS:PORT"),
        "env: the address and port of the gateway (\(PushHost.standardGatewayAddress))")
    fileprivate static let bundleDirectory = Option(
        "directory", .directory, "env: write bundle.pem into this directory, and name it (the gateway's own file)")
}

extension Option {
    fileprivate static let authorityEnd = Option(
        "end", .text("TIME"), "rotate: when the old authority ends: RFC 3339, a date, or now (in 14 days)")
}

extension Session {
    /// Orders the gateway to replace its authority.
    ///
    /// - Returns: who has to do what, for people.
    fileprivate func rotateAuthority(in state: String, _ arguments: Arguments) throws(Failure) -> String {
        let now = LocalTime.now
        var end = WallTime(milliseconds: now.milliseconds + AuthorityRotation.noticeDays * 86_400_000)
        if let text = arguments[.authorityEnd] {
            guard let given = LocalTime.parse(text, now: now) else {
                throw arguments.usageFailure("--end \(text): RFC 3339, a date, or now")
            }
            guard given >= now else {
                throw arguments.usageFailure("--end \(text) is in the past; --end now ends the authority at once")
            }
            end = given
        }
        let path = "\(state)/\(AuthorityRotation.file)"
        guard access("\(state)/ca.pem", F_OK) == 0 else {
            throw Failure(.noInput, "there is no \(state)/ca.pem: the gateway has no authority yet")
        }
        let subject = AuditRecord.Subject.gatewayRotate(until: end)
        try recording(act(subject.act, subject.what), told: .gatewayRotate(until: end)) { _ throws(Failure) in
            do throws(StartFailure) {
                try SmallFile.replace(
                    path, with: AuthorityRotation(ends: end.milliseconds / 1000).bytes, mode: 0o644)
            } catch {
                throw Failure(
                    .noPermission, "\(error.lines.joined(separator: "; ")): run this as root, or as the gateway's user")
            }
        }
        let until = end.rfc3339
        return """
            The authority in \(state) ends on \(until).
            1. Here, now: systemctl reload pushrouter-gateway. The gateway makes the next authority; else within an hour.
            2. Each client, until then: take the certificates again, which are both: pushctl gateway ca. A client of \
            "pushctl gateway env" reads them at its next start.
            3. The gateway, on the last day: the next authority signs. A client without it refuses the gateway.
            4. Each client, afterwards: trust the new certificate alone. The old one vouches for whoever has its key \
            until its own end.

            """
    }

    /// The system's authorities on Debian.
    private static let systemAuthorities = "/etc/ssl/certs/ca-certificates.crt"

    /// The gateway's authorities in PEM, the present one first. Of the package's gateway they are there soon after the
    /// first connection.
    fileprivate func ownAuthorities(in state: String) throws(Failure) -> [UInt8] {
        let path = "\(state)/ca.pem"
        if let own = try contents(of: path) { return own }
        guard state == Directories.standardGateway else {
            throw Failure(
                .noInput, "there is no \(path): a gateway with this directory makes this file at its first start")
        }
        if let problem = SocketProbe.problem(at: Directories.standardGatewaySocket) {
            throw Failure(
                .noInput,
                "there is no \(path), and the gateway that makes this file does not listen: \(problem.description); "
                    + "systemctl enable --now pushrouter-gateway.socket; --state names the directory of a gateway that "
                    + "was started by hand")
        }
        let own = try patiently { () throws(Failure) in try contents(of: path) }
        guard let own else {
            throw Failure(
                .noInput,
                "there is no \(path): the gateway was started, and has not made this file within 10 s: systemctl status "
                    + "pushrouter-gateway")
        }
        return own
    }

    /// Asks every 50 ms for 10 s.
    private func patiently<Value>(_ ask: () throws(Failure) -> Value?) throws(Failure) -> Value? {
        let end = SystemClock.monotonicNanoseconds + 10_000_000_000
        while SystemClock.monotonicNanoseconds < end {
            if let value = try ask() { return value }
            usleep(50_000)
        }
        return nil
    }

    private func contents(of path: String) throws(Failure) -> [UInt8]? {
        do throws(StartFailure) {
            return try SmallFile.read(path)
        } catch {
            throw Failure(.noInput, error.lines.joined(separator: "\n"))
        }
    }

    /// The absolute path of a file with the system's authorities and the gateway's: the gateway's own, or one that this
    /// writes into a directory.
    fileprivate func bundle(in directory: String?, from state: String) throws(Failure) -> String {
        let own = absolutePath("\(state)/bundle.pem")
        // The gateway writes it before ca.pem, if the system has authorities.
        if directory == nil, try !ownAuthorities(in: state).isEmpty, access(own, R_OK) == 0 { return own }
        guard let system = try contents(of: Self.systemAuthorities) else {
            throw Failure(.noInput, "there is no \(Self.systemAuthorities): install the package ca-certificates")
        }
        let bundle = try system + ownAuthorities(in: state)
        guard let directory else {
            throw Failure(.noInput, "there is no \(own): name a directory for this file with --directory")
        }
        let path = absolutePath("\(directory)/bundle.pem")
        do throws(StartFailure) {
            try SmallFile.replace(path, with: bundle, mode: 0o644)
        } catch {
            throw Failure(.inputOutput, error.lines.joined(separator: "\n"))
        }
        return path
    }
}

/// The absolute path, because the client may run in another directory.
private func absolutePath(_ path: String) -> String {
    guard !path.hasPrefix("/"), let current = getcwd(nil, 0) else { return path }
    defer { free(current) }
    return "\(String(cString: current))/\(path)"
}

private enum Compose {
    static let example = """
        # An example, not run by the tests of pushrouterd. The image is the one of packaging/Containerfile, --target router.
        # Anyone=yes: whatever is in this network may send.
        services:
          router:
            image: pushrouterd
            user: root
            init: true
            volumes: ["push-run:/run/pushrouterd", "push-state:/var/lib/pushrouterd"]
          push:
            image: pushrouterd
            user: root
            entrypoint: [/usr/sbin/pushrouter-gateway, --listen, "0.0.0.0:443", --state, /ca]
            depends_on: [router]
            configs: [{source: gateway, target: /etc/pushrouterd/gateway.conf.d/50-compose.conf}]
            volumes: ["push-run:/run/pushrouterd", "push-ca:/ca"]
            networks:
              default:
                aliases: [\(PushHost.names.map(\.name).joined(separator: ", "))]
          app:
            build: .
            environment:
              SSL_CERT_FILE: /ca/bundle.pem
              REQUESTS_CA_BUNDLE: /ca/bundle.pem
              NODE_EXTRA_CA_CERTS: /ca/ca.pem
            volumes: ["push-ca:/ca:ro"]
        configs:
          gateway: {content: "[Gateway]\nAnyone=yes\n"}
        volumes: {push-ca: {}, push-run: {}, push-state: {}}

        """
}
