import PushModel

extension HealthFacts {
    var handlerFindings: [HealthFinding] {
        let own = handlers.flatMap { handler in
            [
                programFinding(handler), startFinding(handler), userFinding(handler), socketFinding(handler),
                authorityFinding(handler),
            ]
            .compactMap(\.self)
        }
        let findings = own + breakerFindings
        return findings.isEmpty && !handlers.isEmpty
            ? [.fine(.handlers, "\(counted(handlers.count, "handler")): programs, users and sockets are there")]
            : findings
    }

    private var breakerFindings: [HealthFinding] {
        (status?["handlers"]?.members ?? []).compactMap { name, handler in
            guard let breaker = handler["breaker"]?.string, breaker != "closed" else { return nil }
            return .warning(
                .handlers, "handler \(name) does not answer: its breaker is \(breaker)",
                do: "look at its failures: pushctl deadletters --handler \(name)")
        }
    }

    private func programFinding(_ handler: Handler) -> HealthFinding? {
        guard let program = handler.program else { return nil }
        guard let attributes = program.attributes else {
            return absence(.handlers, named(program, handler), "install the program, or change the handler's file")
        }
        let isOwn = handler.user == nil
        guard attributes.kind == .file, let runner = isOwn ? service : handler.account else {
            return attributes.kind == .file
                ? nil
                : .error(
                    .handlers, "handler \(handler.name): \(program.path) is not a file", do: "change Exec= in its file")
        }
        if !attributes.allows(1, runner) {
            return .error(
                .handlers, "handler \(handler.name): the user \(runner.name) cannot run \(program.path)",
                do: "chmod a+rx \(program.path)")
        }
        if attributes.mode & 0o022 != 0 {
            return .error(
                .handlers,
                "handler \(handler.name): \(program.path) has the mode \(attributes.octal): other users can change "
                    + "the program",
                do: "chmod go-w \(program.path)")
        }
        return nil
    }

    private func named(_ file: FileFacts, _ handler: Handler) -> FileFacts {
        FileFacts("handler \(handler.name): \(file.path)", file.condition)
    }

    private func userFinding(_ handler: Handler) -> HealthFinding? {
        guard let user = handler.user, handler.account == nil else { return nil }
        return .error(
            .handlers, "handler \(handler.name): there is no user \(user)",
            do: "adduser --system \(user), or change User= in its file")
    }

    private func socketFinding(_ handler: Handler) -> HealthFinding? {
        guard let socket = handler.socket else { return nil }
        let message = "handler \(handler.name): \(socket.file.path)\(socket.answer.because)"
        switch socket.answer {
        case .answered: return nil
        case .notPermitted: return .warning(.handlers, message, do: "run \"pushctl doctor\" as root")
        case .silent, .failed:
            let start = handler.socketUnit.map { "systemctl enable --now \($0)" }
            return .error(.handlers, message, do: start ?? "start the service that listens there")
        }
    }

    private func authorityFinding(_ handler: Handler) -> HealthFinding? {
        guard let file = handler.authorities, file.attributes == nil else { return nil }
        return absence(.handlers, named(file, handler), "write the certificates there, or change CAFile= in its file")
    }

    // MARK: Secrets

    var secretFindings: [HealthFinding] {
        secrets.map { secret in
            let name = "\(secret.name)\(secret.file.path)"
            guard let attributes = secret.file.attributes else {
                if secret.mayBeElsewhere, secret.file.condition == .missing {
                    return .warning(
                        .secrets, "\(name): there is no such file; ignore this if the service loads it elsewhere",
                        do: "look at LoadCredential= and LoadCredentialEncrypted= of the service; \(secret.purpose)")
                }
                let file = FileFacts(name, secret.file.condition)
                return absence(.secrets, file, "write the secret into it, mode 0600: \(secret.purpose)")
            }
            if attributes.kind != .file {
                return .error(.secrets, "\(name): this is not a file", do: "write the secret into a file, mode 0600")
            }
            if secret.isPrivate, attributes.mode & 0o077 != 0 {
                return .error(
                    .secrets,
                    "\(name): its mode is \(attributes.octal), so other users may read the secret; the file is refused",
                    do: "chmod 600 \(secret.file.path); \(secret.purpose)")
            }
            if let finding = accessFinding(secret, name, attributes) { return finding }
            let reader = secret.reader.map { ", read by \($0.name)" } ?? ""
            return .fine(.secrets, "\(name): mode \(attributes.octal)\(reader)")
        }
    }

    /// The finding about a secret that its service cannot read.
    private func accessFinding(
        _ secret: Secret, _ name: String, _ attributes: FileFacts.Attributes
    ) -> HealthFinding? {
        if let concealment = secret.concealment {
            return .error(
                .secrets, "\(name): \(concealment), so it cannot read the file",
                do: "move the file to a directory that the service sees, such as /etc/pushrouterd; \(secret.purpose)")
        }
        guard let reader = secret.reader else { return nil }
        let closed = secret.directories.first { $0.attributes.map { !$0.allows(1, reader) } ?? false }
        if let closed {
            return .error(
                .secrets, "\(name): the user \(reader.name) reads the file, and may not enter \(closed.path)",
                do: "chmod o+x \(closed.path); \(secret.purpose)")
        }
        guard !attributes.allows(4, reader) else { return nil }
        return .error(
            .secrets,
            "\(name): the user \(reader.name) reads the file, and its owner and mode \(attributes.octal) forbid it",
            do: "chown \(reader.name) \(secret.file.path); \(secret.purpose)")
    }
}
