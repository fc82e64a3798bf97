import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

@Suite("Clients that never read, never end a line, or never send", .timeLimit(.minutes(30)))
struct HostileClientTests {
    /// Returns the status's count of refusals for a reason.
    private func refused(_ reason: String, _ installation: Installation) throws -> Int64 {
        try #require(DaemonStatus(of: installation)["clients"]?["refused"]?[reason]?.int64)
    }

    private func bytes(_ kind: String, _ installation: Installation) throws -> Int64 {
        try #require(DaemonStatus(of: installation)["clients"]?[kind]?.int64)
    }

    /// Returns the number of turns of the loop.
    private func turns(of installation: Installation) throws -> Int64 {
        try #require(DaemonStatus(of: installation)["turns"]?["count"]?.int64)
    }

    /// Sends a text repeatedly, until the socket has taken nothing for a while.
    private func sendUntilFull(_ client: Client, _ text: [UInt8], _ other: Client) throws {
        _ = fcntl(client.descriptor, F_SETFL, fcntl(client.descriptor, F_GETFL) | O_NONBLOCK)
        var failures = 0
        while failures < 3 {
            let count = text.withUnsafeBytes { send(client.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            failures = count < 0 ? failures + 1 : 0
            // The reply to the other client proves a turn in which the loop could have read on.
            if count < 0 { #expect(try other.ask(Requests.deliver(waits: false)).isAccepted) }
        }
    }

    @Test("unread replies are bounded in bytes in all, and other clients are served as before")
    func output() throws {
        let installation = Installation("[Daemon]\nOutputSizeMax=1M\nOutputSizeMaxPerPeer=1M\n")
        let daemon = try DaemonProcess.ready(installation)
        let other = try installation.injectClient()
        let lines = [UInt8](String(repeating: "7\n", count: 20_000).utf8)
        let clients = try (0..<40).map { _ in try installation.injectClient() }
        for client in clients { try sendUntilFull(client, lines, other) }
        // Each client has its share of 16 KiB regardless of others, and one slice of work may exceed it.
        let owed = try bytes("output_bytes", installation)
        #expect(owed > 1 << 20 && owed < 4 << 20, "\(owed)")
        #expect(try #require(residentKilobytes(of: daemon.processID)) < 80 << 10)
        #expect(try other.outcome(of: Requests.deliver()).outcome == "handled")
        #expect(try refused("invalid_request", installation) > 1000)
    }

    @Test("one that leaves its replies unread is closed after WriteTimeout=, and counted")
    func unread() throws {
        let installation = Installation("[Daemon]\nWriteTimeout=1s\n")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let other = try installation.injectClient()
        let client = try installation.injectClient()
        try sendUntilFull(client, [UInt8](String(repeating: "7\n", count: 20_000).utf8), other)
        try waitUntil("it is closed") { try refused("slow_reader", installation) == 1 }
        #expect(try bytes("output_bytes", installation) == 0)
        #expect(try other.outcome(of: Requests.deliver()).outcome == "handled")
    }

    @Test("one that ends after a line that is too long gets all its replies")
    func endsBehindLongLine() throws {
        let installation = Installation()
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        // The end must come before the replies are on disk: 5 of 60 such clients used to lose theirs.
        for _ in 0..<60 {
            let client = try installation.injectClient()
            let good = String(repeating: Requests.deliver(waits: false) + "\n", count: 5)
            try client.send(Array((good + String(repeating: "x", count: 330_000)).utf8))
            client.finishSending()
            let lines = try client.all()
            #expect(lines.filter(\.isAccepted).count == 5)
            #expect(try #require(lines.last).errorCode == "too_long")
        }
    }

    @Test("one that has ended after such a line still gets later outcomes, and costs no time meanwhile")
    func endsBeforeOutcome() throws {
        let installation = Installation()
        // Longer than the time for which the daemon discards bytes after such a line.
        installation.addJob("late", "sleep 2")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        let long = String(repeating: "x", count: 330_000)
        try client.send(Array((Requests.deliver(job: "late") + "\n" + long).utf8))
        #expect(try client.next().isAccepted)
        #expect(try client.next().errorCode == "too_long")
        let before = try turns(of: installation)
        client.finishSending()
        #expect(try client.next().outcome == "handled")
        let taken = try turns(of: installation) - before
        #expect(taken < 300, "the loop went round for the end of its stream: \(taken) turns")
        #expect(try client.isAtEnd())
    }

    @Test(
        "a line without an end is refused after LineTimeout=, and counted; a client with whole lines is not limited")
    func line() throws {
        let installation = Installation("[Daemon]\nLineTimeout=1s\n")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        let other = try installation.injectClient()
        #expect(try other.ask(Requests.deliver(waits: false)).isAccepted)
        try client.send([UInt8](#"{"op":"#.utf8))
        let refusal = try client.next().description
        #expect(refusal.contains("the request has no line feed after 1 s (LineTimeout=)"), "\(refusal)")
        #expect(try client.isAtEnd())
        #expect(try refused("slow_line", installation) == 1)
        #expect(try other.ask(Requests.deliver(waits: false)).isAccepted)
    }

    @Test("a silent one is closed after IdleTimeout=, and counted; one that waits for an outcome is not")
    func idle() throws {
        let installation = Installation("[Daemon]\nIdleTimeout=3s\n")
        let gate = Messages(installation.root + "/gate")
        installation.addJob("wait", "read -r _ <$ROOT/gate")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let waiting = try installation.injectClient()
        #expect(try waiting.ask(Requests.deliver(job: "wait")).isAccepted)
        let silent = try installation.injectClient()
        #expect(try silent.isAtEnd())
        #expect(try refused("idle", installation) >= 1)
        gate.send()
        #expect(try waiting.next().outcome == "handled")
    }

    @Test("received parts of long lines are bounded in bytes, and each line completes")
    func input() throws {
        let (installation, daemon) = try littleRoom()
        defer { withExtendedLifetime(daemon) {} }
        let other = try installation.injectClient()
        var lines = try (0..<30).map { _ in LongLine(try installation.injectClient()) }
        var most: Int64 = 0
        while lines.contains(where: { !$0.isSent }) {
            var sent = 0
            for place in lines.indices { sent += lines[place].send() }
            // The reply to the other client proves a turn in which the loop could have read on.
            if sent == 0 { #expect(try other.ask(Requests.deliver(waits: false)).isAccepted) }
            most = max(most, try bytes("input_bytes", installation))
        }
        // Six million bytes were sent.
        #expect(most < 3 << 20, "\(most)")
        for line in lines { #expect(try line.client.next().isAccepted) }
        #expect(try bytes("input_bytes", installation) == 0)
    }

    @Test("a long line that stops while others wait for its room is refused, and the others complete")
    func stalled() throws {
        let (installation, daemon) = try littleRoom()
        defer { withExtendedLifetime(daemon) {} }
        var lines = try (0..<6).map { _ in LongLine(try installation.injectClient()) }
        // All but the last byte of each line; the sixth exceeds the room, as one line may.
        for place in lines.indices {
            while lines[place].unsent > 1 { _ = lines[place].send(leaving: 1) }
            try waitUntil("it has come") { try bytes("input_bytes", installation) >= (place + 1) * 200_000 }
        }
        var last = LongLine(try installation.injectClient())
        while !last.isSent { _ = last.send() }
        #expect(try last.client.next().isAccepted)
        #expect(try refused("slow_line", installation) == 1)
        let refusal = try lines[5].client.next().description
        #expect(refusal.contains("the request is not complete"), "\(refusal)")
    }

    private func littleRoom() throws -> (Installation, DaemonProcess) {
        let installation = Installation("[Daemon]\nInputSizeMax=1M\nInputSizeMaxPerPeer=1M\n")
        return (installation, try DaemonProcess.ready(installation))
    }
}

/// A client with a request of 200 KB, which it sends as fast as its socket takes it.
private struct LongLine {
    let client: Client
    private let line: [UInt8]
    private var sent = 0

    init(_ client: Client) {
        self.client = client
        let text = String(repeating: "x", count: 200_000)
        line = Array((Requests.deliver(#""payload":{"data":{"text":"\#(text)"}}"#, waits: false) + "\n").utf8)
    }

    var isSent: Bool { unsent == 0 }
    var unsent: Int { line.count - sent }

    /// Sends as much as the socket takes.
    ///
    /// - Returns: the number of bytes.
    mutating func send(leaving rest: Int = 0) -> Int {
        let before = sent
        while sent < line.count - rest {
            let count = line[sent..<line.count - rest].withUnsafeBytes {
                Glibc.send(client.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            }
            guard count > 0 else { break }
            sent += count
        }
        return sent - before
    }
}
