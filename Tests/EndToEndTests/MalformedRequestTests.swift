import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

@Suite("Malformed requests", .timeLimit(.minutes(30)))
struct MalformedRequestTests {
    @Test("10,000 of them get 10,000 clear errors, while a good client is served and memory stays bounded")
    func tenThousand() throws {
        let installation = Installation()
        let daemon = try DaemonProcess.ready(installation)
        let bad = try installation.injectClient()
        let good = try installation.injectClient()
        var requests = MalformedRequests(seed: 20_261_121)
        #expect(try good.outcome(of: Requests.deliver()).outcome == "handled")
        let memoryBefore = try #require(residentKilobytes(of: daemon.processID))

        let batches = 200
        let size = 50
        for batch in 0..<batches {
            let samples = (0..<size).map { _ in requests.next() }
            try bad.send(Array(samples.map(\.line).joined(separator: "\n".utf8)) + Array("\n".utf8))
            // The good request follows the malformed ones in time, and its answer does not wait until their replies are
            // read.
            let line = try good.outcome(of: Requests.deliver(id: "good\(batch)"))
            #expect(line.outcome == "handled" && line.id == "good\(batch)")
            for sample in samples {
                let reply = try bad.next()
                try #require(isClear(reply, of: sample), "\(String(decoding: sample.line, as: UTF8.self)) got \(reply)")
            }
        }
        try bad.leave()
        #expect(try DaemonStatus(of: installation).number("last_seq") == Int64(batches + 1), "some were accepted")
        let grown = try #require(residentKilobytes(of: daemon.processID)) - memoryBefore
        #expect(grown < 16 << 10, "\(grown) KiB more than before")
    }

    private func isClear(_ reply: Line, of sample: MalformedRequests.Sample) -> Bool {
        let error = reply["error"]
        return reply["ok"]?.bool == false && error?["message"]?.string?.isEmpty == false
            && error?["retry"]?.bool == false && error?["code"]?.string.map(sample.codes.contains) == true
    }

    @Test(
        "excessive input costs an error and nothing else",
        arguments: [
            (String(repeating: "[", count: 10_000), "too_deep"),
            (#"{"op":"deliver","payload":\#(String(repeating: #"{"a":"#, count: 10_000))"#, "too_deep"),
            (String(repeating: "x", count: 16 << 20), "too_long"),
            (#"{"op":"deliver","payload":{"a":\#(String(repeating: "9", count: 200_000))}}"#, "invalid_json"),
        ])
    func excess(line: String, code: String) throws {
        let installation = Installation()
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        // The daemon may close the connection while the rest is being sent.
        try? client.send(line: line)
        #expect(try client.next().errorCode == code)
        #expect(try installation.injectClient().ask(Requests.deliver(waits: false)).isAccepted)
    }
}
