import PushModel

/// A handler: one `.handler` file.
public struct Handler: Hashable, Sendable {
    /// The kind of a handler: its `Type=`.
    public enum Kind: Hashable, Sendable {
        /// A program that runs once per invocation.
        indirect case exec(Command)
        /// A program that stays, and reads and answers invocations as lines.
        indirect case worker(Command, InstanceRules)
        /// The Unix socket of another service, by its absolute path; the service reads and answers the same lines.
        indirect case socket(path: String, InstanceRules)
        /// A notification on the desktop, by the service of a D-Bus bus.
        indirect case notify(NotificationRules)
        /// A program of this package that passes invocations on to something outside.
        indirect case bridge(Bridge, InstanceRules)
        /// Built in: writes an entry in the journal.
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
        /// The working directory; `nil`: `/`.
        public var workingDirectory: String?
        /// The program's user and its limits.
        public var confinement: Confinement
        /// Whether the program's standard error goes into the journal. It may hold data of payloads.
        public var logsOutput: Bool

        /// The `PATH` by which the program finds others: that of the handler's file, or the system's default.
        public var searchPath: String {
            environment["PATH"] ?? "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        }

        /// Joins the parts.
        public init(
            arguments: [String], environment: [String: String] = [:], workingDirectory: String? = nil,
            confinement: Confinement = Confinement(), logsOutput: Bool = false
        ) {
            self.arguments = arguments
            self.environment = environment
            self.workingDirectory = workingDirectory
            self.confinement = confinement
            self.logsOutput = logsOutput
        }
    }

    /// The user of a program and its limits; `nil` is the daemon's own.
    public struct Confinement: Hashable, Sendable {
        /// The name or the number of the user.
        public var user: String?
        /// Whether no `execve`, such as of a set-user-id program, can add privileges; `nil`: if it has a user.
        public var noNewPrivileges: Bool?
        /// The limit of open files of each of its processes.
        public var openFilesMax: Int?
        /// The niceness, -20 to 19.
        public var niceness: Int?
        /// The limit of memory of all processes of a run together, in bytes.
        public var memoryMax: Int?
        /// The limit of processes and threads of a run.
        public var tasksMax: Int?
        /// The share of the processor that a run gets beside others, 1 to 10000; the default of others is 100.
        public var processorWeight: Int?

        /// Confines nothing.
        public init() {}
    }

    /// The stem of the file's name.
    public var name: String
    /// The kind.
    public var kind: Kind
    /// Whether two runs for one invocation are harmless: then the daemon repeats a run after a crash.
    public var idempotent: Bool
    /// The time before the deadline at which it gets SIGTERM; `nil`: it gets none.
    public var grace: Duration?
    /// The limit of invocations that run at once; `nil`: the places.
    public var maxConcurrent: Int?
    /// Whether it takes at most as many of the common places as it leaves free, so that a handler that hangs leaves
    /// places to the others.
    public var leavesPlaces = false
    /// The limit of invocations that wait for it: beyond it a request that needs it is refused with `overloaded`.
    public var queueMax: Int
    /// The rules of its circuit breaker, in `relay` mode; `nil`: it has none.
    public var breaker: BreakerRules?

    /// The shipped `Queue=`: about the invocations of 50 ms each that 64 places complete in 9 s.
    public static let defaultQueueMax = 10_000
    /// The limit of repeated attempts for one invocation, in `relay` mode; `nil`: the budget alone limits them.
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

    /// The handler without `leavesPlaces`, which depends on other handlers and does not concern its instances.
    public var ofInstances: Handler {
        var handler = self
        handler.leavesPlaces = false
        return handler
    }
}

/// The number of instances of a handler, and the invocations that each gets.
///
/// An instance is a running program of a `worker` handler, or a connection of a `socket` handler.
public struct InstanceRules: Hashable, Sendable {
    /// The limit of instances at once.
    public var instances: Int
    /// The limit of unanswered invocations of one instance.
    public var pipeline: Int
    /// The time without work after which an instance ends; `nil`: it stays.
    public var idleTimeout: Duration?
    /// Whether a connection carries one invocation: the daemon shuts down its sending side after the line, and the next
    /// invocation gets a new connection. The answer then needs no id.
    public var isSingleUse: Bool
    /// Whether the daemon cancels an invocation that missed its deadline by a line of its own
    /// (``HandlerInput/cancellation(of:)``), which the instance answers too. If not, the daemon replaces the instance.
    public var takesBack: Bool

    /// Joins the parts; the defaults are the shipped ones.
    public init(
        instances: Int = 1, pipeline: Int = 1, idleTimeout: Duration? = .seconds(300),
        isSingleUse: Bool = false, takesBack: Bool = false
    ) {
        self.instances = instances
        self.pipeline = pipeline
        self.idleTimeout = idleTimeout
        self.isSingleUse = isSingleUse
        self.takesBack = takesBack
    }

    /// The limit of unanswered invocations of all instances together.
    public var capacity: Int { instances * linesAtOnce }

    /// The limit of unanswered invocations of one instance, single use included.
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

    /// The program that the daemon starts; `nil`: it starts none.
    public var command: Handler.Command? {
        switch self {
        case .exec(let command), .worker(let command, _): command
        case .socket, .bridge, .notify, .journal, .discard: nil
        }
    }

    /// The socket that the daemon connects to; `nil`: it connects to none.
    public var socketPath: String? {
        switch self {
        case .socket(let path, _): path
        case .bridge(let bridge, _): bridge.serviceSocket
        case .exec, .worker, .notify, .journal, .discard: nil
        }
    }

    /// The rules of the instances; `nil`: the handler has none.
    public var instanceRules: InstanceRules? {
        switch self {
        case .worker(_, let rules), .socket(_, let rules), .bridge(_, let rules): rules
        case .exec, .notify, .journal, .discard: nil
        }
    }

    /// The rules of notifications; `nil`: the handler shows none.
    public var notificationRules: NotificationRules? {
        switch self {
        case .notify(let rules): rules
        case .exec, .worker, .socket, .bridge, .journal, .discard: nil
        }
    }

    /// The bridge of the handler; `nil`: it has none.
    public var bridge: Bridge? {
        switch self {
        case .bridge(let bridge, _): bridge
        case .exec, .worker, .socket, .notify, .journal, .discard: nil
        }
    }

    /// Whether the handler is a bridge.
    var isBridge: Bool { if case .bridge = self { true } else { false } }

    /// Whether the bridge may write requests beside its answers.
    var sendsRequests: Bool {
        if case .bridge(let bridge, _) = self { bridge.declaration.sendsRequests } else { false }
    }
}
