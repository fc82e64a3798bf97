import Glibc
import PushHosts
import PushModel
import PushReporting
import SettingsFiles
import UnixSockets

extension Session {
    /// The findings about a client of a gateway, the gateway's state first.
    ///
    /// - Parameter socket: the gateway's Unix socket.
    func clientFindings(_ socket: String) -> [HealthFinding] {
        let state: [HealthFinding]
        var authorities = ""
        do {
            let status = try Self.status(of: socket)
            authorities = status["authorities"]?.string ?? ""
            state = ClientDiagnosis.findings(ofStatus: status)
        } catch {
            let remedy =
                "start it: systemctl start pushrouter-gateway.socket; one that was started by hand needs Listen=unix:PATH "
                + "and --gateway PATH"
            state = [.error(.gateway, "\(error)", do: remedy)]
        }
        return state
            + ClientDiagnosis.findings(
                authorities: authorities, environment: { name in getenv(name).map { String(cString: $0) } },
                contents: { path in (try? SmallFile.read(path)) ?? nil })
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

/// The error for a reply without a status.
private struct NoStatus: Error, CustomStringConvertible {
    let path: String
    var description: String { "\(path) gives no status: it is not the socket of pushrouter-gateway" }
}
