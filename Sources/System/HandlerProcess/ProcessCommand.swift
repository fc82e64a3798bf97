/// One run of a program: what it is, and all that it gets.
///
/// In every text a NUL and what follows is lost, as everywhere in the arguments and the environment of a program.
public struct ProcessCommand: Sendable {
    /// The environment variable that tells whose run a process belongs to, even after it got away from its parents.
    static let markVariable = "PUSH_RUN"

    /// The program's absolute path, then its arguments.
    public var arguments: [String]
    /// The environment: with the mark, which is added, exactly what the program gets.
    public var environment: [(name: String, value: String)]
    /// Where the program starts, an absolute path.
    public var workingDirectory: String
    /// How the program is talked to.
    public var streams: Streams
    /// The soft limit of open files that the program gets (`RLIMIT_NOFILE`); `nil`: that of this process.
    public var descriptorLimit: UInt64?
    /// What sets it apart from us.
    public var confinement: ProcessConfinement

    /// How a program is talked to.
    public enum Streams: Sendable {
        /// These bytes are its standard input; they can be read again from the start, and nothing waits for a reader. Its
        /// standard output is a pipe to us, its standard error is ours, or comes to us by a pipe.
        case once(input: [UInt8], readsErrors: Bool = false)
        /// One socket is both its standard input and its standard output. Its standard error comes to us by a pipe, or is
        /// thrown away.
        case conversation(readsErrors: Bool)
    }

    /// The value of `PUSH_RUN` for the program and what it starts, `<owner>:<seq>:<n>`; of a program that stays
    /// `<owner>:<handler>:<number>`. The owner is a state directory: `<state id>@<device>.<file number>`. Two runs at the same
    /// time with the same mark protect each other's escaped processes.
    public var mark: String

    /// - Parameters:
    ///   - arguments: the program's absolute path, then its arguments
    ///   - environment: without `PUSH_RUN`
    ///   - workingDirectory: an absolute path
    ///   - standardInput: the bytes on the program's standard input
    ///   - mark: `<owner>:<seq>:<n>`
    public init(
        arguments: [String], environment: [(name: String, value: String)], workingDirectory: String = "/",
        standardInput: [UInt8], mark: String
    ) {
        self.init(
            arguments: arguments, environment: environment, workingDirectory: workingDirectory,
            streams: .once(input: standardInput), mark: mark)
    }

    /// - Parameters:
    ///   - arguments: the program's absolute path, then its arguments
    ///   - environment: without `PUSH_RUN`
    ///   - workingDirectory: an absolute path
    ///   - streams: how it is talked to
    ///   - descriptorLimit: its soft limit of open files; `nil`: that of this process
    ///   - confinement: what sets it apart from us
    ///   - mark: `<owner>:` and what names the run
    public init(
        arguments: [String], environment: [(name: String, value: String)], workingDirectory: String = "/",
        streams: Streams,
        descriptorLimit: UInt64? = nil, confinement: ProcessConfinement = ProcessConfinement(), mark: String
    ) {
        precondition(arguments.first?.hasPrefix("/") == true, "a program is named by its absolute path")
        self.arguments = arguments
        self.environment = environment
        self.workingDirectory = workingDirectory
        self.streams = streams
        self.descriptorLimit = descriptorLimit
        self.confinement = confinement
        self.mark = mark
    }
}
