import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

/// The number of clients of each kind.
private let count = 1000

private func refused(_ reason: String, _ installation: Installation) throws -> Int64 {
    try #require(DaemonStatus(of: installation)["clients"]?["refused"]?[reason]?.int64)
}

/// Raises the limit of open files: this process needs a descriptor for each client.
private func allowDescriptors() throws {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    try #require(limit.rlim_cur > 4 * UInt64(count), "the limit of open files is too low for this test")
}

@Suite("A crowd of clients", .timeLimit(.minutes(30)))
struct CrowdTests {
    // A separate process: programs that other tests start inherit this process's limit.
    @Test("1,000 silent ones and 1,000 that send byte by byte: a good one is served, and the others are closed in time")
    func slow() async {
        await #expect(processExitsWith: .success) {
            try allowDescriptors()
            let installation = Installation(
                "[Daemon]\nConnectionsMax=3000\nConnectionsMaxPerPeer=3000\nLineTimeout=10s\nIdleTimeout=10s\n")
            let daemon = try DaemonProcess.ready(installation)
            let good = try installation.injectClient()
            let idle = try (0..<count).map { _ in try installation.injectClient() }
            let slow = try (0..<count).map { _ in try installation.injectClient() }
            try waitUntil("all are connected") {
                try DaemonStatus(of: installation).number("inject_connections") == 2 * count + 1
            }

            let bytes = Array(#"{"op":"deliver","payload":{"k":""#.utf8)
            var (rounds, served) = (0, 0)
            try waitUntil("the slow ones are closed") {
                // A write to a closed connection fails, which does not matter here.
                let byte = rounds < bytes.count ? bytes[rounds] : UInt8(ascii: "x")
                for client in slow {
                    _ = withUnsafeBytes(of: byte) { send(client.descriptor, $0.baseAddress, 1, Int32(MSG_NOSIGNAL)) }
                }
                rounds += 1
                for _ in 0..<5 {
                    #expect(try good.outcome(of: Requests.deliver()).outcome == "handled")
                    served += 1
                }
                return try refused("slow_line", installation) == count
            }
            #expect(served >= 5 && rounds > 1)
            let refusal = try slow[0].next().description
            #expect(refusal.contains("the request has no line feed after 10 s (LineTimeout=)"), "\(refusal)")
            // A silent connection is closed as well; the good client has sent something just now.
            try waitUntil("the silent ones are closed") {
                #expect(try good.outcome(of: Requests.deliver()).outcome == "handled")
                return try refused("idle", installation) == count
            }
            #expect(try idle[0].isAtEnd())
            // The daemon discards input of the slow clients for a second.
            try waitUntil("they are gone") { try DaemonStatus(of: installation).number("inject_connections") <= 2 }
            #expect(try daemon.stop() == .exited(0))
        }
    }

    @Test("that would take the last descriptors is refused: the log, handlers and administrators keep theirs")
    func descriptors() throws {
        let installation = Installation()
        installation.addJob("runs", "exit 0")
        let daemon = try DaemonProcess.ready(installation, through: ["/usr/bin/prlimit", "--nofile=64:64"])
        let good = try installation.injectClient()
        let crowd = try (0..<100).map { _ in try installation.injectClient() }
        let refusal = try #require(crowd.last).next()
        #expect(refusal.errorCode == "overloaded", "\(refusal)")
        #expect(refusal.errorMessage?.contains("raise LimitNOFILE= of its unit") == true, "\(refusal)")
        // The descriptors of a new client, of handlers' pipes, and of segments that the log makes and the ledger opens.
        let payload = String(repeating: "x", count: 200_000)
        for _ in 0..<20 {
            #expect(try good.outcome(of: Requests.deliver(job: "runs")).outcome == "handled")
            let large = Requests.deliver(#""payload":{"data":{"k":"\#(payload)"}}"#, waits: false)
            #expect(try good.ask(large).isAccepted)
        }
        #expect(try refused("descriptors", installation) > 50)
        #expect(try daemon.stop() == .exited(0))
        #expect(daemon.standardError.contains("raise LimitNOFILE= of its unit"))
    }
}
