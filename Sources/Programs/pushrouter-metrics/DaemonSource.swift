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
        if status["state"]?.string != "running" { return "the daemon is \(status["state"]?.string ?? "in no state")" }
        return status["store_problem"]?.string
    }

    private func ask(_ operation: ControlRequest.Operation) throws(DaemonError) -> ControlReply {
        let daemon = try DaemonConnection(socket, timeoutMilliseconds: Self.patience)
        return try daemon.ask(operation, timeoutMilliseconds: Self.patience)
    }
}
