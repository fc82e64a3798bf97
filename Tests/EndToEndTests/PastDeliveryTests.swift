import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

@Suite("A tap on a delivery that the tracker does not remember", .timeLimit(.minutes(30)))
struct PastDeliveryTests {
    private let installation = Installation()

    private func deliver(_ message: String) -> String {
        Requests.deliver(
            #""app":"shop","device":"d1","payload":{"google.message_id":"\#(message)","k":"v"}"#, waits: false)
    }

    private func tap(_ message: String, id: String? = nil) -> String {
        let id = id.map { #","id":"\#($0)""# } ?? ""
        return #"{"op":"interact","kind":"opened","device":"d1","message":\#(message)\#(id)}"#
    }

    @Test("is accepted in order, in one write with the delivery, by message id and by number, with or without an id")
    func pipelined() throws {
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        let rounds = 50
        for round in 0..<rounds {
            let seq = round * 5 + 1
            try client.send(line: deliver("0:\(round)"))
            try client.send(line: tap("\"0:\(round)\""))
            try client.send(line: tap("\(seq)", id: "a\(round)"))
            try client.send(line: tap("\"0:\(round)\"", id: "b\(round)"))
            try client.send(line: deliver("1:\(round)"))
        }
        client.finishSending()
        let replies = try client.all()
        #expect(replies.map(\.seq) == (1...Int64(rounds * 5)).map { $0 })
    }

    @Test("finds it, even immediately after it, and is routed by its payload")
    func found() throws {
        installation.addRoute("50-tap", to: "journal", match: "Data=job tap")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        let rounds: Int64 = 40
        for round in 0..<rounds {
            let payload = #"{"aps":{"alert":"A"},"gcm.message_id":"0:\#(round)","job":"tap"}"#
            try client.send(
                line: #"{"op":"deliver","platform":"ios","app":"shop","device":"d1","payload":\#(payload)}"#)
            let id = round % 2 == 0 ? nil : "tap\(round)"
            try client.send(line: tap(round % 4 < 2 ? "\"0:\(round)\"" : "\(round * 2 + 1)", id: id))
        }
        client.finishSending()
        #expect(try client.all().allSatisfy(\.isAccepted))
        let rows = try installation.ledgerRows()
        for round in 0..<rounds {
            let row = rows[InvocationID(seq: SequenceNumber(round * 2 + 2), n: 0)]
            #expect(row?.callback == .didReceiveResponse && row?.route == "50-tap", "tap \(round)")
        }
    }

    @Test("that is repeated under its id gets the same reply, also if it names no known delivery")
    func repeated() throws {
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        #expect(try client.ask(deliver("0:1")).seq == 1)
        for _ in 0..<3 {
            #expect(try client.ask(tap("\"0:1\"", id: "a")).description == #"{"ok":true,"seq":2,"id":"a"}"#)
            #expect(try client.ask(tap("\"0:9\"", id: "b")).description == #"{"ok":true,"seq":3,"id":"b"}"#)
        }
        #expect(try client.ask(tap("\"0:2\"")).seq == 4)
    }
}
