import LinuxSystem
import PushModel
import PushSettings

extension Session {
    /// Sends a request to control.sock, and returns the reply. A request that changes nothing goes to read.sock if this
    /// user may not use control.sock.
    ///
    /// - Throws: with the status "no" for a refusal, or another failure if there is no reply.
    func control(_ operation: ControlRequest.Operation) throws(Failure) -> JSONNode {
        let path = directories.controlSocket
        do {
            // A request that changes something waits for the disk, without a time limit.
            let limit = operation.changesNothing ? Self.answerLimit : nil
            return try connection(for: operation).ask(operation, timeoutMilliseconds: limit).root
        } catch {
            throw Failure(error, path, asking: operation.name)
        }
    }

    /// How long a reply that waits for nothing may take, in milliseconds.
    private static let answerLimit = 5000

    /// Connects to the socket on which this user may send the request.
    ///
    /// - Throws: the error of control.sock; that of read.sock if this user may use neither.
    func connection(for operation: ControlRequest.Operation) throws(DaemonError) -> DaemonConnection {
        do throws(DaemonError) {
            return try DaemonConnection(directories.controlSocket)
        } catch {
            let path = directories.controlSocket
            guard error == .socket(.permissionDenied(path: path)), operation.changesNothing else { throw error }
            do throws(DaemonError) {
                return try DaemonConnection(directories.readSocket)
            } catch let second {
                throw second == .socket(.permissionDenied(path: directories.readSocket)) ? second : error
            }
        }
    }
}
