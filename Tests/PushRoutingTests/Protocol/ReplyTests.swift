import Testing

@testable import PushModel
@testable import PushRouter

@Suite("Replies, byte for byte")
struct ReplyTests {
    @Test("accepted, with the id if there is one")
    func accepted() {
        #expect(text(Reply.accepted(SequenceNumber(41), id: "a1")) == #"{"ok":true,"seq":41,"id":"a1"}"# + "\n")
        #expect(
            text(Reply.accepted(SequenceNumber(41), id: nil, outcomes: 2)) == #"{"ok":true,"seq":41,"outcomes":2}"#
                + "\n")
        #expect(text(Reply.accepted(SequenceNumber(41), id: nil)) == #"{"ok":true,"seq":41}"# + "\n")
    }

    @Test("a request accepted in part names the rejected parts")
    func rejected() {
        let rejections = [
            Rejection(
                number: EntryNumber(7), problem: EntryProblem(.reservedName, "is reserved", field: "properties.time")),
            Rejection(number: EntryNumber(8), problem: EntryProblem(.noRoom, "there is no room")),
        ]
        #expect(
            text(Reply.accepted(SequenceNumber(41), id: "a1", rejected: rejections))
                == #"{"ok":true,"seq":41,"id":"a1","rejected":["#
                + #"{"entry":7,"field":"properties.time","reason_code":"reserved_name","message":"is reserved"},"#
                + #"{"entry":8,"field":"","reason_code":"no_room","message":"there is no room"}]}"# + "\n")
    }

    @Test("an outcome has the members of pushrouterd(8), in their order")
    func outcome() {
        var row = invocation
        let result = InvocationResult(
            outcome: .timedOut, reason: "not finished at the deadline", queue: .microseconds(999), exec: .seconds(9),
            total: .milliseconds(9001), completion: Completion(by: .default, result: .noData),
            decidedAt: WallTime(milliseconds: 0))
        row.result = result
        #expect(
            text(Reply.outcome(row, result, id: "a1"))
                == #"{"seq":41,"id":"a1","n":0,"callback":"onMessageReceived","handler":"crm","outcome":"timed_out","#
                + #""reason":"not finished at the deadline","queue_ms":0,"exec_ms":9000,"total_ms":9001,"#
                + #""completion":{"by":"default","times":1,"result":"noData"}}"# + "\n")
    }

    @Test("an outcome without an id, a reason and a completion; and one with options")
    func smallOutcome() {
        var result = InvocationResult(
            outcome: .shownBySystem, reason: nil, queue: .zero, exec: .zero, total: .zero, completion: nil,
            decidedAt: WallTime(milliseconds: 0))
        let start = #"{"seq":41,"n":0,"callback":"onMessageReceived","handler":"crm","outcome":"shown_by_system","#
        let times = #""queue_ms":0,"exec_ms":0,"total_ms":0"#
        #expect(text(Reply.outcome(invocation, result, id: nil)) == start + times + "}\n")
        result.completion = Completion(by: .tracker, result: .newData, options: ["banner", "list"])
        #expect(
            text(Reply.outcome(invocation, result, id: nil)) == start + times
                + #","completion":{"by":"tracker","times":1,"result":"newData","options":["banner","list"]}}"# + "\n")
    }

    @Test("a tap on iOS is completed without a result: its completion handler takes none")
    func resultOfTap() {
        var tap = invocation
        tap.callback = .didReceiveResponse
        let result = InvocationResult(
            outcome: .handled, reason: nil, queue: .zero, exec: .zero, total: .zero,
            completion: Completion(by: .default, result: .noData), decidedAt: WallTime(milliseconds: 0))
        #expect(
            text(Reply.outcome(tap, result, id: nil)).hasSuffix(
                #""completion":{"by":"default","times":1,"result":null}}"# + "\n"))
    }

    @Test("an outcome of an observer, and one of a delivery that waited in its lane")
    func observerOutcome() {
        var observer = invocation
        observer.isObserver = true
        var result = InvocationResult(
            outcome: .handled, reason: nil, queue: .zero, exec: .zero, total: .zero, completion: nil,
            waitedFor: Predecessor(id: InvocationID(seq: SequenceNumber(40), n: 0), handler: "crm"),
            decidedAt: WallTime(milliseconds: 0))
        let start =
            #"{"seq":41,"n":0,"callback":"onMessageReceived","handler":"crm","observer":true,"outcome":"handled","#
        let times = #""queue_ms":0,"exec_ms":0,"total_ms":0,"#
        #expect(
            text(Reply.outcome(observer, result, id: nil))
                == start + times + #""waited_for":{"seq":40,"n":0,"handler":"crm"}}"# + "\n")
        result.waitedFor?.handler = nil
        result.completion = Completion(by: .handler, result: .newData)
        #expect(
            text(Reply.outcome(observer, result, id: nil)) == start + times
                + #""waited_for":{"seq":40,"n":0,"handler":null},"#
                + #""completion":{"by":"handler","times":1,"result":"newData"}}"# + "\n")
    }

    @Test("a refusal has the members of pushrouterd(8), in their order")
    func refused() {
        let error = ProtocolError(
            .invalidPayload, field: "payload.message.data.badge",
            message: "FCM v1 data values are strings; this is a number", id: "a2")
        #expect(
            text(Reply.refused(error))
                == #"{"ok":false,"id":"a2","error":{"code":"invalid_payload","field":"payload.message.data.badge","#
                + #""message":"FCM v1 data values are strings; this is a number","retry":false}}"# + "\n")
    }

    @Test("a refusal that may pass has a retry time")
    func retry() {
        let error = ProtocolError(.overloaded, message: "full", retryAfter: .milliseconds(250))
        #expect(
            text(Reply.refused(error))
                == #"{"ok":false,"error":{"code":"overloaded","message":"full","retry":true,"retry_after_ms":250}}"#
                + "\n")
    }

    @Test("only refusals that may pass have a retry time", arguments: ProtocolError.Code.allCases)
    func transient(code: ProtocolError.Code) {
        let isTransient = code == .overloaded || code == .unavailable
        #expect(text(Reply.refused(ProtocolError(code, message: "m"))).contains("\"retry\":\(isTransient)"))
    }

    @Test("a line that is too long gets an error with the limit and the setting")
    func tooLong() {
        let error = ProtocolError.tooLong(limit: 262_144)
        #expect(error.code == .tooLong)
        #expect(error.message == "the request is longer than 262144 bytes (RequestLengthMax=)")
    }

    private let invocation = InvocationRecord(
        id: InvocationID(seq: SequenceNumber(41), n: 0), callback: .onMessageReceived, provider: nil, route: "20-crm",
        handler: "crm", budget: .seconds(9), deadline: Instant(nanoseconds: 1), started: true, result: nil)
}

@Suite("Analytics events, flat")
struct EventFieldTests {
    @Test("an open, with its button's members null for the body")
    func open() {
        let event = AnalyticsEvent(
            id: UUID128(high: 1, low: 2), time: 1_700_000_000, seq: SequenceNumber(2),
            delivery: SequenceNumber(1), externalUserID: "u1", deviceID: "phone", appID: "shop", platform: .ios,
            content: .open(.init(campaignID: "summer", messageID: "m1"), button: nil))
        #expect(
            members(event)
                == #"{"event_type":"users.messages.pushnotification.Open","id":"00000000-0000-0001-0000-000000000002","#
                + #""time":1700000000,"external_user_id":"u1","device_id":"phone","app_id":"shop","platform":"ios","#
                + #""campaign_id":"summer","message_id":"m1","button_action_type":null,"button_string":null}"#)
    }

    @Test("a receipt with few known facts")
    func receipt() {
        let event = AnalyticsEvent(
            id: UUID128(high: 1, low: 2), time: 0, seq: SequenceNumber(1), delivery: SequenceNumber(1),
            externalUserID: nil, deviceID: nil, appID: nil, platform: .web,
            content: .received(.init(campaignID: nil, messageID: nil)))
        #expect(
            members(event)
                == #"{"event_type":"local.pushnotification.Received","id":"00000000-0000-0001-0000-000000000002","#
                + #""time":0,"platform":"web"}"#)
    }

    private func members(_ event: AnalyticsEvent) -> String {
        var writer = JSONWriter()
        writer.object { $0.members(of: event) }
        return text(writer.bytes)
    }
}
