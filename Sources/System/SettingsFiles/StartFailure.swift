import Glibc
import LinuxSystem

/// Why a service cannot start or go on: lines for people, and the exit status of sysexits(3).
public struct StartFailure: Error, Hashable, Sendable {
    /// What was wrong, one line each.
    public var lines: [String]
    /// What is to be said besides, one line each.
    public var warnings: [String] = []
    /// The exit status.
    public var exitStatus: Int32

    /// The command line is wrong.
    public static let usage: Int32 = 2
    /// `EX_UNAVAILABLE`: something that the service needs is away, or another process has it.
    public static let unavailable: Int32 = 69
    /// `EX_OSERR`: the system refused something.
    public static let system: Int32 = 71
    /// `EX_CANTCREAT`: a file or socket cannot be made.
    public static let cannotCreate: Int32 = 73
    /// `EX_IOERR`: the disk.
    public static let inputOutput: Int32 = 74
    /// `EX_TEMPFAIL`: another machine leads now; started again, this one follows.
    public static let temporary: Int32 = 75
    /// `EX_NOPERM`: others may do what they must not.
    public static let permission: Int32 = 77
    /// `EX_CONFIG`: the configuration, or the key.
    public static let configuration: Int32 = 78

    /// A failure of one line.
    public init(_ line: String, exitStatus: Int32) { self.init(lines: [line], exitStatus: exitStatus) }

    /// Joins the parts.
    public init(lines: [String], warnings: [String] = [], exitStatus: Int32) {
        self.lines = lines
        self.warnings = warnings
        self.exitStatus = exitStatus
    }

    /// A step that the system refused just now; `errno` says why.
    ///
    /// - Parameter step: what was being done, as the end of a sentence that begins with "cannot".
    public static func system(_ step: String) -> StartFailure {
        StartFailure("cannot \(step): \(errorText(errno))", exitStatus: system)
    }
}

/// Tells the user of a program something on standard error, each line after the program's name.
public func complain(_ lines: [String], as program: String) {
    for line in lines {
        let bytes = Array("\(program): \(line)\n".utf8)
        // Nobody is left to be told when this fails.
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }
}
