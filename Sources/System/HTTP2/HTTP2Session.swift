import CNGHTTP2

/// The server's side of one HTTP/2 connection, without its socket: the caller moves the bytes. Used on one thread.
public final class HTTP2Session {
    /// The connection preface of every client.
    public static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    /// The state of a stream; a class, because each header and each part of a body changes it.
    private final class Stream {
        let number: Int32
        var request: HTTP2Request
        /// The time of its first headers.
        let began: Int64
        var headerBytes = 0
        /// Its part of ``HTTP2Session/heldBytes``.
        var held = 0
        /// Whether the request is complete, and was passed on.
        var isComplete = false
        /// The status of the session's own answer; the rest of the request is discarded.
        var refusal: Int?
        /// The bytes of the body beyond the limit, which are read and discarded.
        var discarded = 0
        /// The body of the answer, and the number of bytes sent.
        var answer: [UInt8] = []
        var sent = 0
        var isAnswered = false
        /// Whether it is a HEAD request.
        var isHead = false

        init(_ number: Int32, at now: Int64) {
            self.number = number
            request = HTTP2Request(stream: number)
            request.headers.reserveCapacity(8)
            began = now
        }
    }

    private let limits: HTTP2Limits
    // nil only while the session is being made.
    private var handle: OpaquePointer?
    private var streams: [Int32: Stream] = [:]
    /// The stream that was used last: a request's frames come one after the other.
    private var latest: Stream?
    private var complete: [HTTP2Request] = []
    /// The number of frames without a request that the client may still send, and the time of the last refill.
    private var credit: Int
    private var creditSince: Int64?
    private var isFlood = false
    /// The headers of an answer, in memory that the next answer uses again.
    private var block = HeaderBlock()
    /// The time of the bytes that are being parsed.
    private var now: Int64 = 0
    /// The number of complete requests without an answer.
    public private(set) var unanswered = 0
    /// Whether ``announceEnd()`` was called.
    public private(set) var isEndAnnounced = false
    /// Whether the client has answered a PING behind the announced end: whatever it sent before has arrived.
    public private(set) var isReadyToGoAway = false
    private var hasSentGoAway = false
    /// Whether the library had no memory for output: it would not have it at the next call either, or lacks a part.
    private var isBroken = false
    /// The bytes of the received headers and bodies that were not passed on.
    public private(set) var heldBytes = 0

    /// Begins a session; its first output is the server's settings.
    ///
    /// - Throws: if there is no memory.
    public convenience init(_ limits: HTTP2Limits = HTTP2Limits()) throws(HTTP2Failure) {
        try self.init(limits, memory: nil)
    }

    /// - Parameter memory: the library's allocator in place of malloc; it outlives the session.
    init(_ limits: HTTP2Limits, memory: UnsafeMutablePointer<nghttp2_mem>?) throws(HTTP2Failure) {
        self.limits = limits
        credit = limits.controlFrames.atOnce
        var callbacks: OpaquePointer?
        var option: OpaquePointer?
        guard nghttp2_session_callbacks_new(&callbacks) == 0, nghttp2_option_new(&option) == 0, let callbacks,
            let option
        else { throw .broken("there is no memory") }
        defer {
            nghttp2_session_callbacks_del(callbacks)
            nghttp2_option_del(option)
        }
        Self.set(callbacks)
        // The library does flow control: it extends a client's window as soon as a part of a body was read.
        nghttp2_option_set_stream_reset_rate_limit(option, UInt64(limits.controlFrames.atOnce), 33)
        nghttp2_option_set_max_settings(option, 32)
        nghttp2_option_set_max_outbound_ack(option, 100)
        let context = Unmanaged.passUnretained(self).toOpaque()
        guard nghttp2_session_server_new3(&handle, callbacks, context, option, memory) == 0, handle != nil else {
            throw .broken("there is no memory")
        }
        let settings = [
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: limits.streams),
            nghttp2_settings_entry(
                settings_id: Int32(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE.rawValue), value: UInt32(limits.headerBytes)),
        ]
        try check(nghttp2_submit_settings(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), settings, settings.count))
    }

    deinit { nghttp2_session_del(handle) }

    // MARK: Bytes

    /// Parses bytes from the client.
    ///
    /// - Parameter now: monotonic nanoseconds.
    /// - Returns: the requests that are complete now.
    /// - Throws: if the client violates the protocol, or floods the server. ``takeOutput()`` may return a last frame
    ///   for it.
    public func receive(_ bytes: UnsafeBufferPointer<UInt8>, at now: Int64) throws(HTTP2Failure) -> [HTTP2Request] {
        self.now = now
        refillCredit(at: now)
        let count = nghttp2_session_mem_recv(handle, bytes.baseAddress, bytes.count)
        if isFlood {
            nghttp2_session_terminate_session(handle, NGHTTP2_ENHANCE_YOUR_CALM.rawValue)
            throw .flood
        }
        guard count >= 0 else {
            if count == Int(NGHTTP2_ERR_FLOODED.rawValue) { throw .flood }
            throw .broken(String(cString: nghttp2_strerror(Int32(count))))
        }
        return exchange(&complete, with: [])
    }

    /// Returns bytes for the client: up to ``HTTP2Limits/outputBytes``, plus at most one part.
    public func takeOutput() -> [UInt8] {
        var output: [UInt8] = []
        while output.count < limits.outputBytes {
            var bytes: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(handle, &bytes)
            if count < 0 { isBroken = true }
            guard count > 0, let bytes else { break }
            output.append(contentsOf: UnsafeBufferPointer(start: bytes, count: Int(count)))
        }
        return output
    }

    /// Whether the session has bytes for the client, as far as its windows allow.
    public var hasOutput: Bool { !isBroken && nghttp2_session_want_write(handle) != 0 }

    /// The time of the oldest incomplete request's first headers; `nil` if there is none.
    public var oldestUnfinished: Int64? {
        streams.values.lazy.filter { !$0.isComplete && !$0.isAnswered }.map(\.began).min()
    }

    /// Whether the session has ended, by either side or for lack of memory.
    public var isOver: Bool {
        isBroken || (nghttp2_session_want_read(handle) == 0 && nghttp2_session_want_write(handle) == 0)
    }

    // MARK: Answers

    /// Answers a request, unless its stream is closed.
    public func respond(
        to stream: Int32, status: Int, headers: [(name: String, value: String)], body: [UInt8]
    ) {
        guard let asked = self.stream(stream), !asked.isAnswered else { return }
        asked.isAnswered = true
        if asked.isComplete { unanswered -= 1 }
        asked.answer = asked.isHead ? [] : body
        block.begin()
        block.add(":status", String(status))
        for (name, value) in headers { block.add(name, value) }
        if !body.isEmpty || status == 200 { block.add("content-length", String(body.count)) }
        var provider = nghttp2_data_provider()
        provider.read_callback = Self.readAnswer
        let hasBody = !asked.answer.isEmpty
        block.withPairs { pairs in
            // The library copies names and values.
            if hasBody {
                note(nghttp2_submit_response(handle, stream, pairs.baseAddress, pairs.count, &provider))
            } else {
                note(nghttp2_submit_response(handle, stream, pairs.baseAddress, pairs.count, nil))
            }
        }
    }

    /// Announces the end to the client: it sends no further request, and those on their way are answered still. Then
    /// ``isReadyToGoAway`` becomes true when the client has seen it (RFC 9113, 6.8).
    public func announceEnd() {
        note(nghttp2_submit_shutdown_notice(handle))
        note(nghttp2_submit_ping(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil))
        isEndAnnounced = true
    }

    /// Sends the last GOAWAY, once: later requests are refused, earlier ones are answered.
    public func goAway() {
        isReadyToGoAway = false
        guard !hasSentGoAway else { return }
        hasSentGoAway = true
        let last = nghttp2_session_get_last_proc_stream_id(handle)
        note(
            nghttp2_submit_goaway(
                handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, NGHTTP2_NO_ERROR.rawValue, nil, 0))
    }

    /// Takes the result of a submission. A client that would wait for ever for what was not submitted is better off
    /// with the end of its connection.
    private func note(_ result: Int32) {
        if result == NGHTTP2_ERR_NOMEM.rawValue { isBroken = true }
    }

    private func check(_ result: Int32) throws(HTTP2Failure) {
        guard result == 0 else { throw .broken(String(cString: nghttp2_strerror(result))) }
    }

    // MARK: Floods

    /// How many times the limit of headers one request may have, before it counts as a flood.
    private static let headerBytesOfFlood = 4

    private func refillCredit(at now: Int64) {
        guard let since = creditSince else { return creditSince = now }
        let more = Int(clamping: (now - since) / (1_000_000_000 / Int64(limits.controlFrames.perSecond)))
        guard more > 0 else { return }
        credit = min(limits.controlFrames.atOnce, credit + min(more, limits.controlFrames.atOnce))
        creditSince = now
    }

    private func spendCredit() {
        credit -= 1
        if credit < 0 { isFlood = true }
    }
}

// The callbacks of the library.
extension HTTP2Session {
    private static func session(_ context: UnsafeMutableRawPointer?) -> HTTP2Session? {
        // The pointer is valid: this object owns the session's handle.
        context.map { Unmanaged<HTTP2Session>.fromOpaque($0).takeUnretainedValue() }
    }

    private static func set(_ callbacks: OpaquePointer) {
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, context in
            guard let frame, let session = HTTP2Session.session(context) else { return 0 }
            return session.beginHeaders(frame.pointee)
        }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _, frame, name, nameLength, value, valueLength, _, context in
            guard let frame, let name, let value, let session = HTTP2Session.session(context) else { return 0 }
            session.addHeader(
                UnsafeBufferPointer(start: name, count: nameLength),
                UnsafeBufferPointer(start: value, count: valueLength),
                to: frame.pointee.hd.stream_id)
            return session.isFlood ? NGHTTP2_ERR_CALLBACK_FAILURE.rawValue : 0
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, stream, bytes, count, context in
            guard let session = HTTP2Session.session(context) else { return 0 }
            session.addBody(UnsafeBufferPointer(start: bytes, count: count), to: stream)
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, context in
            guard let frame, let session = HTTP2Session.session(context) else { return 0 }
            session.received(frame.pointee.hd)
            return session.isFlood ? NGHTTP2_ERR_CALLBACK_FAILURE.rawValue : 0
        }
        nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks) { _, _, _, context in
            HTTP2Session.session(context)?.spendCredit()
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, _, context in
            HTTP2Session.session(context)?.close(stream)
            return 0
        }
    }

    private static let readAnswer: nghttp2_data_source_read_callback = {
        _, stream, buffer, length, flags, _, context in
        guard let session = session(context), let buffer, let flags else {
            return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)
        }
        return session.answer(of: stream, to: UnsafeMutableBufferPointer(start: buffer, count: length), flags)
    }

    private func beginHeaders(_ frame: nghttp2_frame) -> Int32 {
        guard frame.headers.cat == NGHTTP2_HCAT_REQUEST else { return 0 }
        let stream = frame.hd.stream_id
        let asked = Stream(stream, at: now)
        streams[stream] = asked
        latest = asked
        return 0
    }

    private func stream(_ number: Int32) -> Stream? {
        if let latest, latest.number == number { return latest }
        latest = streams[number]
        return latest
    }

    private func addHeader(
        _ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, to stream: Int32
    ) {
        guard let asked = self.stream(stream) else { return }
        // Counts as SETTINGS_MAX_HEADER_LIST_SIZE does: 32 bytes for each header besides its texts.
        asked.headerBytes += name.count + value.count + 32
        guard asked.headerBytes <= limits.headerBytes else {
            // One byte of a client may stand for thousands: the decoded bytes are what costs time.
            if asked.headerBytes > Self.headerBytesOfFlood * limits.headerBytes { isFlood = true }
            return refuse(asked, 431)
        }
        guard asked.refusal == nil else { return }
        hold(name.count + value.count + 32, of: asked)
        asked.request.headers.append(
            (String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self)))
    }

    private func addBody(_ bytes: UnsafeBufferPointer<UInt8>, to stream: Int32) {
        guard let asked = self.stream(stream), asked.refusal == nil else { return }
        guard asked.discarded == 0, asked.request.body.count + bytes.count <= limits.bodyBytes else {
            return discard(bytes.count, of: asked, stream)
        }
        hold(bytes.count, of: asked)
        asked.request.body.append(contentsOf: bytes)
    }

    /// Reads on beyond the limit of a body: a client that sends reads no answer before its end. The service answers the
    /// request, in its own form; the session answers one that is far too long.
    private func discard(_ count: Int, of stream: Stream, _ number: Int32) {
        if stream.discarded == 0 {
            stream.discarded = stream.request.body.count
            hold(-stream.request.body.count, of: stream)
            stream.request.body = []
            stream.request.isTooLong = true
        }
        stream.discarded += count
        guard stream.discarded > limits.discardedBytes else { return }
        refuse(stream, 413)
        respond(to: number, status: 413, headers: [], body: [])
    }

    private func hold(_ bytes: Int, of stream: Stream) {
        stream.held += bytes
        heldBytes += bytes
    }

    private func refuse(_ stream: Stream, _ status: Int) {
        release(stream)
        stream.refusal = status
    }

    /// Frees the received parts of a request.
    private func release(_ stream: Stream) {
        hold(-stream.held, of: stream)
        stream.request = HTTP2Request(stream: stream.request.stream)
    }

    private func received(_ frame: nghttp2_frame_hd) {
        let kind = UInt32(frame.type)
        let ends = frame.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
        switch kind {
        case NGHTTP2_HEADERS.rawValue: if ends { finish(frame.stream_id) }
        case NGHTTP2_DATA.rawValue:
            if frame.length == 0, !ends { spendCredit() }
            if ends { finish(frame.stream_id) }
        case NGHTTP2_PING.rawValue where frame.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0 && isEndAnnounced:
            isReadyToGoAway = true
        default: spendCredit()
        }
    }

    private func finish(_ number: Int32) {
        guard let stream = stream(number), !stream.isAnswered else { return }
        if let refusal = stream.refusal { return respond(to: number, status: refusal, headers: [], body: []) }
        stream.isHead = stream.request.header(":method") == "HEAD"
        complete.append(stream.request)
        // The request was passed on; the stream waits for its answer.
        release(stream)
        stream.isComplete = true
        unanswered += 1
    }

    private func close(_ number: Int32) {
        guard let stream = streams.removeValue(forKey: number) else { return }
        latest = nil
        release(stream)
        if stream.isComplete, !stream.isAnswered { unanswered -= 1 }
    }

    private func answer(
        of number: Int32, to buffer: UnsafeMutableBufferPointer<UInt8>, _ flags: UnsafeMutablePointer<UInt32>
    ) -> Int {
        guard let stream = stream(number) else { return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) }
        let count = min(buffer.count, stream.answer.count - stream.sent)
        _ = UnsafeMutableRawBufferPointer(buffer).baseAddress.map { base in
            stream.answer.withUnsafeBytes { bytes in
                UnsafeMutableRawBufferPointer(start: base, count: count).copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: bytes[stream.sent..<stream.sent + count]))
            }
        }
        stream.sent += count
        if stream.sent == stream.answer.count { flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
        return count
    }
}

/// The headers of an answer in one buffer, as the library takes them.
private struct HeaderBlock {
    private var bytes: [UInt8] = []
    /// The ends of each name and its value.
    private var ends: [(name: Int, value: Int)] = []

    mutating func begin() {
        bytes.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
    }

    /// Adds a header; its name in lower case, as HTTP/2 wants it.
    mutating func add(_ name: String, _ value: String) {
        bytes.append(contentsOf: name.lowercased().utf8)
        let end = bytes.count
        bytes.append(contentsOf: value.utf8)
        ends.append((end, bytes.count))
    }

    mutating func withPairs(_ body: (UnsafeBufferPointer<nghttp2_nv>) -> Void) {
        let ends = ends
        bytes.withUnsafeMutableBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return }
            withUnsafeTemporaryAllocation(of: nghttp2_nv.self, capacity: ends.count) { pairs in
                var start = 0
                for (place, end) in ends.enumerated() {
                    pairs.initializeElement(
                        at: place,
                        to: nghttp2_nv(
                            name: base + start, value: base + end.name, namelen: end.name - start,
                            valuelen: end.value - end.name, flags: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue)))
                    start = end.value
                }
                body(UnsafeBufferPointer(pairs))
            }
        }
    }
}

/// One request of a stream.
public struct HTTP2Request: Sendable {
    /// The number of the stream, for the answer.
    public let stream: Int32
    /// All headers in their order; the names of HTTP/2's own ones begin with a colon.
    public internal(set) var headers: [(name: String, value: String)] = []
    /// The body; empty if there is none, or if it is too long.
    public internal(set) var body: [UInt8] = []
    /// Whether the body was longer than the limit: it was read, and discarded.
    public internal(set) var isTooLong = false

    init(stream: Int32) { self.stream = stream }

    /// Returns the value of the first header with a name.
    public func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}

/// The limits for one client of an HTTP/2 session.
public struct HTTP2Limits: Sendable {
    /// The number of streams (SETTINGS_MAX_CONCURRENT_STREAMS).
    public var streams: UInt32 = 100
    /// The bytes of a request's header names and values; more are answered 431.
    public var headerBytes = 16 << 10
    /// The bytes of a request's body. A longer one is discarded, and the request says so.
    public var bodyBytes = 256 << 10
    /// The bytes of a body that is discarded; more are answered 413 at once.
    var discardedBytes = 4 << 20
    /// The number of frames without a request (SETTINGS, PING, PRIORITY, RST_STREAM, WINDOW_UPDATE, empty DATA) at
    /// once, and further ones each second. A client that sends more floods the server, and its session ends.
    public var controlFrames = (atOnce: 1000, perSecond: 200)
    /// The bytes of output that are produced before the client reads some.
    public var outputBytes = 64 << 10

    /// The limits of a push gateway.
    public init() {}
}

/// The reason why the server ends a session.
public enum HTTP2Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The client violated the protocol; the text is libnghttp2's.
    case broken(String)
    /// The client sent a flood of frames.
    case flood

    /// The reason, for people.
    public var description: String {
        switch self {
        case .broken(let words): "the client broke HTTP/2: \(words)"
        case .flood: "the client sent a flood of frames"
        }
    }
}
