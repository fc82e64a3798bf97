import Glibc

/// The reason why a service cannot start or continue: lines for people, and an exit status of sysexits(3).
public struct StartFailure: Error, Hashable, Sendable {
    /// The errors, one line each.
    public var lines: [String]
    /// The warnings, one line each.
    public var warnings: [String] = []
    /// The exit status.
    public var exitStatus: Int32

    /// The command line is wrong.
    public static let usage: Int32 = 2
    /// `EX_UNAVAILABLE`: a resource that the service needs is missing, or another process has it.
    public static let unavailable: Int32 = 69
    /// `EX_OSERR`: a system call failed.
    public static let system: Int32 = 71
    /// `EX_CANTCREAT`: a file or socket cannot be created.
    public static let cannotCreate: Int32 = 73
    /// `EX_IOERR`: a disk error.
    public static let inputOutput: Int32 = 74
    /// `EX_TEMPFAIL`: another machine leads now; after a restart this one follows.
    public static let temporary: Int32 = 75
    /// `EX_NOPERM`: other users have rights that they must not have.
    public static let permission: Int32 = 77
    /// `EX_CONFIG`: the configuration, or the key.
    public static let configuration: Int32 = 78

    /// Makes a failure of one line.
    public init(_ line: String, exitStatus: Int32) { self.init(lines: [line], exitStatus: exitStatus) }

    /// Joins the parts.
    public init(lines: [String], warnings: [String] = [], exitStatus: Int32) {
        self.lines = lines
        self.warnings = warnings
        self.exitStatus = exitStatus
    }

    /// Makes a failure from `errno`.
    ///
    /// - Parameters:
    ///   - step: the operation, as the end of a sentence that begins with "cannot".
    ///   - exitStatus: the exit status.
    public static func system(_ step: String, exitStatus: Int32 = system) -> StartFailure {
        StartFailure("cannot \(step): \(errorText(errno))", exitStatus: exitStatus)
    }
}

/// Writes lines to standard error, each after the program's name.
public func complain(_ lines: [String], as program: String) {
    for line in lines {
        let bytes = Array("\(program): \(line)\n".utf8)
        // A failure is ignored: there is no other place to report it.
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }
}
