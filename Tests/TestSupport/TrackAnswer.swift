import Glibc

/// The answer of the test server to a request.
public enum TrackAnswer: Sendable {
    /// The server takes all elements: 201, and the endpoint's JSON.
    case success
    /// The server takes all elements but these.
    case partial([TrackError])
    /// The server answers with this status and body.
    case status(Int, body: String = "", headers: [String] = [])
    /// The server takes all elements, and sends the answer one byte at a time.
    case slowSuccess
    /// The server takes all elements, and sends the answer in chunks.
    case chunkedSuccess
    /// The server sends these bytes in place of HTTP.
    case garbage(String)
    /// The server reads the request and sends no answer.
    case hang
    /// The server reads the request and resets the connection.
    case reset
    /// The server takes all elements, and resets the connection in the middle of the answer.
    case resetWithinAnswer

    /// Whether the endpoint took the request, regardless of its answer.
    var takesIn: Bool {
        switch self {
        case .success, .partial, .slowSuccess, .chunkedSuccess, .resetWithinAnswer: true
        case .status, .garbage, .hang, .reset: false
        }
    }
}

/// An error in an answer of the endpoint.
public struct TrackError: Sendable {
    var text: String
    var array: String
    var index: Int

    /// - Parameters:
    ///   - text: the error text.
    ///   - array: `attributes` or `events`.
    ///   - index: the index of the faulty element.
    public init(_ text: String, in array: String, at index: Int) {
        self.text = text
        self.array = array
        self.index = index
    }

    var json: String { #"{"type":"\#(text)","input_array":"\#(array)","index":\#(index)}"# }
}

extension TrackAnswer {
    /// Sends the answer.
    ///
    /// - Returns: whether the connection can be used again.
    func send(for request: TrackRequest, to socket: Int32) -> Bool {
        switch self {
        case .success: return write(response(201, success(request)), to: socket)
        case .partial(let errors): return write(response(201, success(request, errors)), to: socket)
        case .status(let status, let body, let headers):
            return write(response(status, body, headers), to: socket)
        case .slowSuccess:
            return response(201, success(request)).allSatisfy { byte in
                usleep(200)
                return write([byte], to: socket)
            }
        case .chunkedSuccess: return write(chunked(success(request)), to: socket)
        case .garbage(let text):
            _ = write(Array(text.utf8), to: socket)
            return false
        case .hang:
            // Waits until the client gives up.
            _ = waitUntilReadable([socket], milliseconds: DaemonProcess.patienceMilliseconds)
            return false
        case .reset: return reset(socket)
        case .resetWithinAnswer:
            let bytes = response(201, success(request))
            _ = write(Array(bytes.dropLast(10)), to: socket)
            return reset(socket)
        }
    }

    private func success(_ request: TrackRequest, _ errors: [TrackError] = []) -> String {
        let counts = ["attributes", "events"].compactMap { array in
            let count = request.elements.count { $0.array == array }
            let taken = count - errors.count { $0.array == array }
            return count == 0 ? nil : #","\#(array)_processed":\#(taken)"#
        }
        let list = errors.isEmpty ? "" : #","errors":[\#(errors.map(\.json).joined(separator: ","))]"#
        return #"{"message":"success"\#(counts.joined())\#(list)}"#
    }

    private func response(_ status: Int, _ body: String, _ headers: [String] = []) -> [UInt8] {
        let lines = ["HTTP/1.1 \(status) Text", "Content-Type: application/json", "Content-Length: \(body.utf8.count)"]
        return Array(((lines + headers).joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
    }

    private func chunked(_ body: String) -> [UInt8] {
        let chunks = body.utf8.map { "1\r\n\(Unicode.Scalar($0))\r\n" }.joined()
        return Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)0\r\n\r\n".utf8)
    }

    private func write(_ bytes: [UInt8], to socket: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Makes the following close reset the connection.
    private func reset(_ socket: Int32) -> Bool {
        var now = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
        return false
    }
}
