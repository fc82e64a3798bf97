import CCurl
import Glibc
import LinuxSystem

/// The sockets of a client. Those of connections are opened and closed here; a resolver of libcurl's has sockets of its own, of
/// which copies are watched.
///
/// libcurl has the address of this object as long as a connection lives, which is as long as its multi handle at most.
final class ConnectionSockets {
    private var open: [Int32: SharedDescriptor] = [:]
    /// Copies of those of resolvers.
    private var copies: [Int32: SharedDescriptor] = [:]
    private let watch: (HTTPSocket, HTTPReadiness?) -> Void

    /// - Parameter watch: as ``HTTPClient`` has it.
    init(watch: @escaping (HTTPSocket, HTTPReadiness?) -> Void) { self.watch = watch }

    /// Has a socket watched for what libcurl wants.
    func want(_ interest: HTTPReadiness, of number: Int32) {
        if let descriptor = open[number] { return watch(HTTPSocket(number, descriptor), interest) }
        guard interest.isEmpty else {
            // One that cannot be copied is not watched: the request runs into its timeout, which says so.
            if copies[number] == nil { copies[number] = try? SharedDescriptor(copying: number) }
            if let copy = copies[number] { watch(HTTPSocket(number, copy), interest) }
            return
        }
        // A resolver's socket is closed next, without another word.
        if let copy = copies.removeValue(forKey: number) { watch(HTTPSocket(number, copy), nil) }
    }

    private func close(_ number: Int32) -> Int32 {
        guard let descriptor = open.removeValue(forKey: number) else { return Glibc.close(number) }
        // Its watchers hold it; the last one that lets go closes it.
        watch(HTTPSocket(number, descriptor), nil)
        return 0
    }

    /// Has the connections that a handle makes get their sockets here.
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
