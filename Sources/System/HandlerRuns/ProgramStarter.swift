import HandlerProcess
import LinuxSystem
import PushModel
import PushRouter

/// Starts the programs of handlers on a `SpawnPool`, and delivers them on the loop.
final class ProgramStarter {
    /// The first part of the mark of this state directory's processes.
    let owner: String
    private let loop: EventLoop
    private let descriptorLimit: UInt64?
    private let mailbox: Mailbox<SpawnResult>
    private let pool: SpawnPool
    private let concealment: @Sendable (String) -> String?
    private var source: IOSource?
    private var take: (SpawnResult) -> Void = { _ in preconditionFailure("a program started before anybody listens") }

    /// - Parameters:
    ///   - loop: the loop.
    ///   - owner: the first part of the mark of this state directory's processes.
    ///   - descriptorLimit: the soft limit of open files for programs.
    ///   - cgroups: makes a cgroup for each program; `nil` for none.
    ///   - concealment: returns why this process does not see a path, on any thread; `nil`: nothing hides it.
    init(
        loop: EventLoop, owner: String, descriptorLimit: UInt64?, cgroups: RunCgroups?,
        concealment: @escaping @Sendable (String) -> String? = { _ in nil }
    ) throws {
        self.loop = loop
        self.concealment = concealment
        self.owner = owner
        self.descriptorLimit = descriptorLimit
        let mailbox = try Mailbox<SpawnResult>()
        self.mailbox = mailbox
        pool = SpawnPool(threads: 2, cgroups: cgroups) { mailbox.post($0) }
    }

    /// - Parameter take: gets each result, on the loop.
    func begin(handingTo take: @escaping (SpawnResult) -> Void) throws(SystemError) {
        self.take = take
        source = try mailbox.receive(on: loop, priority: .important) { $0.forEach(take) }
    }

    /// Starts a program; the result comes with the token.
    ///
    /// - Parameters:
    ///   - command: the program.
    ///   - facts: variables besides those of the handler's file; their names begin with `PUSH_`.
    ///   - streams: its standard streams.
    ///   - mark: the mark of its processes, with the state directory's id.
    ///   - token: returned with the result.
    ///   - deadline: the time after which it is not started; `nil` means no limit.
    func start(
        _ command: Handler.Command, facts: [(name: String, value: String)], streams: ProcessCommand.Streams,
        mark: String, token: UInt64, deadline: Instant? = nil
    ) {
        // Names are unique: handlers' files may set no name that begins with PUSH_.
        var variables = facts
        for (name, value) in command.environment { variables.append((name, value)) }
        if command.environment["PATH"] == nil { variables.append(("PATH", command.searchPath)) }
        var process = ProcessCommand(
            arguments: command.arguments, environment: variables,
            workingDirectory: command.workingDirectory ?? "/", streams: streams, descriptorLimit: descriptorLimit,
            confinement: ProcessConfinement(command.confinement), mark: mark)
        process.credentials = command.credentials.map { .init(variable: $0.variable, path: $0.path) }
        process.concealment = concealment
        pool.submit(process, token: token, deadline: deadline?.nanoseconds)
    }

    /// Waits for the starts that have begun, a second at most, and delivers their results: for a loop that takes no
    /// further turn.
    func finishStarts() {
        pool.waitForStarts(atMost: .seconds(1))
        mailbox.takeAll().forEach(take)
    }

    /// Empties the cache of users.
    func forgetUsers() { pool.forgetUsers() }

    /// Returns whether a start has not begun.
    func isWaiting(_ token: UInt64) -> Bool { pool.isWaiting(token) }

    /// Cancels a start that has not begun.
    ///
    /// - Returns: whether it was cancelled: then no result follows.
    func cancel(_ token: UInt64) -> Bool { pool.cancel(token) }
}

extension ProcessConfinement {
    /// Converts the confinement of a handler's file.
    init(_ confinement: Handler.Confinement) {
        self.init(
            user: confinement.user,
            hasNoNewPrivileges: confinement.noNewPrivileges ?? (confinement.user != nil),
            openFilesMax: confinement.openFilesMax, niceness: confinement.niceness,
            cgroup: CgroupLimits(
                memoryMax: confinement.memoryMax, tasksMax: confinement.tasksMax,
                processorWeight: confinement.processorWeight))
    }
}

extension CgroupController {
    /// The setting of a handler's file that needs it.
    fileprivate var key: String {
        switch self {
        case .cpu: "CPUWeight="
        case .memory: "MemoryMax="
        case .pids: "TasksMax="
        }
    }
}

/// Enables the controllers that the handlers of a configuration need, and logs the settings that have no effect here.
///
/// - Parameters:
///   - handlers: all handlers.
///   - cgroups: the cgroups of runs; `nil` if there are none.
///   - log: takes a warning for each such handler.
func prepareConfinement(
    of handlers: some Collection<Handler>, in cgroups: RunCgroups?, log: (JournalEntry) -> Void
) {
    let confined = handlers.compactMap { handler in
        (handler.kind.command?.confinement).map { (handler, ProcessConfinement($0)) }
    }
    let wanted = Set(confined.flatMap(\.1.cgroup.controllers))
    // Removes the cgroups kept for handlers that no longer exist.
    cgroups?.removeFree()
    let missing = Set(cgroups.map { $0.enable(wanted) } ?? Array(wanted))
    let reason = cgroups == nil ? "runs have no cgroups" : "the service's cgroup lacks the controller"
    for (handler, confinement) in confined.sorted(by: { $0.0.name < $1.0.name }) {
        let keys = confinement.cgroup.controllers.filter(missing.contains).map(\.key)
        if !keys.isEmpty {
            let message = "handler \(handler.name): \(keys.joined(separator: ", ")) has no effect: \(reason)"
            log(JournalEntry(.warning, message, fields: [.init(.handler, handler.name)]))
        }
    }
}
