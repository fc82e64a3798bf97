import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

/// An installation whose state directory is a small file system, with a ballast file.
private final class SmallDisk {
    let installation = Installation()
    private var ballast: String { installation.state + "/ballast" }

    /// - Parameter size: the size of the file system in the form for mount(8).
    init(_ size: String) throws {
        mkdir(installation.state, 0o700)
        try #require(mount("tmpfs", installation.state, "tmpfs", 0, "size=\(size)") == 0, "cannot mount")
    }

    // A daemon may still be running.
    deinit { umount2(installation.state, Int32(MNT_DETACH)) }

    /// Fills the file system, except for `spared` bytes.
    func fill(sparing spared: Int = 0) {
        let file = open(ballast, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        let block = [UInt8](repeating: 0, count: 4096)
        var length = 0
        while case let count = write(file, block, block.count), count > 0 { length += count }
        ftruncate(file, max(0, length - spared))
    }

    /// Frees the space.
    func empty() { unlink(ballast) }

    /// Returns the free bytes.
    func free() throws -> Int {
        var facts = statvfs()
        try #require(statvfs(installation.state, &facts) == 0)
        return Int(facts.f_bavail) * Int(facts.f_frsize)
    }
}

@Suite("A full disk", .needsRoot)
struct FullDiskTests {
    @Test("makes the daemon refuse requests, never acknowledge one that is lost, and continue when there is room")
    func fullDisk() throws {
        let disk = try SmallDisk("4m")
        defer { withExtendedLifetime(disk) {} }
        let installation = disk.installation
        let daemon = try DaemonProcess.ready(installation)
        defer { withExtendedLifetime(daemon) {} }
        let client = try installation.injectClient()
        let payload = String(repeating: "x", count: 20_000)
        func request(_ index: Int) -> String {
            Requests.deliver(#""payload":{"data":{"k":"\#(payload)"}}"#, id: "r\(index)", waits: false)
        }

        // Some requests fit; then a ballast file takes the rest.
        var acknowledged: Set<Int64> = []
        for index in 0..<20 { acknowledged.insert(try #require(try client.ask(request(index)).seq)) }
        disk.fill()
        var unanswered = 0
        try waitUntil("the daemon has seen that the disk is full") {
            try client.send(line: request(100 + unanswered))
            unanswered += 1
            return try DaemonStatus(of: installation)["store_problem"]?.string != nil
        }
        let refused = try installation.injectClient().ask(Requests.deliver(id: "late"))
        #expect(refused.errorCode == "unavailable" && refused.id == "late", "\(refused)")
        #expect(refused["error"]?["retry"]?.bool == true && refused["error"]?["retry_after_ms"]?.int64 == 1000)
        #expect(refused.errorMessage?.contains("free space on that file system") == true)
        // Earlier requests are still known.
        #expect(try DaemonStatus(of: installation).number("last_seq") >= 20)
        // Reports still work, even with read access only.
        let directories = ["--state", installation.state, "--runtime", installation.runtime]
        let report = pushctl.run(directories + ["report", "--json"])
        #expect(report.end == .exited(0), "\(report.errors)")
        #expect(try #require(json(report.output)["accepted"]?.int64) >= 20, "\(report.errors)")

        disk.empty()
        for _ in 0..<unanswered {
            let reply = try client.next()
            #expect(reply.isAccepted || reply.errorCode == "unavailable", "\(reply)")
            if let seq = reply.seq { acknowledged.insert(seq) }
        }
        try waitUntil("the daemon has seen that there is room") {
            try DaemonStatus(of: installation)["store_problem"]?.kind == .null
        }
        acknowledged.insert(try #require(try client.ask(Requests.deliver(id: "late", waits: false)).seq))
        #expect(acknowledged.count > 21, "some waited for the room")
        let ledger = try installation.ledgerRows()
        #expect(acknowledged.allSatisfy { ledger[InvocationID(seq: SequenceNumber($0), n: 0)] != nil })
    }

    @Test("makes the daemon refuse a reload whose configuration cannot be kept; with room it is in force")
    func reload() throws {
        let disk = try SmallDisk("4m")
        let installation = disk.installation
        let daemon = try DaemonProcess.ready(installation)
        let control = try Client(path: installation.controlSocket)
        disk.fill()
        installation.write("pushrouterd.conf", "[Deadline]\nBudget=8s\n")
        let refused = try control.ask(#"{"op":"reload"}"#)
        #expect(refused["reloaded"]?.bool == false)
        let problem = refused["problem"]?.string ?? ""
        #expect(
            problem.hasPrefix("the configuration cannot be kept: ") && problem.contains("No space left"), "\(problem)")
        disk.empty()
        #expect(try control.ask(#"{"op":"reload"}"#)["reloaded"]?.bool == true)
        withExtendedLifetime((daemon, disk)) {}
    }

    @Test("makes the daemon refuse each order that changes something, without a partial effect")
    func orders() throws {
        let disk = try SmallDisk("4m")
        defer { withExtendedLifetime(disk) {} }
        let installation = disk.installation
        installation.write("pushrouterd.conf", "[Dispatch]\nMode=relay\n")
        installation.addJob("fails", "exit 1")
        let daemon = try TestDaemon(installation)
        let client = try installation.injectClient()
        #expect(try client.outcome(of: Requests.deliver(job: "fails")).outcome == "failed")
        let event = #"{"op":"log","kind":"custom_event","name":"bought","app":"shop","suite":"standard"}"#
        #expect(try client.ask(event).isAccepted)

        disk.fill()
        let large = Requests.deliver(
            #""payload":{"data":{"k":"\#(String(repeating: "x", count: 20_000))"}}"#, waits: false)
        var unanswered = 0
        try waitUntil("the daemon has seen that the disk is full") {
            try client.send(line: large)
            unanswered += 1
            return try DaemonStatus(of: installation)["store_problem"]?.string != nil
        }
        // Reports are accepted, and so are a log level and a reload, which are not stored.
        let taken = ["settle", "sending", "log_level", "reload", "gateway_rotate"]
        let orders = ControlLines.changing.filter { !taken.contains($0.key) }
        let control = try Client(path: installation.controlSocket)
        for (name, line) in orders {
            let reply = try control.ask(line)
            #expect(reply.errorCode == "unavailable", "\(name): \(reply)")
            #expect(reply["error"]?["retry_after_ms"]?.int64 == 1000, "\(name): \(reply)")
        }

        disk.empty()
        for _ in 0..<unanswered { _ = try client.next() }
        let dead = try json(daemon.pushctl("deadletters", "--json").output)
        #expect(dead["dead_letters"]?.elements.map { $0["seq"]?.int64 } == [1])
        let pending = try json(daemon.pushctl("pending", "--json").output)
        #expect(pending["entries"]?.elements.map { $0["state"]?.string } == ["pending"])
    }

    @Test("includes a limit on file length: a start waits, and no signal ends it")
    func fileLimit() throws {
        let installation = Installation()
        // The tests may have inherited an ignored SIGXFSZ, and a child would ignore it too.
        let wrapper = ["/usr/bin/env", "--default-signal=XFSZ", "/usr/bin/prlimit", "--fsize=65536"]
        let daemon = DaemonProcess(installation, through: wrapper)
        try waitUntil("it says why it is not ready") { daemon.standardError.contains("the start waits for room") }
        #expect(daemon.standardError.contains("LimitFSIZE="), "\(daemon.standardError)")
        #expect(try daemon.stop() == .exited(0))
    }

    @Test("does not keep the daemon from stopping: it ends with 74, and keeps what it acknowledged")
    func stopsWhileFull() throws {
        let disk = try SmallDisk("4m")
        defer { withExtendedLifetime(disk) {} }
        let installation = disk.installation
        let daemon = try fullDaemon(disk)
        #expect(try daemon.stop() == .exited(74))
        #expect(daemon.standardError.contains("stopped without room"), "\(daemon.standardError)")
        disk.empty()
        #expect(try installation.ledgerRows()[InvocationID(seq: SequenceNumber(1), n: 0)] != nil)
    }

    @Test("that has room again when the daemon stops takes what waited, and the daemon ends well")
    func stopsWithRoomAgain() throws {
        let disk = try SmallDisk("4m")
        defer { withExtendedLifetime(disk) {} }
        let daemon = try fullDaemon(disk)
        disk.empty()
        #expect(try daemon.stop() == .exited(0), "\(daemon.standardError)")
    }

    /// A daemon that has acknowledged request 1, and has seen that the disk is full.
    private func fullDaemon(_ disk: SmallDisk) throws -> DaemonProcess {
        let daemon = try DaemonProcess.ready(disk.installation)
        let client = try disk.installation.injectClient()
        let payload = String(repeating: "x", count: 20_000)
        let request = Requests.deliver(#""payload":{"data":{"k":"\#(payload)"}}"#, id: nil, waits: false)
        #expect(try client.ask(request).seq == 1)
        disk.fill()
        try waitUntil("the daemon has seen that the disk is full") {
            try client.send(line: request)
            return try DaemonStatus(of: disk.installation)["store_problem"]?.string != nil
        }
        return daemon
    }

    @Test("delays a start, with a notice; the start continues when there is room, or ends on SIGTERM")
    func startsWhileFull() throws {
        let disk = try SmallDisk("4m")
        defer { withExtendedLifetime(disk) {} }
        let installation = disk.installation
        do {
            let daemon = try DaemonProcess.ready(installation)
            #expect(try installation.injectClient().ask(Requests.deliver(id: "a", waits: false)).seq == 1)
            daemon.crash()
        }
        disk.fill()
        let told = DaemonProcess(installation)
        let room = "the start waits for room on the disk; 5 MiB free are enough, and 0 MiB are free: "
        try waitUntil("it says why it is not ready, and how much it needs") { told.standardError.contains(room) }
        #expect(try told.stop() == .exited(0))

        let daemon = DaemonProcess(installation)
        try waitUntil("it says why it is not ready") { daemon.standardError.contains("the start waits for room") }
        disk.empty()
        try daemon.waitForNotification("READY=1")
        #expect(try installation.injectClient().ask(Requests.deliver(id: "a", waits: false)).seq == 1)
    }

    @Test("delays the rest of an erasure, which writes nothing meanwhile and ends when there is room")
    func erasure() throws {
        let disk = try SmallDisk("240m")
        defer { withExtendedLifetime(disk) {} }
        let installation = disk.installation
        do {
            let daemon = try TestDaemon(installation)
            let payload = #""payload":{"data":{"k":"\#(String(repeating: "x", count: 20_000))"}}"#
            let client = try installation.injectClient()
            for index in 0..<2000 {
                #expect(try client.ask(Requests.deliver(payload, id: "r\(index)", waits: false)).isAccepted)
            }
            try live(daemon)
            #expect(try daemon.process.stop() == .exited(0))
        }
        // The stop has copied the WAL to the ledger. The erasure takes 20 MB of the ledger's 40 and frees them: with
        // the remaining space they are not enough.
        let daemon = try TestDaemon(installation)
        try waitForSegments(of: installation)
        disk.fill(sparing: 12 << 20)

        let process = daemon.process.processID
        let (room, written) = (try disk.free(), try bytesWritten(by: process))
        let erased = daemon.pushctl("erase", "--user", "anna7731", "--yes", "--json")
        try #require(erased.end == .exited(0), "\(erased.errors) \(daemon.process.standardError)")
        let reply = try json(erased.output)
        #expect(reply["erased"]?.bool == true && reply["complete"]?.bool == false, "\(erased.output)\(erased.errors)")
        #expect(reply["waits_for"]?.string?.contains("rewriting the ledger needs") == true, "\(erased.output)")
        #expect(try bytesWritten(by: process) - written < 8 << 20)
        #expect(try room - disk.free() < 8 << 20)

        disk.empty()
        try waitUntil("the erasure has come to its end") { access(installation.state + "/erasure", F_OK) != 0 }
        #expect(daemon.pushctl("show", "2001").end == .exited(0))
    }

    @Test("answers an order to erase: it is accepted, and carried out when there is room")
    func orderWithoutRoom() throws {
        let disk = try SmallDisk("32m")
        defer { withExtendedLifetime(disk) {} }
        let installation = disk.installation
        let daemon = try TestDaemon(installation)
        try live(daemon)
        #expect(daemon.pushctl("report").end == .exited(0), "the ledger has all of it then")
        try waitForSegments(of: installation)
        disk.fill()
        let client = try Client(path: installation.controlSocket)
        let answer = try client.ask(#"{"op":"erase","external_id":"anna7731"}"#)
        #expect(answer.errorCode == "unavailable", "\(answer)")
        #expect(answer.errorMessage?.contains("the erasure is ordered") == true, "\(answer)")
        let another = try client.ask(#"{"op":"erase","external_id":"ben"}"#)
        #expect(another.errorCode == "unavailable", "\(another)")

        disk.empty()
        try waitUntil("the erasure has come to its end") {
            daemon.pushctl("erase", "--user", "anna7731", "--yes", "--json").output.contains(#""complete":true"#)
        }
        #expect(daemon.pushctl("erase", "--user", "anna7731", "--dry-run", "--json").output.contains(#""requests":0"#))
    }

    /// Waits until the log has its two free segments of 8 MiB each: making a segment writes, and frees its space again
    /// if the disk is full.
    private func waitForSegments(of installation: Installation) throws {
        try waitUntil("the log has the segments that it wants") {
            try store(of: installation, "log_bytes") - store(of: installation, "log_used_bytes") >= 16 << 20
        }
    }

    private func store(of installation: Installation, _ key: String) throws -> Int64 {
        try #require(DaemonStatus(of: installation)["store"]?[key]?.int64, "the status has no store.\(key)")
    }

    /// Adds a request of a person.
    private func live(_ daemon: TestDaemon) throws {
        let line = #"""
            {"op":"deliver","app":"shop","device":"d1","platform":"android","external_id":"anna7731",\#
            "payload":{"data":{"k":"of-anna7731"}}}
            """#
        let result = daemon.pushctl("inject", "--wait", "-", input: line + "\n")
        try #require(result.end == .exited(0), "\(result.output)\(result.errors)")
    }

    /// Returns the bytes that a process has written by system calls.
    private func bytesWritten(by process: Int32) throws -> Int {
        let text = String(decoding: try #require(readFile("/proc/\(process)/io")), as: UTF8.self)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("wchar: ") })
        return try #require(Int(line.dropFirst(7)))
    }
}
