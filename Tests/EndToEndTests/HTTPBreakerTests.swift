import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

@Suite("The breaker of an http handler", .timeLimit(.minutes(30)))
struct HTTPBreakerTests {
    private let relay = Installation()

    private func breaker() throws -> String? {
        try DaemonStatus(of: relay)["handlers"]?["crm"]?["breaker"]?.string
    }

    @Test(
        "opens if no server listens, passes callbacks to the next route, and closes when a server listens",
        arguments: [
            (handler: "Retry=1", delay: "RetryDelay=10ms"),
            // The second wait, of 4 s to 8 s, would end at the deadline or later, so no second attempt runs.
            (handler: "", delay: "RetryDelay=4s\nRetryDelayMax=9s"),
        ])
    func closedPort(case settings: (handler: String, delay: String)) throws {
        relay.write("pushrouterd.conf", "[Dispatch]\nMode=relay\n\(settings.delay)\n")
        let outcome = "failed"
        let port = try freePort()
        let rules = "Breaker=2 in 1h\nBreakerPause=1s\n"
        let url = "http://127.0.0.1:\(port)/ok"
        relay.addHTTP("crm", url, handler: rules + settings.handler, route: "Deadline=6s")
        let daemon = try DaemonProcess.ready(relay)
        let client = try relay.injectClient()
        #expect(try breaker() == "closed")
        for _ in 0..<2 {
            let line = try client.outcome(of: Requests.deliver(job: "crm"))
            #expect(line.outcome == outcome, "\(line)")
        }
        #expect(try breaker() != "closed")
        let passed = "not asked, because the breaker is open: crm"
        // A callback after the pause is a probe, and no server answers it.
        try waitUntil("a callback goes past the handler") {
            let line = try client.outcome(of: Requests.deliver(job: "crm"))
            #expect(line.outcome == outcome || (line.outcome == "handled" && line.reason == passed), "\(line)")
            return line.reason == passed
        }
        let server = try WebServer(in: relay.root + "/web", port: port)
        try waitUntil("the probe is answered") {
            let line = try client.outcome(of: Requests.deliver(job: "crm"))
            #expect(line.outcome == "handled" && (line.reason == nil || line.reason == passed), "\(line)")
            return line.reason == nil
        }
        #expect(server.requests.count == 1)
        #expect(try breaker() == "closed")
        #expect(try client.outcome(of: Requests.deliver(job: "crm")).outcome == "handled")
        #expect(server.requests.count == 2)
        #expect(try daemon.stop() == .exited(0))
        let told = daemon.standardError
        #expect(told.contains("crm failed to answer 2 times in a row: its breaker is open"), "\(told)")
        #expect(told.contains("crm answers again: its breaker is closed"), "\(told)")
    }
}
