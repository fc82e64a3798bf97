import TestSupport
import Testing

@testable import PushModel

@Suite("pushctl act, dismiss, session and token", .timeLimit(.minutes(30)))
struct PushctlInteractionTests {
    private let daemon: TestDaemon

    init() throws {
        daemon = try TestDaemon()
        _ = daemon.pushctl("inject", "-", "--platform", "ios", "--device", "d", input: #"{"aps":{"alert":"x"}}"#)
    }

    /// Returns the request line with a number from the daemon.
    private func request(_ seq: Int) throws -> String? {
        try json(daemon.pushctl("show", "--json", "--full-tokens", String(seq)).output)["request"]?.text
    }

    @Test("sends a button with the typed text")
    func act() throws {
        let result = daemon.pushctl(
            "act", "1", "--action", "reply", "--text", "on my \"way\"", "--at", "5", "--device", "d", "--wait")
        #expect(result.end == .exited(0), "\(result.errors)")
        #expect(result.lines.first == "accepted  seq 2  (act)")
        #expect(
            try request(2)
                == #"{"op":"interact","kind":"action","at":5,"action":"reply","text":"on my \"way\"","message":1,"#
                + #""device":"d","wait":"outcome"}"#)
    }

    @Test("sends a dismissal by message id and by payload")
    func dismiss() throws {
        #expect(daemon.pushctl("dismiss", "m1", "--platform", "ios").end == .exited(0))
        #expect(
            try request(2) == #"{"op":"interact","kind":"dismissed","message":"m1","platform":"ios"}"#)
        let path = daemon.installation.root + "/payload.json"
        writeFile("{\"aps\": {}}", to: path)
        #expect(daemon.pushctl("dismiss", "--payload", path, "--platform", "ios").end == .exited(0))
        #expect(
            try request(3) == #"{"op":"interact","kind":"dismissed","payload":{"aps": {}},"platform":"ios"}"#)
    }

    @Test("pushctl session and token send sessions and push tokens")
    func sessionsAndTokens() throws {
        #expect(daemon.pushctl("session", "start", "--device", "d", "--external-id", "u").end == .exited(0))
        #expect(try request(2) == #"{"op":"session","kind":"start","device":"d","external_id":"u"}"#)
        let session = #"{"op":"session","kind":"end","device":"d"}"#
        let ended = daemon.pushctl("inject", "-", "--wait", input: session)
        #expect(ended.end == .exited(0), "it has no outcome to wait for: \(ended.errors)")
        #expect(daemon.pushctl("token", "t1", "--device", "d", "--platform", "ios").end == .exited(0))
        #expect(try request(4) == #"{"op":"token","kind":"new","token":"t1","device":"d","platform":"ios"}"#)
        #expect(daemon.pushctl("token", "--kind", "unregistered", "--device", "d").end == .exited(0))
        #expect(try request(5) == #"{"op":"token","kind":"unregistered","device":"d"}"#)
    }

    @Test("takes --payload with aps for iOS, as inject does")
    func applePayload() throws {
        for name in ["payload.apns", "payload.json"] {
            let path = daemon.installation.root + "/" + name
            writeFile(#"{"aps":{"alert":"x"}}"#, to: path)
            #expect(daemon.pushctl("open", "--payload", path).end == .exited(0))
        }
        for seq in 2...3 { #expect(try request(seq)?.hasSuffix(#""platform":"ios"}"#) == true) }
    }

    @Test("a tap on an unknown number is refused, and is not a lost open")
    func unknownNumber() throws {
        let result = daemon.pushctl("open", "999999")
        #expect(result.end == .exited(1))
        #expect(
            result.errors
                == "pushctl: open: refused: message: no delivery has the number 999999: the last request is 1; "
                + "write a message id as a string (invalid_value)\n")
        #expect(!daemon.pushctl("campaigns").output.contains("lost"))
    }

    @Test("--fail ends with 1 if an outcome is not a success, and needs --wait")
    func fail() {
        let unrouted = #"{"op":"interact","kind":"dismissed","platform":"ios","payload":{"aps":{"alert":"x"}}}"#
        #expect(daemon.pushctl("inject", "-", "--wait", input: unrouted).end == .exited(0))
        let failed = daemon.pushctl("inject", "-", "--wait", "--fail", input: unrouted)
        #expect(failed.end == .exited(1) && failed.output.contains("  swallowed  "), "\(failed.output)")
        #expect(daemon.pushctl("open", "1", "--wait", "--fail").end == .exited(0))
        let usage = daemon.pushctl("open", "1", "--fail")
        #expect(usage.end == .exited(2))
        #expect(usage.errors.hasPrefix("pushctl: --fail needs --wait\n"))
    }

    @Test("open --wait says what became of a tap that the tracker held")
    func heldTap() throws {
        let daemon = try TestDaemon(Installation("[Tracker]\nGrace=1s\n"))
        let result = daemon.pushctl("open", "m9", "--platform", "android", "--device", "d", "--wait")
        #expect(result.end == .exited(0) && result.lines.count == 3, "\(result.output)")
        #expect(result.lines.last?.hasPrefix("seq 1  ") == true, "\(result.output)")
        #expect(result.lines.last?.contains("handed_to_tracker") == false, "\(result.output)")
    }
}
