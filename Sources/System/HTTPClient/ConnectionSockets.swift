import CCurl
import Glibc

/// The sockets of a client's connections: opened and closed here, so that it is known how long each of them lives.
///
/// libcurl has the address of this object as long as a connection lives, which is as long as its multi handle at most.
final class ConnectionSockets {
    private var open: Set<Int32> = []
    private let closing: (Int32) -> Void

    /// - Parameter closing: told of a socket that is about to be closed.
    init(closing: @escaping (Int32) -> Void) { self.closing = closing }

    /// Whether this is one of them; a resolver has sockets of its own.
    func contains(_ socket: Int32) -> Bool { open.contains(socket) }

    /// Has the connections that a handle makes get their sockets here.
    func open(for easy: borrowing EasyHandle) throws(HTTPClientError) {
        let open: curl_opensocket_callback = { context, _, address in
            guard let context, let address else { return CURL_SOCKET_BAD }
            let kind = address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
            let socket = Glibc.socket(address.pointee.family, kind, address.pointee.protocol)
            guard socket >= 0 else { return CURL_SOCKET_BAD }
            Unmanaged<ConnectionSockets>.fromOpaque(context).takeUnretainedValue().open.insert(socket)
            return socket
        }
        let close: curl_closesocket_callback = { context, socket in
            if let context {
                let sockets = Unmanaged<ConnectionSockets>.fromOpaque(context).takeUnretainedValue()
                sockets.open.remove(socket)
                sockets.closing(socket)
            }
            return Glibc.close(socket)
        }
        let context = Unmanaged.passUnretained(self).toOpaque()
        try easy.check(
            CCurl_set_socket_functions(easy.pointer, open, close, context), CURLOPT_OPENSOCKETFUNCTION)
    }
}
