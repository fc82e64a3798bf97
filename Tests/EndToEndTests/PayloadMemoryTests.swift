import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

@Suite("Payloads beyond the memory for payloads")
struct PayloadMemoryTests {
    private let setting = "[Dispatch]\nPayloadMemoryMax=0\n"

    private func delivery(_ text: String, device: String = "phone", waits: Bool = true) -> String {
        Requests.deliver(
            #""platform":"android","payload":{"data":{"job":"copy","text":"\#(text)"}}"#, device: device, waits: waits)
    }

    @Test("a handler whose turn comes later gets the payload unchanged, from the ledger")
    func laterTurn() throws {
        let installation = Installation(setting)
        let gate = Messages(installation.root + "/gate")
        installation.addJob("copy", "read -r _ <$ROOT/gate; cat >$ROOT/input-$PUSH_SEQ")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        for text in ["one", "two"] { #expect(try client.ask(delivery(text)).isAccepted) }
        let status = try DaemonStatus(of: installation)
        #expect(try status.number("payload_bytes_in_memory") == 0)
        #expect(try status.number("invocation_bytes_in_memory") > 2 * 900)
        #expect(try status.number("bytes_in_flight") == delivery("one").utf8.count + delivery("two").utf8.count)
        gate.send(times: 2)
        for _ in 1...2 { #expect(try client.next().outcome == "handled") }
        let input = String(decoding: try #require(readFile(installation.root + "/input-2")), as: UTF8.self)
        #expect(input.contains(#""payload":{"data":{"job":"copy","text":"two"}}"#), "\(input)")
        #expect(try DaemonStatus(of: installation).number("bytes_in_flight") == 0)
        #expect(try DaemonStatus(of: installation).number("invocation_bytes_in_memory") == 0)
    }

    @Test("so does a handler that is started again after a crash")
    func afterCrash() throws {
        let installation = Installation(setting)
        let gate = Messages(installation.root + "/gate")
        installation.addJob("copy", "read -r _ <$ROOT/gate; cat >$ROOT/input-$PUSH_SEQ", handler: "Idempotent=yes")
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        for text in ["one", "two"] { #expect(try client.ask(delivery(text, waits: false)).isAccepted) }
        daemon.crash()
        let next = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(next) {} }
        gate.send(times: 2)
        try installation.waitUntilIdle()
        for (number, text) in [(1, "one"), (2, "two")] {
            let input = String(decoding: try #require(readFile("\(installation.root)/input-\(number)")), as: UTF8.self)
            #expect(input.contains(#""text":"\#(text)""#), "\(input)")
        }
    }

    @Test("many large payloads that wait in a lane are on disk, not in memory")
    func manyLarge() throws {
        let installation = Installation("[Dispatch]\nPayloadMemoryMax=1M\n")
        let gate = Messages(installation.root + "/gate")
        installation.addJob("copy", "read -r _ <$ROOT/gate", route: "Deadline=9s")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(gate) {} }
        let client = try installation.injectClient()
        let text = String(repeating: "x", count: 200_000)
        let count = 400
        for _ in 0..<count { #expect(try client.ask(delivery(text, waits: false)).isAccepted) }
        // 80 MB were acknowledged.
        let status = try DaemonStatus(of: installation)
        try #require(try status.number("requests_in_flight") > count / 2)
        #expect(try status.number("payload_bytes_in_memory") <= 1 << 20)
        #expect(try #require(residentKilobytes(of: daemon.processID)) < 72 << 10)
    }

    @Test("beyond a user's limit of bytes in flight a request is refused, with a time to retry, and counted")
    func bytesInFlight() throws {
        let installation = Installation("[Dispatch]\nRequestsInFlightSizeMaxPerPeer=1M\n")
        let gate = Messages(installation.root + "/gate")
        installation.addJob("copy", "read -r _ <$ROOT/gate")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        let text = String(repeating: "x", count: 200_000)
        for _ in 1...5 { #expect(try client.ask(delivery(text)).isAccepted) }
        let refusal = try client.ask(delivery(text))
        #expect(refusal.description.contains(#""code":"overloaded""#), "\(refusal)")
        #expect(refusal.description.contains("retry_after_ms"), "\(refusal)")
        #expect(try client.ask(Requests.deliver(waits: false)).isAccepted, "a small one still fits")
        let status = try DaemonStatus(of: installation)
        #expect(status["clients"]?["refused"]?["overloaded"]?.int64 == 1)
        gate.send(times: 5)
        for _ in 1...5 { #expect(try client.next().outcome == "handled") }
        #expect(try client.ask(delivery(text)).isAccepted)
    }
}
