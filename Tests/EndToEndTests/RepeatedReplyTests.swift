import TestSupport
import Testing

@testable import PushModel

@Suite("The reply to a repeated request", .timeLimit(.minutes(30)))
struct RepeatedReplyTests {
    private let installation = Installation("[Tracker]\nGrace=0\n")

    /// Requests with an id, by their operation. `op: topic` has no id: to repeat it changes nothing.
    private static let requests: [(operation: Operation, line: String)] = [
        (.token, #"{"op":"token","id":"t","app":"shop","device":"d","token":"t1"}"#),
        (.device, #"{"op":"device","id":"v","app":"shop","device":"d","state":"foreground"}"#),
        (.deliver, #"{"op":"deliver","id":"d1","app":"shop","payload":{"data":{"k":"v"}}}"#),
        (.deliver, #"{"op":"deliver","id":"d2","wait":"outcome","app":"shop","payload":{"data":{"k":"v"}}}"#),
        (.deliver, Requests.deliver(Requests.twoCallbacks, id: "d3")),
        (.deliver, Requests.braze(message: "m", id: "d4", device: "d")),
        (.interact, Requests.open(#""message":"m","app":"shop","device":"d""#, id: "i1")),
        (.interact, Requests.open(#""message":"nobody's","app":"shop","device":"d""#, id: "i2")),
        (.session, #"{"op":"session","kind":"start","id":"s","app":"shop","device":"d"}"#),
        (
            .log,
            #"{"op":"log","id":"l","kind":"custom_attributes","app":"shop","device":"d","#
                + #""attributes":{"color":"red","braze_id":"x"}}"#
        ),
        (.publish, #"{"op":"publish","id":"p1","project":"p","topic":"news","payload":{"data":{"k":"v"}}}"#),
        (.publish, #"{"op":"publish","id":"p2","project":"p","topic":"nobody","payload":{"data":{"k":"v"}}}"#),
    ]

    /// Sends the requests, and returns the reply to each; the lines of outcomes are read, too.
    private func replies() throws -> [String] {
        let client = try installation.injectClient()
        return try Self.requests.map { _, line in
            let reply = try client.ask(line)
            for _ in 0..<(reply["outcomes"]?.int64 ?? 0) { _ = try client.next() }
            return reply.description
        }
    }

    @Test("is the first one byte for byte, for each operation, also from the next daemon")
    func sameBytes() throws {
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        let subscription =
            #"{"op":"topic","kind":"subscribe","project":"p","topic":"news","tokens":["t1","t2"],"unknown":"register"}"#
        #expect(try client.ask(subscription)["results"]?.count == 2)
        #expect(try client.ask(subscription.replacing("{", with: #"{"id":"x","#, maxReplacements: 1)).errorCode != nil)
        let first = try replies()
        #expect(first.allSatisfy { $0.hasPrefix(#"{"ok":true,"seq":"#) })
        #expect(first.contains { $0.hasSuffix(#","id":"p1","members":2}"#) })
        #expect(try replies() == first)
        daemon.crash()
        let next = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(next) {} }
        #expect(try replies() == first)
        #expect(Set(Self.requests.map(\.operation)) == Set(Operation.allCases).subtracting([.topic]))
    }
}
