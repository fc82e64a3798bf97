import HTTP2

// Fuzzes the server's side of HTTP/2. Any bytes of a client, whole or one by one, must bring the same requests, within
// the limits; the output must be whole frames; each request is answered at most once; nothing may trap or leak.
//
// The first byte selects the form of the rest: the bytes behind the preface (0), all bytes of the client (1), or pieces
// that make frames with right lengths: kind, flags, stream, length and as many bytes (2). It is taken modulo 3.

@c(LLVMFuzzerTestOneInput)
public func fuzzHTTP2(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    guard let mode = input.first else { return 0 }
    let rest = input.dropFirst()
    let bytes =
        switch mode % 3 {
        case 0: HTTP2Session.preface + rest
        case 1: Array(rest)
        default: HTTP2Session.preface + frames(rest)
        }
    let whole = Client(bytes, piece: bytes.count)
    let pieces = Client(bytes, piece: 1)
    // libnghttp2 1.52 counts a CONTINUATION frame as often as it gets a part of the frame's head, and takes 8.
    if pieces.failure != .broken("Too many CONTINUATION frames following a HEADER frame") {
        precondition((whole.failure == nil) == (pieces.failure == nil), "bytes one by one end otherwise than at once")
        precondition(
            whole.failure != nil || whole.requests == pieces.requests,
            "bytes one by one bring other requests than at once")
    }
    // Answers between the pieces, as a real server does.
    _ = Client(bytes, piece: 1 + Int(mode) * 3, answersAtOnce: true)
    return 0
}

private func frames(_ pieces: ArraySlice<UInt8>) -> [UInt8] {
    var (frames, rest) = ([UInt8](), pieces)
    while rest.count >= 4 {
        let head = Array(rest.prefix(4))
        let payload = rest.dropFirst(4).prefix(Int(head[3]))
        frames += [0, 0, UInt8(payload.count), head[0] % 12, head[1], 0, 0, 0, head[2]] + payload
        rest = rest.dropFirst(4 + payload.count)
    }
    return frames
}

private let limits: HTTP2Limits = {
    var limits = HTTP2Limits()
    (limits.streams, limits.headerBytes, limits.bodyBytes) = (8, 512, 300)
    limits.controlFrames = (atOnce: 40, perSecond: 10)
    return limits
}()

private struct Client {
    struct Request: Equatable {
        var stream: Int32
        var headers: [[String]]
        var body: [UInt8]
    }

    private(set) var requests: [Request] = []
    private(set) var failure: HTTP2Failure?

    init(_ bytes: [UInt8], piece: Int, answersAtOnce: Bool = false) {
        guard let session = try? HTTP2Session(limits) else { preconditionFailure("there is no memory") }
        var (place, now) = (0, Int64(0))
        while place < bytes.count, failure == nil {
            let end = min(bytes.count, place + piece)
            let part = Array(bytes[place..<end])
            place = end
            do throws(HTTP2Failure) {
                let new = try part.withUnsafeBufferPointer { (part) throws(HTTP2Failure) in
                    try session.receive(part, at: now)
                }
                for request in new { take(request) }
                if answersAtOnce { for request in new { answer(request, session) } }
            } catch { failure = error }
            if answersAtOnce {
                now += 1_000_000
                drain(session)
            }
            precondition(session.unanswered >= 0 && session.heldBytes >= 0, "counts are negative")
            precondition(session.unanswered <= Int(limits.streams) * 2, "more streams than there may be")
            precondition(
                session.heldBytes <= Int(limits.streams) * 2 * (limits.bodyBytes + limits.headerBytes),
                "more bytes than there may be")
        }
        if !answersAtOnce {
            for request in requests { session.respond(to: request.stream, status: 200, headers: [], body: [65, 66]) }
        }
        session.goAway()
        drain(session)
        precondition(session.unanswered >= 0, "counts are negative")
    }

    private mutating func take(_ request: HTTP2Request) {
        let length = request.headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        // Each invalid byte of UTF-8 becomes three.
        precondition(length <= limits.headerBytes * 3, "longer headers than there may be")
        precondition(request.body.count <= limits.bodyBytes, "a longer body than there may be")
        precondition(!requests.contains { $0.stream == request.stream }, "a request comes twice")
        requests.append(
            Request(stream: request.stream, headers: request.headers.map { [$0.name, $0.value] }, body: request.body))
    }

    private func answer(_ request: HTTP2Request, _ session: HTTP2Session) {
        let headers = [(name: "apns-id", value: request.header("apns-id") ?? "")]
        for _ in 0..<2 { session.respond(to: request.stream, status: 200, headers: headers, body: request.body) }
    }

    /// Reads the output in whole frames, a bounded number of bytes at a time.
    private func drain(_ session: HTTP2Session) {
        while true {
            let output = session.takeOutput()
            guard !output.isEmpty else { return }
            precondition(output.count <= limits.outputBytes + (17 << 10), "more output than there may be")
            var place = 0
            while place < output.count {
                precondition(place + 9 <= output.count, "half a frame")
                place += 9 + Int(output[place]) << 16 + Int(output[place + 1]) << 8 + Int(output[place + 2])
            }
            precondition(place == output.count, "half a frame")
        }
    }
}
