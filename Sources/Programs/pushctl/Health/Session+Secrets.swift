import LinuxSystem
import PushModel
import PushRouter
import PushSettings
import PushViews

/// A service of the package that reads secrets, as the service manager knows it.
private struct SecretReader {
    /// The user of the service; `nil`: there is no such user.
    let account: UserAccount?
    /// Whether it starts with the machine.
    let isEnabled: Bool
    /// The files of its credentials by their names; the encrypted ones are not among them.
    let credentials: [Substring: String]
    private let facts: ServiceFacts?

    /// - Parameter program: the program of the service, which has the name of its unit.
    init(_ program: String) {
        let names = ["UnitFileState", "Group", "SupplementaryGroups"] + ServiceFacts.properties
        let text = ServiceUnit.properties(names, of: "\(program).service") ?? ""
        func values(_ name: String) -> [Substring] {
            text.split(separator: "\n").filter { $0.hasPrefix("\(name)=") }.map { $0.dropFirst(name.count + 1) }
        }
        let user = values("User").first.map(String.init) ?? ""
        var account = HealthProbe.account(named: user.isEmpty ? program : user)
        let groups = ["Group", "SupplementaryGroups"].flatMap(values).flatMap { $0.split(separator: " ") }
        account?.groups += groups.compactMap { HealthProbe.group(named: String($0)) }
        self.account = account
        isEnabled = values("UnitFileState").first == "enabled"
        var credentials: [Substring: String] = [:]
        // systemctl show prints credentials as "[unprintable]".
        for line in ServiceUnit.text(of: "\(program).service").split(separator: "\n") {
            guard line.hasPrefix("LoadCredential=") else { continue }
            let parts = line.dropFirst("LoadCredential=".count).split(separator: ":", maxSplits: 1)
            if parts.isEmpty { credentials = [:] }
            if parts.count == 2 { credentials[parts[0]] = String(parts[1]) }
        }
        self.credentials = credentials
        facts = ServiceFacts(properties: text)
    }

    /// Adds to a secret the rights of the service.
    func reading(_ secret: HealthFacts.Secret) -> HealthFacts.Secret {
        var secret = secret
        secret.reader = account
        secret.concealment = facts?.concealment(of: resolvingLinks(secret.file.path))
        var directory = ""
        for name in secret.file.path.split(separator: "/").dropLast() {
            directory += "/\(name)"
            secret.directories.append(HealthProbe.file(directory))
        }
        return secret
    }
}

extension Session {
    /// The service, unless another daemon is asked for than that of the package: that one has no services.
    private func reader(_ program: String) -> SecretReader? {
        directories.runtime == Directories.standardRuntime ? SecretReader(program) : nil
    }

    /// The files of the secrets that the configuration names, each with the user that reads it.
    func secrets(
        _ settings: Settings, _ handlers: [Handler], _ services: ServiceFiles?
    ) -> [HealthFacts.Secret] {
        var secrets = forwarderSecrets(settings)
        for handler in handlers {
            guard let bridge = handler.kind.bridge else { continue }
            for file in bridge.settings.files where file.isSecret {
                secrets.append(secret(file, of: bridge, name: "handler \(handler.name): \(file.key)="))
            }
        }
        if let gateway = services?.gateway {
            let places = [("Credentials", gateway.credentials, ".json"), ("Keys", gateway.keys, ".p8")]
            for (key, directory, suffix) in places {
                guard let directory else { continue }
                for name in (try? SmallFile.names(in: directory, suffix: suffix)) ?? [] {
                    secrets.append(
                        secret(
                            "gateway.conf: \(key)=", "\(directory)/\(name)", of: "pushrouter-gateway",
                            "without it the gateway does not start"))
                }
            }
        }
        let webPush = HealthProbe.file("\(directories.gateway)/webpush.key")
        // The gateway makes it at its first start.
        if webPush.condition != .missing {
            let secret = HealthFacts.Secret(
                name: "web push: ", file: webPush, purpose: "without it the gateway does not start")
            secrets.append(reader("pushrouter-gateway")?.reading(secret) ?? secret)
        }
        if let path = services?.web?.token {
            secrets.append(
                secret("web.conf: Token=", path, of: "pushrouter-web", "without it the page does not start"))
        }
        return secrets
    }

    /// A secret that its program does not refuse when others may read it.
    private func secret(
        _ name: String, _ path: String, of program: String, _ purpose: String
    ) -> HealthFacts.Secret {
        let secret = HealthFacts.Secret(name: name, file: HealthProbe.file(path), purpose: purpose, isPrivate: false)
        return reader(program)?.reading(secret) ?? secret
    }

    private func secret(_ file: Bridge.File, of bridge: Bridge, name: String) -> HealthFacts.Secret {
        let (place, purpose) = (file.place, "without it \(file.consequence)")
        // A bridge without a service is a child of the daemon.
        let program = bridge.serviceSocket == nil ? "pushrouterd" : bridge.program
        if place.hasPrefix("/") {
            let secret = HealthFacts.Secret(name: name, file: HealthProbe.file(place), purpose: purpose)
            return reader(program)?.reading(secret) ?? secret
        }
        // systemd keeps loaded credentials there while the service runs.
        let file = HealthProbe.file("/run/credentials/\(program).service/\(place)")
        return .init(name: name, file: file, purpose: purpose, isPrivate: false, mayBeElsewhere: true)
    }

    // MARK: The forwarder

    private func forwarderSecrets(_ settings: Settings) -> [HealthFacts.Secret] {
        guard settings.usersTrack.endpoint != nil else { return [] }
        let purpose = "without it the forwarder does not start"
        let reader = reader("pushrouter-forward")
        if let path = settings.usersTrack.keyFile {
            let secret = HealthFacts.Secret(name: "KeyFile=", file: HealthProbe.file(path), purpose: purpose)
            return [reader?.reading(secret) ?? secret]
        }
        // The service manager reads it, as root.
        let loaded = reader?.credentials["users-track-key"]
        guard let path = loaded ?? directories.configuration.first.map({ "\($0)/users-track-key" }) else { return [] }
        return [
            HealthFacts.Secret(
                name: "credential users-track-key: ", file: HealthProbe.file(path), purpose: purpose,
                mayBeElsewhere: loaded == nil || reader?.isEnabled != true)
        ]
    }

    /// The finding about a forwarder that starts with the machine and has nothing to send to.
    func forwarderFindings(_ settings: Settings) -> [HealthFinding] {
        guard settings.usersTrack.endpoint == nil, reader("pushrouter-forward")?.isEnabled == true else { return [] }
        return [
            .error(
                .configuration,
                "pushrouter-forward is enabled, and [UsersTrack] has no Endpoint=: the forwarder does not start",
                do: "set Endpoint= and its key, or systemctl disable --now pushrouter-forward")
        ]
    }
}
