import Glibc
import PushModel
import UnixSockets

/// A connection to a socket of the daemon. What goes wrong is told as the user has to hear it.
struct DaemonConnection {
    private let client: Client
    private let path: String

    /// - Parameter path: the socket's.
    init(_ path: String) throws(Failure) {
        self.path = path
        do {
            client = try Client(path: path)
        } catch {
            throw Self.failure(error, path)
        }
    }

    /// Waits until the daemon sent something or has room for more.
    ///
    /// - Returns: whether it sent something. Who sends without receiving that may wait for a daemon that waits too.
    func mustReceive() throws(Failure) -> Bool {
        var request = pollfd(fd: client.descriptor, events: Int16(POLLIN | POLLOUT), revents: 0)
        while poll(&request, 1, -1) < 0 {
            guard errno == EINTR else {
                throw Failure(.inputOutput, "\(path): \(String(cString: strerror(errno)))")
            }
        }
        return Int32(request.revents) & POLLIN != 0
    }

    /// Sends bytes as they are.
    func send(_ bytes: [UInt8]) throws(Failure) {
        do { try client.send(bytes) } catch { throw Self.failure(error, path) }
    }

    /// Tells the daemon that nothing more comes.
    func finishSending() { client.finishSending() }

    /// The next line; `nil` when the daemon closed the connection.
    func receiveLine() throws(Failure) -> [UInt8]? {
        do { return try client.receiveLine() } catch { throw Self.failure(error, path) }
    }

    private static func failure(_ error: ClientError, _ path: String) -> Failure {
        switch error {
        case .noSuchSocket, .nobodyListens:
            Failure(
                .unavailable,
                """
                pushrouterd is not running: nothing listens on \(path)
                start it with "systemctl start pushrouterd", or name its directory with --runtime DIR
                """)
        case .permissionDenied: Failure(.noPermission, notPermitted(path))
        case .pathTooLong: Failure(.usage, "\(error)")
        case .closed:
            Failure(.unavailable, "\(path): the daemon closed the connection; it may be stopping, look at its journal")
        case .timedOut, .lineTooLong, .system: Failure(.inputOutput, "\(error)")
        }
    }

    private static func notPermitted(_ path: String) -> String {
        var status = stat()
        guard stat(path, &status) == 0 else {
            return "this user may not use \(path), nor see whose it is: ask for access to its directory"
        }
        let group = getgrgid(status.st_gid).map { String(cString: $0.pointee.gr_name) } ?? String(status.st_gid)
        return "this user may not use \(path): it is for the group \(group) (InjectSocketGroup=, ControlSocketGroup=)"
    }
}
