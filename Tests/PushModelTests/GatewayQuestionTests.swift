import Testing

@testable import PushModel

@Suite("Questions of the gateway")
struct GatewayQuestionTests {
    private func topics(_ members: String) throws -> TopicQuestion {
        let line = #"{"op":"topics","project":"shop","token":"t"\#(members)}"#
        let question = try TopicQuestion(line: Array(line.utf8), limits: JSONLimits())
        return try #require(question)
    }

    private func token(_ members: String = "") throws -> TokenQuestion {
        let line = #"{"op":"resolve","token":"t"\#(members)}"#
        let question = try TokenQuestion(line: Array(line.utf8), limits: JSONLimits())
        return try #require(question)
    }

    private let epoch = WallTime(milliseconds: 0)

    private func text(_ reply: [UInt8]) -> String { String(decoding: reply, as: UTF8.self) }

    /// A device with topics of the project, of every project and of another one.
    private func device() throws -> KnownDevice {
        var detail = DeviceDetail()
        for (project, name, since) in [("shop", "b", 10), ("shop", "a", 20), ("-", "c", 30), ("other", "d", 40)] {
            let topic = try #require(TopicName(project: project, topic: name))
            detail.topics.append(Subscription(topic: topic, since: Int64(since)))
        }
        return KnownDevice(
            number: SequenceNumber(1), key: DeviceKey(app: "shop", device: "phone"), platform: .ios, externalID: nil,
            detail: detail)
    }

    @Test(
        "for topics have those of the project and of every project by name, page by page",
        arguments: [
            ("", ["a", "b", "c"], nil), (#","limit":1"#, ["a"], "a"), (#","limit":2"#, ["a", "b"], "b"),
            (#","limit":3"#, ["a", "b", "c"], nil), (#","after":"a""#, ["b", "c"], nil),
            (#","after":"a","limit":1"#, ["b"], "b"), (#","after":"c""#, [], nil), (#","topic":"c""#, ["c"], nil),
            (#","topic":"d""#, [], nil), (#","topic":"a","after":"a""#, [], nil),
        ] as [(String, [String], String?)])
    func pages(_ members: String, _ names: [String], _ next: String?) throws {
        let reply = try JSONDocument(scanning: topics(members).reply(device())).root
        #expect(reply["ok"]?.bool == true && reply["known"]?.bool == true)
        #expect((reply["topics"]?.elements ?? []).compactMap { $0["topic"]?.string } == names)
        #expect(reply["next"]?.string == next && (reply["next"] == nil) == (next == nil))
    }

    @Test("for topics have the begin of each subscription, and none of a token that nobody registered")
    func begins() throws {
        #expect(
            try text(topics(#","topic":"a""#).reply(device()))
                == #"{"ok":true,"known":true,"topics":[{"topic":"a","created_at":"1970-01-01T00:00:20Z"}]}"# + "\n")
        #expect(try text(topics("").reply(nil)) == #"{"ok":true,"known":false,"topics":[]}"# + "\n")
    }

    @Test("for topics have a limit from 1 on", arguments: ["1", "\(TopicRequest.topicsMax)"])
    func limits(_ limit: String) throws { #expect(try topics(#","limit":\#(limit)"#).limit == Int(limit)) }

    @Test(
        "for topics with another limit are refused",
        arguments: ["0", "-1", "1.5", #""5""#, "null", "\(TopicRequest.topicsMax + 1)"])
    func wrongLimits(_ limit: String) {
        let error = #expect(throws: ProtocolError.self) { try topics(#","limit":\#(limit)"#) }
        #expect(error?.field == "limit")
        #expect(error?.message == "limit is a whole number from 1 to \(TopicRequest.topicsMax)")
    }

    @Test("for a token have its device with its person and state, and nothing that the sender presumes")
    func known() throws {
        var state = DeviceState()
        (state.state, state.locked) = (.foreground, true)
        let owner = Target(platform: .ios, app: "shop", device: "phone", externalID: "anna")
        let question = try token(#","id":"7","platform":"web","app":"x""#)
        #expect(
            text(question.reply((target: owner, state: state), reported: DeviceState(), ended: epoch))
                == #"{"ok":true,"id":"7","known":true,"platform":"ios","app":"shop","device":"phone","#
                + #""external_id":"anna","state":"foreground","locked":true}"# + "\n")
        let other = Target(platform: .ios, device: "d")
        #expect(
            text(question.reply((target: other, state: DeviceState()), reported: state))
                == #"{"ok":true,"id":"7","known":true,"platform":"ios","device":"d"}"# + "\n")
    }

    @Test("for a token that nobody registered presume a device of its name, on Android if nothing is said")
    func unknown() throws {
        var state = DeviceState()
        state.sdk = .missing
        #expect(
            try text(token(#","platform":"web","app":"x""#).reply(nil, reported: state, ended: epoch))
                == #"{"ok":true,"known":false,"ended":"1970-01-01T00:00:00Z","platform":"web","app":"x","#
                + #""device":"t","sdk":"nil"}"# + "\n")
        #expect(
            try text(token().reply(nil, reported: DeviceState()))
                == #"{"ok":true,"known":false,"platform":"android","device":"t"}"# + "\n")
    }

    @Test("are read as they are written, and another operation is none")
    func lines() throws {
        let short = TopicQuestion.line(project: "shop", token: "t", topic: nil, limit: nil, after: nil)
        #expect(text(short) == #"{"op":"topics","project":"shop","token":"t"}"# + "\n")
        let long = TopicQuestion.line(project: "shop", token: "t", topic: "a", limit: 5, after: "b")
        let parsed = try TopicQuestion(line: long, limits: JSONLimits())
        let read = try #require(parsed)
        #expect(read.project == "shop" && read.token == "t" && read.topic == "a")
        #expect(read.limit == 5 && read.after == "b")
        let line = TokenQuestion.line(token: "t", presumed: Target(platform: .web, app: "x"))
        let found = try TokenQuestion(line: line, limits: JSONLimits())
        let question = try #require(found)
        #expect(question.token == "t" && question.presumed == Target(platform: .web, app: "x"))
        #expect(line.starts(with: TokenQuestion.beginning) && question.id == nil)
        let ofToken = try TopicQuestion(line: line, limits: JSONLimits())
        let ofTopics = try TokenQuestion(line: short, limits: JSONLimits())
        let areNone = ofToken == nil && ofTopics == nil
        #expect(areNone)
    }

    @Test(
        "without a token, a project or with another key are refused",
        arguments: [
            (#"{"op":"topics","project":"shop"}"#, "token"), (#"{"op":"topics","token":"t"}"#, "project"),
            (#"{"op":"topics","project":"a b","token":"t"}"#, "project"),
            (#"{"op":"topics","project":"shop","token":"t","id":"1"}"#, "id"), (#"{"op":"resolve"}"#, "token"),
            (#"{"op":"resolve","token":""}"#, "token"), (#"{"op":"resolve","token":"t","platform":"x"}"#, "platform"),
            (#"{"op":"resolve","token":"t","topic":"x"}"#, "topic"),
        ])
    func wrong(_ line: String, _ field: String) {
        let error = #expect(throws: ProtocolError.self) {
            _ = try TopicQuestion(line: Array(line.utf8), limits: JSONLimits())
            _ = try TokenQuestion(line: Array(line.utf8), limits: JSONLimits())
        }
        #expect(error?.field == field)
    }
}
