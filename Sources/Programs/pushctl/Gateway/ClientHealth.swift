import Glibc
import LinuxSystem
import PushModel
import PushSettings
import PushViews

extension Session {
    /// The findings about a client of a gateway, the gateway's state first.
    ///
    /// - Parameter socket: the gateway's Unix socket.
    func clientFindings(_ socket: String) -> [HealthFinding] {
        let state: [HealthFinding]
        var authorities = ""
        do {
            let status = try GatewayStatusQuestion.ask(socket, timeoutMilliseconds: 5000)
            authorities = status["authorities"]?.string ?? ""
            state = ClientDiagnosis.findings(ofStatus: status)
        } catch {
            let remedy =
                "start the gateway: systemctl start pushrouter-gateway.socket; a gateway started by hand needs "
                + "Listen=unix:PATH, and this command --gateway PATH"
            state = [.error(.gateway, "\(error)", do: remedy)]
        }
        return state
            + ClientDiagnosis.findings(
                authorities: authorities, environment: { name in getenv(name).map { String(cString: $0) } },
                contents: { path in (try? SmallFile.read(path)) ?? nil })
    }
}
