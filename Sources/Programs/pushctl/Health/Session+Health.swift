import Glibc
import LinuxSystem
import PushModel
import PushRouter
import PushSettings
import PushViews
import Store

extension Session {
    /// The facts for `doctor`.
    func healthFacts() -> HealthFacts {
        var facts = HealthFacts()
        collectSockets(&facts)
        collectState(&facts)
        if let settings = collectConfiguration(&facts) {
            let handlers = settings.routing.handlers.values.sorted { $0.name < $1.name }
            facts.handlers = handlers.map(health)
            let services = try? ServiceFiles(in: directories.configuration)
            facts.secrets = secrets(settings, handlers, services)
            facts.services = forwarderFindings(settings)
            if settings.store.shared.database != nil { facts.database = database(facts.service) }
        }
        facts.services += serviceFailures
        facts.isClockSynchronised = SystemClock.isSynchronised
        facts.journal = HealthProbe.listener("/run/systemd/journal/socket", datagrams: true)
        return facts
    }

    private func collectSockets(_ facts: inout HealthFacts) {
        facts.runtime = HealthProbe.file(directories.runtime)
        if let command = DevDirectory.start(of: directories.controlSocket) { facts.howToStart = command }
        let inject = HealthProbe.inject(directories.injectSocket)
        let (control, status) = HealthProbe.status(directories.controlSocket)
        let (read, statusForReaders) = HealthProbe.status(directories.readSocket)
        facts.status = status ?? statusForReaders
        facts.sockets = [
            (directories.injectSocket, inject), (directories.controlSocket, control), (directories.readSocket, read),
        ].map { path, answer in
            let isOpen = answer != .notPermitted
            return HealthFacts.Socket(
                file: HealthProbe.file(path), answer: answer, membership: isOpen ? nil : Membership.advice(for: path))
        }
    }

    private func collectState(_ facts: inout HealthFacts) {
        let names = ["", "/lock", "/ledger.db", "/ledger.db-wal", "/ledger.db-shm", "/log"]
        // The daemon follows a symbolic link to the directory, and none within it.
        let files = names.map { HealthProbe.file(directories.state + $0, followingLinks: $0.isEmpty) }
        let process = facts.status?["pid"]?.int64.map { HealthProbe.file("/proc/\($0)") }
        facts.state = files
        for file in [process, files.first].compactMap(\.self) {
            guard case .found(let attributes) = file.condition else { continue }
            facts.service = HealthProbe.account(attributes.owner)
            break
        }
        guard case .found(let attributes)? = files.first?.condition, attributes.kind == .directory else { return }
        facts.ledger = HealthProbe.ledger(directories.state)
        if facts.ledger == .notPermitted {
            facts.membership = Membership.advice(for: "\(directories.state)/ledger.db")
        }
        facts.setAside = SetAside.list(in: directories.state)
        facts.disk = HealthProbe.disk(directories.state)
        facts.sync = HealthProbe.sync(directories.state)
    }

    /// - Returns: the settings, as far as they can be read.
    private func collectConfiguration(_ facts: inout HealthFacts) -> Settings? {
        do {
            let sources = try configurationSources()
            let (settings, diagnostics) = Settings.read(sources)
            facts.mistakes = diagnostics.map {
                HealthFacts.Mistake(isError: $0.severity == .error, message: $0.description)
            }
            let sandbox = sources.serviceFindings(of: settings, in: serviceFacts(status: facts.status))
            // A file that cannot be read is said by what reads it first.
            let services = (try? ServiceFiles(in: directories.configuration))?.diagnostics ?? []
            facts.mistakes += (sandbox + services).map {
                HealthFacts.Mistake(isError: $0.severity == .error, message: $0.description)
            }
            let files = [
                sources.main, sources.providers, sources.handlers, sources.routes, sources.tracks,
                sources.registrations, sources.producers,
            ].joined().map(\.path)
            let folders = ["", "/pushrouterd.conf.d"] + ConfigurationFolder.allCases.map { "/\($0.name)" }
            let directories = directories.configuration.filter { $0 != self.directories.runtime }
                .flatMap { directory in folders.map { directory + $0 } }
            facts.configuration = (directories + files).map { HealthProbe.file($0) }
            return settings
        } catch {
            facts.mistakes = [HealthFacts.Mistake(isError: true, message: error.description)]
            return nil
        }
    }

    // MARK: The database

    /// The findings of pushrouterd-fleet about the database: this program has no libpq.
    ///
    /// - Parameter service: the daemon's user, as which root asks: root can read a password or key that the daemon cannot.
    private func database(_ service: UserAccount?) -> [HealthFinding] {
        let name = FleetProgram.name
        guard let path = FleetProgram.path else {
            return [
                .error(
                    .database, "\(name) is not installed, and Log= names a database", do: "install the package \(name)")
            ]
        }
        guard let output = ask(fleetProgram: path, as: service, "--status", "--json") else {
            return [.error(.database, "\(path) cannot be run", do: "run \"pushctl store status\"")]
        }
        let answer = try? JSONDocument(scanning: Array(output.text.utf8)).root
        // 1: a finding is an error.
        guard (0...1).contains(output.status), let findings = answer?["findings"] else {
            let said = output.text.split(separator: "\n").last.map(String.init) ?? "no answer within 20 s"
            return [
                .error(
                    .database, said, do: "run \"pushctl store status\" as the daemon's user: the daemon needs this")
            ]
        }
        return findings.elements.compactMap(HealthFinding.init)
    }

    /// The findings about services that have failed.
    private var serviceFailures: [HealthFinding] {
        guard directories.runtime == Directories.standardRuntime else { return [] }
        let services = ["gateway", "http", "metrics", "web"].flatMap { name in
            ["service", "socket"].map { "pushrouter-\(name).\($0)" }
        }
        let units = (services + ["pushrouter-forward.service"]).joined(separator: " ")
        return HealthFinding.failures(
            ofServices: ServiceUnit.properties(["Id", "ActiveState", "SubState", "NRestarts"], of: units) ?? "")
    }

    // MARK: Handlers

    private func health(_ handler: Handler) -> HealthFacts.Handler {
        var facts = HealthFacts.Handler(name: handler.name)
        if let command = handler.kind.command, let program = command.arguments.first {
            let file = HealthProbe.file(program)
            facts.program = file
            facts.start = HealthProbe.start(of: file)
            if case .script(let interpreter, _)? = facts.start {
                let directory = interpreter.hasPrefix("/") ? "" : (command.workingDirectory ?? "") + "/"
                facts.interpreter = HealthProbe.file(directory + interpreter)
            }
            facts.isSearchedProgramFound = facts.start?.searchedProgram.map {
                HealthProbe.isFound($0, in: command.searchPath)
            }
            facts.user = command.confinement.user
            facts.account = command.confinement.user.flatMap { HealthProbe.account(named: $0) }
        }
        if let path = handler.kind.socketPath {
            facts.socket = HealthFacts.Socket(file: HealthProbe.file(path), answer: HealthProbe.listener(path))
        }
        facts.socketUnit = handler.kind.bridge.flatMap { $0.serviceSocket == nil ? nil : "\($0.program).socket" }
        facts.authorities = handler.kind.endpoint?.authorityFile.map { HealthProbe.file($0) }
        if let bridge = handler.kind.bridge, bridge.serviceSocket == nil {
            let program = bridgeCommand(bridge)?.arguments.first
            facts.program = program.map { HealthProbe.file($0) } ?? FileFacts(bridge.program, .missing)
        }
        return facts
    }
}
