import LinuxSystem
import PushModel
import PushSettings
import Store

/// The configuration in force.
struct ConfigurationInForce: Hashable, Sendable {
    /// Its id.
    var id: ConfigurationID
    /// When it came into force.
    var since: WallTime
}

/// The configuration in force, and the news of it.
struct ConfigurationState {
    var inForce: ConfigurationInForce
    /// The mistake of the configuration that was read last, or the reason for which the one in force is not kept; `nil`
    /// without one.
    var problem: String?
    /// The warnings about the configuration that was read last.
    var warnings: [String] = []
    /// The periods that no row has yet.
    var unrecorded: [ConfigurationPeriod] = []

    init(inForce: ConfigurationInForce, problem: String?) { (self.inForce, self.problem) = (inForce, problem) }

    /// The beginning of the status text while a mistake keeps the configuration on disk from being in force.
    ///
    /// - Parameter status: the text without a mistake.
    func text(_ status: String, after event: String) -> String {
        problem == nil ? status : "\(event) failed, still as before: \(status)"
    }

    /// Puts a configuration into force.
    ///
    /// - Parameter first: the number of the next request.
    mutating func take(_ inForce: ConfigurationInForce, from first: SequenceNumber) {
        problem = nil
        guard inForce.id != self.inForce.id else { return }
        self.inForce = inForce
        unrecorded.append(ConfigurationPeriod(first: first, id: inForce.id, since: inForce.since))
    }
}

/// The directories of the configuration, and the state between its readings: at the start and at each reload.
struct Configuration: Sendable {
    /// The result of a reading.
    struct Reading: Sendable {
        var settings: Settings
        var warnings: [String]
        var inForce: ConfigurationInForce
    }

    let directories: [String]
    /// Whether the command line named the directory, so that no shipped file stands in for a missing one.
    let isRequired: Bool
    /// The rights of handlers in the service.
    let service: ServiceFacts
    /// The configurations that were in force.
    let keeper: ConfigurationKeeper
    private let state: String
    /// Whether the last reading found files.
    private var hasFiles = false
    private var isLoaded = false
    /// The configuration in force, if it could not be kept.
    private var unkept: ConfigurationSources?
    /// The id of the configuration that was read last.
    private var lastID: ConfigurationID?

    /// - Parameters:
    ///   - state: the state directory.
    ///   - isRequired: whether the command line named the directory.
    ///   - service: the rights of handlers in the service.
    init(directories: [String], state: String, isRequired: Bool, service: ServiceFacts) {
        self.directories = directories
        self.isRequired = isRequired
        self.service = service
        self.state = state
        keeper = ConfigurationKeeper(state: state)
    }

    /// Whether the configuration in force is kept.
    var isKept: Bool { unkept == nil }

    /// Reads the configuration for a start, before the state directory is locked; ``keepStarted(at:)`` follows.
    ///
    /// With a mistake the start goes on with the last configuration that was in force and that is valid still.
    ///
    /// - Returns: the settings, the warnings about them, and the mistake; `nil` without one.
    /// - Throws: the mistake, if there is no such configuration.
    mutating func start() throws(StartFailure) -> (settings: Settings, warnings: [String], mistake: StartFailure?) {
        do throws(StartFailure) {
            let (settings, sources, warnings) = try read()
            unkept = sources
            return (settings, warnings, nil)
        } catch {
            for (_, kept) in keeper.newestFirst {
                guard let (settings, sources) = load(kept) else { continue }
                (hasFiles, isLoaded, unkept) = (!sources.isStandIn, true, sources)
                return (settings, [], error)
            }
            throw error
        }
    }

    /// Returns a kept configuration with the registrations of the directories, which are not kept; `nil` if it is not
    /// valid for this program.
    private func load(_ kept: ConfigurationSources) -> (Settings, ConfigurationSources)? {
        var sources = kept
        sources.registrations =
            (try? ConfigurationSources(reading: directories, required: isRequired))?.registrations ?? []
        guard var settings = Settings.load(sources).settings ?? Settings.load(kept).settings else { return nil }
        let findings = kept.lookUpProducers(of: &settings)
        return findings.contains { $0.severity == .error } ? nil : (settings, kept)
    }

    /// Notes that another reader has read and kept a configuration.
    mutating func note(_ inForce: ConfigurationInForce) {
        guard inForce.id != lastID else { return }
        (unkept, lastID) = (nil, inForce.id)
    }

    /// Keeps the configuration of ``start()``; to be called once the state directory is locked.
    ///
    /// - Returns: the configuration in force, and the reason if it could not be kept: the start goes on without that.
    /// - Throws: if the disk failed, after which no sync is to be trusted.
    mutating func keepStarted(
        at now: WallTime
    ) throws(StartFailure) -> (inForce: ConfigurationInForce, problem: String?) {
        guard let sources = unkept else { preconditionFailure("start() comes first, and keeps nothing") }
        let id = sources.id
        lastID = id
        do throws(StartFailure) {
            let since = try keep(sources, at: now)
            unkept = nil
            return (ConfigurationInForce(id: id, since: since), nil)
        } catch {
            guard error.exitStatus != StartFailure.inputOutput else { throw error }
            let message = error.lines.joined(separator: "\n")
            return (
                ConfigurationInForce(id: id, since: now),
                "\(message); a start with a mistake would go on with an earlier one, if there is one: make room or rights, "
                    + "and reload"
            )
        }
    }

    /// Reads and validates all files, and keeps them before they are in force.
    ///
    /// - Throws: `StartFailure` with a line for each error, and the warnings.
    mutating func reload(at now: WallTime) throws(StartFailure) -> Reading {
        let (settings, sources, warnings) = try read()
        let since = try keep(sources, at: now)
        let id = sources.id
        (unkept, lastID) = (nil, id)
        return Reading(settings: settings, warnings: warnings, inForce: ConfigurationInForce(id: id, since: since))
    }

    private func keep(_ sources: ConfigurationSources, at now: WallTime) throws(StartFailure) -> WallTime {
        var named: Set<ConfigurationID>?
        return try keeper.keep(sources, at: now) { id in
            // Without a ledger only the age counts.
            let known = named ?? (try? LedgerReader(directory: state).namedConfigurations()) ?? []
            named = known
            return known.contains(id)
        }
    }

    /// Reads and validates all files. The shipped stand-in never replaces a configuration that had files: somebody has
    /// moved the files away, or has not put them back yet.
    ///
    /// A handler that the service's sandbox keeps from working is an error at a reload. At the start it is a warning,
    /// so that the other handlers start.
    ///
    /// - Throws: `StartFailure` with a line for each error, and the warnings.
    private mutating func read() throws(StartFailure) -> (Settings, ConfigurationSources, [String]) {
        var loaded = try LoadedConfiguration(reading: directories, required: isRequired)
        guard !(hasFiles && loaded.sources.isStandIn) else {
            throw StartFailure(
                "\(directories.joined(separator: ", ")): the configuration files are gone; put them back, or "
                    + "restart pushrouterd to use the shipped handlers and route",
                exitStatus: StartFailure.configuration)
        }
        for socket in [
            loaded.settings.daemon.injectSocket, loaded.settings.daemon.controlSocket,
            loaded.settings.daemon.readSocket,
        ] { _ = try groupID(of: socket) }
        let unknown = loaded.sources.lookUpProducers(of: &loaded.settings)
        let findings =
            loaded.warnings + unknown
            + loaded.sources.systemFindings(of: loaded.settings, directories: directories, in: service)
        let errors = findings.filter { $0.severity == .error }
        guard !isLoaded && !unknown.contains(where: { $0.severity == .error }) || errors.isEmpty else {
            throw StartFailure(
                lines: errors.map(\.description),
                warnings: findings.filter { $0.severity != .error }.map(\.description),
                exitStatus: StartFailure.configuration)
        }
        hasFiles = !loaded.sources.isStandIn
        isLoaded = true
        return (loaded.settings, loaded.sources, findings.map(\.description))
    }

    // MARK: For readers

    /// Returns the reply to `op: configuration`.
    ///
    /// - Parameters:
    ///   - id: the configuration; `nil`: the one that was read last.
    ///   - requestID: the id of the request.
    func reply(about id: ConfigurationID?, to requestID: String?) -> [UInt8] {
        guard let id = id ?? lastID,
            let sources = id == lastID ? unkept ?? keeper.sources(of: id) : keeper.sources(of: id)
        else {
            return Reply.refused(
                ProtocolError(
                    .invalidValue, field: "configuration",
                    message: "the configuration \(id?.description ?? "in force") is not kept here", id: requestID))
        }
        let text = sources.forExplaining.keptText
        guard text.count <= ConfigurationText.lengthMax else {
            return Reply.refused(
                ProtocolError(
                    .tooLong, field: "configuration",
                    message: "the configuration \(id) has \(text.count) bytes without comments, and a reply "
                        + "\(ConfigurationText.lengthMax) at most", id: requestID))
        }
        let since = keeper.list.entries.first { $0.id == id }?.since
        return Reply.done(
            id: requestID, ConfigurationText(id: id, since: since, isInForce: id == lastID, text: text).write)
    }
}

/// Reads the configuration again, and answers questions about it, on its own thread: hundreds of files, or a slow user
/// directory, take longer than a turn of the loop may.
final class ConfigurationReader: Sendable {
    /// The result of a reading.
    typealias Reading = Result<Configuration.Reading, StartFailure>

    /// The results of jobs.
    enum News: Sendable {
        case read(Reading)
        case answer(token: UInt64, line: [UInt8])
    }

    private enum Job: Sendable {
        case read
        case describe(ConfigurationID?, token: UInt64, requestID: String?)
    }

    private let thread: JobThread<Job>

    /// - Parameters:
    ///   - configuration: the last one that was read.
    ///   - onNews: gets the result of each job, on the thread `configuration`.
    init(_ configuration: Configuration, onNews: @escaping @Sendable (News) -> Void) {
        thread = JobThread("configuration") {
            var configuration = configuration
            return { job in
                switch job {
                case .read:
                    onNews(
                        .read(
                            Result { () throws(StartFailure) in try configuration.reload(at: Moment.now().wall) }))
                case .describe(let id, let token, let requestID):
                    onNews(.answer(token: token, line: configuration.reply(about: id, to: requestID)))
                }
            }
        }
    }

    /// Asks the thread for another reading.
    ///
    /// - Throws: when the system can start no thread.
    func read() throws(SystemError) { try thread.submit(.read) }

    /// Asks the thread for the reply to `op: configuration`.
    ///
    /// - Throws: when the system can start no thread.
    fileprivate func describe(_ id: ConfigurationID?, token: UInt64, requestID: String?) throws(SystemError) {
        try thread.submit(.describe(id, token: token, requestID: requestID))
    }

    /// Ends the thread without waiting for it: it may hang in a directory, and it holds nothing that the daemon still
    /// needs.
    func leave() { thread.leave() }
}

/// The clients that wait for the reply to `op: configuration`. On the loop's thread.
final class ConfigurationQuestions {
    /// How many may wait: each reply has all files.
    private static let waitingMax = 8

    private let reader: ConfigurationReader
    private var waiting: [UInt64: ControlClient] = [:]
    private var nextToken: UInt64 = 0

    /// - Parameter reader: finds the answers.
    init(_ reader: ConfigurationReader) { self.reader = reader }

    /// Takes a client's question; the reply comes later.
    ///
    /// - Throws: when too many wait, or when the system can start no thread.
    func ask(_ id: ConfigurationID?, for client: ControlClient) throws(ProtocolError) {
        guard waiting.count < Self.waitingMax else {
            throw ProtocolError(
                .overloaded, message: "\(Self.waitingMax) others wait for a configuration, the limit",
                retryAfter: .milliseconds(100), id: client.id)
        }
        nextToken += 1
        do throws(SystemError) {
            try reader.describe(id, token: nextToken, requestID: client.id)
        } catch {
            throw ProtocolError(.overloaded, message: "\(error)", retryAfter: .seconds(1), id: client.id)
        }
        waiting[nextToken] = client
    }

    /// Sends a reply.
    func take(_ token: UInt64, _ line: [UInt8]) { waiting.removeValue(forKey: token)?.reply(line) }
}
