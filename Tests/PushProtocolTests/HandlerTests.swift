import PushModel
import PushProtocol
import Testing

@testable import PushRouting

@Suite("What a handler is told")
struct HandlerInputTests {
    static let now = Moment(
        monotonic: Instant(nanoseconds: 20_010_000_000), wall: WallTime(milliseconds: 1_700_000_000_510))

    @Test("the object, byte for byte; the payload as it came")
    func object() throws {
        let run = try run(payload: #"{"n": 4503599627370497.5, "s":"\u00e9"}"#)
        #expect(
            text(HandlerInput.object(run, at: Self.now))
                == #"{"delivery":{"seq":41,"n":1,"id":"a1","op":"deliver","callback":"onMessageReceived","#
                + #""platform":"android","app":"shop","device":"phone","external_id":null,"message_id":"m1","#
                + #""provider":"onesignal","route":"20-crm","handler":"crm","accepted_at":"2023-11-14T22:13:20.500Z"},"#
                + #""payload":{"n": 4503599627370497.5, "s":"\u00e9"},"#
                + #""deadline":{"remaining_ms":8990,"at":"2023-11-14T22:13:29.500Z"}}"# + "\n")
    }

    @Test("an interaction that names its notification by an id has no payload")
    func noPayload() throws {
        var run = try run(payload: "{}")
        run.subject.payload = nil
        #expect(text(HandlerInput.object(run, at: Self.now)).contains(#""payload":null"#))
    }

    @Test("what is left is never less than nothing")
    func late() throws {
        let late = Moment(monotonic: Instant(nanoseconds: 90_000_000_000), wall: Self.now.wall)
        let input = text(HandlerInput.object(try run(payload: "{}"), at: late))
        #expect(input.contains(#""deadline":{"remaining_ms":0,"at":"2023-11-14T22:13:20.510Z"}"#))
    }

    @Test("the same facts in the environment; what is not known has no variable")
    func environment() throws {
        let variables = HandlerInput.environment(try run(payload: "{}"), at: Self.now)
        #expect(
            variables.map { "\($0.name)=\($0.value)" } == [
                "PUSH_SEQ=41", "PUSH_N=1", "PUSH_OP=deliver",
                "PUSH_CALLBACK=onMessageReceived", "PUSH_PLATFORM=android", "PUSH_HANDLER=crm",
                "PUSH_ACCEPTED_AT=2023-11-14T22:13:20.500Z", "PUSH_DEADLINE_REMAINING_MS=8990",
                "PUSH_DEADLINE_AT=2023-11-14T22:13:29.500Z", "PUSH_ID=a1", "PUSH_APP=shop", "PUSH_DEVICE=phone",
                "PUSH_MESSAGE_ID=m1", "PUSH_PROVIDER=onesignal", "PUSH_ROUTE=20-crm",
            ])
    }

    @Test("a variable ends at a NUL; one that is too long for the kernel is left out")
    func hostileValues() throws {
        var run = try run(payload: "{}")
        run.request.id = "a\0b"
        run.request.app = "\0"
        run.request.device = String(repeating: "é", count: 40_000)
        let variables = HandlerInput.environment(run, at: Self.now)
        let value = { (name: String) in variables.first { $0.name == name }?.value }
        #expect(value("PUSH_ID") == "a")
        #expect(value("PUSH_APP") == "")
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

@Suite("What a handler says")
struct HandlerOutputTests {
    @Test(
        "result and options, and nothing of what it does not know",
        arguments: [
            (#"{"result":"newData"}"#, HandlerAnswer.Reply(result: .newData)),
            (#"{"status":"handled","options":["banner","sound"]}"#, HandlerAnswer.Reply(options: ["banner", "sound"])),
            (#"{"options":[]}"#, HandlerAnswer.Reply(options: [])),
            ("{}", HandlerAnswer.Reply()), (" {}\n", HandlerAnswer.Reply()),
            (#"{"result":"everything"}"#, HandlerAnswer.Reply()),
            (#"{"result":7,"options":"banner"}"#, HandlerAnswer.Reply()),
            (#"{"options":["banner",7,null]}"#, HandlerAnswer.Reply(options: ["banner"])),
            ("{\"result\":\"newData\"}\n{\"result\":\"failed\"}\n", HandlerAnswer.Reply(result: .newData, times: 2)),
            ("{\"level\":\"info\"}\n{\"options\":[]}\n", HandlerAnswer.Reply(options: [])),
        ])
    func replies(output: String, reply: HandlerAnswer.Reply) {
        #expect(HandlerAnswer.Reply(standardOutput: Array(output.utf8)) == reply)
    }

    @Test(
        "anything else is a program's own chatter",
        arguments: ["", "\n", "done\n", "[]", "{}{}", #"{"a":1,"a":2}"#, "\u{0}", "{}\n{}", "{}\nbye"])
    func chatter(output: String) {
        #expect(HandlerAnswer.Reply(standardOutput: Array(output.utf8)) == nil)
    }
}
