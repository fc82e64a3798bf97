import DaemonClient
import PushModel

/// Asks the daemon. On any thread: each question has a connection of its own.
struct DaemonSource: Sendable {
    /// The path of `read.sock`.
    var socket: String

    /// How long the daemon may take, in milliseconds: to take the connection, and to answer.
    static let patience = 2000

    /// The metrics as text.
    func metrics(_ format: MetricsFormat) throws(DaemonError) -> String {
        let reply = try ask(.metrics(format))
        guard let text = reply.root["metrics"]?.string else {
            throw .unreadable(path: socket, reason: "metrics is missing")
        }
        return text
    }

    /// Why the daemon takes no requests for now; `nil`: it does.
    func problem() throws(DaemonError) -> String? {
        let reply = try ask(.status)
        guard let status = reply.root["status"] else { throw .unreadable(path: socket, reason: "status is missing") }
        return Self.elsewhere(status) ?? status["store_problem"]?.string
    }

    /// Why requests are to be sent elsewhere; `nil`: the daemon leads, or is the only one. A full disk is no reason: the
    /// daemon leads on, and says by itself when to come again.
    func follows() throws(DaemonError) -> String? {
        let answer: Result<ControlReply, DaemonError>
        do throws(DaemonError) { answer = .success(try ask(.status)) } catch { answer = .failure(error) }
        return try Self.follows(answer)
    }

    /// What `follows()` says of an answer to `status`.
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
        return status?["fleet"]?["leader"]?.string.map { "\($0) leads" } ?? "nobody leads yet"
    }

    private func ask(_ operation: ControlRequest.Operation) throws(DaemonError) -> ControlReply {
        let daemon = try DaemonConnection(socket, timeoutMilliseconds: Self.patience)
        return try daemon.ask(operation, timeoutMilliseconds: Self.patience)
    }
}
