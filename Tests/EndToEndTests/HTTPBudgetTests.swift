import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

@Suite("Push-Deadline-Ms", .timeLimit(.minutes(30)))
struct HTTPBudgetTests {
    private let installation = Installation()

    /// Waits until so many callbacks are under way, and then at least 50 ms, which their remaining time must lack.
    private func letTimePass(underway: Int64) throws {
        try waitUntil("they are under way") {
            try DaemonStatus(of: installation).number("handlers_running") == underway
        }
        let end = ContinuousClock.now + .milliseconds(50)
        try waitUntil("time has passed") { ContinuousClock.now >= end }
    }

    /// Returns the remaining times at which the daemon wrote the line and the request left.
    private func budgets(_ request: JSONNode) throws -> (written: Int64, sent: Int64) {
        let body = try json(try #require(request["body"]?.string))
        #expect(body["deadline_ns"] == nil, "that is between our own programs")
        return (
            try #require(body["deadline"]?["remaining_ms"]?.int64),
            try #require(request.header("push-deadline-ms").flatMap { Int64($0) })
        )
    }

    @Test("holds the time left when the request leaves: one that waited for a connection has less")
    func connection() throws {
        let server = try WebServer(in: installation.root + "/web")
        let gate = Messages("\(server.directory)/gate")
        installation.addHTTP("crm", server.url("gate"), handler: "Connections=1\nMaxConcurrent=2")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        for _ in 0..<2 { #expect(try client.ask(Requests.deliver(job: "crm")).isAccepted) }
        try waitUntil("the first request is there") { !server.requests.isEmpty }
        try letTimePass(underway: 2)
        #expect(server.requests.count == 1)
        gate.send()
        for _ in 0..<2 { #expect(try client.next().outcome == "handled") }
        let (written, sent) = try budgets(server.requests[1])
        #expect(0 < sent && sent <= written - 50, "\(sent) of \(written) ms")
    }

    @Test("holds the time left when the request leaves: one whose line was read late has less")
    func line() throws {
        let server = try WebServer(in: installation.root + "/web")
        installation.addHTTP("crm", server.url("ok"))
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        #expect(try client.outcome(of: Requests.deliver(job: "crm")).outcome == "handled")
        let program = try #require(children(of: daemon.processID).first)
        kill(program, SIGSTOP)
        #expect(try client.ask(Requests.deliver(job: "crm")).isAccepted)
        try letTimePass(underway: 1)
        kill(program, SIGCONT)
        #expect(try client.next().outcome == "handled")
        let (written, sent) = try budgets(server.requests[1])
        #expect(0 < sent && sent <= written - 50, "\(sent) of \(written) ms")
    }
}
