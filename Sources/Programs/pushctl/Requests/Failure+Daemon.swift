import LinuxSystem
import PushModel
import PushSettings

extension Failure {
    /// The failure for an error of the connection to the daemon, in words for the user.
    ///
    /// - Parameters:
    ///   - error: the error.
    ///   - path: the path of the socket.
    ///   - operation: the request, for a refusal.
    init(_ error: DaemonError, _ path: String, asking operation: String = "request") {
        switch error {
        case .socket(let error): self.init(error, path)
        case .noAnswer: self.init(.unavailable, error.description)
        case .refused(let refusal) where refusal.leader != nil:
            self.init(asking: operation, of: refusal.leader ?? "")
        case .refused(let refusal):
            let field = refusal.field.map { "\($0): " } ?? ""
            self.init(.no, "\(operation): refused: \(field)\(refusal.message) (\(refusal.code.rawValue))")
        case .unreadable(let path, let reason):
            self.init(.unavailable, "\(path): not an answer to \(operation): \(reason)")
        }
    }

    /// The failure because another machine leads, which accepts what this one refuses.
    init(asking operation: String, of leader: String) {
        let words = CommandLine.arguments.dropFirst().map(Self.inShell).joined(separator: " ")
        self.init(
            .unavailable, "\(operation): this machine follows, and \(leader) leads: run \"pushctl \(words)\" there")
    }

    /// A word, quoted for a shell.
    private static func inShell(_ word: String) -> String {
        let isPlain = word.unicodeScalars.allSatisfy { scalar in
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "-", "_", ".", "/", ":", "=", ",", "+", "@", "%": true
            default: false
            }
        }
        if isPlain, !word.isEmpty { return word }
        let parts = word.showingControls().split(separator: "'", omittingEmptySubsequences: false)
        return "'\(parts.joined(separator: "'\\''"))'"
    }

    private init(_ error: ClientError, _ path: String) {
        switch error {
        case .noSuchSocket, .noListener:
            self.init(
                .unavailable,
                """
                pushrouterd is not running: nothing listens on \(path)
                \(Self.howToStart(path)), or name its directory with --runtime DIR
                """)
        case .permissionDenied(let path): self.init(.noPermission, Self.notPermitted(path))
        case .pathTooLong: self.init(.usage, "\(error)")
        case .closed:
            self.init(
                .unavailable,
                "\(path): the daemon closed the connection; the daemon may be stopping; look at its journal")
        case .timedOut:
            let status = path.hasPrefix(Directories.standardRuntime + "/") ? ServiceUnit.status : nil
            self.init(
                .unavailable,
                """
                \(path): the daemon does not answer: its disk may be slow, or the daemon is stopped
                \(Self.lastStatus(status))look at "journalctl -u pushrouterd"; the recorded data can be read without the daemon: pushctl report
                """)
        case .lineTooLong, .system: self.init(.inputOutput, "\(error)")
        }
    }

    /// The line with the status that a daemon gave to the service manager, such as that its start waits for room.
    static func lastStatus(_ status: String?) -> String {
        status.map { "its last status: \($0.showingControls())\n" } ?? ""
    }

    private static func notPermitted(_ path: String) -> String {
        "this user may not use \(path)" + (Membership.advice(for: path).map { "\n\($0)" } ?? "")
    }

    /// The service listens in its own directory; in another directory a user's own daemon does.
    private static func howToStart(_ path: String) -> String {
        let directory = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
        return directory == Directories.standardRuntime
            ? "start it with \"systemctl start pushrouterd\"" : "start it with \"pushrouterd --runtime \(directory)\""
    }
}
