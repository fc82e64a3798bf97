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
    /// Whether what a worker writes to standard error goes into the journal. It may hold what payloads hold.
    public var logsOutput: Bool

    /// Joins the parts; the defaults are the shipped ones.
    public init(
        instances: Int = 1, pipeline: Int = 1, idleTimeout: Duration? = .seconds(300), logsOutput: Bool = false
    ) {
        self.instances = instances
        self.pipeline = pipeline
        self.idleTimeout = idleTimeout
        self.logsOutput = logsOutput
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
