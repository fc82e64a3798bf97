import TestSupport
import Testing

@testable import PushGateway
@testable import PushModel
@testable import PushRouter

@Suite("Errors on demand")
struct InjectedErrorTests {
    private static let subject = FaultSubject(service: .fcm, token: "err-UNREGISTERED", project: "demo")

    private func rule(_ json: String) throws -> FaultRule {
        try FaultRule(JSONDocument(scanning: Array(json.utf8)).root)
    }

    private func verdict(_ errors: InjectedErrors, _ subject: FaultSubject) -> InjectedErrors.Verdict? {
        var errors = errors
        var generator = SeededGenerator(seed: 1)
        return errors.verdict(on: subject, using: &generator)
    }

    @Test("a token that begins with err- gets no error unless ErrorTokens= allows it")
    func off() {
        #expect(verdict(InjectedErrors(), Self.subject) == nil)
        #expect(verdict(InjectedErrors(takesTokens: true), FaultSubject(service: .fcm, token: "tok")) == nil)
        #expect(verdict(InjectedErrors(takesTokens: true), FaultSubject(service: .fcm, topic: "err-INTERNAL")) == nil)
        #expect(verdict(InjectedErrors(takesTokens: true), Self.subject) != nil)
    }

    @Test(
        "by tokens cover the errors of the service",
        arguments: [
            (FaultService.fcm, "err-UNREGISTERED", true), (.fcm, "err-Unregistered", false),
            (.apns, "err-Unregistered", true), (.apns, "err-UNREGISTERED", false), (.topics, "err-409", true),
            (.fcm, "err-QUOTA_EXCEEDED+ra", true), (.apns, "err-TooManyRequests+ra", true),
            (.fcm, "err-nothing", false), (.fcm, "err-", false), (.fcm, "err-+ra", false),
        ])
    func names(_ service: FaultService, _ token: String, _ isKnown: Bool) throws {
        let subject = FaultSubject(service: service, token: token)
        let errors = InjectedErrors(takesTokens: true)
        let found = try #require(verdict(errors, subject))
        if case .named = found.answer { #expect(isKnown) } else { #expect(!isKnown) }
        #expect(verdict(errors, FaultSubject(service: service, token: "my-\(token)")) == nil)
    }

    @Test(
        "by a token with a misspelt name are refused, and the journal names the nearest one",
        arguments: [
            (FaultService.fcm, "err-UNREGISTRED", "; did you mean err-UNREGISTERED?"),
            (.fcm, "err-unregistered", "; did you mean err-UNREGISTERED?"), (.fcm, "err-FOO", ""),
            (.apns, "err-UNREGISTERED", "; did you mean err-Unregistered?"), (.apns, "err-FOO", ""),
        ])
    func misspelt(_ service: FaultService, _ token: String, _ hint: String) throws {
        var scene = Scene(injected: InjectedErrors(takesTokens: true))
        let topic = [(name: "apns-topic", value: "com.example.shop")]
        let request: GatewayRequest =
            service == .apns
            ? .post("/3/device/\(token)", #"{"aps":{}}"#, headers: topic)
            : .post("/v1/projects/demo/messages:send", #"{"message":{"token":"\#(token)"}}"#)
        let answer = try scene.answer(request)
        #expect(answer.status == 400)
        #expect(answer.text.has(service == .apns ? "BadDeviceToken" : "not a valid FCM registration token"))
        let name = token.dropFirst("err-".count)
        #expect(answer.refusal?.cause == "there is no error on demand of the name \(name)\(hint)")
        #expect(scene.desk.takeRemarks().count == 1)
        #expect(scene.desk.takeRefusedSends().count == 1)
    }

    @Test("by a token with a name of its own may come from a rule")
    func ruleForOwnName() throws {
        let errors = InjectedErrors(
            takesTokens: true, rules: [try rule(#"{"match":{"token":"err-slow"},"answer":"UNAVAILABLE"}"#)])
        #expect(verdict(errors, FaultSubject(service: .fcm, token: "err-slow"))?.rule == 0)
    }

    // davideast/pyric: FcmError, and then the field.
    @Test("of the code INVALID_ARGUMENT are a malformed token, the commonest of this code")
    func invalidArgument() throws {
        for name in ["INVALID_ARGUMENT", "BADREQUEST"] {
            let answer = try rule(#"{"answer":"\#(name)"}"#).answer.response(project: "demo")
            let text = "The registration token is not a valid FCM registration token"
            #expect(
                answer.text == #"{"error":{"code":400,"message":"\#(text)","status":"INVALID_ARGUMENT","details":["#
                    + #"{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"INVALID_ARGUMENT"},"#
                    + #"{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":["#
                    + #"{"field":"message.token","description":"\#(text)"}]}]}}"#)
        }
    }

    @Test(
        "by tokens come in a batch as the word of the single subscription's status",
        arguments: [
            ("err-NOT_FOUND", .notFound), ("err-TOO_MANY_TOPICS", .tooManyTopics), ("err-UNREGISTERED", .notFound),
            ("err-UNREGISTERED+ra", .notFound), ("err-INVALID_ARGUMENT", .invalidArgument),
            ("err-QUOTA_EXCEEDED", .resourceExhausted), ("err-SENDER_ID_MISMATCH", .permissionDenied),
            ("err-UNAVAILABLE", .internalError), ("err-409", nil), ("tok", nil), ("err-UNREGISTRED", .invalidArgument),
        ] as [(String, TopicBatch.Failure?)])
    func batches(_ token: String, _ failure: TopicBatch.Failure?) throws {
        #expect(InjectedErrors(takesTokens: true).failure(ofToken: token)?.failure == failure)
        #expect(InjectedErrors().failure(ofToken: token) == nil)
        var scene = Scene(injected: InjectedErrors(takesTokens: true))
        let batch = GatewayRequest.post(
            "/iid/v1:batchAdd", #"{"to":"/topics/news","registration_tokens":["\#(token)","b"]}"#)
        let taken = failure == nil ? #""subscribed","subscribed""# : #""subscribed""#
        let answer = try scene.exchange(batch, reply: #"{"ok":true,"seq":7,"results":[\#(taken)]}"#).1
        let first = failure.map { #"{"error":"\#($0.rawValue)"}"# } ?? "{}"
        #expect(answer.text == #"{"results":[\#(first),{}]}"#)
        #expect(scene.desk.takeRemarks().count == (token == "err-UNREGISTRED" ? 1 : 0))
    }

    @Test("by a rule apply to the pushes that it matches, for each condition")
    func matches() throws {
        let json = #"{"match":{"service":"fcm","token":"ios-*","project":"demo"},"answer":"UNAVAILABLE"}"#
        let errors = InjectedErrors(rules: [try rule(json)])
        func matches(_ subject: FaultSubject) -> Bool { verdict(errors, subject) != nil }
        #expect(matches(FaultSubject(service: .fcm, token: "ios-1", project: "demo")))
        #expect(!matches(FaultSubject(service: .topics, token: "ios-1", project: "demo")))
        #expect(!matches(FaultSubject(service: .fcm, token: "tok", project: "demo")))
        #expect(!matches(FaultSubject(service: .fcm, token: "ios-1", project: "other")))
        #expect(!matches(FaultSubject(service: .fcm, topic: "news", project: "demo")))
        let topics = InjectedErrors(rules: [try rule(#"{"match":{"topic":"*.voip"},"answer":"BadTopic"}"#)])
        #expect(verdict(topics, FaultSubject(service: .apns, token: "ab", topic: "com.example.voip")) != nil)
        #expect(verdict(topics, FaultSubject(service: .fcm, topic: "x.voip")) == nil, "FCM has no BadTopic")
    }

    @Test("by a rule come with its probability, by the given generator")
    func probability() throws {
        var errors = InjectedErrors(rules: [try rule(#"{"answer":"INTERNAL","probability":20}"#)])
        var generator = SeededGenerator(seed: 2)
        let hits = (0..<10_000).filter { _ in errors.verdict(on: Self.subject, using: &generator) != nil }.count
        #expect(1800..<2200 ~= hits)
        #expect(
            verdict(InjectedErrors(rules: [try rule(#"{"answer":"INTERNAL","probability":0}"#)]), Self.subject) == nil)
    }

    @Test("by a rule end with its count, and the next rule applies")
    func count() throws {
        var errors = InjectedErrors(rules: [
            try rule(#"{"answer":"INTERNAL","count":2,"delay_ms":500}"#), try rule(#"{"answer":"UNAVAILABLE+ra"}"#),
        ])
        var generator = SeededGenerator(seed: 3)
        let verdicts = (0..<4).compactMap { _ in errors.verdict(on: Self.subject, using: &generator) }
        #expect(verdicts.map(\.rule) == [0, 0, 1, 1])
        #expect(verdicts.map(\.delay) == [.milliseconds(500), .milliseconds(500), .zero, .zero])
        #expect(errors.rules.map(\.count) == [0, nil])
        let later = verdicts.last?.answer.response(project: "demo")
        #expect(later?.status == 503)
        #expect(later?.header("retry-after") == "1")
    }

    @Test("by a rule take each number up to both of its bounds, and no delay where none is written")
    func bounds() throws {
        #expect(try rule(#"{"answer":"INTERNAL"}"#).delay == .zero)
        for (member, most) in [("probability", 100), ("count", 1_000_000_000), ("delay_ms", 300_000)] {
            for (value, isTaken) in [(-1, false), (0, true), (1, true), (most, true), (most + 1, false)] {
                let json = #"{"answer":"INTERNAL","\#(member)":\#(value)}"#
                #expect(((try? rule(json)) != nil) == isTaken, "\(json)")
            }
        }
        #expect(try rule(#"{"answer":"INTERNAL","delay_ms":0}"#).delay == .zero)
        #expect(try rule(#"{"answer":"INTERNAL","delay_ms":1}"#).delay == .milliseconds(1))
    }

    @Test("may be any answer, with headers and a raw body")
    func raw() throws {
        let json = #"{"answer":{"status":502,"headers":{"Content-Type":"text/html"},"body":"<p>"}}"#
        let answer = try rule(json).answer
        #expect(answer.response(project: "demo").status == 502)
        #expect(answer.response(project: "demo").text == "<p>")
        let request = GatewayRequest.post("/3/device/ab", headers: [("apns-id", "Ab")])
        let apns = answer.response(to: request, timestamp: WallTime(milliseconds: 0))
        #expect(apns.headers.map(\.name) == ["apns-id", "content-type"])
        #expect(apns.header("apns-id") == "Ab")
        #expect(
            try rule(#"{"answer":{"status":400,"body":{"a": [1, 2]}}}"#).answer.response(project: "").text
                == #"{"a":[1,2]}"#)
    }

    @Test("may have a header with each printable character of ASCII, and with no other")
    func header() throws {
        let answer = try rule(##"{"answer":{"status":200,"headers":{"a":" x~"}}}"##).answer
        #expect(answer.response(project: "demo").header("a") == " x~")
        for other in ["\\u001f", "\\u007f", "\\u00a0"] {
            #expect(throws: FaultRuleError.self) {
                try rule(##"{"answer":{"status":200,"headers":{"a":"x"## + other + ##""}}}"##)
            }
        }
    }

    @Test("of APNs have the timestamp since which a token is invalid")
    func timestamp() throws {
        let answer = try rule(#"{"answer":"Unregistered"}"#).answer
        let time = WallTime(milliseconds: 1_764_000_000_000)
        #expect(
            answer.response(to: .post("/3/device/ab"), timestamp: time).text
                == #"{"reason":"Unregistered","timestamp":1764000000000}"#)
    }

    @Test(
        "by a malformed rule are refused, with the path",
        arguments: [
            ("[]", ""), ("{}", "answer"), (#"{"answer":"NOTHING"}"#, "answer"), (#"{"answer":"INTERNAL","x":1}"#, "x"),
            (#"{"match":{"service":"gcm"},"answer":"INTERNAL"}"#, "match.service"),
            (#"{"match":{"service":"apns"},"answer":"INTERNAL"}"#, "answer"),
            (#"{"match":{"tokn":"x"},"answer":"INTERNAL"}"#, "match.tokn"),
            (#"{"match":{"token":7},"answer":"INTERNAL"}"#, "match.token"),
            (#"{"answer":"INTERNAL","probability":101}"#, "probability"),
            (#"{"answer":"INTERNAL","count":-1}"#, "count"),
            (#"{"answer":"INTERNAL","delay_ms":300001}"#, "delay_ms"), (#"{"answer":{"body":"x"}}"#, "answer.status"),
            (#"{"answer":{"status":100}}"#, "answer.status"),
            (#"{"answer":{"status":200,"headers":{"a":"x\r\nb: c"}}}"#, "answer.headers.a"),
            (#"{"answer":{"status":200,"headers":{"a b":"x"}}}"#, "answer.headers.a b"),
            (#"{"answer":{"status":200,"headers":{"Content-Length":"1"}}}"#, "answer.headers.Content-Length"),
        ])
    func faults(_ json: String, _ field: String) {
        #expect {
            try rule(json)
        } throws: { error in
            (error as? FaultRuleError)?.field == field
        }
    }

    @Test("in the file of Errors= have all their mistakes with the line, and no file is one")
    func file() throws {
        let text = #"""
            # for the tests of Anna
            {"answer":"UNAVAILABLE","probability":20}

            {"answer":"UNAVAILABLE","probabilty":20}
            {"answer":
            {"answer":"BadTopic"}
            """#
        let (rules, mistakes) = FaultRule.all(in: Array(text.utf8), of: "/etc/errors")
        #expect(rules.count == 2)
        #expect(mistakes.map(\.line) == [4, 5])
        #expect(
            mistakes.first?.description
                == "/etc/errors:4: error: probabilty: there is no such key; did you mean probability?")
        let missing = FaultRule.all(in: nil, of: "/etc/errors").1
        #expect(missing.map(\.description) == ["/etc/errors: error: there is no such file; Errors= names it"])
    }

    @Test("of each name of a service have the status of that name", arguments: APNsReason.allCases)
    func statuses(_ reason: APNsReason) throws {
        let answer = try rule(#"{"answer":"\#(reason.rawValue)"}"#).answer
        #expect(answer.response(to: .post("/"), timestamp: WallTime(milliseconds: 0)).status == reason.status)
    }
}
