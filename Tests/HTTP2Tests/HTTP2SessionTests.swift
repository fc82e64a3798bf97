import CNGHTTP2
import Glibc
import Testing

@testable import HTTP2

@Suite("An HTTP/2 session")
struct HTTP2SessionTests {
    private func receive(
        _ session: HTTP2Session, _ bytes: [UInt8], at now: Int64 = 0
    ) throws(HTTP2Failure) -> [HTTP2Request] {
        try bytes.withUnsafeBufferPointer { (buffer) throws(HTTP2Failure) in try session.receive(buffer, at: now) }
    }

    @Test("accepts a request with host and no :authority, and without a length")
    func withoutAuthority() throws {
        let session = try HTTP2Session()
        var client = HTTP2Client()
        client.post("/3/device/abcd", stream: 1, host: ("host", "api.push.apple.com"), others: [("apns-topic", "shop")])
        client.data(#"{"aps":{}}"#, stream: 1)
        let request = try #require(try receive(session, client.take()).first)
        #expect(request.header(":method") == "POST")
        #expect(request.header("host") == "api.push.apple.com")
        #expect(request.header("apns-topic") == "shop")
        #expect(String(decoding: request.body, as: UTF8.self) == #"{"aps":{}}"#)
        #expect(session.unanswered == 1)
        _ = session.takeOutput()
        session.respond(to: 1, status: 200, headers: [("apns-id", "Ab-1")], body: [])
        #expect(session.unanswered == 0)
        let frames = HTTP2Client.frames(session.takeOutput())
        #expect(frames.contains { $0.kind == 1 && $0.stream == 1 })
    }

    @Test("an HTTP/2 session answers HEAD with headers only")
    func head() throws {
        let session = try HTTP2Session()
        var client = HTTP2Client()
        let block = [(":method", "HEAD"), (":scheme", "https"), (":path", "/leader"), (":authority", "localhost")]
            .flatMap { HTTP2Client.header($0.0, $0.1) }
        client.frame(1, flags: 5, stream: 1, block)
        #expect(try receive(session, client.take()).count == 1)
        session.respond(to: 1, status: 200, headers: [], body: [1, 2, 3])
        let frames = HTTP2Client.frames(session.takeOutput())
        #expect(!frames.contains { $0.kind == 0 })
        #expect(frames.contains { $0.kind == 1 && $0.stream == 1 })
    }

    @Test("an HTTP/2 session reads input that comes byte by byte")
    func oneByOne() throws {
        let session = try HTTP2Session()
        var client = HTTP2Client()
        client.post("/token", stream: 1)
        client.data("grant_type=x", stream: 1)
        var requests: [HTTP2Request] = []
        for byte in client.take() { requests += try receive(session, [byte]) }
        #expect(requests.count == 1)
    }

    @Test("answers a hundred requests at once, and sends each body in pieces")
    func many() throws {
        let session = try HTTP2Session()
        var client = HTTP2Client()
        for number in 0..<100 { client.post("/a", stream: UInt32(2 * number + 1), ends: true) }
        let requests = try receive(session, client.take())
        #expect(requests.count == 100)
        let body = [UInt8](repeating: 65, count: 400)
        for request in requests { session.respond(to: request.stream, status: 200, headers: [], body: body) }
        var output: [UInt8] = []
        while session.hasOutput { output += session.takeOutput() }
        let sent = HTTP2Client.frames(output).filter { $0.kind == 0 }.reduce(0) { $0 + $1.payload.count }
        #expect(sent == 100 * 400)
    }

    @Test("refuses headers that are too long, reads on beyond a body that is, and reads the next request")
    func tooLong() throws {
        var limits = HTTP2Limits()
        (limits.headerBytes, limits.bodyBytes, limits.discardedBytes) = (1000, 100, 200)
        let session = try HTTP2Session(limits)
        var client = HTTP2Client()
        client.post("/a", stream: 1, others: [("x", String(repeating: "y", count: 2000))], ends: true)
        client.post("/b", stream: 3)
        client.data(String(repeating: "z", count: 90), stream: 3, ends: false)
        client.data(String(repeating: "z", count: 90), stream: 3)
        client.post("/c", stream: 5, ends: true)
        client.post("/d", stream: 7)
        client.data(String(repeating: "z", count: 201), stream: 7, ends: false)
        let requests = try receive(session, client.take())
        #expect(requests.map { $0.header(":path") } == ["/b", "/c"])
        #expect(requests.map(\.isTooLong) == [true, false] && requests[0].body.isEmpty)
        #expect(session.heldBytes == 0)
        #expect(session.unanswered == 2)
        // The session itself answers 431 and 413.
        #expect(HTTP2Client.frames(session.takeOutput()).filter { $0.kind == 1 }.map(\.stream) == [1, 7])
    }

    @Test("ends a connection whose few bytes are decoded to many headers")
    func headerReferences() throws {
        let session = try HTTP2Session()
        var client = HTTP2Client()
        // A literal with indexing puts the header into the table; 0xBE is a reference to it.
        func text(_ text: String) -> [UInt8] { [UInt8(text.utf8.count)] + text.utf8 }
        let name: [UInt8] = [0x40] + text("x") + text(String(repeating: "y", count: 100))
        let block = [(":method", "POST"), (":scheme", "https"), (":path", "/a"), (":authority", "localhost")]
            .flatMap { HTTP2Client.header($0.0, $0.1) }
        client.frame(1, flags: 5, stream: 1, block + name + [UInt8](repeating: 0xBE, count: 2000))
        #expect(throws: HTTP2Failure.flood) { try receive(session, client.take()) }
    }

    @Test(
        "ends a connection that floods frames without a request",
        arguments: [
            (4, 0, 0, []), (6, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8]), (2, 0, 1, [0, 0, 0, 0, 1]), (0, 0, 1, []),
            (8, 0, 0, [0, 0, 0, 1]),
        ] as [(UInt8, UInt8, UInt32, [UInt8])])
    func floods(_ kind: UInt8, _ flags: UInt8, _ stream: UInt32, _ payload: [UInt8]) throws {
        var limits = HTTP2Limits()
        limits.controlFrames = (atOnce: 50, perSecond: 10)
        let session = try HTTP2Session(limits)
        var client = HTTP2Client()
        client.post("/a", stream: 1)
        _ = try receive(session, client.take())
        for _ in 0..<200 { client.frame(kind, flags: flags, stream: stream, payload) }
        #expect(throws: HTTP2Failure.self) { try receive(session, client.take()) }
    }

    @Test("ends a connection that opens and resets streams")
    func rapidReset() throws {
        var limits = HTTP2Limits()
        limits.controlFrames = (atOnce: 50, perSecond: 10)
        let session = try HTTP2Session(limits)
        var client = HTTP2Client()
        for number in 0..<200 {
            let stream = UInt32(2 * number + 1)
            client.post("/a", stream: stream, ends: true)
            client.frame(3, stream: stream, [0, 0, 0, 8])
        }
        #expect(throws: HTTP2Failure.flood) { try receive(session, client.take()) }
    }

    @Test("allows pings for ever at the permitted rate")
    func pings() throws {
        var limits = HTTP2Limits()
        limits.controlFrames = (atOnce: 10, perSecond: 10)
        let session = try HTTP2Session(limits)
        _ = try receive(session, HTTP2Client().bytes)
        for second in 0..<100 {
            var client = HTTP2Client(begins: false)
            for _ in 0..<5 { client.frame(6, [1, 2, 3, 4, 5, 6, 7, 8]) }
            _ = try receive(session, client.take(), at: Int64(second) * 1_000_000_000)
            #expect(HTTP2Client.frames(session.takeOutput()).count { $0.kind == 6 } == 5)
        }
    }

    @Test("answers the requests before GOAWAY, and then ends")
    func goAway() throws {
        let session = try HTTP2Session()
        var client = HTTP2Client()
        client.post("/a", stream: 1, ends: true)
        #expect(try receive(session, client.take()).count == 1)
        session.goAway()
        #expect(HTTP2Client.frames(session.takeOutput()).contains { $0.kind == 7 })
        session.goAway()
        #expect(session.takeOutput().isEmpty, "the last GOAWAY goes once")
        #expect(!session.isOver)
        session.respond(to: 1, status: 200, headers: [], body: [])
        _ = session.takeOutput()
        #expect(session.isOver)
    }

    @Test("announces its end, and takes the requests that a client sent before it saw that")
    func announcedEnd() throws {
        let session = try HTTP2Session()
        var client = HTTP2Client()
        client.post("/a", stream: 1, ends: true)
        #expect(try receive(session, client.take()).count == 1)
        _ = session.takeOutput()
        session.announceEnd()
        let frames = HTTP2Client.frames(session.takeOutput())
        #expect(frames.first { $0.kind == 7 }?.payload.prefix(4) == [0x7F, 0xFF, 0xFF, 0xFF])
        let ping = try #require(frames.first { $0.kind == 6 })
        client.post("/b", stream: 3, ends: true)
        #expect(try receive(session, client.take()).count == 1)
        #expect(!session.isReadyToGoAway)
        client.frame(6, flags: 1, Array(ping.payload))
        _ = try receive(session, client.take())
        #expect(session.isReadyToGoAway)
        session.goAway()
        #expect(
            HTTP2Client.frames(session.takeOutput()).first { $0.kind == 7 }?.payload.prefix(4) == [0, 0, 0, 3])
    }

    @Test("reports the bytes of incomplete requests, and since when it holds them")
    func unfinished() throws {
        let session = try HTTP2Session()
        var client = HTTP2Client()
        client.post("/a", stream: 1)
        _ = try receive(session, client.take(), at: 5)
        #expect(session.oldestUnfinished == 5)
        #expect(session.unanswered == 0)
        let headers = session.heldBytes
        client.data("abc", stream: 1, ends: false)
        client.post("/b", stream: 3)
        _ = try receive(session, client.take(), at: 7)
        #expect(session.heldBytes == 2 * headers + 3)
        #expect(session.oldestUnfinished == 5)
        client.data("d", stream: 1)
        client.frame(3, stream: 3, [0, 0, 0, 8])
        #expect(try receive(session, client.take(), at: 8).map(\.body.count) == [4])
        #expect(session.heldBytes == 0)
        #expect(session.oldestUnfinished == nil)
        #expect(session.unanswered == 1)
    }

    @Test("sends at most its window to a client that does not read")
    func window() throws {
        let session = try HTTP2Session()
        var client = HTTP2Client()
        client.post("/a", stream: 1, ends: true)
        _ = try receive(session, client.take())
        session.respond(to: 1, status: 200, headers: [], body: [UInt8](repeating: 1, count: 1 << 20))
        var count = 0
        while session.hasOutput {
            let bytes = session.takeOutput()
            if bytes.isEmpty { break }
            count += bytes.count
        }
        #expect(count < 66_000)
    }

    @Test("an HTTP/2 session survives random bytes", arguments: 0..<200 as Range<UInt64>)
    func noise(_ seed: UInt64) throws {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1
        func next() -> UInt64 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return state
        }
        let session = try HTTP2Session()
        var client = HTTP2Client()
        client.post("/a", stream: 1)
        client.data("{}", stream: 1)
        client.post("/b", stream: 3, ends: true)
        var bytes = client.take()
        for _ in 0..<(1 + next() % 4) { bytes[Int(next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: next()) }
        do throws(HTTP2Failure) {
            for request in try receive(session, bytes) {
                session.respond(to: request.stream, status: 200, headers: [], body: [1])
            }
        } catch {}
        _ = session.takeOutput()
    }

    @Test("answers or ends, and never neither, when any allocation of the library finds no memory")
    func noMemory() {
        let body = [UInt8](repeating: 65, count: 400)
        var passing = 0
        var isReached = true
        while isReached {
            let memory = ShortMemory(passing)
            defer { withExtendedLifetime(memory) {} }
            do throws(HTTP2Failure) {
                let session = try HTTP2Session(HTTP2Limits(), memory: memory.methods)
                var client = HTTP2Client()
                client.post("/a", stream: 1, others: [("x", "y")])
                client.data("{}", stream: 1)
                var output: [UInt8] = []
                for request in try receive(session, client.take()) {
                    session.respond(to: request.stream, status: 200, headers: [("apns-id", "Ab-1")], body: body)
                }
                while session.hasOutput {
                    let bytes = session.takeOutput()
                    #expect(!bytes.isEmpty || !session.hasOutput, "a loop without an end, allocation \(passing)")
                    if bytes.isEmpty { break }
                    output += bytes
                }
                let frames = HTTP2Client.frames(output)
                let isAnswered = frames.contains { $0.kind == 0 && $0.stream == 1 && $0.payload.count == body.count }
                #expect(isAnswered || session.isOver, "allocation \(passing)")
                session.announceEnd()
                session.goAway()
            } catch {}
            isReached = memory.hasFailed
            passing += 1
        }
        #expect(passing > 20)
    }
}

/// An allocator of the library that fails once.
private final class ShortMemory {
    let methods = UnsafeMutablePointer<nghttp2_mem>.allocate(capacity: 1)
    private var passing: Int
    private(set) var hasFailed = false

    init(_ passing: Int) {
        self.passing = passing
        methods.initialize(
            to: nghttp2_mem(
                // The pointer is valid: the test keeps this object longer than the session.
                mem_user_data: Unmanaged.passUnretained(self).toOpaque(),
                malloc: { size, context in ShortMemory.fails(context) ? nil : malloc(size) },
                free: { memory, _ in free(memory) },
                calloc: { count, size, context in ShortMemory.fails(context) ? nil : calloc(count, size) },
                realloc: { memory, size, context in ShortMemory.fails(context) ? nil : realloc(memory, size) }))
    }

    deinit { methods.deallocate() }

    private static func fails(_ context: UnsafeMutableRawPointer?) -> Bool {
        guard let context else { return false }
        let memory = Unmanaged<ShortMemory>.fromOpaque(context).takeUnretainedValue()
        memory.passing -= 1
        guard memory.passing == -1 else { return false }
        memory.hasFailed = true
        return true
    }
}
