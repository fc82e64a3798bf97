import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

/// kill -9 leaves the page cache intact: this tests the loss of process memory. `PowerCutTests` tests the loss of the
/// page cache.
@Suite("kill -9 while entries are sent")
struct ForwardCrashTests {
    private let installation = Installation()
    private let server = TrackServer { _ in
        // The delay keeps a request under way when the signal comes.
        usleep(.random(in: 0...3000))
        return .success
    }

    /// Logs from one client until the daemon is gone or `count` entries are acknowledged; returns the next number.
    private func log(from start: Int, count: Int, acknowledged: inout Set<Int>) throws -> Int {
        let client = try installation.injectClient()
        var next = start
        var awaited = start
        do throws(ClientError) {
            while awaited < start + count {
                while next < start + count, next - awaited < 32 {
                    try client.send(line: LoggedEntry.line(next))
                    next += 1
                }
                guard let line = try client.receiveLine(timeoutMilliseconds: patience) else { break }
                if (try? Line(line))?.isAccepted == true { acknowledged.insert(awaited) }
                awaited += 1
            }
        } catch .closed {}
        return next
    }

    /// Checks that all acknowledged entries are in the ledger, and that the server got what the ledger says.
    private func check(_ acknowledged: Set<Int>) throws {
        let entries = try installation.entries()
        let numbers = try entries.map { try LoggedEntry.number($0.entry.data) }
        #expect(acknowledged.isSubset(of: numbers))
        try compare(entries, with: server.taken)
        #expect(server.violations == [])
    }

    @Test("of the daemon: the server got each logged entry once, and none is unknown")
    func daemon() throws {
        installation.forward(to: server, "BatchSize=7")
        var random = SeededGenerator(seed: 7)
        var acknowledged: Set<Int> = []
        var next = 0
        var daemon = try DaemonProcess.ready(installation)
        let forwarder = try DaemonProcess.forwarder(installation)
        for _ in 0..<EndToEndTests.rounds {
            let count = Int.random(in: 20...80, using: &random)
            next = try log(from: next, count: count, acknowledged: &acknowledged)
            usleep(.random(in: 0...20_000, using: &random))
            daemon.crash()
            daemon = try DaemonProcess.ready(installation)
        }
        try installation.waitUntilForwarded()
        try check(acknowledged)
        #expect(try installation.entries().allSatisfy { $0.state == .sent })
        #expect(try forwarder.stop() == .exited(0))
    }

    @Test("of the forwarder: no entry comes twice, and unknown entries are listed")
    func forwarder() throws {
        installation.forward(to: server, "BatchSize=7")
        var random = SeededGenerator(seed: 8)
        var acknowledged: Set<Int> = []
        var next = 0
        let daemon = try DaemonProcess.ready(installation)
        for _ in 0..<EndToEndTests.rounds {
            let forwarder = try DaemonProcess.forwarder(installation)
            next = try log(from: next, count: .random(in: 20...80, using: &random), acknowledged: &acknowledged)
            usleep(.random(in: 0...20_000, using: &random))
            forwarder.crash()
        }
        let forwarder = try DaemonProcess.forwarder(installation)
        try installation.waitUntilForwarded()
        try check(acknowledged)
        #expect(try installation.entries().contains { $0.state == .sent })
        #expect(try forwarder.stop() == .exited(0))
        #expect(try daemon.stop() == .exited(0))
    }

    @Test("of both, in any order: no entry comes twice, and unknown entries are listed")
    func both() throws {
        installation.forward(to: server, "BatchSize=7")
        var random = SeededGenerator(seed: 9)
        var acknowledged: Set<Int> = []
        var next = 0
        var daemon = try DaemonProcess.ready(installation)
        var forwarder = try DaemonProcess.forwarder(installation)
        for _ in 0..<EndToEndTests.rounds {
            next = try log(from: next, count: .random(in: 20...80, using: &random), acknowledged: &acknowledged)
            usleep(.random(in: 0...20_000, using: &random))
            let isDaemonFirst = Bool.random(using: &random)
            if isDaemonFirst { daemon.crash() }
            forwarder.crash()
            if !isDaemonFirst {
                usleep(.random(in: 0...2000, using: &random))
                daemon.crash()
            }
            daemon = try DaemonProcess.ready(installation)
            forwarder = try DaemonProcess.forwarder(installation)
        }
        try installation.waitUntilForwarded()
        try check(acknowledged)
        #expect(try installation.entries().contains { $0.state == .sent })
        #expect(try forwarder.stop() == .exited(0))
    }
}
