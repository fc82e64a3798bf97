import CLinux
import Glibc
import TestSupport
import Testing

@testable import HandlerProcess
@testable import LinuxSystem

@Suite("The cgroup of a run", .timeLimit(.minutes(30)))
struct RunCgroupsTests {
    @Test("has the limits of the handler, and exists before the program")
    func limits() throws {
        let directory = TemporaryDirectory()
        mkdir("\(directory.path)/runs", 0o755)
        let cgroups = RunCgroups(directory: directory.path, isStandIn: true)
        var command = shell("exit 0")
        command.confinement.cgroup = CgroupLimits(memoryMax: 1 << 20, tasksMax: 7, processorWeight: 20)
        let child = try command.start(in: cgroups, KnownUsers())
        #expect(try child.waitForExit() == .exited(0))
        cgroups.stop()
        let written = ["memory.max", "memory.oom.group", "pids.max", "cpu.weight", "cgroup.procs"].map {
            readFile("\(directory.path)/runs/run-1/\($0)").map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(written == ["1048576", "1", "7", "20", "0"], "0 is who writes it: the child itself")
    }

    @Test("with a refused limit keeps the program from starting, with the file and the reason")
    func refusedLimit() throws {
        let directory = TemporaryDirectory()
        let cgroups = RunCgroups(directory: directory.path, isStandIn: true)
        let error = #expect(throws: SpawnError.self) {
            _ = try shell("exit 0").start(in: cgroups, KnownUsers())
        }
        #expect(
            error?.reason
                == "cannot set up its cgroup, \(directory.path)/runs/run-1: No such file or directory")
    }

    @Test("has its controllers enabled at both levels; one that the service lacks is reported")
    func controllers() throws {
        let directory = TemporaryDirectory()
        mkdir("\(directory.path)/runs", 0o755)
        for path in [directory.path, "\(directory.path)/runs"] {
            writeFile("memory pids\n", to: "\(path)/cgroup.controllers")
            writeFile("", to: "\(path)/cgroup.subtree_control")
        }
        let cgroups = RunCgroups(directory: directory.path, isStandIn: true)
        #expect(cgroups.enable([.cpu, .memory]) == [.cpu])
        for path in [directory.path, "\(directory.path)/runs"] {
            #expect(readFile("\(path)/cgroup.subtree_control") == Array("+memory".utf8))
        }
    }

    @Test(
        "ends with the run, whatever the run did to escape: no process is left and no cgroup",
        .needs("a cgroup that it may make", if: TestCgroup.isPossible))
    func end() throws {
        let cgroup = try #require(TestCgroup())
        let cgroups = RunCgroups(directory: cgroup.path)
        defer { cgroups.stop() }
        // A process in another session, without a mark or a parent, and one that forks without end.
        let script = """
            env -i setsid sh -c 'sleep 600 & echo $!; exec sleep 600' &
            setsid sh -c 'while :; do sleep 600 & sleep 0.001; done' & echo $!
            trap '' TERM; while :; do sleep 1; done
            """
        let child = try shell(script).start(in: cgroups, KnownUsers())
        let escaped = try child.outputProcesses(2)
        #expect(CgroupFile.processes(of: "\(cgroup.path)/runs/run-1").contains(child.processID))
        child.killGroup()
        for process in escaped { #expect(waitUntilGone(process)) }
        _ = try child.waitForExit()
        try cgroup.waitUntilEmpty()
        #expect(!cgroups.hasEndingCgroups)
    }

    @Test(
        "loses the helpers of its run at the end of that, and those of another run stay",
        .needs("a cgroup that it may make", if: TestCgroup.isPossible))
    func others() throws {
        let cgroup = try #require(TestCgroup())
        let cgroups = RunCgroups(directory: cgroup.path)
        defer { cgroups.stop() }
        let script = "setsid sh -c 'echo $$; exec sleep 600' & read line"
        var pair = [shell(script), shell(script)]
        for number in pair.indices { pair[number].streams = .conversation(readsErrors: false) }
        let (first, second) = (
            try pair[0].start(in: cgroups, KnownUsers()), try pair[1].start(in: cgroups, KnownUsers())
        )
        let helpers = (try first.outputProcesses(1)[0], try second.outputProcesses(1)[0])
        first.killGroup()
        #expect(waitUntilGone(helpers.0))
        #expect(isRunning(helpers.1))
        second.killGroup()
        #expect(waitUntilGone(helpers.1))
        _ = (try first.waitForExit(), try second.waitForExit())
        try cgroup.waitUntilEmpty()
    }

    @Test(
        "that is empty is reused by the next run of the same command and confinement, and removed with the others",
        .needs("a cgroup that it may make", if: TestCgroup.isPossible))
    func usedAgain() throws {
        let cgroup = try #require(TestCgroup())
        let cgroups = RunCgroups(directory: cgroup.path)
        defer { cgroups.stop() }
        func run(_ script: String, niceness: Int? = nil) throws -> [String] {
            var command = shell("sed -n 's,^0::.*/,,p' /proc/self/cgroup; \(script)")
            command.confinement.niceness = niceness
            let child = try command.start(in: cgroups, KnownUsers())
            let lines = try child.outputLines(1)
            _ = try child.waitForExit()
            return lines
        }
        #expect(try run("exit 0") == ["run-1"])
        #expect(try run("exit 0") == ["run-1"])
        #expect(try run("exit 0", niceness: 1) == ["run-2"], "it may have other limits")
        // A cgroup with a process left in it must be killed first; the next run gets another cgroup at once.
        let leaves = "setsid sleep 600 >/dev/null 2>&1 </dev/null &"
        #expect(try run(leaves) == ["run-3"], "it is another command")
        #expect(try run(leaves) == ["run-4"])
        #expect(try run("exit 0") == ["run-1"])
        cgroups.removeFree()
        try cgroup.waitUntilEmpty()
        #expect(try run("exit 0") == ["run-5"])
        cgroups.removeFree()
        try cgroup.waitUntilEmpty()
    }

    @Test(
        "is kept for later runs up to a limit",
        .needs("a cgroup that it may make", if: TestCgroup.isPossible))
    func keptAtMost() throws {
        let cgroup = try #require(TestCgroup())
        let cgroups = RunCgroups(directory: cgroup.path)
        defer { cgroups.stop() }
        let children = try (0..<RunCgroups.freeMax + 8).map { _ in
            try shell("read line").start(in: cgroups, KnownUsers())
        }
        for child in children { _ = try child.waitForExit() }
        try cgroup.waitUntilLeft(RunCgroups.freeMax)
        #expect(!cgroups.hasEndingCgroups)
        cgroups.removeFree()
        try cgroup.waitUntilEmpty()
    }

    @Test(
        "is not kept if its run was killed or not started, if it has a memory limit, or if it is frozen",
        .needs("a cgroup that it may make", if: TestCgroup.isPossible))
    func notKept() throws {
        let cgroup = try #require(TestCgroup())
        let cgroups = RunCgroups(directory: cgroup.path)
        defer { cgroups.stop() }
        // Kills at once, when the program may not be in its cgroup yet.
        for _ in 1...50 {
            let child = try shell("while :; do sleep 1; done").start(in: cgroups, KnownUsers())
            child.killGroup()
            _ = try child.waitForExit()
        }
        var missing = shell("exit 0")
        missing.arguments[0] = "/no/such/program"
        #expect(try missing.start(in: cgroups, KnownUsers()).waitForExit() == .exited(127))
        var limited = shell("exit 0")
        limited.confinement.cgroup.memoryMax = 64 << 20
        #expect(try limited.start(in: cgroups, KnownUsers()).waitForExit() == .exited(0))
        try cgroup.waitUntilEmpty()
        // The program leaves its cgroup, and freezes it.
        let away = #"own=\#(cgroup.path)/runs/$(sed -n 's,^0::.*/,,p' /proc/self/cgroup)"#
        let leaves = "; echo 0 >\(cgroup.path)/cgroup.procs"
        let freezes = "; echo 1 >$own/cgroup.freeze; grep -q 'frozen 1' $own/cgroup.events"
        #expect(try shell(away + leaves + freezes).start(in: cgroups, KnownUsers()).waitForExit() == .exited(0))
        try cgroup.waitUntilEmpty()
    }

    @Test(
        "that a process cannot join is removed",
        .needs("a cgroup that it may make", if: TestCgroup.isPossible))
    func threaded() throws {
        let cgroup = try #require(TestCgroup())
        let cgroups = RunCgroups(directory: cgroup.path)
        defer { cgroups.stop() }
        let away = #"own=\#(cgroup.path)/runs/$(sed -n 's,^0::.*/,,p' /proc/self/cgroup)"#
        let spoils = "; echo 0 >\(cgroup.path)/cgroup.procs; echo threaded >$own/cgroup.type"
        // A failure of a program that keeps running is known at once, one with its whole input at the end of its
        // process.
        for streams in [ProcessCommand.Streams.once(input: []), .conversation(readsErrors: false)] {
            #expect(try shell(away + spoils).start(in: cgroups, KnownUsers()).waitForExit() == .exited(0))
            var command = shell("exit 0")
            command.streams = streams
            let refusal = try command.startFailure(in: cgroups)
            #expect(refusal.reason.hasPrefix("cannot join its cgroup"))
            try cgroup.waitUntilEmpty()
        }
        #expect(try shell("exit 0").start(in: cgroups, KnownUsers()).waitForExit() == .exited(0))
        cgroups.removeFree()
        try cgroup.waitUntilEmpty()
    }

    @Test(
        "of a command with many kept ones makes room for another command's",
        .needs("a cgroup that it may make", if: TestCgroup.isPossible))
    func givesWay() throws {
        let cgroup = try #require(TestCgroup())
        let cgroups = RunCgroups(directory: cgroup.path)
        defer { cgroups.stop() }
        let children = try (0..<RunCgroups.freeMax).map { _ in try shell("read line").start(in: cgroups, KnownUsers()) }
        for child in children { _ = try child.waitForExit() }
        let next = "run-\(RunCgroups.freeMax + 1)"
        for _ in 1...2 {
            let child = try shell("sed -n 's,^0::.*/,,p' /proc/self/cgroup").start(in: cgroups, KnownUsers())
            #expect(try child.outputLines(1) == [next])
            _ = try child.waitForExit()
        }
        try cgroup.waitUntilLeft(RunCgroups.freeMax)
        cgroups.removeFree()
        try cgroup.waitUntilEmpty()
    }

    @Test(
        "can be killed on a kernel without cgroup.kill",
        .needs("a cgroup that it may make", if: TestCgroup.isPossible))
    func olderKernel() throws {
        let cgroup = try #require(TestCgroup())
        let cgroups = RunCgroups(directory: cgroup.path)
        defer { cgroups.stop() }
        let child = try shell("setsid sleep 600 & echo $!; exec sleep 600").start(in: cgroups, KnownUsers())
        let escaped = try child.outputProcesses(1)[0]
        CgroupFile.kill("\(cgroup.path)/runs/run-1", atOnce: false)
        #expect(waitUntilGone(escaped))
        #expect(try child.waitForExit() == .signaled(SIGKILL))
        cgroups.removeFree()
        try cgroup.waitUntilEmpty()
    }
}

/// Limits and attributes that separate a program from the daemon.
@Suite("A confined program", .timeLimit(.minutes(30)))
struct ConfinementTests {
    @Test("has its limit of open files, soft and hard, and its niceness")
    func limits() throws {
        var command = shell("ulimit -Sn; ulimit -Hn; nice")
        command.descriptorLimit = 100
        command.confinement.openFilesMax = 64
        command.confinement.niceness = 7
        #expect(try command.start().outputLines() == ["64", "64", "7"])
    }

    @Test("runs as its user, with that user's groups and no capability", .needsRoot)
    func user() throws {
        var command = shell(
            "id -u; id -g; id -G; grep -E 'Cap(Inh|Prm|Eff|Amb)' /proc/self/status | grep -vc 0000000000000000")
        command.confinement.user = "nobody"
        #expect(try command.start().outputLines() == ["65534", "65534", "65534", "0"])
    }

    @Test("gains no privileges by an exec with NoNewPrivileges", arguments: [true, false])
    func privileges(hasNone: Bool) throws {
        let ours = try shell("grep NoNewPrivs /proc/self/status").start().outputLines()
        var command = shell("grep NoNewPrivs /proc/self/status")
        command.confinement.hasNoNewPrivileges = hasNone
        #expect(try command.start().outputLines() == (hasNone ? ["NoNewPrivs:\t1"] : ours))
    }

    @Test("with an unknown user is not started, with the reason")
    func unknownUser() {
        var command = shell("exit 0")
        command.confinement.user = "no-such-user"
        let error = #expect(throws: SpawnError.self) { _ = try command.start() }
        #expect(error?.description == "cannot start /bin/sh: there is no user no-such-user (User=)")
    }
}

extension ProcessCommand {
    /// Starts the command without a cgroup.
    func start() throws(SpawnError) -> ChildProcess { try start(in: nil, KnownUsers()) }
}

/// A cgroup for one test, with `runs` below it, removed with its contents.
final class TestCgroup {
    /// The mount point of cgroup v2.
    private static let mount = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].first {
        access("\($0)/cgroup.procs", W_OK) == 0 && access("\($0)/cgroup.subtree_control", F_OK) == 0
    }

    /// Whether this user may create one here.
    static let isPossible = TestCgroup() != nil

    let path: String

    init?() {
        guard let mount = Self.mount else { return nil }
        path = "\(mount)/push-test-\(uniqueMark().dropFirst(4).replacing(":", with: "-"))"
        guard mkdir(path, 0o755) == 0 else { return nil }
        guard mkdir("\(path)/runs", 0o755) == 0 else { return nil }
    }

    deinit {
        CgroupFile.kill("\(path)/runs")
        // rmdir(2) fails until the killed processes have exited.
        for _ in 0..<5000 where !CgroupFile.remove(path) { usleep(1000) }
    }

    /// Waits until no run has a cgroup.
    func waitUntilEmpty() throws { try waitUntilLeft(0) }

    /// Waits until at most so many cgroups of runs are left.
    func waitUntilLeft(_ count: Int) throws {
        let end = ContinuousClock.now + .seconds(60)
        while CgroupFile.children(of: "\(path)/runs").count > count {
            try #require(ContinuousClock.now < end, "a cgroup is left")
            usleep(1000)
        }
    }
}
