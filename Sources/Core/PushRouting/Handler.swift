import PushModel

/// Who does the work: one `.handler` file.
public struct Handler: Hashable, Sendable {
    /// What it is.
    public enum Kind: Hashable, Sendable {
        /// A program, run once per invocation.
        indirect case exec(Command)
        /// A program that stays, and gets and answers invocations by lines.
        indirect case worker(Command, InstanceRules)
        /// The Unix socket of another service, by its absolute path, which gets and answers the same lines.
        indirect case socket(path: String, InstanceRules)
        /// A notification on the desktop, by the service of a D-Bus bus.
        indirect case notify(NotificationRules)
        /// A program of ours that passes invocations on to something outside.
        indirect case bridge(Bridge, InstanceRules)
        /// Built in: an entry in the journal.
        case journal
        /// Built in: nothing.
        case discard
    }

    /// The program of an `exec` or a `worker` handler.
    public struct Command: Hashable, Sendable {
        /// The program's absolute path and its arguments, split as systemd splits `ExecStart=`; never empty.
        public var arguments: [String]
        /// Variables added to the program's environment, which otherwise has only `PATH` and `PUSH_*`.
        public var environment: [String: String]
        /// Where it runs; `/` when `nil`.
        public var workingDirectory: String?
        /// Whose it is, and what it may use.
        public var confinement: Confinement
        /// Whether what it writes to standard error goes into the journal. It may hold what payloads hold.
        public var logsOutput: Bool

        /// Where the program looks for others by their names: what the handler's file says, or the system's usual.
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

    /// Whose a program is, and what it may use; `nil` is the daemon's own.
    public struct Confinement: Hashable, Sendable {
        /// The name or the number of its user.
        public var user: String?
        /// Whether it can gain no privileges by an exec, such as of a set-user-id program; `nil`: if it has a user.
        public var noNewPrivileges: Bool?
        /// How many files each of its processes may have open.
        public var openFilesMax: Int?
        /// Its niceness, -20 to 19.
        public var niceness: Int?
        /// How much memory all processes of a run have together, in bytes.
        public var memoryMax: Int?
        /// How many processes and threads a run has at once.
        public var tasksMax: Int?
        /// The share of the processor that a run has beside others, 1 to 10000; others have 100.
        public var processorWeight: Int?

        /// Confines nothing.
        public init() {}
    }

    /// The file's stem.
    public var name: String
    /// What it is.
    public var kind: Kind
    /// Whether running it twice for one invocation is harmless: then a crash runs it again.
    public var idempotent: Bool
    /// How long before the deadline it gets SIGTERM; `nil`: it does not.
    public var grace: Duration?
    /// How many invocations it runs at once; `nil`: as many as there are places.
    public var maxConcurrent: Int?
    /// Whether it has at most as many places of all as are left free, so that those that hang leave places to the others.
    public var leavesPlaces = false
    /// How many invocations may wait for it: with more, a request that needs it is refused with `overloaded`.
    public var queueMax: Int
    /// When it gets nothing for a while because it does not answer, in `relay` mode; `nil`: never.
    public var breaker: BreakerRules?

    /// The shipped `Queue=`: at 9 s and 64 places what a handler gets done that takes about 50 ms.
    public static let defaultQueueMax = 10_000
    /// In `relay` mode: how often it is tried again at most for one invocation; `nil`: as often as the budget lets it.
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

    /// The same for its instances, whatever handlers there are beside it.
    public var ofInstances: Handler {
        var handler = self
        handler.leavesPlaces = false
        return handler
    }
}

/// How many instances of a handler there are, and what each is given.
///
/// An instance is a running program of a `worker` handler, or a connection of a `socket` handler.
public struct InstanceRules: Hashable, Sendable {
    /// How many instances there are at once, at most.
    public var instances: Int
    /// How many invocations an instance that gets several is given before it has answered the first of them.
    public var pipeline: Int
    /// How long an instance may have nothing to do before it ends; `nil`: for ever.
    public var idleTimeout: Duration?
    /// Whether a connection carries one invocation: its line is followed by the end of what we send, and the next invocation
    /// has a connection of its own. The answer needs no id then.
    public var isSingleUse: Bool
    /// Whether an invocation that missed its deadline is taken back by a line of its own
    /// (``HandlerInput/cancellation(of:)``), which the instance answers as well; else the instance is replaced.
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

    /// How many invocations its instances are given at once.
    public var capacity: Int { instances * linesAtOnce }

    /// How many invocations an instance is given before it has answered the first of them.
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

    /// What an instance of it is called, for people.
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

    /// The program that the daemon starts for it; `nil` where it starts none.
    public var command: Handler.Command? {
        switch self {
        case .exec(let command), .worker(let command, _): command
        case .socket, .bridge, .notify, .journal, .discard: nil
        }
    }

    /// The socket that the daemon connects to for it; `nil` where it connects to none.
    public var socketPath: String? {
        switch self {
        case .socket(let path, _): path
        case .bridge(let bridge, _): bridge.serviceSocket
        case .exec, .worker, .notify, .journal, .discard: nil
        }
    }

    /// The rules of its instances; `nil` where it has none.
    public var instanceRules: InstanceRules? {
        switch self {
        case .worker(_, let rules), .socket(_, let rules), .bridge(_, let rules): rules
        case .exec, .notify, .journal, .discard: nil
        }
    }

    /// How it shows notifications; `nil` where it shows none.
    public var notificationRules: NotificationRules? {
        switch self {
        case .notify(let rules): rules
        case .exec, .worker, .socket, .bridge, .journal, .discard: nil
        }
    }

    /// The bridge behind it; `nil` where there is none.
    public var bridge: Bridge? {
        switch self {
        case .bridge(let bridge, _): bridge
        case .exec, .worker, .socket, .notify, .journal, .discard: nil
        }
    }

    /// Whether a bridge is behind it.
    var isBridge: Bool { if case .bridge = self { true } else { false } }

    /// Whether what is behind it may write requests beside its answers.
    var sendsRequests: Bool {
        if case .bridge(let bridge, _) = self { bridge.declaration.sendsRequests } else { false }
    }
}
