import CCurl
import Glibc

/// One request on its way, and its answer as it comes.
///
/// libcurl has the address of this object as long as the handle lives, which is a property of it.
final class Transfer {
    let easy: EasyHandle
    let id: HTTPRequestID
    let completion: (HTTPResult) -> Void

    private var headerLines = HeaderList()
    private let bearer: Secret?
    private let wantedHeaders: Set<String>
    private let body: [UInt8]
    private var bodyPosition = 0
    /// Whether libcurl took anything of the body: a server that got nothing of it cannot have acted on it.
    private var wasSent = false
    private var status = 0
    private var hasAllHeaders = false
    private var headers: [String: String] = [:]
    private var answer: [UInt8] = []
    private var isTooLong = false
    private let longestAnswer: Int
    private let errorText = UnsafeMutableBufferPointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

    init(
        _ body: [UInt8], to destination: HTTPDestination, id: HTTPRequestID,
        completion: @escaping (HTTPResult) -> Void
    ) throws(HTTPClientError) {
        easy = try EasyHandle()
        self.id = id
        self.body = body
        self.completion = completion
        bearer = destination.bearer
        wantedHeaders = destination.wantedHeaders
        longestAnswer = destination.longestAnswer
        errorText.initialize(repeating: 0)
        // "Expect: 100-continue" would cost a round trip, and a second where the server does not know it.
        for line in destination.headers + ["Expect:"] { try headerLines.append(line) }
        if let bearer {
            try bearer.withCString(after: "Authorization: Bearer ") { line throws(HTTPClientError) in
                try headerLines.append(line)
            }
        }
        try configure(destination)
        try callBack()
    }

    deinit {
        // The handle goes after this, and may have a last word.
        CCurl_set_pointer(easy.pointer, CURLOPT_ERRORBUFFER, nil)
        errorText.deallocate()
    }

    private func configure(_ destination: HTTPDestination) throws(HTTPClientError) {
        try easy.set(CURLOPT_URL, destination.url)
        try easy.set(CURLOPT_PROTOCOLS_STR, "http,https")
        // Without TLS a proxy would read the bearer; only the https way hides it from one.
        if isPlain(destination) { try easy.set(CURLOPT_PROXY, "") }
        try configureHTTP2(destination)
        try easy.set(CURLOPT_SSL_VERIFYPEER, 1)
        try easy.set(CURLOPT_SSL_VERIFYHOST, 2)
        if let file = destination.authorityFile {
            try easy.set(CURLOPT_CAINFO, file)
            // Else the system's directory of certificates is trusted as well.
            try easy.set(CURLOPT_CAPATH, nil as UnsafeMutableRawPointer?)
        }
        try easy.set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        // Elsewhere the secret header has no business.
        try easy.set(CURLOPT_FOLLOWLOCATION, 0)
        try easy.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        try easy.set(CURLOPT_NOSIGNAL, 1)
        try easy.set(CURLOPT_TIMEOUT_MS, destination.timeoutMilliseconds)
        try easy.set(CURLOPT_CONNECTTIMEOUT_MS, connectTimeout(destination))
        // Servers and what stands before them close what is idle for a minute or so; a request that meets that is lost.
        try easy.set(CURLOPT_MAXAGE_CONN, 30)
        try easy.set(CURLOPT_POST, 1)
        try easy.set(CURLOPT_POSTFIELDSIZE, body.count)
        try easy.set(CURLOPT_HTTPHEADER, headerLines.first)
        try easy.set(CURLOPT_ERRORBUFFER, errorText.baseAddress)
    }

    private func connectTimeout(_ destination: HTTPDestination) -> Int {
        min(destination.timeoutMilliseconds, destination.connectTimeoutMilliseconds)
    }

    private func configureHTTP2(_ destination: HTTPDestination) throws(HTTPClientError) {
        let version =
            switch destination.http2 {
            case .overTLS: CURL_HTTP_VERSION_2TLS
            case .always: CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE
            case .never: CURL_HTTP_VERSION_1_1
            }
        try easy.set(CURLOPT_HTTP_VERSION, Int(version))
        // A connection that is being set up may turn out to carry many requests: it is waited for.
        let mayShare = destination.http2 == .always || destination.http2 == .overTLS && !isPlain(destination)
        if mayShare { try easy.set(CURLOPT_PIPEWAIT, 1) }
    }

    private func isPlain(_ destination: HTTPDestination) -> Bool { destination.url.lowercased().hasPrefix("http:") }

    private func callBack() throws(HTTPClientError) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        for option in [CURLOPT_READDATA, CURLOPT_WRITEDATA, CURLOPT_HEADERDATA] { try easy.set(option, context) }
        let read: @convention(c) (UnsafeMutablePointer<CChar>?, Int, Int, UnsafeMutableRawPointer?) -> Int = {
            buffer, size, count, context in
            guard let context, let buffer else { return Int(CURL_READFUNC_ABORT) }
            let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
            return transfer.give(to: UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
        }
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
        try easy.check(CCurl_set_data_function(easy.pointer, CURLOPT_READFUNCTION, read), CURLOPT_READFUNCTION)
        try easy.check(CCurl_set_data_function(easy.pointer, CURLOPT_WRITEFUNCTION, write), CURLOPT_WRITEFUNCTION)
        try easy.check(CCurl_set_data_function(easy.pointer, CURLOPT_HEADERFUNCTION, header), CURLOPT_HEADERFUNCTION)
        // When a connection that was used before breaks without an answer, libcurl sends the request again by itself. The
        // server may have acted on it, so that is not ours to do: what was sent once is not given again.
        let seek: curl_seek_callback = { _, _, _ in Int32(CURL_SEEKFUNC_FAIL) }
        try easy.check(CCurl_set_seek_function(easy.pointer, seek), CURLOPT_SEEKFUNCTION)
    }

    /// What came of it.
    func result(_ code: CURLcode) -> HTTPResult {
        let problem = code == CURLE_OK ? nil : reason(code)
        guard hasAllHeaders else {
            return .failure(wasSent: wasSent, reason: problem ?? "there was no answer")
        }
        // A server that does not like the token may say which.
        bearer?.mask(in: &answer)
        return .answer(HTTPAnswer(status: status, headers: headers, body: answer, damage: problem))
    }

    private func reason(_ code: CURLcode) -> String {
        if isTooLong { return "the answer is longer than \(longestAnswer) bytes" }
        // What libcurl says of this is how the seek function above answered.
        if code == CURLE_SEND_FAIL_REWIND { return "the server closed a connection that had been used before" }
        let detail = errorText.baseAddress.map { String(cString: $0) } ?? ""
        return detail.isEmpty ? String(cString: curl_easy_strerror(code)) : detail
    }

    private func give(to buffer: UnsafeMutableRawBufferPointer) -> Int {
        wasSent = true
        let part = body[bodyPosition...].prefix(buffer.count)
        buffer.copyBytes(from: part)
        bodyPosition += part.count
        return part.count
    }

    private func take(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard answer.count + bytes.count <= longestAnswer else {
            isTooLong = true
            return 0
        }
        answer += bytes
        return bytes.count
    }

    private func take(header bytes: UnsafeRawBufferPointer) {
        let line = String(decoding: bytes, as: UTF8.self).trimmed
        if line.hasPrefix("HTTP/") {
            // Another answer begins: what came before was an interim one.
            let words = line.split(separator: " ")
            status = words.count > 1 ? Int(words[1]) ?? 0 : 0
            headers = [:]
        } else if line.isEmpty {
            hasAllHeaders = status >= 200
        } else if let colon = line.firstIndex(of: ":") {
            let name = line[..<colon].lowercased()
            if wantedHeaders.contains(name) { headers[name] = String(line[line.index(after: colon)...]).trimmed }
        }
    }
}

extension String {
    /// Without white space at its ends.
    fileprivate var trimmed: String {
        let isSpace = { (character: Character) in character.isWhitespace }
        guard let first = firstIndex(where: { !isSpace($0) }), let last = lastIndex(where: { !isSpace($0) }) else {
            return ""
        }
        return String(self[first...last])
    }
}
