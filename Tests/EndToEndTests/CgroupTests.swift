import Glibc
import TestSupport
import Testing

@testable import LinuxSystem

@Suite(
    "In a cgroup of its own", .needs("a cgroup that it may make", if: DelegatedCgroup.isPossible),
    .timeLimit(.minutes(30)))
struct CgroupTests {
    private func cgroup(_ name: String = #function) throws -> DelegatedCgroup {
        try #require(DelegatedCgroup(name: "push-\(name.prefix { $0 != "(" })-\(getpid())"))
    }

    @Test("the daemon moves to a leaf, each run has a cgroup, and status says so")
    func place() throws {
        let installation = Installation()
        let messages = Messages(installation.root + "/told")
        installation.addJob(
            "look", "sed -n s/^0:://p /proc/self/cgroup >>$ROOT/told; exec sleep 60", route: "Deadline=3s")
        let cgroup = try cgroup()
        let daemon = try DaemonProcess.ready(installation, cgroup: cgroup.path)
        #expect(cgroup.processes(of: "daemon") == [daemon.processID])
        #expect(try DaemonStatus(of: installation).text("containment") == "cgroups")
        let client = try installation.injectClient()
        #expect(try client.ask(Requests.deliver(job: "look")).isAccepted)
        #expect(try messages.next().hasSuffix("/runs/run-1"))
        #expect(try client.next().outcome == "timed_out")
        try waitUntil("its cgroup is gone") { cgroup.children(of: "runs").isEmpty }
    }

    @Test("the processes of a run end with it, whatever they did to escape, and are not the daemon's children")
    func hostile() throws {
        let installation = Installation()
        let messages = Messages(installation.root + "/processes")
        let script = """
            env -i setsid sh -c 'echo $$ >>'$ROOT'/processes; trap "" TERM; while :; do sleep 1; done' &
            (setsid sh -c 'echo $$ >>$ROOT/processes; exec sleep 60' &) &
            echo $$ >>$ROOT/processes; kill -STOP $$; exec sleep 60
            """
        installation.addJob("hostile", script, route: "Deadline=4s")
        let cgroup = try cgroup()
        let daemon = try DaemonProcess.ready(installation, cgroup: cgroup.path)
        let client = try installation.injectClient()
        #expect(try client.ask(Requests.deliver(job: "hostile")).isAccepted)
        let started = try messages.processes(3)
        #expect(try client.next().outcome == "timed_out")
        try waitUntil("all of them are gone") { !started.contains(where: isAlive) }
        try waitUntil("their cgroup is gone") { cgroup.children(of: "runs").isEmpty }
        #expect(children(of: daemon.processID) == [])
    }

    @Test("a start ends the processes that a killed daemon's runs left behind, with or without a mark")
    func leftovers() throws {
        let installation = Installation()
        let messages = Messages(installation.root + "/processes")
        installation.addJob(
            "leave", "env -i setsid sh -c 'echo $$ >>'$ROOT'/processes; exec sleep 600' & exec sleep 600")
        let cgroup = try cgroup()
        let first = try DaemonProcess.ready(installation, cgroup: cgroup.path)
        let client = try installation.injectClient()
        #expect(try client.ask(Requests.deliver(job: "leave")).isAccepted)
        let started = try messages.processes(1)
        first.crash()
        #expect(started.allSatisfy(isAlive), "it is what the next start has to end")
        let second = try DaemonProcess.ready(installation, cgroup: cgroup.path)
        defer { withExtendedLifetime(second) {} }
        try waitUntil("it is gone") { !started.contains(where: isAlive) }
        #expect(try DaemonStatus(of: installation).text("containment") == "cgroups")
    }

    @Test("a limit whose controller is missing is a warning, and the handler runs")
    func missingController() throws {
        let installation = Installation()
        installation.addJob("small", "exit 0", handler: "MemoryMax=64M\nTasksMax=20\nCPUWeight=10")
        let cgroup = try cgroup()
        let has = String(decoding: readFile("\(cgroup.path)/cgroup.controllers") ?? [], as: UTF8.self)
        let daemon = try DaemonProcess.ready(installation, cgroup: cgroup.path)
        let client = try installation.injectClient()
        #expect(try client.ask(Requests.deliver(job: "small")).isAccepted)
        #expect(try client.next().outcome == "handled")
        let missing = [("cpu", "CPUWeight="), ("memory", "MemoryMax="), ("pids", "TasksMax=")]
            .filter { !has.split { $0 == " " || $0 == "\n" }.contains(Substring($0.0)) }.map(\.1)
        if !missing.isEmpty {
            let text = "handler small: \(missing.joined(separator: ", ")) has no effect"
            // A separate thread writes the journal.
            try waitUntil("the warning is written") { daemon.standardError.contains(text) }
        }
    }

    @Test("a cgroup that other processes share stays unchanged")
    func shared() throws {
        let installation = Installation()
        let cgroup = try cgroup()
        let other = Program(path: "/bin/sh").run([
            "-c", #"sleep 600 >/dev/null 2>&1 & echo $! >"$0/cgroup.procs""#, cgroup.path,
        ])
        #expect(other.end == .exited(0))
        let daemon = try DaemonProcess.ready(installation, cgroup: cgroup.path)
        #expect(cgroup.processes(of: "").contains(daemon.processID))
        let status = try DaemonStatus(of: installation)
        #expect(try status.text("containment") == "process_groups")
        #expect(try status.text("containment_reason").hasSuffix("has other processes, too"))
    }
}
