/// Why the daemon does not start: lines for people, and the exit status of sysexits(3).
public struct StartFailure: Error, Hashable, Sendable {
    /// What was wrong, one line each.
    public var lines: [String]
    /// The exit status.
    public var exitStatus: Int32

    /// `EX_UNAVAILABLE`: something else has what the daemon needs.
    static let unavailable: Int32 = 69
    /// `EX_OSERR`: the system refused something.
    static let system: Int32 = 71
    /// `EX_CANTCREAT`: a file or socket cannot be made.
    static let cannotCreate: Int32 = 73
    /// `EX_IOERR`: the disk.
    static let inputOutput: Int32 = 74
    /// `EX_CONFIG`: the configuration.
    static let configuration: Int32 = 78

    init(_ line: String, exitStatus: Int32) { self.init(lines: [line], exitStatus: exitStatus) }

    init(lines: [String], exitStatus: Int32) {
        self.lines = lines
        self.exitStatus = exitStatus
    }
}
