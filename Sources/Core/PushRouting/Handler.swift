import PushModel

/// Who does the work: one `.handler` file.
public struct Handler: Hashable, Sendable {
    /// What it is.
    public enum Kind: Hashable, Sendable {
        /// A program, run once per invocation.
        case exec(Command)
        /// A program that stays, and gets and answers invocations by lines.
        indirect case worker(Command, InstanceRules)
        /// The Unix socket of another service, by its absolute path, which gets and answers the same lines.
        indirect case socket(path: String, InstanceRules)
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
        /// Whether what it writes to standard error goes into the journal. It may hold what payloads hold.
        public var logsOutput: Bool

        /// Joins the parts.
        public init(
            arguments: [String], environment: [String: String] = [:], workingDirectory: String? = nil,
            logsOutput: Bool = false
        ) {
            self.arguments = arguments
            self.environment = environment
            self.workingDirectory = workingDirectory
            self.logsOutput = logsOutput
        }
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
    /// In `relay` mode: how often it is tried again at most for one invocation; `nil`: as often as the budget lets it.
    public var retries: Int?

    /// Joins the parts.
    public init(
        name: String, kind: Kind, idempotent: Bool = false, grace: Duration? = nil, maxConcurrent: Int? = nil,
        retries: Int? = nil
    ) {
        self.name = name
        self.kind = kind
        self.idempotent = idempotent
        self.grace = grace
        self.maxConcurrent = maxConcurrent
        self.retries = retries
    }
}

/// How many instances of a handler there are, and what each is given.
///
/// An instance is a running program of a `worker` handler, or a connection of a `socket` handler.
public struct InstanceRules: Hashable, Sendable {
    /// How many instances there are at once, at most.
    public var instances: Int
    /// How many invocations an instance is given before it has answered the first of them.
    public var pipeline: Int
    /// How long an instance may have nothing to do before it ends; `nil`: for ever.
    public var idleTimeout: Duration?
    /// Joins the parts; the defaults are the shipped ones.
    public init(
        instances: Int = 1, pipeline: Int = 1, idleTimeout: Duration? = .seconds(300)
    ) {
        self.instances = instances
        self.pipeline = pipeline
        self.idleTimeout = idleTimeout
    }

    /// How many invocations its instances are given at once.
    public var capacity: Int { instances * pipeline }
}

extension Handler.Kind {
    /// The word of `Type=`.
    public var name: String {
        switch self {
        case .exec: "exec"
        case .worker: "worker"
        case .socket: "socket"
        case .journal: "journal"
        case .discard: "discard"
        }
    }

    /// Whether the daemon does the work itself.
    public var isBuiltIn: Bool {
        switch self {
        case .exec, .worker, .socket: false
        case .journal, .discard: true
        }
    }

    /// The program that the daemon starts for it; `nil` where it starts none.
    public var command: Handler.Command? {
        switch self {
        case .exec(let command), .worker(let command, _): command
        case .socket, .journal, .discard: nil
        }
    }

    /// The socket that the daemon connects to for it; `nil` where it connects to none.
    public var socketPath: String? {
        switch self {
        case .socket(let path, _): path
        case .exec, .worker, .journal, .discard: nil
        }
    }

    /// The rules of its instances; `nil` where it has none.
    public var instanceRules: InstanceRules? {
        switch self {
        case .worker(_, let rules), .socket(_, let rules): rules
        case .exec, .journal, .discard: nil
        }
    }
}
