import PushModel

extension HealthFacts {
    /// All findings, in the order of the areas.
    public var findings: [HealthFinding] {
        configurationFindings + stateFindings + ledgerFindings + setAsideFindings + diskFindings + runtimeFindings
            + socketFindings
            + daemonFindings + database + clockFindings + journalFindings + handlerFindings + secretFindings
            + services
    }

    // MARK: Configuration

    private var configurationFindings: [HealthFinding] {
        var findings = mistakes.map { mistake in
            HealthFinding(
                area: .configuration, severity: mistake.isError ? .error : .warning, message: mistake.message,
                remedy: "correct it, and check it with \"pushctl verify\"")
        }
        var (writable, owned): ([String], [String]) = ([], [])
        for file in configuration {
            guard let attributes = file.attributes else { continue }
            if attributes.mode & 0o022 != 0 {
                writable.append(file.path)
            } else if let service, !attributes.allows(4, service) {
                findings.append(
                    .error(
                        .configuration, "\(file.path): the user \(service.name) of the daemon cannot read it",
                        do: "chmod a+r \(file.path), or give it to a group of that user"))
            } else if let service, attributes.owner == service.user, service.user != 0 {
                owned.append(file.path)
            }
        }
        findings += same(
            .error, writable, "users other than the owner may write to it, and so choose the programs that run",
            do: "chmod go-w")
        findings += same(
            .warning, owned, "the user \(service?.name ?? "") of the daemon owns it, so a handler could change it",
            do: "chown root")
        let count = configuration.count { $0.attributes.map { $0.kind != .directory } ?? false }
        return findings.isEmpty ? [.fine(.configuration, "no mistakes; \(counted(count, "file"))")] : findings
    }

    /// One finding for all files of the configuration with the same fault; none without a file.
    ///
    /// - Parameters:
    ///   - fault: the fault of each.
    ///   - command: the remedy, without the paths.
    private func same(
        _ severity: HealthFinding.Severity, _ paths: [String], _ fault: String, do command: String
    ) -> [HealthFinding] {
        guard let first = paths.first else { return [] }
        let others = paths.count > 1 ? " (and \(counted(paths.count - 1, "other file")))" : ""
        return [
            HealthFinding(
                area: .configuration, severity: severity, message: "\(first)\(others): \(fault)",
                remedy: "\(command) \(paths.joined(separator: " "))")
        ]
    }

    // MARK: State

    private var stateFindings: [HealthFinding] {
        guard let directory = state.first else { return [] }
        guard let attributes = directory.attributes else {
            return [
                absence(
                    .state, directory, "start pushrouterd once, or name the directory of the ledger with --state DIR")
            ]
        }
        guard attributes.kind == .directory else {
            return [
                .error(.state, "\(directory.path): this is not a directory", do: "move it away, and start pushrouterd")
            ]
        }
        let findings = state.flatMap { file in file.attributes.map { stateFindings(file.path, $0) } ?? [] }
        return findings.isEmpty
            ? [
                .fine(
                    .state,
                    "\(directory.path): owner \(service?.name ?? "\(attributes.owner)"), mode \(attributes.octal)")
            ]
            : findings
    }

    private func stateFindings(_ path: String, _ attributes: FileFacts.Attributes) -> [HealthFinding] {
        var findings: [HealthFinding] = []
        if attributes.kind == .link {
            return [.error(.state, "\(path): this is a symbolic link", do: "move the file itself here")]
        }
        if let service, attributes.owner != service.user {
            findings.append(
                .error(
                    .state, "\(path): it belongs to user \(attributes.owner), and the daemon is \(service.name)",
                    do: "chown \(service.name) \(path)"))
        }
        let isSticky = attributes.mode & 0o1000 != 0
        if attributes.mode & 0o022 != 0, !(isSticky && attributes.kind == .directory) {
            findings.append(
                .error(
                    .state, "\(path): its mode is \(attributes.octal): other users may write to it",
                    do: "chmod go-w \(path)"))
        }
        // In a directory that others cannot search, they cannot read the file either.
        if attributes.mode & 0o004 != 0, state.first?.attributes.map({ $0.mode & 0o001 != 0 }) ?? true {
            findings.append(
                .warning(
                    .state,
                    "\(path): its mode is \(attributes.octal): every user may read the payloads and push tokens",
                    do: "chmod o-rwx \(path)"))
        }
        return findings
    }

    private var ledgerFindings: [HealthFinding] {
        switch ledger {
        case nil: []
        case .whole?: [.fine(.state, "the whole ledger was read, and has no error")]
        case .opened(let length)?:
            [
                .fine(
                    .state,
                    "the ledger can be opened; its \(Self.mebibytes(length)) MiB were not read: \"pushctl backup\" "
                        + "reads the whole ledger"
                )
            ]
        case .notPermitted?:
            [
                .warning(
                    .state, "the ledger was not checked: this user may not read it",
                    do: membership ?? "run \"pushctl doctor\" as root")
            ]
        case .problem(let problem, let remedy)?: [.error(.state, problem, do: remedy)]
        }
    }

    private var setAsideFindings: [HealthFinding] {
        setAside.map {
            .warning(
                .state, "\($0): a start or a restore moved ledger or log here; reports and erasures leave them out",
                do:
                    "look for the reason in the journal (journalctl -u pushrouterd); remove the directory when you "
                    + "no longer need it"
            )
        }
    }

    // MARK: Disk

    /// The free space below which the daemon soon stops accepting requests: the shipped `LogSizeMax=`.
    private static let leastFree: Int64 = 256 << 20
    /// The free space below which an administrator should act.
    private static let littleFree: Int64 = 1 << 30
    /// The duration from which a sync counts as slow: each producer waits for one.
    private static let slowSync: Duration = .milliseconds(250)

    private var diskFindings: [HealthFinding] {
        var findings: [HealthFinding] = []
        if let disk {
            let free = "\(Self.mebibytes(disk.free)) MiB are free on the file system of the state directory"
            let remedy = "free space on that file system, or lower Retention= or MaxSize= in [Store]"
            if disk.free < Self.leastFree {
                let message = isAccepting ? "\(free): the daemon will soon refuse every request" : free
                findings.append(.error(.disk, message, do: remedy))
            } else if disk.free < Self.littleFree {
                findings.append(.warning(.disk, free, do: remedy))
            } else {
                findings.append(.fine(.disk, free))
            }
            if let files = disk.freeFiles, files < 1000 {
                let message = "\(files) files can still be made on the file system of the state directory"
                findings.append(.error(.disk, message, do: "remove files on that file system"))
            }
        }
        switch sync {
        case nil: break
        case .took(let time)? where time > Self.slowSync:
            findings.append(
                .warning(
                    .disk, "a sync took \(time.milliseconds) ms: the daemon acknowledges a request after a sync",
                    do: "find the other programs that write to that disk, or move the state directory to a faster one"))
        case .took(let time)?: findings.append(.fine(.disk, "a sync took \(time.milliseconds) ms"))
        case .failed(let reason)?:
            findings.append(
                .error(
                    .disk, "cannot write and sync a file in the state directory: \(reason)",
                    do: "look for errors of the disk in the kernel's log (dmesg)"))
        case .noSpace?:
            findings.append(
                .error(
                    .disk,
                    "there is no room for a block of 4 KiB in the state directory"
                        + (isAccepting
                            ? ": requests are accepted until the log is full (LogSizeMax=), and the ledger is not written"
                            : ""),
                    do: "free space on that file system, or raise the quota"))
        // The ledger's finding already reports the missing access.
        case .notPermitted? where ledger == .notPermitted: break
        case .notPermitted?:
            findings.append(
                .warning(
                    .disk, "write and sync of the state directory were not checked: this user may not write there",
                    do: "run \"pushctl doctor\" as root"))
        }
        return findings
    }

    /// Whether the daemon says that it accepts requests.
    private var isAccepting: Bool { status.map { $0["store_problem"]?.string == nil } ?? false }

    private static func mebibytes(_ bytes: Int64) -> Int64 { bytes >> 20 }

    // MARK: The system

    private var clockFindings: [HealthFinding] {
        switch isClockSynchronised {
        case true?: [.fine(.clock, "the clock is synchronised")]
        case false?:
            [
                .warning(
                    .clock, "the kernel says that the clock is not synchronised: times in reports may be wrong",
                    do: "run \"timedatectl\"; install systemd-timesyncd or chrony")
            ]
        case nil:
            [.warning(.clock, "the kernel does not say whether the clock is synchronised", do: "run \"timedatectl\"")]
        }
    }

    private var journalFindings: [HealthFinding] {
        switch journal {
        case nil: []
        case .answered?: [.fine(.journal, "the journal takes entries")]
        case .silent?, .notPermitted?, .failed?:
            [
                .warning(
                    .journal, "the journal takes no entries, and they go to standard error\(journal?.because ?? "")",
                    do: "systemctl status systemd-journald.socket")
            ]
        }
    }

    // MARK: Parts of several rules

    /// Returns the finding for a file that is missing, or whose attributes cannot be read.
    func absence(_ area: HealthFinding.Area, _ file: FileFacts, _ remedy: String) -> HealthFinding {
        switch file.condition {
        case .hidden: .warning(area, "\(file.path): this user may not look at it", do: "run \"pushctl doctor\" as root")
        case .failed(let reason): .error(area, "\(file.path): \(reason)", do: remedy)
        case .missing, .found: .error(area, "\(file.path): it is not there", do: remedy)
        }
    }
}

extension HealthFacts.Answer {
    /// The reason, as the rest of a sentence.
    var because: String {
        switch self {
        case .answered: ""
        case .silent: ": no answer within \(Self.patience.milliseconds / 1000) s"
        case .notPermitted: ": this user may not connect"
        case .failed(let reason): ": \(reason)"
        }
    }

    /// The timeout for an answer.
    public static let patience: Duration = .seconds(5)
}
