extension Command {
    /// Every command, in the order of the help.
    static let all = [
        inject, open, act, dismiss, session, token, explain, simulate, test, report, show, campaigns, events, user,
        export, status, verify,
    ]
}
