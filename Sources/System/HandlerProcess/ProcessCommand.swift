/// One run of a program: its path and its whole input.
///
/// Each text ends at its first NUL, as all arguments and environment variables do.
public struct ProcessCommand: Sendable {
    /// The environment variable that identifies the run of a process, even after the process left its parents.
    static let markVariable = "PUSH_RUN"

    /// The program's absolute path, then its arguments.
    public var arguments: [String]
    /// The environment; the program gets exactly this and the mark.
    public var environment: [(name: String, value: String)]
    /// The program's working directory, an absolute path.
    public var workingDirectory: String
    /// The program's standard streams.
    public var streams: Streams
    /// The soft limit of open files for the program (`RLIMIT_NOFILE`); `nil` keeps that of this process.
    public var descriptorLimit: UInt64?
    /// The confinement of the program.
    public var confinement: ProcessConfinement
    /// The secrets of the program.
    public var credentials: [Credential] = []
    /// Why this process may not see the program or its working directory, for the message about a failed start; `nil`:
    /// nothing is hidden.
    public var concealment: String?

    /// A secret: a variable of the environment names a file with a copy of the bytes that the file has at the start.
    public struct Credential: Sendable {
        let variable: String
        let path: String

        /// Joins the parts.
        public init(variable: String, path: String) { (self.variable, self.path) = (variable, path) }
    }

    /// The standard streams of a program.
    public enum Streams: Sendable {
        /// These bytes are its standard input, in a file that can be read again from the start and needs no writer. Its
        /// standard output is a pipe to this process; its standard error is inherited, or such a pipe.
        case once(input: [UInt8], readsErrors: Bool = false)
        /// One socket is both its standard input and its standard output. Its standard error is a pipe to this process,
        /// or /dev/null.
        case conversation(readsErrors: Bool)
    }

    /// The value of `PUSH_RUN` for the program and its descendants, `<owner>:<seq>:<n>`; for a program that stays
    /// `<owner>:<handler>:<number>`. The owner is a state directory: `<state id>@<device>.<file number>`. Two
    /// simultaneous runs with the same mark protect each other's escaped processes.
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
    ///   - streams: its standard streams
    ///   - descriptorLimit: its soft limit of open files; `nil` keeps that of this process
    ///   - confinement: its confinement
    ///   - mark: `<owner>:` and the id of the run
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
