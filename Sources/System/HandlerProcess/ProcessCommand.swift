/// One run of a program: what it is, and all that it gets.
///
/// In every text a NUL and what follows is lost, as everywhere in the arguments and the environment of a program.
public struct ProcessCommand: Sendable {
    /// The environment variable that tells whose run a process belongs to, even after it got away from its parents.
    static let markVariable = "PUSH_RUN"

    /// The program's absolute path, then its arguments.
    public var arguments: [String]
    /// The environment as `NAME=value`: with the mark, which is added, exactly what the program gets.
    public var environment: [String]
    /// Where the program starts, an absolute path.
    public var workingDirectory: String
    /// What the program reads from standard input; it can be read again from the start, and nothing waits for a reader.
    public var standardInput: [UInt8]
    /// The value of `PUSH_RUN` for the program and what it starts, `<state id>:<seq>:<n>`. Two runs at the same time
    /// with the same mark protect each other's escaped processes.
    public var mark: String

    /// - Parameters:
    ///   - arguments: the program's absolute path, then its arguments
    ///   - environment: as `NAME=value`, without `PUSH_RUN`
    ///   - workingDirectory: an absolute path
    ///   - standardInput: the bytes on the program's standard input
    ///   - mark: `<state id>:<seq>:<n>`
    public init(
        arguments: [String], environment: [String], workingDirectory: String = "/", standardInput: [UInt8],
        mark: String
    ) {
        precondition(arguments.first?.hasPrefix("/") == true, "a program is named by its absolute path")
        self.arguments = arguments
        self.environment = environment
        self.workingDirectory = workingDirectory
        self.standardInput = standardInput
        self.mark = mark
    }
}
