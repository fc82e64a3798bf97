import Glibc
import LinuxSystem
import PushModel
import PushSettings
import PushViews

/// The sockets of the daemon and the gateway. For one thread at a time; a call waits for some seconds at most.
final class DaemonSockets: WebDaemon {
    private let directories: Directories
    private let gatewaySocket: String

    /// The time limits of the daemon in milliseconds: to accept a connection, and to reply.
    private static let patience = (connect: 1000, answer: 5000)

    init(_ directories: Directories, gatewaySocket: String) {
        (self.directories, self.gatewaySocket) = (directories, gatewaySocket)
    }

    var mayInject: Bool { access(directories.injectSocket, W_OK) == 0 }

    var mayControl: Bool { access(directories.controlSocket, W_OK) == 0 }

    func inject(_ line: [UInt8]) throws(WebProblem) -> JSONNode {
        do throws(DaemonError) {
            let path = directories.injectSocket
            let daemon = try DaemonConnection(path, timeoutMilliseconds: Self.patience.connect)
            try daemon.send(line + [0x0A])
            daemon.finishSending()
            guard let reply = try daemon.receiveLine(timeoutMilliseconds: Self.patience.answer) else {
                throw .noAnswer(path: path)
            }
            do throws(JSONError) { return try JSONDocument(scanning: reply).root } catch {
                throw .unreadable(path: path, reason: error.message)
            }
        } catch {
            throw WebProblem(503, Self.text(error))
        }
    }

    /// Asks for a configuration, or for the one in force; `nil` without an answer.
    func configuration(_ id: ConfigurationID?) -> ConfigurationText? {
        (try? ask(.configuration(id), patience: (200, 1000))).flatMap { ConfigurationText($0) }
    }

    func ask(_ operation: ControlRequest.Operation) throws(WebProblem) -> JSONNode {
        try ask(operation, patience: Self.patience)
    }

    private func ask(
        _ operation: ControlRequest.Operation, patience: (connect: Int, answer: Int)
    ) throws(WebProblem) -> JSONNode {
        let path = operation.changesNothing ? directories.readSocket : directories.controlSocket
        do throws(DaemonError) {
            return try DaemonConnection(path, timeoutMilliseconds: patience.connect)
                .ask(operation, timeoutMilliseconds: patience.answer).root
        } catch {
            if case .refused(let refusal) = error { throw WebProblem(409, refusal.message, field: refusal.field) }
            throw WebProblem(503, Self.text(error))
        }
    }

    /// How far this ledger is behind the leader's, in words; `nil` if the daemon leads or does not answer within 100
    /// ms.
    func followerDelay() -> String? {
        guard let status = try? ask(.status, patience: (100, 100))["status"], status["state"]?.string == "following"
        else {
            return nil
        }
        let fleet = status["fleet"]
        let leader = fleet?["leader"]?.string.map { "follows \($0)" } ?? "follows, and no machine leads"
        let behind = fleet?["behind_ms"]?.int64.map { ", \($0) ms behind" } ?? ""
        return "\(fleet?["node"]?.string ?? "This machine") \(leader): this page shows its copy\(behind)."
    }

    func gatewayStatus() -> JSONNode? {
        try? GatewayStatusQuestion.ask(gatewaySocket, timeoutMilliseconds: Self.patience.connect)
    }

    private static func text(_ error: DaemonError) -> String {
        error.description + (error.remedy.map { "; \($0)" } ?? "")
    }
}
