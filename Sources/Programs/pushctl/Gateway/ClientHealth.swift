import Glibc
import PushHosts
import PushModel
import PushReporting
import UnixSockets

extension Session {
    /// The findings about a client of a gateway, the gateway's state first.
    ///
    /// - Parameters:
    ///   - socket: the gateway's Unix socket.
    ///   - directory: the gateway's state directory.
    func clientFindings(_ socket: String, state directory: String) -> [HealthFinding] {
        var state: [HealthFinding]
        do {
            state = ClientDiagnosis.findings(ofStatus: try Self.status(of: socket))
        } catch {
            let remedy =
                "start it: systemctl start pushrouter-gateway.socket; one that was started by hand needs Listen=unix:PATH "
                + "and --gateway PATH"
            state = [.error(.gateway, "\(error)", do: remedy)]
        }
        if access("\(directory)/ca-next.pem", F_OK) == 0 {
            state.append(
                .warning(
                    .gateway, "the authority ends within \(AuthorityPlan.noticeDays) days, and the next one signs then",
                    do: "give clients both certificates: pushctl gateway ca, or env"))
        }
        return state
            + ClientDiagnosis.findings(
                environment: { name in getenv(name).map { String(cString: $0) } },
                isReadable: { access($0, R_OK) == 0 })
    }

    /// Asks a gateway for its status.
    private static func status(of path: String) throws -> JSONNode {
        let client = try Client(path: path, timeoutMilliseconds: 5000)
        try client.send(Array("GET /status HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n".utf8))
        while let line = try client.receiveLine(timeoutMilliseconds: 5000) {
            guard line.first == UInt8(ascii: "{") else { continue }
            return try JSONDocument(scanning: line).root
        }
        throw NoStatus(path: path)
    }
}

/// The answer has no status.
private struct NoStatus: Error, CustomStringConvertible {
    let path: String
    var description: String { "\(path) gives no status: it is not the socket of pushrouter-gateway" }
}
