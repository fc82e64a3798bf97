import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

@Suite("pushrouter-http", .timeLimit(.minutes(30)))
struct HTTPProgramTests {
    private let installation = Installation()

    private func server() throws -> WebServer { try WebServer(in: installation.root + "/web") }

    private func remove(_ name: String) {
        unlink("\(installation.configuration)/handlers.d/\(name).handler")
        unlink("\(installation.configuration)/routes.d/50-\(name).route")
    }

    private func outcome(of job: String) throws -> Line {
        try installation.injectClient().outcome(of: Requests.deliver(job: job))
    }

    @Test("that is stopped takes no new requests, waits for those under way until their deadlines, and exits with 0")
    func stopped() throws {
        let server = try server()
        let gate = Messages(server.directory + "/gate")
        installation.addHTTP("ok", server.url("ok"))
        installation.addHTTP("gate", server.url("gate"))
        installation.addHTTP("hang", server.url("hang"), route: "Deadline=6s")
        let daemon = try DaemonProcess.ready(installation)
        #expect(try outcome(of: "ok").outcome == "handled")
        let client = try installation.injectClient()
        for job in ["gate", "hang"] { #expect(try client.ask(Requests.deliver(job: job)).isAccepted) }
        try waitUntil("both are under way") { server.requests.count == 3 }
        let programs = children(of: daemon.processID)
        try #require(programs.count == 1)
        kill(programs[0], SIGTERM)
        try waitUntil("it takes nothing new") { try outcome(of: "ok").reasonCode == "retry_in_device_mode" }
        gate.send()
        let outcomes = try (0..<2).map { _ in try client.next().outcome }
        #expect(Set(outcomes) == ["handled", "timed_out"])
        try waitUntil("it has ended") { !children(of: daemon.processID).contains(programs[0]) }
        #expect(try outcome(of: "ok").outcome == "handled", "by the next one")
        #expect(try daemon.stop() == .exited(0))
        #expect(!daemon.standardError.contains("pushrouter-http ended by itself"), "\(daemon.standardError)")
    }

    // A handler that becomes one of several stays the same handler.
    @Test("that no handler needs any more ends when it can, and a newly started one stays")
    func released() throws {
        let server = try server()
        let gate = Messages(server.directory + "/gate")
        installation.addHTTP("old", server.url("gate"))
        let daemon = try DaemonProcess.ready(installation)
        var reloads = 1
        func reload() throws {
            reloads += 1
            daemon.send(SIGHUP)
            try daemon.waitForNotification("READY=1", times: reloads)
        }
        let client = try installation.injectClient()
        #expect(try client.ask(Requests.deliver(job: "old")).isAccepted)
        try waitUntil("it is under way") { server.requests.count == 1 }
        let first = children(of: daemon.processID)
        try #require(first.count == 1)
        remove("old")
        installation.addHTTP("new", server.url("ok"))
        try reload()
        #expect(try outcome(of: "new").outcome == "handled")
        #expect(children(of: daemon.processID) == first, "there is one for all")
        gate.send()
        #expect(try client.next().outcome == "handled")

        // The program cannot end while it is stopped.
        kill(first[0], SIGSTOP)
        remove("new")
        try reload()
        installation.addHTTP("next", server.url("ok"))
        try reload()
        #expect(try outcome(of: "next").outcome == "handled")
        let second = children(of: daemon.processID).filter { $0 != first[0] }
        #expect(second.count == 1)
        kill(first[0], SIGCONT)
        try waitUntil("it has ended") { !children(of: daemon.processID).contains(first[0]) }
        installation.addHTTP("more", server.url("ok"))
        try reload()
        for job in ["more", "next"] { #expect(try outcome(of: job).outcome == "handled") }
        #expect(children(of: daemon.processID) == second, "\(daemon.standardError)")
        #expect(try daemon.stop() == .exited(0))
        #expect(!daemon.standardError.contains("pushrouter-http ended by itself"), "\(daemon.standardError)")
    }

    @Test("works with a daemon whose directories are relative, and so do other programs")
    func relative() throws {
        let server = try server()
        installation.addHTTP("crm", server.url("ok"))
        installation.addJob("job", "exit 0")
        let daemon = DaemonProcess(
            installation, arguments: ["--config", "etc", "--state", "state", "--runtime", "run"],
            through: ["/usr/bin/env", "-C", installation.root])
        try daemon.waitForNotification("READY=1")
        for job in ["crm", "job"] { #expect(try outcome(of: job).outcome == "handled") }
        installation.addHTTP("more", server.url("ok"))
        daemon.send(SIGHUP)
        try daemon.waitForNotification("READY=1", times: 2)
        for job in ["more", "crm"] { #expect(try outcome(of: job).outcome == "handled") }
        #expect(children(of: daemon.processID).count == 1)
        #expect(try daemon.stop() == .exited(0))
    }

    private static let activator = "/usr/bin/systemd-socket-activate"

    @Test(
        "as a service without a free descriptor pauses, and takes connections again when it has one",
        .needs(program: activator, of: "systemd"))
    func shortage() throws {
        let socket = installation.root + "/http.sock"
        installation.addHTTP("crm", "http://127.0.0.1:1/unused")
        let service = DaemonProcess(
            installation, arguments: ["--config", installation.configuration], program: "pushrouter-http",
            through: [Self.activator, "-l", socket])
        func limitDescriptors(to limit: Int) throws {
            let options = ["--pid", "\(service.processID)", "--nofile=\(limit):"]
            try #require(Program(path: "/usr/bin/prlimit").run(options).end == .exited(0))
        }
        /// Returns the number of times that its loop has waited.
        func waits() throws -> Int {
            let path = "/proc/\(service.processID)/status"
            let status = String(decoding: try #require(readFile(path)), as: UTF8.self)
            let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") })
            return try #require(Int(line.split(separator: "\t")[1]))
        }
        try waitUntil("the service listens") { (try? Client(path: socket)) != nil }
        let first = try Client(path: socket)
        #expect(try first.receiveLine() == [])
        try limitDescriptors(to: 3)
        let second = try Client(path: socket)
        try waitUntil("it says so") { service.standardError.contains("a connection was not accepted: ") }
        let before = try waits()
        try waitUntil("it has rested some times") { try waits() > before + 3 }
        #expect(service.standardError.split(separator: "\n").count { $0.contains("was not accepted") } == 1)
        try limitDescriptors(to: 100)
        #expect(try second.receiveLine() == [])
    }

    @Test(
        "aborts a request during the look-up of its server's name, and ends although the look-up continues",
        .needsRoot)
    func lookup() throws {
        let server = try server()
        let names = try #require(SilentNameServer())
        let list = installation.root + "/resolv.conf"
        // Longer than the timeout of any test.
        writeFile("nameserver \(names.address)\noptions timeout:30 attempts:5\n", to: list)
        installation.addHTTP("ok", server.url("ok"))
        installation.addHTTP("lost", "http://nowhere.example/")
        let daemon = try DaemonProcess.ready(
            installation,
            through: [
                "/usr/bin/unshare", "--mount", "/bin/sh", "-c", #"mount --bind "$0" /etc/resolv.conf && exec "$@""#,
                list,
            ])
        #expect(try outcome(of: "ok").outcome == "handled")
        let client = try installation.injectClient()
        #expect(try client.ask(Requests.deliver(job: "lost")).isAccepted)
        try #require(names.isAsked(), "nobody asks for the name")
        let line = try client.next()
        #expect(line.outcome != "handled", "\(line)")
        #expect(try outcome(of: "ok").outcome == "handled")
        let programs = children(of: daemon.processID)
        try #require(programs.count == 1)
        kill(programs[0], SIGTERM)
        try waitUntil("it has ended") { !isAlive(programs[0]) }
        #expect(try daemon.stop() == .exited(0))
    }
}

/// A name server that never answers, at a local address that no other test run uses.
private final class SilentNameServer {
    let address = "127.77.\(getpid() >> 8 & 0xFF).\(1 + getpid() & 0x7F)"
    private let socket: Int32

    init?() {
        socket = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_port = UInt16(53).bigEndian
        place.sin_addr.s_addr = inet_addr(address)
        let socket = socket
        let isBound = withUnsafePointer(to: &place) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isBound else { return nil }
    }

    deinit { close(socket) }

    /// Waits for a query.
    func isAsked() -> Bool { waitUntilReadable([socket], milliseconds: Int32(patience)) != nil }
}
