import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushSettings

@Suite("A request over HTTP")
struct HTTPRequestTests {
    private static let delivery = """
        {"seq":41,"n":1,"id":"a 1","op":"deliver","callback":"onMessageReceived","platform":"android","app":null,\
        "lane":"/käthe 1",\
        "external_id":"käthe","handler":"crm","accepted_at":"2026-11-21T03:08:00.120Z","attempt":2}
        """
    private static let object = """
        {"delivery":\(delivery),"payload":{"data":{"a":"b"}},"deadline":{"remaining_ms":8990,\
        "at":"2026-11-21T03:08:09Z"}}
        """

    private static let now = Instant(nanoseconds: 20_000_000_000)

    /// The invocation of a line with these members before the usual ones.
    private func invocation(_ members: String, object: String = Self.object) throws -> HTTPInvocation {
        guard case .post(let invocation) = try HTTPLine(Array("{\(members),\(object.dropFirst())".utf8), at: Self.now)
        else { throw LineFault.noID }
        return invocation
    }

    private func request(_ format: HTTPEndpoint.Format) throws -> HTTPRequest {
        let invocation = try invocation(#""id":5,"deadline_ns":28000000000"#)
        #expect(invocation.id == 5 && invocation.handler == "crm")
        var endpoint = HTTPEndpoint(url: "https://crm.example/")
        endpoint.format = format
        endpoint.headers = ["X-Own: 1"]
        return invocation.request(to: endpoint, source: "pushrouterd://relay")
    }

    private func body(_ request: HTTPRequest) -> String { String(decoding: request.body, as: UTF8.self) }

    @Test("has the object of every kind of handler, op, callback, lane and attempt, and its file's headers")
    func plain() throws {
        let request = try request(.plain)
        #expect(body(request) == Self.object)
        #expect(
            request.headers.lines == [
                "Push-Op: deliver", "Push-Callback: onMessageReceived", "Push-Lane: /k%C3%A4the%201",
                "Push-Attempt: 2", "Content-Type: application/json", "X-Own: 1",
            ])
    }

    @Test("has the term of a leader of several machines as a header")
    func term() throws {
        let object = Self.object.replacing(#""attempt":2"#, with: #""attempt":2,"epoch":7"#)
        let request = try invocation(#""id":5"#, object: object)
            .request(to: HTTPEndpoint(url: "https://crm.example/"), source: "pushrouterd://relay")
        #expect(request.headers.lines.contains("Push-Epoch: 7"), "\(request.headers.lines)")
        #expect(try !self.request(.plain).headers.lines.contains { $0.hasPrefix("Push-Epoch") })
    }

    @Test("is a CloudEvents event in binary mode: its attributes are headers, percent-encoded if necessary")
    func binary() throws {
        let request = try request(.cloudEvents)
        #expect(body(request) == Self.object)
        let headers = Set(request.headers.lines)
        for header in [
            "Content-Type: application/json", "ce-specversion: 1.0", "ce-id: 41-1-20261121030800120",
            "ce-source: pushrouterd://relay", "ce-type: local.pushrouterd.deliver", "ce-time: 2026-11-21T03:08:00.120Z",
            "ce-expirytime: 2026-11-21T03:08:09Z", "ce-callback: onMessageReceived", "ce-requestid: a%201",
            "ce-externalid: k%C3%A4the", "ce-attempt: 2", "ce-lane: /k%C3%A4the%201",
        ] { #expect(headers.contains(header), "\(header)") }
        #expect(!request.headers.lines.contains { $0.hasPrefix("ce-app") }, "what is null is no attribute")
    }

    @Test("is a CloudEvents event in structured mode: one object with the data")
    func structured() throws {
        let request = try request(.structuredCloudEvents)
        #expect(request.headers.lines.contains("Content-Type: application/cloudevents+json; charset=utf-8"))
        let event = try JSONDocument(scanning: request.body).root
        #expect(event["id"]?.string == "41-1-20261121030800120")
        #expect(event["externalid"]?.string == "käthe" && event["seq"]?.string == "41")
        #expect(event["expirytime"]?.string == "2026-11-21T03:08:09Z")
        #expect(event["data"].map { String(decoding: $0.rawBytes, as: UTF8.self) } == Self.object)
    }

    @Test("has the deadline of its line, however long that waited; without one it is too late")
    func deadline() throws {
        func deadline(_ members: String) throws -> Duration { try invocation(members).deadline - Self.now }
        #expect(try deadline(#""id":5,"deadline_ns":28000000000"#) == .seconds(8))
        #expect(try deadline(#""id":5"#) == .seconds(-20))
        // Absurd deadlines are bounded, both ways.
        let day = Duration.seconds(86_400)
        #expect(try deadline(#""id":5,"deadline_ns":9223372036854775807"#) == day)
        #expect(try deadline(#""id":5,"deadline_ns":-1"#) == .seconds(-20))
    }

    @Test("is withdrawn by a line of its own; other lines are refused")
    func lines() throws {
        guard case .cancel(9) = try HTTPLine(HandlerInput.cancellation(of: 9).dropLast(), at: Self.now) else {
            Issue.record("a cancellation is not read as one")
            return
        }
        #expect(throws: LineFault.noID) { try HTTPLine(Array("{}".utf8), at: Self.now) }
        #expect(throws: LineFault.notAnObject) { try HTTPLine(Array("[]".utf8), at: Self.now) }
    }
}
