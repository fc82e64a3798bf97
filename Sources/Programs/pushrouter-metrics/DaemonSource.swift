import LinuxSystem
import PushModel

/// Asks the daemon. Safe on any thread: each question has its own connection.
struct DaemonSource: Sendable {
    /// The path of `read.sock`.
    var socket: String

    /// The time limit of the daemon in milliseconds: to accept the connection, and to reply.
    static let patience = 2000

    /// The metrics as text.
    func metrics(_ format: MetricsFormat) throws(DaemonError) -> String {
        let reply = try ask(.metrics(format))
        guard let text = reply.root["metrics"]?.string else {
            throw .unreadable(path: socket, reason: "metrics is missing")
        }
        return text
    }

    /// Why the daemon accepts no requests for now; `nil`: it does.
    func problem() throws(DaemonError) -> String? {
        let reply = try ask(.status)
        guard let status = reply.root["status"] else { throw .unreadable(path: socket, reason: "status is missing") }
        return Self.elsewhere(status) ?? status["store_problem"]?.string
    }

    /// Why requests must go to another machine; `nil`: the daemon leads, or is the only one. A full disk is no such
    /// reason: the daemon still leads, and its refusals say when to retry.
    func follows() throws(DaemonError) -> String? {
        let answer: Result<ControlReply, DaemonError>
        do throws(DaemonError) { answer = .success(try ask(.status)) } catch { answer = .failure(error) }
        return try Self.follows(answer)
    }

    /// Interprets a reply to `status` for ``follows()``.
    static func follows(_ answer: Result<ControlReply, DaemonError>) throws(DaemonError) -> String? {
        do throws(DaemonError) {
            return elsewhere(try answer.get().root["status"])
        } catch .refused(let refusal) where refusal.code == .unavailable {
            return refusal.leader.map { "\($0) leads" } ?? refusal.message
        }
    }

    private static func elsewhere(_ status: JSONNode?) -> String? {
        let state = status?["state"]?.string
        if state == "running" { return nil }
        guard state == "following" else { return "the daemon is \(state ?? "in no state")" }
        return status?["fleet"]?["leader"]?.string.map { "\($0) leads" } ?? "no machine leads yet"
    }

    private func ask(_ operation: ControlRequest.Operation) throws(DaemonError) -> ControlReply {
        let daemon = try DaemonConnection(socket, timeoutMilliseconds: Self.patience)
        return try daemon.ask(operation, timeoutMilliseconds: Self.patience)
    }
}
