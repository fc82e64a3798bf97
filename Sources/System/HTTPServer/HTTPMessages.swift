import CMicroHTTPD
import Glibc
import LinuxSystem

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
