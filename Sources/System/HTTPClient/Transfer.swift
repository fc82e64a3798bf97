import CCurl
import Glibc
import LinuxSystem

/// A request under way with its answer, reused for later requests to the same destination.
///
/// libcurl has the address of this object as long as the handle lives, which this object owns.
final class Transfer {
    let easy: EasyHandle
    private(set) var id = HTTPRequestID(value: 0)
    private(set) var completion: (HTTPResult) -> Void = { _ in }

    /// The options that its requests share.
    let common: HTTPDestination.Common
    private var headers = HeaderList()
    private var bearer: Secret?
    private var budget: HTTPBudget?
    private var expiry: Int64?
    private var hasExpired = false
    private var wantedHeaders: Set<String> = []
    private var longestAnswer = 0
    /// The body of the POST, which libcurl reads in place.
    private var body = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    /// libcurl's count of sent request bytes just before this request; `nil` until then.
    private var sentBefore: Int?
    /// Whether its deadline came before it could be sent.
    private var wasTooLate = false
    /// Whether libcurl tried to send it again.
    private var wasRefusedAgain = false
    /// libcurl's number of the connection.
    private var connection: Int?
    /// The connection and the stream over which the request was sent, if by HTTP/2.
    private var sent: (connection: Int, stream: Int)?
    /// How many times a server did not process it.
    private var restarts = 0
    private var began: Int64 = 0
    private var timeout = 0
    private let sockets: ConnectionSockets
    private var status = 0
    private var hasAllHeaders = false
    private var answerHeaders: [String: String] = [:]
    private var answer: [UInt8] = []
    private var isTooLong = false
    private let errorText = UnsafeMutableBufferPointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

    /// - Parameters:
    ///   - common: the options that its requests share.
    ///   - sockets: opens and closes the sockets of connections, and may outlive this object.
    /// - Throws: if libcurl refuses the destination, or has no memory.
    init(_ common: HTTPDestination.Common, _ sockets: ConnectionSockets) throws(HTTPClientError) {
        easy = try EasyHandle()
        self.common = common
        self.sockets = sockets
        errorText.initialize(repeating: 0)
        try easy.set(CURLOPT_PROTOCOLS_STR, "http,https")
        try easy.set(CURLOPT_SSL_VERIFYPEER, 1)
        try easy.set(CURLOPT_SSL_VERIFYHOST, 2)
        try easy.set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        // A redirect would send the secret header to another server.
        try easy.set(CURLOPT_FOLLOWLOCATION, 0)
        try easy.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        try easy.set(CURLOPT_NOSIGNAL, 1)
        // libcurl looks names up on its own threads. QUICK_EXIT keeps the loop from waiting for a hanging look-up after
        // its request has ended.
        try easy.set(CURLOPT_QUICK_EXIT, 1)
        // Servers and load balancers close connections after about a minute without use, and would lose a request sent
        // at that moment.
        try easy.set(CURLOPT_MAXAGE_CONN, 30)
        try easy.set(CURLOPT_POST, 1)
        try easy.set(CURLOPT_ERRORBUFFER, errorText.baseAddress)
        try configure(common)
        try callBack()
        try sockets.open(for: easy)
    }

    deinit {
        end()
        // The handle is freed after this, and could still write to the buffer.
        CCurl_set_pointer(easy.pointer, CURLOPT_ERRORBUFFER, nil)
        errorText.deallocate()
    }

    /// Prepares the request.
    ///
    /// - Throws: if there is no memory.
    func begin(
        _ body: [UInt8], to destination: HTTPDestination, id: HTTPRequestID,
        completion: @escaping (HTTPResult) -> Void
    ) throws(HTTPClientError) {
        self.id = id
        self.completion = completion
        bearer = destination.bearer
        wantedHeaders = destination.wantedHeaders
        longestAnswer = destination.longestAnswer
        budget = destination.budget
        expiry = destination.expiryNanoseconds
        headers.fill(destination.headerLines, bearer: bearer, budget: budget?.header)
        let connectTimeout = min(destination.timeoutMilliseconds, destination.connectTimeoutMilliseconds)
        (began, timeout) = (SystemClock.monotonicNanoseconds, destination.timeoutMilliseconds)
        try easy.set(CURLOPT_TIMEOUT_MS, timeout)
        try easy.set(CURLOPT_CONNECTTIMEOUT_MS, connectTimeout)
        try easy.set(CURLOPT_HTTPHEADER, headers.first)
        self.body = .allocate(byteCount: body.count, alignment: 1)
        self.body.copyBytes(from: body)
        // Header and body leave in one write, if they are short enough.
        try easy.set(CURLOPT_POSTFIELDS, self.body.baseAddress)
        try easy.set(CURLOPT_POSTFIELDSIZE, body.count)
    }

    /// Frees the request and its answer.
    func end() {
        CCurl_set_pointer(easy.pointer, CURLOPT_HTTPHEADER, nil)
        CCurl_set_pointer(easy.pointer, CURLOPT_POSTFIELDS, nil)
        headers.clear()
        body.deallocate()
        body = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        completion = { _ in }
        bearer = nil
        budget = nil
        (expiry, hasExpired) = (nil, false)
        (sentBefore, sent, wasTooLate, wasRefusedAgain, restarts) = (nil, nil, false, false, 0)
        (status, hasAllHeaders, answerHeaders, answer, isTooLong) = (0, false, [:], [], false)
        errorText[0] = 0
    }

    private func configure(_ common: HTTPDestination.Common) throws(HTTPClientError) {
        try easy.set(CURLOPT_URL, common.url)
        let isPlain = common.url.lowercased().hasPrefix("http:")
        // Without TLS a proxy could read the bearer, so plain HTTP uses none.
        if isPlain { try easy.set(CURLOPT_PROXY, "") }
        let version =
            switch common.http2 {
            case .overTLS: CURL_HTTP_VERSION_2TLS
            case .never: CURL_HTTP_VERSION_1_1
            }
        try easy.set(CURLOPT_HTTP_VERSION, Int(version))
        // PIPEWAIT: waits for a connection under way, which may turn out to multiplex requests.
        let mayShare = common.http2 == .overTLS && !isPlain
        if mayShare {
            try easy.set(CURLOPT_PIPEWAIT, 1)
            try noteStreams()
        }
        if let file = common.authorityFile {
            try easy.set(CURLOPT_CAINFO, file)
            // Without this, libcurl also trusts the system's directory of certificates.
            try easy.set(CURLOPT_CAPATH, nil as UnsafeMutableRawPointer?)
        }
    }

    /// Notes what libcurl says of the connection and the stream of the request, and of the last stream that a server
    /// processed before it ended a connection (GOAWAY). libcurl tells it only in words, and does not always try again.
    ///
    /// Source: lib/http2.c, lib/connect.c and lib/url.c of curl 7.88.1. With other words no request is sent twice.
    private func noteStreams() throws(HTTPClientError) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        let note: curl_debug_callback = { _, kind, bytes, count, context in
            guard kind == CURLINFO_TEXT, let context, let bytes else { return 0 }
            Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
                .note(UnsafeRawBufferPointer(start: bytes, count: count))
            return 0
        }
        try easy.check(CCurl_set_debug_function(easy.pointer, note, context), CURLOPT_DEBUGFUNCTION)
    }

    private func note(_ words: UnsafeRawBufferPointer) {
        func number(after mark: String) -> Int? {
            let mark = Array(mark.utf8)
            guard words.count >= mark.count else { return nil }
            let start = (0...words.count - mark.count).first { words[$0..<$0 + mark.count].elementsEqual(mark) }
            let digits = start.map { words[($0 + mark.count)...].prefix { 0x30...0x39 ~= $0 } }
            return digits.flatMap { Int(String(decoding: $0, as: UTF8.self)) }
        }
        switch words.first {
        case UInt8(ascii: "C") where words.starts(with: "Connected to ".utf8): connection = number(after: "(#")
        case UInt8(ascii: "R") where words.starts(with: "Re-using existing connection".utf8):
            connection = number(after: " #")
        case UInt8(ascii: "U") where words.starts(with: "Using Stream ID".utf8):
            if let connection, let stream = number(after: ": ") { sent = (connection, stream) }
        case UInt8(ascii: "r") where words.starts(with: "rec".utf8):
            guard let connection = sent?.connection, let last = number(after: "GOAWAY, error=0, last_stream=") else {
                return
            }
            sockets.noteEnd(of: connection, behind: last)
        default: break
        }
    }

    /// Whether the request has no answer because the server ended the connection before it processed the request: then
    /// it is sent again, unless that happened too often or its time is over.
    func mayRestart(_ code: CURLcode) -> Bool {
        guard code != CURLE_OK, !hasAllHeaders, !hasExpired, !wasTooLate, restarts < Self.restartsMax,
            let sent, let last = sockets.lastStream(of: sent.connection), sent.stream > last
        else { return false }
        return timeLeft > 0
    }

    /// Prepares the same request for another connection.
    func restart() throws(HTTPClientError) {
        restarts += 1
        (sentBefore, sent, wasRefusedAgain) = (nil, nil, false)
        (status, answerHeaders, answer, isTooLong) = (0, [:], [], false)
        errorText[0] = 0
        try easy.set(CURLOPT_TIMEOUT_MS, timeLeft)
    }

    /// The milliseconds of its timeout that are left.
    private var timeLeft: Int {
        let taken = (SystemClock.monotonicNanoseconds - began) / 1_000_000
        return timeout - Int(taken)
    }

    private static let restartsMax = 5

    private func callBack() throws(HTTPClientError) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        for option in [CURLOPT_WRITEDATA, CURLOPT_HEADERDATA] { try easy.set(option, context) }
        let write: @convention(c) (UnsafeMutablePointer<CChar>?, Int, Int, UnsafeMutableRawPointer?) -> Int = {
            bytes, size, count, context in
            guard let context, let bytes else { return 0 }
            let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
            return transfer.take(UnsafeRawBufferPointer(start: bytes, count: size * count))
        }
        let header: @convention(c) (UnsafeMutablePointer<CChar>?, Int, Int, UnsafeMutableRawPointer?) -> Int = {
            bytes, size, count, context in
            guard let context, let bytes else { return 0 }
            let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
            transfer.take(header: UnsafeRawBufferPointer(start: bytes, count: size * count))
            return size * count
        }
        try easy.check(CCurl_set_data_function(easy.pointer, CURLOPT_WRITEFUNCTION, write), CURLOPT_WRITEFUNCTION)
        try easy.check(CCurl_set_data_function(easy.pointer, CURLOPT_HEADERFUNCTION, header), CURLOPT_HEADERFUNCTION)
        let aboutToSend: curl_prereq_callback = { context, _, _, _, _ in
            guard let context else { return CURL_PREREQFUNC_ABORT }
            let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
            return transfer.maySend() ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
        }
        try easy.check(CCurl_set_request_function(easy.pointer, aboutToSend, context), CURLOPT_PREREQFUNCTION)
    }

    /// Returns whether libcurl may send the request; called before it does. If a reused connection breaks without an
    /// answer, libcurl tries to send the request again. The server may have acted on the first copy, so this refuses
    /// the second one. A request that the server did not process is sent again by ``restart()``.
    private func maySend() -> Bool {
        wasRefusedAgain = wasSent
        if sentBefore == nil { sentBefore = bytesSent }
        guard !wasRefusedAgain else { return false }
        if let expiry, SystemClock.bootNanoseconds >= expiry { hasExpired = true }
        guard !hasExpired else { return false }
        guard let budget else { return true }
        let remaining = budget.deadlineNanoseconds - SystemClock.monotonicNanoseconds
        wasTooLate = remaining <= 0
        // libcurl reads the header lines after this callback.
        headers.setBudget(milliseconds: max(0, remaining) / 1_000_000)
        return !wasTooLate
    }

    /// Whether any part of the request was sent: otherwise the server cannot have acted on it.
    private var wasSent: Bool { sentBefore.map { bytesSent > $0 } ?? false }

    /// The number of request bytes that libcurl has sent with this handle.
    private var bytesSent: Int {
        var count = 0
        CCurl_get_long(easy.pointer, CURLINFO_REQUEST_SIZE, &count)
        return count
    }

    /// Returns the result of the request.
    func result(_ code: CURLcode) -> HTTPResult {
        if hasExpired { return .expired }
        let problem = code == CURLE_OK ? nil : reason(code)
        guard hasAllHeaders else {
            return .failure(wasSent: wasSent, reason: problem ?? "there was no answer")
        }
        // A server that refuses the token may repeat it.
        bearer?.mask(in: &answer)
        return .answer(HTTPAnswer(status: status, headers: answerHeaders, body: answer, damage: problem))
    }

    private func reason(_ code: CURLcode) -> String {
        if isTooLong { return "the answer is longer than \(longestAnswer) bytes" }
        if wasTooLate { return "its deadline came before it could be sent" }
        if wasRefusedAgain { return "the server closed a connection that had been used before" }
        let detail = errorText.baseAddress.map { String(cString: $0) } ?? ""
        return detail.isEmpty ? String(cString: curl_easy_strerror(code)) : detail
    }

    private func take(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard answer.count + bytes.count <= longestAnswer else {
            isTooLong = true
            return 0
        }
        answer += bytes
        return bytes.count
    }

    private func take(header line: UnsafeRawBufferPointer) {
        let line = line.trimmed
        if line.starts(with: "HTTP/".utf8) {
            // A further status line: the answer before was an interim one.
            let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
            status = words.count > 1 ? Int(String(decoding: words[1], as: UTF8.self)) ?? 0 : 0
            answerHeaders = [:]
        } else if line.isEmpty {
            hasAllHeaders = status >= 200
        } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
            let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
            guard wantedHeaders.contains(name) else { return }
            let value = UnsafeRawBufferPointer(rebasing: line[(colon + 1)...])
            answerHeaders[name] = String(decoding: value.trimmed, as: UTF8.self)
        }
    }
}

extension UnsafeRawBufferPointer {
    /// The bytes without white space at both ends.
    fileprivate var trimmed: UnsafeRawBufferPointer {
        let isSpace = { (byte: UInt8) in byte == 0x20 || 0x09...0x0D ~= byte }
        guard let first = firstIndex(where: { !isSpace($0) }), let last = lastIndex(where: { !isSpace($0) }) else {
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return UnsafeRawBufferPointer(rebasing: self[first...last])
    }
}
