import CCurl
import Glibc
import LinuxSystem

/// The sockets of a client. This object opens and closes the sockets of connections. A resolver of libcurl opens its
/// own sockets, of which this object watches copies.
///
/// libcurl has the address of this object as long as a connection lives, at most as long as its multi handle.
final class ConnectionSockets {
    private var open: [Int32: SharedDescriptor] = [:]
    /// Copies of the resolvers' sockets.
    private var copies: [Int32: SharedDescriptor] = [:]
    /// The last streams that servers processed before they ended a connection, by libcurl's numbers of the connections.
    private var lastStreams: [Int: Int] = [:]
    private let watch: (HTTPSocket, HTTPReadiness?) -> Void

    /// - Parameter watch: the closure of ``HTTPClient``.
    init(watch: @escaping (HTTPSocket, HTTPReadiness?) -> Void) { self.watch = watch }

    /// Notes that a server processed no stream behind a number of a connection.
    func noteEnd(of connection: Int, behind stream: Int) {
        // The requests of a connection end with it: the oldest ones are not asked for any more.
        if lastStreams.count > 256, let oldest = lastStreams.keys.min() { lastStreams[oldest] = nil }
        lastStreams[connection] = stream
    }

    /// Returns the last stream that the server of a connection processed; `nil`: it did not say so.
    func lastStream(of connection: Int) -> Int? { lastStreams[connection] }

    /// Watches a socket for the events that libcurl wants.
    func want(_ interest: HTTPReadiness, of number: Int32) {
        if let descriptor = open[number] { return watch(HTTPSocket(number, descriptor), interest) }
        guard interest.isEmpty else {
            // A socket that cannot be copied is not watched: the request fails by its timeout, with that message.
            if copies[number] == nil { copies[number] = try? SharedDescriptor(copying: number) }
            if let copy = copies[number] { watch(HTTPSocket(number, copy), interest) }
            return
        }
        // An empty interest precedes the close of a resolver's socket, which is not announced otherwise.
        if let copy = copies.removeValue(forKey: number) { watch(HTTPSocket(number, copy), nil) }
    }

    private func close(_ number: Int32) -> Int32 {
        guard let descriptor = open.removeValue(forKey: number) else { return Glibc.close(number) }
        // The watchers hold the descriptor; the release by the last one closes it.
        watch(HTTPSocket(number, descriptor), nil)
        return 0
    }

    /// Makes a handle's connections open and close their sockets here.
    func open(for easy: borrowing EasyHandle) throws(HTTPClientError) {
        let open: curl_opensocket_callback = { context, _, address in
            guard let context, let address else { return CURL_SOCKET_BAD }
            let kind = address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
            let socket = SharedDescriptor(Glibc.socket(address.pointee.family, kind, address.pointee.protocol))
            guard let socket else { return CURL_SOCKET_BAD }
            Unmanaged<ConnectionSockets>.fromOpaque(context).takeUnretainedValue().open[socket.rawValue] = socket
            return socket.rawValue
        }
        let close: curl_closesocket_callback = { context, socket in
            guard let context else { return Glibc.close(socket) }
            return Unmanaged<ConnectionSockets>.fromOpaque(context).takeUnretainedValue().close(socket)
        }
        let context = Unmanaged.passUnretained(self).toOpaque()
        try easy.check(
            CCurl_set_socket_functions(easy.pointer, open, close, context), CURLOPT_OPENSOCKETFUNCTION)
    }
}
