extension Command {
    /// Every command, in the order of the help.
    static let all = [inject, open, explain, simulate, report, show, status, verify]
}
