import PushModel

/// The settings of one `.handler` file.
public struct Handler: Hashable, Sendable {
    /// The kind of the handler: `Type=`.
    public enum Kind: Hashable, Sendable {
        /// A program that the daemon runs once for each invocation.
        indirect case exec(Command)
        /// A program that keeps running, and reads and answers invocations as lines.
        indirect case worker(Command, InstanceRules)
        /// Another service, by the absolute path of its Unix socket; it reads and answers the same lines as a worker.
        indirect case socket(path: String, InstanceRules)
        /// A notification on the desktop, sent to the notification service of a D-Bus bus.
        indirect case notify(NotificationRules)
        /// A program of this project that forwards invocations to an outside service.
        indirect case bridge(Bridge, InstanceRules)
        /// Built in: writes an entry to the journal.
        case journal
        /// Built in: does nothing.
        case discard
    }

    /// The program of an `exec` or a `worker` handler.
    public struct Command: Hashable, Sendable {
        /// The program's absolute path and its arguments, split as systemd splits `ExecStart=`; never empty.
        public var arguments: [String]
        /// Variables added to the program's environment, which otherwise has only `PATH` and `PUSH_*`.
        public var environment: [String: String]
        /// The program's secrets.
        public var credentials: [Credential]
        /// The working directory; `nil`: `/`.
        public var workingDirectory: String?
        /// The program's user and resource limits.
        public var confinement: Confinement
        /// Whether the daemon writes the program's standard error to the journal. It may contain parts of payloads.
        public var logsOutput: Bool

        /// The program's `PATH`: the handler file's value, or the usual one of the system.
        public var searchPath: String {
            environment["PATH"] ?? "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        }

        /// Joins the parts.
        public init(
            arguments: [String], environment: [String: String] = [:], credentials: [Credential] = [],
            workingDirectory: String? = nil, confinement: Confinement = Confinement(), logsOutput: Bool = false
        ) {
            self.arguments = arguments
            self.environment = environment
            self.credentials = credentials
            self.workingDirectory = workingDirectory
            self.confinement = confinement
            self.logsOutput = logsOutput
        }
    }

    /// A secret of a program: the daemon reads the file when it starts the program, and gives it the bytes as a file.
    public struct Credential: Hashable, Sendable {
        /// The name, as of a variable.
        public var name: String
        /// The absolute path of the file.
        public var path: String
        /// The variable of the program's environment that has the path of its file.
        public var variable: String { "PUSH_CREDENTIAL_\(name)" }

        /// Joins the parts.
        public init(name: String, path: String) { (self.name, self.path) = (name, path) }
    }

    /// The user and the resource limits of a program; `nil` means the daemon's own value.
    public struct Confinement: Hashable, Sendable {
        /// The name or the uid of the user.
        public var user: String?
        /// Whether `PR_SET_NO_NEW_PRIVS` is set, so that an exec grants no privileges, such as those of a set-user-id
        /// program; `nil`: true if `user` is set.
        public var noNewPrivileges: Bool?
        /// The limit of open files of each process (`RLIMIT_NOFILE`).
        public var openFilesMax: Int?
        /// The nice value, -20 to 19.
        public var niceness: Int?
        /// The memory limit of all processes of a run together, in bytes.
        public var memoryMax: Int?
        /// The limit of processes and threads of a run.
        public var tasksMax: Int?
        /// The CPU weight of a run, 1 to 10000; the default of other cgroups is 100.
        public var processorWeight: Int?

        /// Confines nothing.
        public init() {}
    }

    /// The file name without its extension.
    public var name: String
    /// The kind of the handler.
    public var kind: Kind
    /// Whether a second run for the same invocation is harmless: if so, the daemon runs it again after a crash.
    public var idempotent: Bool
    /// The time between SIGTERM and the deadline; `nil`: no SIGTERM.
    public var grace: Duration?
    /// The limit of concurrent invocations; `nil`: as many as there are places.
    public var maxConcurrent: Int?
    /// Whether the handler may hold at most as many places as it leaves free, so that a handler that hangs leaves
    /// places to the others.
    public var leavesPlaces = false
    /// The limit of invocations that wait for the handler; above it the router refuses a request that needs the handler
    /// with `overloaded`.
    public var queueMax: Int
    /// The thresholds of the circuit breaker in `relay` mode; `nil`: no breaker.
    public var breaker: BreakerRules?

    /// The shipped `Queue=`: about the number of invocations that a handler of 50 ms completes with 64 places in 9 s.
    public static let defaultQueueMax = 10_000
    /// In `relay` mode: the limit of retries for one invocation; `nil`: the budget alone limits them.
    public var retries: Int?

    /// Joins the parts.
    public init(
        name: String, kind: Kind, idempotent: Bool = false, grace: Duration? = nil, maxConcurrent: Int? = nil,
        queueMax: Int = Handler.defaultQueueMax, breaker: BreakerRules? = nil, retries: Int? = nil
    ) {
        self.name = name
        self.kind = kind
        self.idempotent = idempotent
        self.grace = grace
        self.maxConcurrent = maxConcurrent
        self.queueMax = queueMax
        self.breaker = breaker
        self.retries = retries
    }

    /// A copy for the instances, with `leavesPlaces` off: that value depends on the other handlers.
    public var ofInstances: Handler {
        var handler = self
        handler.leavesPlaces = false
        return handler
    }
}

/// The limits of a handler's instances and of the invocations that each is given.
///
/// An instance is a running program of a `worker` handler, or a connection of a `socket` handler.
public struct InstanceRules: Hashable, Sendable {
    /// The limit of concurrent instances.
    public var instances: Int
    /// The limit of unanswered invocations at one instance.
    public var pipeline: Int
    /// How long an instance may be idle before it ends; `nil`: without a limit.
    public var idleTimeout: Duration?
    /// Whether a connection carries one invocation: the daemon sends the line and then shuts down its sending side. The
    /// next invocation has a new connection. The answer then needs no id.
    public var isSingleUse: Bool
    /// Whether the daemon cancels an invocation that missed its deadline by a line
    /// (``HandlerInput/cancellation(of:)``), which the instance answers too. If false, the daemon replaces the
    /// instance.
    public var supportsCancellation: Bool

    /// Joins the parts; the defaults are the shipped ones.
    public init(
        instances: Int = 1, pipeline: Int = 1, idleTimeout: Duration? = .seconds(300),
        isSingleUse: Bool = false, supportsCancellation: Bool = false
    ) {
        self.instances = instances
        self.pipeline = pipeline
        self.idleTimeout = idleTimeout
        self.isSingleUse = isSingleUse
        self.supportsCancellation = supportsCancellation
    }

    /// The limit of unanswered invocations at all instances together.
    public var capacity: Int { instances * linesAtOnce }

    /// The limit of unanswered invocations at one instance.
    var linesAtOnce: Int { isSingleUse ? 1 : pipeline }
}

extension Handler.Kind {
    /// The word of `Type=`.
    public var name: String {
        switch self {
        case .exec: "exec"
        case .worker: "worker"
        case .socket: "socket"
        case .notify: "notify"
        case .bridge(let bridge, _): bridge.declaration.name
        case .journal: "journal"
        case .discard: "discard"
        }
    }

    /// The name of an instance, for people.
    var instanceName: String {
        switch self {
        case .bridge(let bridge, _): "\(bridge.declaration.name) service"
        case .exec, .worker, .socket, .notify, .journal, .discard: name
        }
    }

    /// Whether the daemon does the work itself.
    public var isBuiltIn: Bool {
        switch self {
        case .exec, .worker, .socket, .bridge, .notify: false
        case .journal, .discard: true
        }
    }

    /// The program that the daemon starts; `nil` if it starts none.
    public var command: Handler.Command? {
        switch self {
        case .exec(let command), .worker(let command, _): command
        case .socket, .bridge, .notify, .journal, .discard: nil
        }
    }

    /// The socket that the daemon connects to; `nil` if it connects to none.
    public var socketPath: String? {
        switch self {
        case .socket(let path, _): path
        case .bridge(let bridge, _): bridge.serviceSocket
        case .exec, .worker, .notify, .journal, .discard: nil
        }
    }

    /// The rules of the instances; `nil` if the handler has no instances.
    public var instanceRules: InstanceRules? {
        switch self {
        case .worker(_, let rules), .socket(_, let rules), .bridge(_, let rules): rules
        case .exec, .notify, .journal, .discard: nil
        }
    }

    /// The rules for notifications; `nil` if the handler shows none.
    public var notificationRules: NotificationRules? {
        switch self {
        case .notify(let rules): rules
        case .exec, .worker, .socket, .bridge, .journal, .discard: nil
        }
    }

    /// The bridge of the handler; `nil` if it is no bridge handler.
    public var bridge: Bridge? {
        switch self {
        case .bridge(let bridge, _): bridge
        case .exec, .worker, .socket, .notify, .journal, .discard: nil
        }
    }

    /// Whether the handler is a bridge.
    var isBridge: Bool { if case .bridge = self { true } else { false } }

    /// Whether the handler's program may write requests beside its answers.
    var sendsRequests: Bool {
        if case .bridge(let bridge, _) = self { bridge.declaration.sendsRequests } else { false }
    }
}

/// The current state of one handler.
public struct HandlerStatus: Hashable, Sendable {
    /// The state of a circuit breaker.
    public enum BreakerState: String, Sendable, CaseIterable {
        case closed, open, probing
    }

    /// The handler's name.
    public var name: String
    /// The number of invocations that hold a place.
    public var running: Int
    /// The number of invocations that wait for a place.
    public var waiting: Int
    /// The number of observers' invocations in `running`.
    public var observersRunning: Int
    /// The number of observers' invocations in `waiting`.
    public var observersWaiting: Int
    /// The limit of concurrent invocations; `nil`: as many as there are places.
    public var limit: Int?
    /// The limit of waiting invocations.
    public var queueLimit: Int
    /// The number of requests refused because the queue was full, since the start.
    public var refused: UInt64
    /// The state of the breaker; `nil` if the handler or the mode has none.
    public var breaker: BreakerState?
    /// The time until the breaker admits a probe; zero if it is not open.
    public var pause: Duration
    /// The number of invocations that passed over the handler because its breaker was open, since the start.
    public var passedOver: UInt64
    /// Whether the configuration no longer has the handler; its invocations in flight still finish.
    public var isDraining: Bool
}
