/// Why the program cannot go on: lines for people, and the exit status of sysexits(3).
struct Failure: Error {
    var lines: [String]
    var exitStatus: Int32

    /// `EX_UNAVAILABLE`: the daemon.
    static let unavailable: Int32 = 69
    /// `EX_OSERR`: the system refused something.
    static let system: Int32 = 71
    /// `EX_NOPERM`: others may do what they must not.
    static let permission: Int32 = 77
    /// `EX_CONFIG`: the configuration, or the key.
    static let configuration: Int32 = 78

    init(_ line: String, exitStatus: Int32) { self.init(lines: [line], exitStatus: exitStatus) }

    init(lines: [String], exitStatus: Int32) {
        self.lines = lines
        self.exitStatus = exitStatus
    }
}
