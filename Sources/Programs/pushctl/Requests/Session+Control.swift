import DaemonClient
import PushModel
import PushSettings

extension Session {
    /// Asks the daemon over control.sock, and gives its answer.
    ///
    /// - Throws: why it refused, with the status "no", or why it did not answer.
    func control(_ operation: ControlRequest.Operation) throws(Failure) -> JSONNode {
        let path = directories.controlSocket
        do {
            return try DaemonConnection(path).ask(operation).root
        } catch {
            throw Failure(error, path, asking: operation.name)
        }
    }
}
