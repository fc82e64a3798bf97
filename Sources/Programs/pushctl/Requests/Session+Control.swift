import DaemonClient
import PushModel
import PushSettings
import UnixSockets

extension Session {
    /// Asks the daemon over control.sock, and gives its answer. What changes nothing goes over read.sock where this user may
    /// not use control.sock.
    ///
    /// - Throws: why it refused, with the status "no", or why it did not answer.
    func control(_ operation: ControlRequest.Operation) throws(Failure) -> JSONNode {
        let path = directories.controlSocket
        do {
            // What is to be changed waits for the disk, however long that takes.
            let limit = operation.changesNothing ? Self.answerLimit : nil
            return try connection(for: operation).ask(operation, timeoutMilliseconds: limit).root
        } catch {
            throw Failure(error, path, asking: operation.name)
        }
    }

    /// How long an answer that waits for nothing may take, in milliseconds.
    private static let answerLimit = 5000

    /// A connection to the socket by which this user may ask for it.
    ///
    /// - Throws: why there is none to the socket that does: where read.sock is enough, to that.
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
