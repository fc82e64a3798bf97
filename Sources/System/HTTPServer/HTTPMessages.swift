import CMicroHTTPD
import Glibc
import LinuxSystem

/// One complete request.
public struct HTTPRequest: Sendable, Equatable {
    /// The method, unchanged: `GET`.
    public var method: String
    /// The path, percent escapes decoded, without the query: `/metrics`.
    public var path: String
    /// The headers by their names in lower case; repeated ones are joined by commas.
    public var headers: [String: String]
    /// The body; empty if there is none.
    public var body: [UInt8]

    /// Joins the parts.
    init(method: String, path: String, headers: [String: String] = [:], body: [UInt8] = []) {
        self.method = method
        self.path = path
        self.headers = headers
        self.body = body
    }
}

/// A response. The server adds `Date`, `Content-Length` and `Connection`, and omits the body for `HEAD`.
public struct HTTPResponse: Sendable {
    /// The status: 200.
    public var status: Int
    /// The headers except those that the server adds.
    public var headers: [(name: String, value: String)]
    /// The body.
    public var body: [UInt8]

    /// Joins the parts.
    public init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Makes a response with a text for people or programs.
    ///
    /// - Parameters:
    ///   - status: the status.
    ///   - text: the body.
    ///   - type: its `Content-Type`.
    ///   - headers: further headers.
    public init(
        status: Int, text: String, type: String = "text/plain; charset=utf-8",
        headers: [(name: String, value: String)] = []
    ) {
        self.init(status: status, headers: [("Content-Type", type)] + headers, body: Array(text.utf8))
    }
}

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

/// The body of a streamed answer; the connection is suspended while it waits for the next part. On the server's thread.
final class StreamedBody {
    private var bytes: [UInt8] = []
    private var sent = 0
    private var isOver = false
    private var isSuspended = false
    /// Valid until the library reports the end of the request.
    private let connection: OpaquePointer
    private let limit: Int

    /// - Parameters:
    ///   - connection: the connection that it is sent on.
    ///   - limit: the largest number of bytes that wait for a client that does not read.
    init(on connection: OpaquePointer, limit: Int) { (self.connection, self.limit) = (connection, limit) }

    /// Adds a part.
    ///
    /// - Returns: whether there was room for it; otherwise the body ends.
    func add(_ part: [UInt8]) -> Bool {
        guard !isOver, bytes.count - sent + part.count <= limit else {
            end()
            return false
        }
        if sent > 0 {
            bytes.removeFirst(sent)
            sent = 0
        }
        bytes += part
        resume()
        return true
    }

    /// Ends the body.
    func end() {
        isOver = true
        resume()
    }

    private func resume() {
        guard isSuspended else { return }
        isSuspended = false
        MHD_resume_connection(connection)
    }

    /// Copies available bytes for the library.
    private func read(into place: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(place.count, bytes.count - sent)
        guard count > 0 else {
            if isOver { return -1 }
            isSuspended = true
            MHD_suspend_connection(connection)
            return 0
        }
        bytes.withUnsafeBytes { place.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[sent..<sent + count])) }
        sent += count
        return count
    }

    /// Returns a response of the library that reads this body, and retains it.
    func response() -> OpaquePointer? {
        let held = Unmanaged.passRetained(self)
        // MHD_SIZE_UNKNOWN, a macro with a cast; MHD_CONTENT_READER_END_OF_STREAM is -1.
        let response = MHD_create_response_from_callback(
            .max, 16 << 10,
            { context, _, place, count in
                guard let context, let place else { return -1 }
                let body = Unmanaged<StreamedBody>.fromOpaque(context).takeUnretainedValue()
                return body.read(into: UnsafeMutableRawBufferPointer(start: place, count: count))
            }, held.toOpaque(),
            { context in
                guard let context else { return }
                Unmanaged<StreamedBody>.fromOpaque(context).release()
            })
        if response == nil { held.release() }
        return response
    }
}
