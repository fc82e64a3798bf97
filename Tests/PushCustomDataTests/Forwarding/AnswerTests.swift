import Testing

@testable import PushModel
@testable import PushRouter
@testable import PushSettings
@testable import pushrouter_forward

@Suite("Answers")
struct AnswerTests {
    /// The settlements and the reported state after this answer to a request with attributes 1 and 2 and events 3 and
    /// 4.
    private func effects(_ answer: EndpointAnswer) -> (settled: [String], state: SendingState) {
        var bench = Bench()
        let attributes = (1...2).map { entry($0, user: "u\($0)", kind: .customAttributes, data: #"{"a":1}"#) }
        _ = bench.start(attributes + events(3...4))
        let request = bench.pass(.seconds(1)).sent
        #expect(request.count == 1)
        let effects = bench.handle(.answered(request: 1, answer))
        return (effects.settled, bench.forwarder.state)
    }

    private func effects(_ status: Int, _ body: String, damage: String? = nil) -> (
        settled: [String], state: SendingState
    ) {
        effects(.response(EndpointResponse(status: status, body: Array(body.utf8), damage: damage)))
    }

    private static let allSent = ["1 sent", "2 sent", "3 sent", "4 sent"]

    @Test("any 2xx with success: all are sent", arguments: [200, 201, 202])
    func success(status: Int) {
        let (settled, state) = effects(status, #"{"message":"success","attributes_processed":2,"events_processed":2}"#)
        #expect(settled == Self.allSent)
        #expect(state.phase == .sending)
    }

    @Test("an error inside a success rejects the entry that it names")
    func partial() {
        let errors = """
            {"type":"bad time","input_array":"events","index":1},{"type":"","input_array":"attributes","index":0}
            """
        #expect(
            effects(201, #"{"message":"success","errors":[\#(errors)]}"#).settled == [
                "1 rejected: an error without a text", "2 sent", "3 sent", "4 rejected: bad time",
            ])
    }

    static let strays: [(errors: String, counts: String, settled: [String])] = [
        // The counts show that no entry failed.
        (#""odd""#, #","attributes_processed":2,"events_processed":2"#, allSent),
        // The counts show that one event is missing, without telling which.
        (
            #""odd""#, #","attributes_processed":2,"events_processed":1"#,
            [
                "1 sent", "2 sent", "3 unknown: the answer has an error that names no entry: odd",
                "4 unknown: the answer has an error that names no entry: odd",
            ]
        ),
        // The missing event is the one that the error names.
        (
            #"{"type":"a","input_array":"events","index":0},{"type":"b","input_array":"events","index":9}"#,
            #","events_processed":1"#, ["1 sent", "2 sent", "3 rejected: a", "4 sent"]
        ),
        // Without counts.
        (
            #"{"type":"b","input_array":"purchases","index":0}"#, "",
            (1...4).map { "\($0) unknown: the answer has an error that names no entry: b" }
        ),
    ]

    @Test("an error that names no entry leaves the outcome unknown, unless the counts decide it", arguments: strays)
    func stray(errors: String, counts: String, settled: [String]) {
        #expect(effects(201, #"{"message":"success","errors":[\#(errors)]\#(counts)}"#).settled == settled)
    }

    static let unknowns: [(EndpointAnswer, String)] = [
        (
            .failure(wasSent: true, reason: "timed out"), "the request was sent and no answer came: timed out"
        ),
        (
            .response(EndpointResponse(status: 200, body: Array("<html>".utf8))),
            "the endpoint answered 200, with content that is not the JSON of /users/track"
        ),
        (
            .response(EndpointResponse(status: 200, body: Array(#"{"message":"queued\n"}"#.utf8))),
            "the endpoint answered 200: queued "
        ),
        (
            .response(EndpointResponse(status: 201, body: Array("{".utf8), damage: "reset")),
            "the endpoint answered 201, but not all of its answer came: reset"
        ),
    ]

    @Test("an unknown outcome is settled as unknown, and the next request waits", arguments: unknowns)
    func unknown(answer: EndpointAnswer, reason: String) {
        let (settled, state) = effects(answer)
        #expect(settled == (1...4).map { "\($0) unknown: \(reason)" })
        #expect(state.phase == .waiting)
        #expect(state.failures == 1)
        #expect(state.reason == reason)
    }

    static let failures: [(EndpointAnswer, String)] = [
        (.failure(wasSent: false, reason: "no route"), "no route"),
        (.response(EndpointResponse(status: 503, body: Array("busy".utf8))), "the endpoint answered 503"),
        (
            .response(EndpointResponse(status: 500, body: Array(#"{"message":"oops"}"#.utf8), damage: "reset")),
            "the endpoint answered 500: oops"
        ),
        (.response(EndpointResponse(status: 408, body: [])), "the endpoint answered 408"),
    ]

    @Test("entries that were not taken are queued again, and the next request waits", arguments: failures)
    func failed(answer: EndpointAnswer, reason: String) {
        let (settled, state) = effects(answer)
        #expect(settled == (1...4).map { "\($0) queued: \(reason)" })
        #expect(state.phase == .waiting)
        #expect(state.failures == 1)
    }

    static let refusals: [(Int, String, String)] = [
        (
            400, #"{"message":"Max Input Length Exceeded"}"#,
            "the endpoint answered 400: Max Input Length Exceeded. The endpoint cannot"
        ),
        (
            401, #"{"message":"Invalid API Key"}"#,
            "the endpoint answered 401: Invalid API Key. The endpoint does not know the API key"
        ),
        (403, "", "the endpoint answered 403. The API key lacks the permission users.track"),
        (404, "<html>", "the endpoint answered 404. The address has no /users/track: Endpoint="),
        (405, "", "the endpoint answered 405. The address has no /users/track: Endpoint="),
        (407, "", "the endpoint answered 407. The proxy requires a login"),
        (413, "", "the endpoint answered 413. The requests are too long"),
        (301, "", "the endpoint answered 301. The endpoint redirects to another address"),
        (418, "", "the endpoint answered 418. The status is unexpected"),
    ]

    @Test("a refusal stops sending: all entries are kept, and the reason has an advice", arguments: refusals)
    func refused(status: Int, body: String, reason: String) {
        let (settled, state) = effects(status, body)
        #expect(settled.count == 4)
        #expect(settled.allSatisfy { $0.contains(" queued: \(reason)") }, "\(settled)")
        #expect(state.phase == .stopped)
        #expect(state.reason?.hasPrefix(reason) == true)
    }

    @Test("a refusal names the command that takes a new key: a reload for a file, a restart for a credential")
    func takesKey() {
        for (keyFile, command) in [("/etc/push/key", "reload"), (nil, "restart")] {
            var settings = ForwardingSettings()
            settings.keyFile = keyFile
            var bench = Bench(settings)
            _ = bench.start(events(1...1))
            _ = bench.pass(.seconds(1))
            _ = bench.handle(.answered(request: 1, .response(EndpointResponse(status: 401, report: nil))))
            let reason = bench.forwarder.state.reason ?? ""
            #expect(reason.hasSuffix("; then: systemctl \(command) pushrouter-forward"))
            #expect(reason.contains(keyFile ?? "the credential users-track-key"))
        }
    }

    @Test("a 400 that blames entries rejects those, and the others are sent again at once")
    func blame() {
        var bench = Bench()
        let attributes = (1...2).map { entry($0, user: "u\($0)", kind: .customAttributes, data: #"{"a":1}"#) }
        _ = bench.start(attributes + events(3...4))
        #expect(bench.pass(.seconds(1)).sent.count == 1)
        let effects = bench.answer(
            1, 400,
            #"{"message":"bad","errors":[{"type":"no name","input_array":"events","index":1},"#
                + #"{"type":"odd","input_array":"attributes","index":0},{"type":"?","input_array":"events","index":9}]}"#
        )
        #expect(effects.settled == ["1 rejected: odd", "4 rejected: no name"])
        #expect(bench.forwarder.state.phase == .sending)
        let body = effects.sent.first?.body ?? ""
        #expect(effects.sent.count == 1)
        #expect(body.contains(#""external_id":"u2""#) && body.contains(#""name":"n3""#), "\(body)")
        #expect(!body.contains(#""external_id":"u1""#) && !body.contains(#""name":"n4""#), "\(body)")
        #expect(bench.answer(2, 201, Bench.success).settled == ["2 sent", "3 sent"])
    }

    @Test("a 400 that blames an entry outside the request rejects nothing, and stops")
    func strayBlame() {
        let (settled, state) = effects(
            400, #"{"message":"bad","errors":[{"type":"?","input_array":"events","index":9}]}"#)
        #expect(settled.count == 4)
        #expect(state.phase == .stopped)
        #expect(state.reason?.contains("pushctl pending --discard N") == true)
    }

    @Test("a refused key rejects no entry, whatever its answer names")
    func blameOfOthers() {
        let (settled, state) = effects(
            401, #"{"message":"no","errors":[{"type":"?","input_array":"events","index":0}]}"#)
        #expect(settled.allSatisfy { $0.contains(" queued: the endpoint answered 401") })
        #expect(state.phase == .stopped)
    }

    @Test("a reason is one line that fits into the ledger")
    func longReason() {
        let text = String(repeating: "é", count: 400)
        let (settled, _) = effects(
            201, #"{"message":"success","errors":[{"type":"a\u0007\#(text)","input_array":"events","index":0}]}"#)
        #expect(settled[2] == "3 rejected: a \(text.prefix(298))...")
    }
}
