import Testing

@testable import PushModel
@testable import PushRouter

@Suite("Requests")
struct RequestTests {
    @Test("a token of 4096 bytes is read")
    func longestToken() throws {
        let token = String(repeating: "x", count: 4096)
        guard case .token(let request) = try read(#"{"op":"token","token":"\#(token)","device":"d"}"#).action else {
            Issue.record("it is no token")
            return
        }
        #expect(request.token == token)
    }

    @Test(
        "a push is a refused send if its sender was answered 400 or above, or with a reason",
        arguments: [
            (#""answer":200"#, false), (#""answer":399"#, false), (#""answer":400"#, true), (#""answer":401"#, true),
            (#""answer":503"#, true), (#""client":"c""#, false), (#""answer":399,"reason":"r""#, true),
            (#""reason":"r""#, true),
        ])
    func refusedSend(_ sender: String, _ isRefused: Bool) throws {
        guard case .deliver(let push) = try read(#"{"op":"deliver","payload":{},"sender":{\#(sender)}}"#).action else {
            Issue.record("it is no delivery")
            return
        }
        #expect((push.refusal != nil) == isRefused)
    }

    @Test("a deliver request with every key is read")
    func deliver() throws {
        let request = try read(
            """
            {"op":"deliver","id":"a1","at":"2026-11-21T09:00:00.5Z","wait":"outcome","platform":"ios","app":"com.shop",\
            "device":"phone","external_id":"u1","state":"force_quit","locked":true,"os_version":"18.1",\
            "notifications":"denied","sdk":"nil","payload":{"aps":{}}}
            """)
        #expect(request.id == "a1")
        #expect(request.at == WallTime(rfc3339: "2026-11-21T09:00:00.5Z"))
        #expect(request.waitsForOutcome)
        #expect(request.operation == .deliver)
        guard case .deliver(let deliver) = request.action else {
            Issue.record("it is no delivery")
            return
        }
        #expect(deliver.target == Target(platform: .ios, app: "com.shop", device: "phone", externalID: "u1"))
        #expect(deliver.state == .forceQuit)
        #expect(deliver.locked)
        #expect(deliver.osVersion == "18.1")
        #expect(deliver.notifications == .denied)
        #expect(deliver.sdk == .missing)
        #expect(deliver.payload.rawBytes.elementsEqual(#"{"aps":{}}"#.utf8))
    }

    @Test("deliver names its transport, and a transport of another platform is an error")
    func transport() throws {
        func given(_ members: String) throws -> Transport? {
            guard case .deliver(let deliver) = try read(#"{"op":"deliver","payload":{},\#(members)}"#).action
            else {
                return nil
            }
            return deliver.transport
        }
        for transport in Transport.allCases {
            let word = transport.rawValue
            #expect(try given(#""transport":"\#(word)""#) == transport)
            #expect(
                try given(#""transport":"\#(word)","platform":"\#(transport.platform.rawValue)""#) == transport)
        }
        let error = #expect(throws: ProtocolError.self) { try given(#""transport":"apns","platform":"android""#) }
        #expect(error?.code == .invalidValue && error?.field == "transport")
        #expect(error?.message == "apns is a transport of ios; platform is android")
    }

    @Test("a deliver request without optional keys has the defaults")
    func defaults() throws {
        let request = try read(#"{"op":"deliver","payload":{}}"#)
        #expect(request.id == nil)
        #expect(request.at == nil)
        #expect(!request.waitsForOutcome)
        guard case .deliver(let deliver) = request.action else {
            Issue.record("it is no delivery")
            return
        }
        #expect(deliver.target == Target())
        #expect(deliver.state == .background)
        #expect(!deliver.locked)
        #expect(deliver.osVersion == nil)
        #expect(deliver.notifications == .allowed)
        #expect(deliver.sdk == .ready)
    }

    @Test("every word of the closed sets is accepted")
    func words() throws {
        for platform in Platform.allCases {
            _ = try read(#"{"op":"deliver","payload":{},"platform":"\#(platform.rawValue)"}"#)
        }
        for state in AppState.allCases { _ = try read(#"{"op":"deliver","payload":{},"state":"\#(state.rawValue)"}"#) }
        for sdk in SDKState.allCases { _ = try read(#"{"op":"deliver","payload":{},"sdk":"\#(sdk.rawValue)"}"#) }
        for permission in NotificationPermission.allCases {
            _ = try read(#"{"op":"deliver","payload":{},"notifications":"\#(permission.rawValue)"}"#)
        }
    }

    @Test("interact by number, by message id and by payload")
    func interact() throws {
        let bySeq = try interaction(#"{"op":"interact","kind":"opened","message":41,"app":"a","device":"d"}"#)
        guard case .delivery(SequenceNumber(41)) = bySeq.subject else {
            Issue.record("not by number")
            return
        }
        #expect(bySeq.target == Target(app: "a", device: "d"))
        #expect(bySeq.kind == .opened)
        let byMessage = try interaction(#"{"op":"interact","kind":"opened","message":"41"}"#)
        guard case .message("41") = byMessage.subject else {
            Issue.record("not by message id")
            return
        }
        let byPayload = try interaction(#"{"op":"interact","kind":"opened","payload":{"a":1}}"#)
        guard case .payload(let payload) = byPayload.subject else {
            Issue.record("not by payload")
            return
        }
        #expect(payload.rawBytes.elementsEqual(#"{"a":1}"#.utf8))
    }

    @Test("interact with a button, its text, and a dismissal")
    func interactionKinds() throws {
        let action = try interaction(
            #"{"op":"interact","kind":"action","message":1,"action":"reply","text":"on my way"}"#)
        #expect(action.kind == .action)
        #expect(action.action == "reply")
        #expect(action.text == "on my way")
        let silent = try interaction(#"{"op":"interact","kind":"action","message":1,"action":"reply","text":""}"#)
        #expect(silent.text == "", "sent without typing anything")
        let dismissed = try interaction(#"{"op":"interact","kind":"dismissed","message":1}"#)
        #expect(dismissed.kind == .dismissed)
        #expect(dismissed.action == nil)
        for sdk in SDKState.allCases {
            let line = #"{"op":"interact","kind":"opened","message":1,"sdk":"\#(sdk.rawValue)"}"#
            #expect(try interaction(line).sdk == sdk)
        }
    }

    @Test("session", arguments: SessionRequest.Kind.allCases)
    func session(kind: SessionRequest.Kind) throws {
        let request = try read(
            #"{"op":"session","kind":"\#(kind.rawValue)","app":"a","device":"d","external_id":"u","platform":"web"}"#)
        #expect(request.operation == .session)
        guard case .session(let session) = request.action else {
            Issue.record("it is no session")
            return
        }
        #expect(session.kind == kind)
        #expect(session.target == Target(platform: .web, app: "a", device: "d", externalID: "u"))
    }

    @Test(
        "token, new unless it says otherwise, up to 4096 bytes",
        arguments: [
            (#""token":"t""#, TokenRequest.Kind.new, "t"), (#""kind":"new","token":"t""#, .new, "t"),
            (#""kind":"registered","token":"t""#, .registered, "t"), (#""kind":"unregistered""#, .unregistered, nil),
            (#""kind":"unregistered","token":"t""#, .unregistered, "t"),
            (#""token":"\#(String(repeating: "x", count: 4096))""#, .new, String(repeating: "x", count: 4096)),
        ] as [(String, TokenRequest.Kind, String?)])
    func token(members: String, kind: TokenRequest.Kind, value: String?) throws {
        let request = try read(#"{"op":"token",\#(members),"device":"d"}"#)
        #expect(request.operation == .token)
        guard case .token(let token) = request.action else {
            Issue.record("it is no token")
            return
        }
        #expect(token.kind == kind)
        #expect(token.token == value)
        #expect(token.target == Target(device: "d"))
    }

    @Test("log has its kind and destination; its data is passed on unchanged")
    func log() throws {
        let event = try logged(
            #"{"op":"log","kind":"custom_event","suite":"group.a","name":"n","properties":{"a":1},"app":"a"}"#)
        #expect(event.kind == .customEvent)
        #expect(event.suite == "group.a")
        #expect(event.brazeID == nil)
        #expect(event.target == Target(app: "a"))
        #expect(event.object["properties"].map { $0.rawBytes.elementsEqual(#"{"a":1}"#.utf8) } == true)
        let attributes = try logged(#"{"op":"log","kind":"custom_attributes","braze_id":"b1","attributes":{"a":null}}"#)
        #expect(attributes.kind == .customAttributes)
        #expect(attributes.brazeID == "b1")
        #expect(attributes.suite == nil)
    }

    @Test(
        "log with wrong data is accepted: the wrong parts are rejected",
        arguments: [
            #"{"op":"log","kind":"custom_event"}"#, #"{"op":"log","kind":"custom_event","name":7,"properties":[]}"#,
            #"{"op":"log","kind":"user_attributes"}"#, #"{"op":"log","kind":"user_attributes","attributes":"email"}"#,
        ])
    func logOfWrongData(line: String) throws {
        #expect(try read(line).operation == .log)
    }

    @Test(
        "a time in both forms, up to the ends of what can be written",
        arguments: [
            ("\"2026-11-21T09:00:00Z\"", 1_795_251_600_000), ("\"2026-11-21T10:00:00+01:00\"", 1_795_251_600_000),
            ("1795251600000", 1_795_251_600_000), ("0", 0), ("-1", -1), ("-62135596800000", -62_135_596_800_000),
            ("253402300799999", 253_402_300_799_999), ("\"0001-01-01T00:00:00Z\"", -62_135_596_800_000),
        ] as [(String, Int64)])
    func time(text: String, milliseconds: Int64) throws {
        #expect(try read(#"{"op":"deliver","payload":{},"at":\#(text)}"#).at == WallTime(milliseconds: milliseconds))
    }

    @Test(
        "ids in any form that producers choose",
        arguments: [
            "a", "0", "a b", "é", "👩‍👩‍👧", String(repeating: "x", count: 255),
        ])
    func ids(id: String) throws {
        #expect(try read(#"{"op":"deliver","payload":{},"id":"\#(id)"}"#).id == id)
    }

    @Test(
        "a name with a NUL is refused, but read from a line that was accepted before",
        arguments: [
            "id", "app", "device", "external_id",
        ])
    func nul(key: String) throws {
        for operation in [
            #""deliver","payload":{}"#, #""session","kind":"start""#, #""token","kind":"new","token":"t""#,
            #""interact","kind":"opened","message":"m""#, #""log","kind":"custom_event","name":"n""#,
        ] {
            let line = #"{"op":\#(operation),"\#(key)":"a\u0000b"}"#
            let error = #expect(throws: ProtocolError.self) { try read(line) }
            #expect(error?.code == .invalidValue && error?.field == key)
            let request = try Request(acceptedLine: Array(line.utf8))
            let names = [request.id, request.target.app, request.target.device, request.target.externalID]
            #expect(names.compactMap(\.self) == ["a\0b"])
        }
    }

    @Test("a name with a NUL is refused in a handler's entries", arguments: ["app", "device", "external_id"])
    func nulOfHandler(key: String) throws {
        let entry = #"{"kind":"custom_event","name":"n","\#(key)":"a\u0000b"}"#
        let root = try JSONDocument(scanning: Array(entry.utf8)).root
        let error = #expect(throws: ProtocolError.self) { _ = try LogRequest(loggedByHandler: root) }
        #expect(error?.code == .invalidValue && error?.field == key)
    }

    @Test("the keys of a request are compared after unescaping")
    func escapedKeys() throws {
        #expect(try read(#"{"\u006fp":"deliver","payl\u006fad":{}}"#).operation == .deliver)
    }

    @Test("keys that a caller allows are accepted")
    func allowing() throws {
        let document = try JSONDocument(scanning: Array(#"{"op":"deliver","payload":{},"script":{}}"#.utf8))
        #expect(try Request(document, allowing: ["script"]).operation == .deliver)
        #expect(throws: ProtocolError.self) { try Request(document) }
    }

    private func logged(_ line: String) throws -> LogRequest {
        guard case .log(let log) = try read(line).action else { preconditionFailure("it logs nothing: \(line)") }
        return log
    }

    private func interaction(_ line: String) throws -> InteractRequest {
        guard case .interact(let interact) = try read(line).action else {
            preconditionFailure("it is no interaction: \(line)")
        }
        return interact
    }
}

/// Reads a request line.
func read(_ line: String) throws(ProtocolError) -> Request { try Request(line: Array(line.utf8)) }

func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
