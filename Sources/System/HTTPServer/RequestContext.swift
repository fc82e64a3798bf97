import CMicroHTTPD
import Glibc
import LinuxSystem

/// The callbacks of libmicrohttpd for each connection and request, on its threads.
final class RequestContext: Sendable {
    let deadlines: ConnectionDeadlines
    private let bodyBytes: Int
    private let answer: @Sendable (HTTPRequest) -> HTTPResponse

    init(bodyBytes: Int, deadlines: ConnectionDeadlines, answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse) {
        self.bodyBytes = bodyBytes
        self.deadlines = deadlines
        self.answer = answer
    }

    /// A request that is being read. The library retains it until the request is over.
    private final class Pending {
        var request: HTTPRequest

        init(_ request: HTTPRequest) { self.request = request }
    }

    // MARK: What the library calls

    /// Called after the headers, for each part of the body, and after the complete request.
    static let handle: MHD_AccessHandlerCallback = { context, connection, path, method, _, bytes, count, slot in
        guard let context, let connection, let path, let method, let count, let slot else { return .NO }
        let server = Unmanaged<RequestContext>.fromOpaque(context).takeUnretainedValue()
        guard let pending = slot.pointee else {
            let request = HTTPRequest(
                method: String(cString: method), path: String(cString: path), headers: headers(of: connection))
            slot.pointee = Unmanaged.passRetained(Pending(request)).toOpaque()
            return server.begin(request, connection)
        }
        let request = Unmanaged<Pending>.fromOpaque(pending).takeUnretainedValue()
        guard count.pointee > 0 else { return server.answer(request.request).queue(on: connection) }
        // A body that is under way allows no answer: the connection is closed.
        guard request.request.body.count + count.pointee <= server.bodyBytes else { return .NO }
        request.request.body += UnsafeRawBufferPointer(start: bytes, count: count.pointee)
        count.pointee = 0
        return .YES
    }

    /// Called once for each request with a ``Pending``.
    static let completed: MHD_RequestCompletedCallback = { context, connection, slot, _ in
        if let pending = slot?.pointee { Unmanaged<Pending>.fromOpaque(pending).release() }
        slot?.pointee = nil
        guard let context, let connection else { return }
        let server = Unmanaged<RequestContext>.fromOpaque(context).takeUnretainedValue()
        server.deadlines.begin(CMicroHTTPD_descriptor(connection), at: SystemClock.monotonicNanoseconds)
    }

    /// Called when a connection is opened, and before its socket is closed.
    static let connectionChanged: MHD_NotifyConnectionCallback = { context, connection, _, change in
        guard let context, let connection else { return }
        let server = Unmanaged<RequestContext>.fromOpaque(context).takeUnretainedValue()
        let descriptor = CMicroHTTPD_descriptor(connection)
        if change == .CONNECTION_NOTIFY_STARTED {
            server.deadlines.begin(descriptor, at: SystemClock.monotonicNanoseconds)
        } else {
            server.deadlines.end(descriptor)
        }
    }

    // MARK: Requests and answers

    private func begin(_ request: HTTPRequest, _ connection: OpaquePointer) -> MHD_Result {
        guard let length = request.headers["content-length"].flatMap({ Int($0) }), length > bodyBytes else {
            return .YES
        }
        let text = "the body has \(length) bytes; the limit is \(bodyBytes)\n"
        return HTTPResponse(status: 413, text: text).queue(on: connection)
    }

    private static func headers(of connection: OpaquePointer) -> [String: String] {
        var headers: [String: String] = [:]
        withUnsafeMutablePointer(to: &headers) { headers in
            _ = MHD_get_connection_values(
                connection, .HEADER_KIND,
                { headers, _, name, value in
                    guard let headers, let name else { return .YES }
                    let all = headers.assumingMemoryBound(to: [String: String].self)
                    let (key, text) = (String(cString: name).lowercased(), value.map { String(cString: $0) } ?? "")
                    all.pointee[key] = all.pointee[key].map { "\($0), \(text)" } ?? text
                    return .YES
                }, headers)
        }
        return headers
    }
}
