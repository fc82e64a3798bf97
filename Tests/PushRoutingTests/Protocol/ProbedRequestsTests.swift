import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

/// Each key of each op of both sockets with values of every kind, and the answer: the error with its message, or what the
/// request has then that it had not before.
@Suite("Each key of each request")
struct ProbedRequestsTests {
    /// Requests in which each key has a value that no other has.
    private static let injected = [
        #"{"op":"deliver","id":"a1","at":"2026-11-21T09:00:00Z","wait":"outcome","platform":"ios","app":"shop","#
            + #""device":"phone","external_id":"anna","transport":"apns","state":"terminated","locked":true,"#
            + #""os_version":"17.4","notifications":"denied","sdk":"nil","message_id":"m1","#
            + #""headers":{"apns-id":"7"},"sender":{"answer":400},"payload":{"aps":{}}}"#,
        #"{"op":"interact","kind":"action","message":5,"platform":"ios","app":"shop","device":"phone","#
            + #""external_id":"anna","action":"yes","text":"on my way","sdk":"delayed"}"#,
        #"{"op":"interact","kind":"opened","payload":{"data":{}},"device":"phone"}"#,
        #"{"op":"session","kind":"start","platform":"ios","app":"shop","device":"phone","external_id":"anna"}"#,
        #"{"op":"token","kind":"new","token":"t1","platform":"ios","app":"shop","device":"phone"}"#,
        #"{"op":"log","kind":"custom_event","suite":"standard","name":"visit","properties":{"a":1},"app":"shop"}"#,
        #"{"op":"log","kind":"user_attributes","suite":"standard","attributes":{"a":1},"external_id":"anna"}"#,
        #"{"op":"topic","kind":"subscribe","project":"p","topic":"news","tokens":["t1","t2"],"unknown":"register"}"#,
        #"{"op":"publish","project":"p","topic":"news","app":"shop","payload":{"data":{}},"message_id":"m1"}"#,
        #"{"op":"publish","project":"p","condition":"'a' in topics","payload":{"data":{}}}"#,
        #"{"op":"device","device":"phone","platform":"ios","app":"shop","state":"terminated","locked":true,"#
            + #""os_version":"17.4","notifications":"denied","sdk":"nil"}"#,
    ]
    private static let instance = #""instance":"01234567-89ab-cdef-fedc-ba9876543210""#
    private static let controlled = [
        #"{"op":"status","id":"a1"}"#, #"{"op":"metrics","format":"prometheus"}"#, #"{"op":"sync","timeout_ms":9}"#,
        #"{"op":"claim",\#(instance),"limit":150,"wait":true,"holding":[7,8],"reserve":true}"#,
        #"{"op":"depart",\#(instance),"entries":[7,8]}"#, #"{"op":"peek","after":3,"limit":150}"#,
        #"{"op":"settle",\#(instance),"entries":[{"number":7,"state":"rejected","reason":"no name"}]}"#,
        #"{"op":"sending",\#(instance),"phase":"waiting","reason":"429","failures":3,"until":"2026-11-21T09:00:00Z"}"#,
        #"{"op":"flush","platform":"ios","app":"shop","device":"phone","external_id":"anna","suite":"standard"}"#,
        #"{"op":"reset","suite":"standard","app":"shop"}"#, #"{"op":"resolve","entries":[7,8],"state":"queued"}"#,
        #"{"op":"replay","requests":[7,8]}"#, #"{"op":"purge","requests":[7,8]}"#,
        #"{"op":"erase","external_id":"anna"}"#, #"{"op":"erase","device":"phone"}"#, #"{"op":"reload"}"#,
        #"{"op":"configuration","configuration":"0123456789ABCDEF"}"#, #"{"op":"log_level","level":"err"}"#,
        #"{"op":"gateway_rotate","until":"2026-11-21T09:00:00Z"}"#,
    ]
    private static let asked = [
        #"{"op":"topics","project":"p","token":"t1","topic":"news","limit":7,"after":"a"}"#,
        #"{"op":"resolve","id":"a1","token":"t1","platform":"ios","app":"shop"}"#,
    ]

    private static let values =
        ProbedJSON.values + ProbedJSON.longValues
        + [
            "2", "60000", "60001", "9223372036854775807", #""a\u0000b""#, #""1.2.3""#, #""1.2.3.4""#, "[1,1,2]",
            #"[{"number":1,"state":"sent"}]"#, #"[{"number":0,"state":"sent"}]"#, #"{"apns-topic":"x"}"#,
            #"{"answer":399}"#,
            #"{"times":1,"ttl":0}"#,
        ].map { ($0, $0) }

    private func lines(_ request: String, _ read: ([UInt8]) throws(ProtocolError) -> Any) throws -> [String] {
        let whole = try read(Array(request.utf8))
        return ProbedJSON.table(request, probes: Self.values, keeping: ["op"]) { text in
            do throws(ProtocolError) {
                let difference = flatDifference(from: whole, to: try read(Array(text.utf8)))
                return "taken: " + (difference.utf8.count > 300 ? "\(difference.prefix(200))..." : difference)
            } catch {
                return "\(error.code.rawValue) \(error.field ?? "-"): \(error.message)"
            }
        }
    }

    @Test("is taken or refused, for each kind of value, as Fixtures/protocol/keys.txt has it")
    func keys() throws {
        var found: [String] = []
        for line in Self.injected {
            found += try lines(line) { (bytes) throws(ProtocolError) in
                let request = try Request(line: bytes)
                return (request.id, request.at, request.waitsForOutcome, request.action)
            }
        }
        for line in Self.controlled {
            found += try lines(line) { (bytes) throws(ProtocolError) in
                let request = try ControlRequest(line: bytes)
                return (request.id, request.operation, request.operation.changesNothing)
            }
        }
        for line in Self.asked {
            found += try lines(line) { (bytes) throws(ProtocolError) in
                if let question = try TopicQuestion(line: bytes, limits: JSONLimits()) { return question }
                return try TokenQuestion(line: bytes, limits: JSONLimits()) as Any
            }
        }
        Fixture.expect(Array(found.dropFirst()), in: "protocol/keys.txt")
    }
}
