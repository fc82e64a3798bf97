import PushModel

extension HealthFacts {
    // MARK: Sockets

    /// Whether no socket answers because the daemon does not run: one finding tells it.
    private var isStopped: Bool {
        !sockets.isEmpty
            && sockets.allSatisfy { if case .failed = $0.answer { true } else { false } }
    }

    var runtimeFindings: [HealthFinding] {
        guard let runtime, !(isStopped && runtime.condition == .missing) else { return [] }
        guard let attributes = runtime.attributes else {
            return [
                absence(
                    .runtime, runtime,
                    "systemd-tmpfiles --create, or name the directory of the sockets with --runtime DIR")
            ]
        }
        guard attributes.mode & 0o022 == 0 else {
            return [
                .error(
                    .runtime,
                    "\(runtime.path): its mode is \(attributes.octal): others could put sockets of their own there",
                    do: "chmod go-w \(runtime.path)")
            ]
        }
        if attributes.owner != 0, let service, attributes.owner != service.user {
            return [
                .error(
                    .runtime,
                    "\(runtime.path): it belongs to user \(attributes.owner), who could place sockets there",
                    do: "chown root \(runtime.path)")
            ]
        }
        return [.fine(.runtime, "\(runtime.path): mode \(attributes.octal)")]
    }

    var socketFindings: [HealthFinding] {
        guard !isStopped else {
            return [
                .error(
                    .sockets, "pushrouterd is not running: no process listens in \(runtime?.path ?? "its directory")",
                    do: "\(howToStart), or name the directory of the sockets with --runtime DIR")
            ]
        }
        return sockets.map { socket in
            let path = socket.file.path
            if let attributes = socket.file.attributes, attributes.mode & 0o002 != 0 {
                return .error(
                    .sockets, "\(path): its mode is \(attributes.octal): every user may connect",
                    do: "set the mode to 0660: SocketMode= of its socket unit, else the key of [Daemon]")
            }
            switch socket.answer {
            case .answered: return .fine(.sockets, "\(path): answered")
            case .silent:
                return .error(
                    .sockets, "\(path)\(socket.answer.because)", do: "systemctl status pushrouterd, then its journal")
            case .notPermitted:
                return .warning(
                    .sockets, "\(path)\(socket.answer.because)",
                    do: socket.membership ?? "run \"pushctl doctor\" as root")
            case .failed(let reason):
                return .error(
                    .sockets, reason,
                    do: "\(howToStart), or name the directory of the sockets with --runtime DIR")
            }
        }
    }

    // MARK: What the daemon says of itself

    var daemonFindings: [HealthFinding] {
        guard let status else { return [] }
        if let fleet = status["fleet"], status["state"]?.string == "following" {
            return [following(fleet)]
        }
        var findings: [HealthFinding] = []
        let isShared = status["fleet"]?["role"] != nil
        if let lines = status["configuration_problem"]?.string {
            let problem = lines.split(separator: "\n").joined(separator: "; ")
            findings.append(
                .error(
                    .daemon, "the last good configuration is in force, not the one on disk: \(problem)",
                    do: "run \"pushctl verify\", then systemctl reload pushrouterd"))
        }
        if let problem = status["store_problem"]?.string {
            findings.append(
                .error(
                    .daemon, "no request is accepted: \(problem)",
                    do: isShared
                        ? "do what this message says of the database; area database has more"
                        : "free space, or repair the state directory"))
        }
        if let problem = status["store"]?["ledger_problem"]?.string {
            findings.append(
                .error(.daemon, "the ledger cannot be written: \(problem)", do: "free space, or repair the ledger"))
        }
        if let problem = status["store"]?["commit_problem"]?.string {
            findings.append(
                .error(
                    .daemon, "no request is acknowledged now: \(problem)",
                    do: "find the programs that write to the disk or read the ledger, or raise LogSizeMax="))
        } else if status["store"]?["is_slow"]?.bool == true {
            findings.append(
                isShared
                    ? .warning(
                        .daemon, "the database is slow: a commit takes longer than SlowCommit=",
                        do: "look for locks, long transactions and the disk of the database (pg_stat_activity)")
                    : .warning(
                        .daemon, "the disk is slow: a sync takes longer than SlowCommit=",
                        do: "find the programs that write to the disk"))
        }
        if let problem = status["custom_data"]?["sending_problem"]?.string {
            findings.append(
                .error(
                    .daemon, "custom data: \(problem)",
                    do: "do what this message says; journalctl -u pushrouter-forward has more"))
        }
        if let problem = status["device_problem"]?.string {
            findings.append(
                .warning(
                    .daemon, problem,
                    do: "raise DeviceMemoryMax= in [Dispatch]; \"pushctl devices\" lists the devices"))
        }
        findings += refusedProducers(status)
        if let count = status["clients"]?["refused"]?["descriptors"]?.int64, count > 0 {
            findings.append(
                .warning(
                    .daemon,
                    "\(counted(count, "connection was", "connections were")) refused since the start: the daemon had no "
                        + "descriptor left",
                    do: "raise LimitNOFILE= of the unit, and restart the daemon"))
        }
        findings.append(containment(status))
        let pid = status["pid"]?.int64.map { "process \($0), " } ?? ""
        return findings.contains { $0.severity == .error }
            ? findings : findings + [.fine(.daemon, "\(pid)version \(status["version"]?.string ?? "unknown")")]
    }

    /// The producers that a rule refused within an hour.
    private func refusedProducers(_ status: JSONNode) -> [HealthFinding] {
        (status["clients"]?["refused_by_rule"]?.elements ?? []).compactMap { refused in
            guard let age = refused["age_ms"]?.int64, age < 3_600_000, let rule = refused["rule"]?.string,
                let user = refused["uid"]?.string, let count = refused["count"]?.int64
            else { return nil }
            return .warning(
                .daemon,
                "producers.d/\(rule).producer has refused \(counted(count, "request")) of the user \(user), the last "
                    + "\(spanInWords(.milliseconds(age))) ago",
                do: "test a request with \"pushctl verify --producer \(user) FILE\", and correct the rule or the "
                    + "producer")
        }
    }

    private func following(_ fleet: JSONNode) -> HealthFinding {
        let leader = fleet["leader"]?.string.map { "\($0) leads" } ?? "no machine leads"
        let behind = fleet["behind_ms"]?.int64 ?? 0
        let message = "this machine follows as \(fleet["node"]?.string ?? "?"), and \(leader)"
        if let problem = fleet["engine_problem"]?.string {
            return .error(
                .daemon, "\(message); the database does not serve it: \(problem)",
                do: "do what this message says of the database; area database has more")
        }
        guard behind > 10_000 else { return .fine(.daemon, message) }
        return .warning(
            .daemon, "\(message); its copy is \(behind / 1000) s behind",
            do: "look at the database (area database) and at the journal of this machine")
    }

    private func containment(_ status: JSONNode) -> HealthFinding {
        guard status["containment"]?.string != "cgroups" else {
            return .fine(.daemon, "each run of a handler has a cgroup of its own")
        }
        let reason = status["containment_reason"]?.string.map { ": \($0)" } ?? ""
        return .warning(
            .daemon, "runs of handlers have no cgroups of their own, so MemoryMax= and the like do not hold\(reason)",
            do: "run pushrouterd as a systemd service with Delegate=yes")
    }
}
