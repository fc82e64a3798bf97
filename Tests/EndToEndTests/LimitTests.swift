import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

@Suite("Over a limit", .timeLimit(.minutes(30)))
struct LimitTests {
    @Test("a line that is too long gets one error, is read for a second at most, and delays no other client")
    func tooLong() throws {
        let installation = Installation("[Daemon]\nRequestLengthMax=1K\nLineTimeout=10min\nIdleTimeout=10min\n")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        let other = try installation.injectClient()
        try client.send(line: Requests.deliver(id: "before", waits: false))
        let start = ContinuousClock.now
        // The daemon reads and discards input for a second, requests too. A second write could come later than that.
        let behind = "\n" + Requests.deliver(id: "after", waits: false) + "\n"
        try client.send([UInt8](repeating: UInt8(ascii: "x"), count: 301_025) + Array(behind.utf8))
        #expect(try client.next().id == "before")
        let error = try client.next()
        #expect(
            error.description
                == #"{"ok":false,"error":{"code":"too_long","#
                + #""message":"the request is longer than 1024 bytes (RequestLengthMax=)","retry":false}}"#)
        #expect(try other.outcome(of: Requests.deliver(id: "other")).outcome == "handled")
        #expect(try client.isAtEnd())
        #expect(ContinuousClock.now - start >= .seconds(1))
        #expect(try other.ask(Requests.deliver(id: "after", waits: false)).seq == 3)
    }

    @Test("the longest allowed line is accepted, with and without its line feed in the buffer")
    func longestLine() throws {
        let installation = Installation("[Daemon]\nRequestLengthMax=1K\n")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        let line = Requests.deliver(waits: false)
        let longest = line + String(repeating: " ", count: 1024 - line.utf8.count)
        try client.send(Array((longest + "\n" + longest).utf8))
        client.finishSending()
        #expect(try client.next().isAccepted)
        #expect(try client.next().isAccepted)
        #expect(try client.isAtEnd())
    }

    @Test(
        "a surplus connection gets a time to come again, and there is room after another one closes",
        arguments: [
            (setting: "ConnectionsMax", reason: "there are 2 connections, the limit"),
            (setting: "ConnectionsMaxPerPeer", reason: "uid \(getuid()) has 2 connections, the limit"),
        ])
    func connections(limit: (setting: String, reason: String)) throws {
        let installation = Installation("[Daemon]\n\(limit.setting)=2\n")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let first = try installation.injectClient()
        let second = try installation.injectClient()
        #expect(try first.ask(Requests.deliver(waits: false)).isAccepted)
        #expect(try second.ask(Requests.deliver(waits: false)).isAccepted)

        let third = try installation.injectClient()
        #expect(
            try third.next().description
                == #"{"ok":false,"error":{"code":"overloaded","message":"\#(limit.reason)","retry":true,"retry_after_ms":100}}"#
        )
        #expect(try third.isAtEnd())
        // The administrator has a socket of its own, which producers cannot fill.
        #expect(try DaemonStatus(of: installation).number("inject_connections") == 2)

        try first.leave()
        let fourth = try installation.injectClient()
        #expect(try fourth.ask(Requests.deliver(waits: false)).isAccepted)
        #expect(try second.ask(Requests.deliver(waits: false)).isAccepted)
    }

    @Test("a client that does not read its replies is not read either, and is answered when it reads")
    func slowReader() throws {
        let installation = Installation()
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        // Sends until the socket takes no more; if the daemon read on, that would never happen.
        _ = fcntl(client.descriptor, F_SETFL, fcntl(client.descriptor, F_GETFL) | O_NONBLOCK)
        let line = Array((#"{"op":"deliver","payload":7}"# + "\n").utf8)
        let block = [UInt8]([[UInt8]](repeating: line, count: 1000).joined())
        var sent = 0
        var refusals = 0
        let other = try installation.injectClient()
        while refusals < 10 {
            let rest = block[(sent % line.count)...]
            let count = rest.withUnsafeBytes { send(client.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            sent += max(count, 0)
            try #require(sent < 100 << 20, "the daemon reads without end")
            // The reply to the other client proves a turn in which the loop could have read on.
            #expect(try other.outcome(of: Requests.deliver()).outcome == "handled")
            refusals = count < 0 ? refusals + 1 : 0
        }
        #expect(try #require(residentKilobytes(of: daemon.processID)) < 64 << 10)
        for _ in 0..<sent / line.count { #expect(try client.next().errorCode == "invalid_type") }
        // The rest of the last line, which did not fit.
        try client.send(Array(line[(sent % line.count)...]))
        #expect(try client.next().errorCode == "invalid_type")
        try client.leave()
    }

    @Test("a surplus request in flight is refused with a time to come again; other operations still work")
    func requestsInFlight() throws {
        let installation = Installation("[Dispatch]\nRequestsInFlightMax=2\n")
        let gate = Messages(installation.root + "/gate")
        installation.addJob("slow", "read line <$ROOT/gate")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        #expect(try client.ask(Requests.deliver(job: "slow", id: "s1")).isAccepted)
        #expect(try client.ask(Requests.deliver(job: "slow", id: "s2")).isAccepted)

        let refused = try client.ask(Requests.deliver(id: "late"))
        #expect(refused.errorCode == "overloaded" && refused.id == "late", "\(refused)")
        #expect(refused.errorMessage == "2 requests are in flight, the limit")
        #expect(refused["error"]?["retry"]?.bool == true)
        let wait = try #require(refused["error"]?["retry_after_ms"]?.int64)
        #expect(wait > 0 && wait <= 1000)

        // Lines that need no room are answered as usual: errors, and a repeat of an accepted request.
        let other = try installation.injectClient()
        #expect(try other.ask("{}").errorCode == "missing_key")
        #expect(try other.ask(Requests.deliver(job: "slow", id: "s1", waits: false)).seq == 1)
        #expect(try DaemonStatus(of: installation).number("requests_in_flight") == 2)

        gate.send(times: 2)
        #expect(try client.next().outcome == "handled")
        #expect(try client.next().outcome == "handled")
        #expect(try client.outcome(of: Requests.deliver(id: "late")).outcome == "handled")
    }

    @Test("a peer over its limit does not take another peer's room", .needsRoot)
    func requestsInFlightOfPeer() throws {
        let installation = Installation("[Daemon]\nInjectSocketMode=0666\n[Dispatch]\nRequestsInFlightMaxPerPeer=1\n")
        let gate = Messages(installation.root + "/gate")
        installation.addJob("slow", "read line <$ROOT/gate")
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        #expect(try client.ask(Requests.deliver(job: "slow")).isAccepted)
        let refused = try client.ask(Requests.deliver(waits: false))
        #expect(refused.errorMessage == "1 request of uid 0 is in flight, the limit")

        let reply = try ask(Requests.deliver(waits: false), ofUser: 65_534, at: installation)
        #expect(reply.isAccepted, "\(reply)")
        gate.send()
        #expect(try client.next().outcome == "handled")
    }

    @Test("a client that leaves while it waits leaves no descriptor open")
    func goneWhileWaiting() throws {
        let installation = Installation()
        let gate = Messages(installation.root + "/gate")
        installation.addJob("slow", "read line <$ROOT/gate")
        let daemon = try DaemonProcess.ready(installation)
        let client = try installation.injectClient()
        #expect(try client.ask(Requests.deliver(job: "slow", waits: false)).isAccepted)
        let before = openDescriptors(of: daemon.processID)
        for _ in 0..<50 {
            let waiting = try installation.injectClient()
            #expect(try waiting.ask(Requests.deliver(job: "slow", device: "d")).isAccepted)
        }
        try waitUntil("the daemon has let go of all") {
            try DaemonStatus(of: installation).number("inject_connections") == 1
        }
        // Each running handler has a pidfd and a pipe; the connections have no descriptors any more.
        #expect(openDescriptors(of: daemon.processID) <= before + 12)
        gate.send(times: 51)
        withExtendedLifetime((daemon, client)) {}
    }

    @Test("very many short lines in one write are answered one by one, in order, and others are served in between")
    func manyShortLines() throws {
        let installation = Installation()
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let (client, other) = (try installation.injectClient(), try installation.injectClient())
        try client.send(Array(String(repeating: "x\n", count: 20_000).utf8))
        try client.send(line: Requests.deliver(id: "last", waits: false))
        #expect(try other.ask(Requests.deliver(waits: false)).isAccepted)
        for _ in 0..<20_000 { #expect(try client.next().errorCode == "invalid_json") }
        #expect(try client.next().id == "last")
    }

    @Test("a name of more than 255 bytes is refused", arguments: ["app", "device", "external_id", "id"])
    func longNames(key: String) throws {
        let installation = Installation()
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let name = String(repeating: "x", count: 256)
        let reply = try installation.injectClient().ask(#"{"op":"deliver","\#(key)":"\#(name)","payload":{}}"#)
        #expect(reply.errorCode == "invalid_value" && reply["error"]?["field"]?.string == key, "\(reply)")
    }
}

/// Returns the number of open file descriptors of a process.
private func openDescriptors(of process: Int32) -> Int {
    guard let directory = opendir("/proc/\(process)/fd") else { return 0 }
    defer { closedir(directory) }
    var count = 0
    while readdir(directory) != nil { count += 1 }
    return count
}
