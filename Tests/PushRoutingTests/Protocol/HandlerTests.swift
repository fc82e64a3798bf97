import Glibc
import Testing

@testable import PushModel
@testable import PushRouter

@Suite("The input of a handler")
struct HandlerInputTests {
    static let now = Moment(
        monotonic: Instant(nanoseconds: 20_010_000_000), wall: WallTime(milliseconds: 1_700_000_000_510))

    @Test("is the object, byte for byte, with the payload unchanged")
    func object() throws {
        let run = try run(payload: #"{"n": 4503599627370497.5, "s":"\u00e9"}"#)
        #expect(
            text(HandlerInput.object(run, at: Self.now))
                == #"{"delivery":{"seq":41,"n":1,"id":"a1","attempt":1,"op":"deliver","#
                + #""callback":"onMessageReceived","#
                + #""platform":"android","app":"shop","device":"phone","lane":"shop/phone","external_id":null,"message_id":"m1","#
                + #""provider":"onesignal","route":"20-crm","handler":"crm","accepted_at":"2023-11-14T22:13:20.500Z"},"#
                + #""payload":{"n": 4503599627370497.5, "s":"\u00e9"},"#
                + #""deadline":{"remaining_ms":8990,"at":"2023-11-14T22:13:29.500Z"}}"# + "\n")
    }

    @Test("has no payload for an interaction that names its notification by an id")
    func noPayload() throws {
        var run = try run(payload: "{}")
        run.subject.payload = nil
        #expect(text(HandlerInput.object(run, at: Self.now)).contains(#""payload":null"#))
    }

    @Test(
        "has the act of an interaction; typed text is not in the environment",
        arguments: [
            (
                #"{"op":"interact","kind":"opened","message":1}"#, #"{"kind":"opened","action":null,"text":null}"#,
                ["opened"]
            ),
            (
                #"{"op":"interact","kind":"action","action":"reply","text":"on my way","message":1}"#,
                #"{"kind":"action","action":"reply","text":"on my way"}"#, ["action", "reply"]
            ),
        ])
    func interaction(body: String, expected: String, values: [String]) throws {
        var run = try run(payload: "{}")
        run.subject.action = try read(body).action
        #expect(text(HandlerInput.object(run, at: Self.now)).contains(#""interaction":\#(expected),"payload":{}"#))
        let variables = HandlerInput.environment(run, at: Self.now)
        #expect(variables.filter { ["PUSH_KIND", "PUSH_ACTION"].contains($0.name) }.map(\.value) == values)
        #expect(!variables.contains { $0.value.contains("on my way") })
    }

    @Test(
        "has a token in the object, and not in the environment",
        arguments: [
            (#"{"op":"token","token":"s3cret"}"#, #"{"kind":"new","token":"s3cret"}"#, "new"),
            (#"{"op":"token","kind":"unregistered"}"#, #"{"kind":"unregistered","token":null}"#, "unregistered"),
        ])
    func token(body: String, expected: String, kind: String) throws {
        var run = try run(payload: "{}")
        run.subject = InvocationSubject(action: try read(body).action)
        #expect(text(HandlerInput.object(run, at: Self.now)).contains(#""token":\#(expected),"payload":null"#))
        let variables = HandlerInput.environment(run, at: Self.now)
        #expect(variables.first { $0.name == "PUSH_KIND" }?.value == kind)
        #expect(!variables.contains { $0.value.contains("s3cret") })
    }

    @Test("equals the object that pushrouterd(8) shows")
    func asDocumented() throws {
        let root = #filePath.split(separator: "/").dropLast(4).map { "/" + $0 }.joined()
        let page = try #require(fopen("\(root)/packaging/man/pushrouterd.8", "r"))
        defer { fclose(page) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let length = fread(&bytes, 1, bytes.count, page)
        let lines = String(decoding: bytes.prefix(length), as: UTF8.self)
            .split(separator: "\n")
        let shown = lines.drop { !$0.hasPrefix(#"{"delivery":"#) }.prefix { $0 != ".Ed" }.joined()
        let run = try run(payload: #"{"data":{"order":"41"}}"#)
        #expect(text(HandlerInput.object(run, at: Self.now)) == shown + "\n")
    }

    @Test("has the leader's term with several machines, and none with one")
    func term() throws {
        var run = try run(payload: "{}")
        run.epoch = 7
        #expect(text(HandlerInput.object(run, at: Self.now)).contains(#""attempt":1,"epoch":7,"op":"#))
        #expect(text(HandlerInput.object(run, id: 3, at: Self.now)).contains(#""epoch":7,"#))
        #expect(HandlerInput.environment(run, at: Self.now).contains { $0.name == "PUSH_EPOCH" && $0.value == "7" })
    }

    @Test("has a rest of at least zero")
    func late() throws {
        let late = Moment(monotonic: Instant(nanoseconds: 90_000_000_000), wall: Self.now.wall)
        let input = text(HandlerInput.object(try run(payload: "{}"), at: late))
        #expect(input.contains(#""deadline":{"remaining_ms":0,"at":"2023-11-14T22:13:20.510Z"}"#))
    }

    @Test("has the deadline on the machine's clock in the line for a bridge, but not in that for a worker")
    func lineDeadline() throws {
        struct NoSettings: BridgeSettings {
            static let name = "none"
            static let purpose = "does nothing"
        }
        var run = try run(payload: "{}")
        let command = Handler.Command(arguments: ["/usr/bin/crm"])
        let bridge = Bridge(NoSettings())
        for kind: Handler.Kind in [.bridge(bridge, .init()), .worker(command, .init())] {
            run.handler.kind = kind
            let line = try JSONDocument(scanning: HandlerInput.object(run, id: 7, at: Self.now)).root
            #expect(line["deadline_ns"]?.int64 == (kind.bridge == nil ? nil : 29_000_000_000))
            #expect(line["deadline"]?["remaining_ms"]?.int64 == 8990)
        }
    }

    @Test("has the same facts in the environment; an unknown fact has no variable")
    func environment() throws {
        let variables = HandlerInput.environment(try run(payload: "{}"), at: Self.now)
        #expect(
            variables.map { "\($0.name)=\($0.value)" } == [
                "PUSH_SEQ=41", "PUSH_N=1", "PUSH_ATTEMPT=1", "PUSH_OP=deliver",
                "PUSH_CALLBACK=onMessageReceived", "PUSH_PLATFORM=android", "PUSH_HANDLER=crm",
                "PUSH_ACCEPTED_AT=2023-11-14T22:13:20.500Z", "PUSH_DEADLINE_REMAINING_MS=8990",
                "PUSH_DEADLINE_AT=2023-11-14T22:13:29.500Z", "PUSH_ID=a1", "PUSH_APP=shop", "PUSH_DEVICE=phone",
                "PUSH_LANE=shop/phone", "PUSH_MESSAGE_ID=m1", "PUSH_PROVIDER=onesignal", "PUSH_ROUTE=20-crm",
            ])
    }

    @Test(
        "has a unique lane name for an Android app on a device; others have none",
        arguments: [
            (Platform.android, PushModel.Operation.deliver, "a/b%", "c/d", false, "a%2Fb%25/c/d"),
            (.android, .deliver, nil, "phone", false, "/phone"), (.android, .token, "shop", "p", false, "shop/p"),
            (.android, .deliver, "shop", nil, false, nil), (.android, .interact, "shop", "p", false, nil),
            (.ios, .deliver, "shop", "p", false, nil), (.web, .deliver, "shop", "p", false, nil),
            (.android, .deliver, "shop", "p", true, nil),
        ] as [(Platform, PushModel.Operation, String?, String?, Bool, String?)])
    func lane(
        platform: Platform, operation: PushModel.Operation, app: String?, device: String?, isObserver: Bool,
        expected: String?
    ) throws {
        var run = try run(payload: "{}")
        (run.request.platform, run.request.operation) = (platform, operation)
        (run.request.app, run.request.device) = (app, device)
        run.invocation.isObserver = isObserver
        let object = try JSONDocument(scanning: HandlerInput.object(run, at: Self.now)).root
        #expect(object["delivery"]?["lane"]?.string == expected && object["delivery"]?["lane"] != nil)
        let variables = HandlerInput.environment(run, at: Self.now)
        #expect(variables.first { $0.name == "PUSH_LANE" }?.value == expected)
    }

    @Test("has each variable whole or not at all: none with a NUL, and none too long for the kernel")
    func hostileValues() throws {
        var run = try run(payload: "{}")
        run.request.id = "a\0b"
        run.request.app = "\0"
        run.request.device = String(repeating: "é", count: 40_000)
        let variables = HandlerInput.environment(run, at: Self.now)
        let value = { (name: String) in variables.first { $0.name == name }?.value }
        #expect(value("PUSH_ID") == nil)
        #expect(value("PUSH_APP") == nil)
        #expect(value("PUSH_DEVICE") == nil)
        #expect(variables.allSatisfy { !$0.value.utf8.contains(0) })
    }

    private func run(payload: String) throws -> HandlerRun {
        let document = try JSONDocument(scanning: Array(payload.utf8))
        let accepted = Moment(
            monotonic: Instant(nanoseconds: 20_000_000_000), wall: WallTime(milliseconds: 1_700_000_000_500))
        let request = AcceptedRequest(
            seq: SequenceNumber(41), operation: .deliver, id: "a1", peer: Peer(uid: 1, gid: 1, pid: 1),
            acceptedAt: accepted, boot: UUID128(high: 0, low: 0), mode: .device, platform: .android, app: "shop",
            device: "phone", externalID: nil, messageID: "m1", body: document.bytes)
        let invocation = InvocationRecord(
            id: InvocationID(seq: SequenceNumber(41), n: 1), callback: .onMessageReceived, provider: "onesignal",
            route: "20-crm", handler: "crm", budget: .seconds(9), deadline: accepted.monotonic + .seconds(9),
            started: true, result: nil)
        return HandlerRun(
            invocation: invocation, request: request, subject: InvocationSubject(payload: document.root),
            handler: Handler(name: "crm", kind: .exec(.init(arguments: ["/usr/bin/crm"]))),
            deadline: accepted.monotonic + .seconds(9))
    }
}

@Suite("The output of a handler")
struct HandlerOutputTests {
    @Test(
        "is one answer, without unknown members",
        arguments: [
            (#"{"result":"newData"}"#, HandlerAnswer.Content(result: .newData)),
            (
                #"{"status":"handled","options":["banner","sound"],"more":1}"#,
                HandlerAnswer.Content(options: ["banner", "sound"], status: .handled)
            ),
            (#"{"options":[]}"#, HandlerAnswer.Content(options: [])),
            (#"{"options":["Badge"]}"#, HandlerAnswer.Content(options: ["Badge"])),
            (#"{"log":[]}"#, HandlerAnswer.Content(times: 1)),
            ("{\n  \"result\": \"failed\"\n}\n", HandlerAnswer.Content(result: .failed)),
            ("starting\n{\"result\":\"noData\"}\ndone", HandlerAnswer.Content(result: .noData)),
        ])
    func replies(output: String, reply: HandlerAnswer.Content) {
        #expect(HandlerAnswer.Content(standardOutput: Array(output.utf8)) == reply)
    }

    @Test("counts by its first answer, and all answers are counted")
    func several() {
        let output = #"{"result":"newData"}"# + "\nchatter\n" + #"{"result":"failed"}"# + "\n" + #"{"options":[]}"#
        #expect(
            HandlerAnswer.Content(standardOutput: Array(output.utf8))
                == HandlerAnswer.Content(result: .newData, times: 3))
    }

    @Test(
        "with unknown words gives a remark, and the answer without them",
        arguments: [
            (
                #"{"result":"everything"}"#, HandlerAnswer.Content(times: 1),
                #"result: "everything" is not one of newData, noData, failed"#
            ),
            (
                #"{"status":200,"result":"newData"}"#, HandlerAnswer.Content(result: .newData),
                "status: 200 is not one of handled, retry, declined, rejected"
            ),
            (
                #"{"options":"banner"}"#, HandlerAnswer.Content(times: 1),
                "options is a list of strings; this is a string"
            ),
            (
                #"{"options":["banner",7]}"#, HandlerAnswer.Content(options: ["banner"]),
                "options: 7 is not a string"
            ),
            (#"{"log":{}}"#, HandlerAnswer.Content(times: 1), "log is a list of objects; this is an object"),
            (
                #"{"log":["sent"]}"#, HandlerAnswer.Content(times: 1), "log[0]: an entry is an object; this is a string"
            ),
            (
                #"{"log":[{"kind":"custom_event","event_name":"sent"}]}"#, HandlerAnswer.Content(times: 1),
                "log[0].event_name: an entry has no such key; it has app, attributes, braze_id, device, "
                    + "external_id, kind, name, properties, suite"
            ),
            (
                #"{"log":[{"name":"sent"}]}"#, HandlerAnswer.Content(times: 1),
                "log[0].kind: kind is missing: custom_event, custom_attributes, user_attributes"
            ),
        ])
    func remarks(output: String, reply: HandlerAnswer.Content, remark: String) {
        var reply = reply
        reply.remarks = [remark]
        #expect(HandlerAnswer.Content(standardOutput: Array(output.utf8)) == reply)
    }

    @Test(
        "with an unreadable answer gives a remark",
        arguments: [#"{"result":"newData""#, #"{"result":"newData"}{"result":"noData"} trailing"#, "a\n{\"status\":}"])
    func unreadable(output: String) throws {
        let reply = try #require(HandlerAnswer.Content(standardOutput: Array(output.utf8)))
        let remark = try #require(reply.remarks.first)
        #expect(remark.hasPrefix("no answer is found: the answer cannot be read: at byte "), "\(remark)")
        #expect(reply.times == 0 && reply.result == nil)
        #expect(HandlerAnswer.Content.objection(toOutput: Array(output.utf8)) != nil)
    }

    @Test(
        "with an unreadable answer that was to log something gives a remark; other output does not",
        arguments: [
            (#"{"log":[{"kind":"custom_event","name":"a","name":"b"}]}"#, 0, "the answer cannot be read: at byte 42: "),
            ("hello\n" + #"{"status":"handled","log":[{"kind":"#, 0, "the answer cannot be read: at byte "),
            (#"{"log":[{"kind":"#, 100, "the output has 116 bytes; the daemon reads the first 16"),
            (#"{"level":"info","log"#, 0, nil), (#"a "log" {"#, 0, nil),
        ] as [(String, Int, String?)])
    func unreadable(output: String, discarded: Int, expected: String?) throws {
        let reply = HandlerAnswer.Content(standardOutput: Array(output.utf8), discarded: discarded)
        let remark = reply?.remarks.first ?? "none"
        #expect((reply == nil) == (expected == nil))
        #expect(expected.map { remark.hasPrefix("log: nothing is kept: \($0)") } ?? true, "\(remark)")
        #expect(reply?.times ?? 0 == 0, "nothing was said")
    }

    @Test("that is cut gives a remark only if the part that was read holds no answer")
    func cut() throws {
        let whole = Array(#"{"status":"rejected","x":""#.utf8) + Array(repeating: UInt8(ascii: "x"), count: 100_000)
        let (read, cut) = (Array(whole.prefix(64 << 10)), whole.count - (64 << 10))
        let reply = try #require(HandlerAnswer.Content(standardOutput: read, discarded: cut))
        #expect(
            reply.remarks == [
                "no answer is found: the output has \(whole.count) bytes; the daemon reads the first 65536"
            ])
        #expect(reply.times == 0 && reply.status == nil)
        #expect(HandlerAnswer(exitStatus: 0, content: reply) == .handled(reply))
        let answer = Array((#"{"result":"newData"}"# + "\n").utf8)
        #expect(
            HandlerAnswer.Content(standardOutput: answer + read, discarded: cut)
                == HandlerAnswer.Content(result: .newData))
        let unread = HandlerAnswer.Content(standardOutput: read, discarded: 0)
        #expect(unread?.remarks.first?.hasPrefix("no answer is found: the answer cannot be read: ") == true)
    }

    @Test(
        "that is no answer has a reason for it",
        arguments: [
            ("", nil), (" \n\n", nil), (#"{"result":"failed"}"#, nil), (#"{"status":"handeld"}"#, nil),
            ("{broken", "the object cannot be read: at byte "),
            ("hello\n{\"result\":", "the object cannot be read: at byte "),
            (
                #"{"resutl":"failed"}"#,
                "the object has none of the keys status, result, options, log; resutl may be meant for result"
            ),
            ("hello\n{\"level\":1}\n", "the object has none of the keys status, result, options, log"),
            ("hello", "no line of the output is a JSON object"),
            (#"["status"]"#, "no line of the output is a JSON object"),
        ] as [(String, String?)])
    func objections(output: String, expected: String?) {
        let objection = HandlerAnswer.Content.objection(toOutput: Array(output.utf8))
        #expect((objection == nil) == (expected == nil))
        #expect(objection?.hasPrefix(expected ?? "") ?? true, "\(objection ?? "")")
    }

    @Test("may hold custom data as op log has it; wrong parts are left out, and the others stay")
    func log() throws {
        let event = #"{"kind":"custom_event","name":"sent","suite":"group.a","app":"news","external_id":"u1"}"#
        let attributes = #"{"kind":"custom_attributes","attributes":{"a":1},"braze_id":"b1"}"#
        let output = #"{"log":[\#(event),7,\#(attributes)],"status":"handled"}"#
        let reply = try #require(HandlerAnswer.Content(standardOutput: Array(output.utf8)))
        #expect(reply.log.map { String(decoding: $0.request.object.rawBytes, as: UTF8.self) } == [event, attributes])
        let requests = reply.log.map(\.request)
        #expect(requests.map(\.kind) == [.customEvent, .customAttributes])
        #expect(requests.map(\.suite) == ["group.a", nil])
        #expect(requests.map(\.brazeID) == [nil, "b1"])
        #expect(requests.map(\.target) == [Target(app: "news", externalID: "u1"), Target()])
        #expect(reply.remarks == ["log[1]: an entry is an object; this is a number"])
        #expect(reply.times == 1 && reply.status == .handled)
    }

    @Test("with many wrong entries has remarks for the first three")
    func manyWrong() throws {
        let output = #"{"log":[1,2,3,4,5]}"#
        let reply = try #require(HandlerAnswer.Content(standardOutput: Array(output.utf8)))
        let remark = "an entry is an object; this is a number"
        #expect(
            reply.remarks == [
                "log[0]: \(remark)", "log[1]: \(remark)", "log[2]: \(remark)", "log: 2 more are wrong",
            ])
    }

    @Test("holds no custom data unless its status is done")
    func logOfOthers() throws {
        let output = #"{"log":[{"kind":"custom_event","name":"sent"}]}"#
        let reply = try #require(HandlerAnswer.Content(standardOutput: Array(output.utf8)))
        #expect(HandlerAnswer(exitStatus: 80, content: reply) == .declined)
        #expect(HandlerAnswer(exitStatus: 75, content: reply) == .retry(after: nil))
        #expect(HandlerAnswer(exitStatus: 0, content: reply) == .handled(reply))
    }

    @Test(
        "a handler's output without a known member in one JSON object is ignored",
        arguments: [
            "", "\n", "done\n", "[]", "{}", "{}{}", #"{"a":1,"a":2}"#, "\u{0}", #"{"level":"info"}"#,
        ])
    func chatter(output: String) {
        #expect(HandlerAnswer.Content(standardOutput: Array(output.utf8)) == nil)
    }

    @Test("ranks below the exit status; a different status in it gives a remark")
    func contradiction() {
        let rejected = HandlerAnswer.Content(times: 1, status: .rejected)
        var remarked = rejected
        remarked.remarks = [#"the answer says "rejected", but the exit status is 0"#]
        #expect(HandlerAnswer(exitStatus: 0, content: rejected) == .handled(remarked))
        let handled = HandlerAnswer.Content(times: 1, status: .handled)
        #expect(HandlerAnswer(exitStatus: 0, content: handled) == .handled(handled))
        #expect(
            HandlerAnswer(exitStatus: 2, content: handled)
                == .rejected(reason: #"the answer says "handled", but the exit status is 2"#))
        #expect(HandlerAnswer(exitStatus: 2, content: rejected) == .rejected(reason: "exit status 2"))
    }
}
