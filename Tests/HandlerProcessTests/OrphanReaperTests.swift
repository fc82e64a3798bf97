import Glibc
import TestSupport
import Testing

@testable import HandlerProcess

/// A subreaper with a pool, as in the daemon.
private final class Daemon {
    var reaper: OrphanReaper
    let pool = WaitingPool()

    init() throws { reaper = try OrphanReaper() }

    /// Kills the processes that a failed test left: they would outlive the test's process.
    deinit {
        while true {
            for thread in names(in: "/proc/self/task") {
                let children = ProcessFiles.contents("/proc/self/task/\(thread)/children") ?? []
                for process in ProcessFiles.processes(parsing: children) { kill(process, SIGKILL) }
            }
            // This process adopts the children of each that it kills; `waitpid` fails with ECHILD after the last.
            if waitpid(-1, nil, 0) < 0, errno == ECHILD { return }
        }
    }

    func start(_ script: String) throws -> ChildProcess { try pool.start(shell(script)) }

    /// Starts a program that keeps running.
    func startWorker(_ script: String) throws -> ChildProcess {
        try pool.start(
            ProcessCommand(
                arguments: ["/bin/sh", "-c", script], environment: [("PATH", "/usr/bin:/bin")],
                streams: .conversation(readsErrors: false), mark: uniqueMark()))
    }

    /// Sweeps until no adopted process is left to kill.
    func sweepUntilEmpty() {
        let end = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < end {
            let sweep = reaper.sweep()
            // A reaped process may have left children since the list was read.
            if sweep.killed == 0, sweep.undecided == 0, sweep.reaped == 0 { return }
            sched_yield()
        }
        Issue.record("adopted processes do not end")
    }

    /// Sweeps until every process is judged; returns the number of killed ones.
    func killedUntilDecided() -> Int {
        var killed = 0
        while true {
            let sweep = reaper.sweep()
            killed += sweep.killed
            if sweep.undecided == 0 { return killed }
            sched_yield()
        }
    }

    /// Ends the run as at its deadline, with all processes that it left.
    func end(_ child: ChildProcess) throws {
        child.killGroup()
        _ = reaper.sweep()
        #expect(try child.waitForExit() == .signaled(SIGKILL))
        sweepUntilEmpty()
    }
}

/// Each test runs in its own process: a subreaper adopts the orphans of all other tests.
@Suite("A process that a run left", .timeLimit(.minutes(30)))
struct OrphanReaperTests {
    @Test(
        "dies at the end of the run, wherever it moved",
        arguments: [
            "setsid sleep 60 & echo $!; sleep 60",
            "setsid sh -c 'echo $$; sleep 60 & echo $!; wait' & sleep 60",
            "(setsid sh -c 'echo $$; exec sleep 60' &); sleep 60",
            "(setsid sh -c '(setsid sh -c \"echo \\$\\$; exec sleep 60\" &); echo $$; exec sleep 60' &); sleep 60",
            "env -i setsid sh -c 'echo $$; exec sleep 60' & sleep 60",
            "(env -i setsid sh -c 'trap \"\" TERM HUP INT; (setsid sh -c \"echo \\$\\$; exec sleep 60\" &); sleep 60' &)"
                + "; sleep 60",
            "(env PUSH_RUN=another setsid sh -c 'echo $$; exec sleep 60' &); sleep 60",
            "(perl -e 'setpgrp(0, getpgrp(\(getpid()))); $| = 1; print qq($$\\n); sleep 60' &); sleep 60",
        ])
    func escaped(script: String) async {
        await #expect(processExitsWith: .success) { [script] in
            let daemon = try Daemon()
            let child = try daemon.start(script)
            let escaped = try child.outputProcesses(1)[0]
            try daemon.end(child)
            #expect(kill(escaped, 0) == -1 && errno == ESRCH, "\(escaped) is still there")
            #expect(waitpid(-1, nil, WNOHANG) == -1 && errno == ECHILD, "a zombie is still there")
        }
    }

    @Test("may live as long as its run")
    func live() async {
        await #expect(processExitsWith: .success) {
            for script in [
                "(setsid sh -c 'echo $$; exec sleep 60' &); read line",  // by its mark
                "(env -i sh -c 'echo $$; exec sleep 60' &); read line",  // by its group
            ] {
                let daemon = try Daemon()
                let child = try daemon.start("\(script); sleep 60")
                let helper = try child.outputProcesses(1)[0]
                while ProcessFiles.status(of: helper)?.parent != getpid() { sched_yield() }
                let sweep = daemon.reaper.sweep()
                #expect(sweep.killed == 0)
                #expect(isRunning(helper))
                try daemon.end(child)
                #expect(kill(helper, 0) == -1 && errno == ESRCH)
            }
        }
    }

    @Test("without mark and group may live as long as a run that may have started it")
    func unmarked() async {
        await #expect(processExitsWith: .success) {
            let daemon = try Daemon()
            let child = try daemon.start("(env -i setsid sh -c 'echo $$; exec sleep 60' &); sleep 60")
            let escaped = try child.outputProcesses(1)[0]
            while ProcessFiles.status(of: escaped)?.parent != getpid() { sched_yield() }
            #expect(daemon.killedUntilDecided() == 0)
            #expect(isRunning(escaped))
            // This run began later, and cannot have started it.
            let other = try daemon.start("sleep 60")
            try daemon.end(child)
            #expect(kill(escaped, 0) == -1 && errno == ESRCH)
            try daemon.end(other)
        }
    }

    @Test("without mark and group may live as long as a worker that may have started it")
    func unmarkedOfWorker() async {
        await #expect(processExitsWith: .success) {
            let daemon = try Daemon()
            let worker = try daemon.startWorker("(env -i setsid sh -c 'echo $$; exec sleep 60' &); read line; sleep 60")
            let helper = try worker.outputProcesses(1)[0]
            while ProcessFiles.status(of: helper)?.parent != getpid() { sched_yield() }
            let run = try daemon.start("sleep 60")
            #expect(daemon.killedUntilDecided() == 0)
            try daemon.end(run)
            #expect(isRunning(helper))
            // This worker began later, and cannot have started it.
            let other = try daemon.startWorker("sleep 60")
            try daemon.end(worker)
            #expect(kill(helper, 0) == -1 && errno == ESRCH)
            try daemon.end(other)
        }
    }

    // Root reads every environment.
    @Test("may live with its run although its environment cannot be read", .needsOrdinaryUser)
    func unreadableWithoutRoot() async {
        await #expect(processExitsWith: .success) {
            let daemon = try Daemon()
            // prctl(PR_SET_DUMPABLE, 0): only root may read its environment.
            let hide = "syscall(157, 4, 0); print qq($$\\n); sleep 60"
            let child = try daemon.start("(setsid perl -e '$| = 1; \(hide)' &); sleep 60")
            let hidden = try child.outputProcesses(1)[0]
            while ProcessFiles.status(of: hidden)?.parent != getpid() { sched_yield() }
            #expect(daemon.killedUntilDecided() == 0)
            #expect(isRunning(hidden))
            try daemon.end(child)
            #expect(kill(hidden, 0) == -1 && errno == ESRCH)
        }
    }

    @Test("is not read again by a sweep once it is judged; new ones are judged in parts")
    func many() async {
        await #expect(processExitsWith: .success) {
            let daemon = try Daemon()
            let child = try daemon.start(
                "i=0; while [ $i -lt 100 ]; do (setsid sleep 60 &); i=$((i+1)); done; echo done; sleep 60")
            _ = try child.outputLines(1)
            let first = daemon.reaper.sweep()
            let looked = OrphanReaper.workMax / OrphanReaper.lookCost + 1
            #expect(first.killed == 0 && first.undecided >= 100 - looked - first.reaped)
            while daemon.reaper.sweep().undecided > 0 { sched_yield() }
            try daemon.end(child)
            #expect(waitpid(-1, nil, WNOHANG) == -1 && errno == ECHILD)
        }
    }

    @Test("needs one kill after its run if it was judged before, so that 2,000 die within 16 sweeps")
    func manyKills() async {
        await #expect(processExitsWith: .success) {
            let daemon = try Daemon()
            let count = 2000
            let helper = "POSIX::setsid(); syswrite $to, q(x); sleep 600"
            let child = try daemon.start(
                "exec perl -MPOSIX -e '$| = 1; pipe $from, $to; for (1 .. \(count)) { if (fork) { wait } else "
                    + "{ fork and POSIX::_exit(0); \(helper) } read $from, $x, 1; print qq($_\\n) } sleep 600'"
            )
            // Waits for a line from each, so that a slow machine does not fail the test.
            _ = try child.outputLines(count)
            #expect(daemon.killedUntilDecided() == 0)
            child.killGroup()
            var (sweeps, reaped, ended) = (0, 0, 0)
            while ended < count {
                let sweep = daemon.reaper.sweep()
                sweeps += 1
                reaped += sweep.reaped
                #expect(sweep.reaped <= 32)
                #expect(reaped + sweep.killed - ended <= 128)
                ended = reaped + sweep.killed
            }
            #expect(sweeps <= 16)
            #expect(try child.waitForExit() == .signaled(SIGKILL))
            daemon.sweepUntilEmpty()
            #expect(waitpid(-1, nil, WNOHANG) == -1 && errno == ECHILD)
        }
    }

    @Test("dies after a run that ended by itself, in the leader's group and outside")
    func afterExit() async {
        await #expect(processExitsWith: .success) {
            let daemon = try Daemon()
            let child = try daemon.start(
                "sleep 60 & echo $!; setsid sh -c 'echo $$; exec sleep 60' & read line; exit 80")
            let left = try child.outputProcesses(2)
            #expect(try child.waitForExit() == .exited(80))
            daemon.sweepUntilEmpty()
            for process in left { #expect(kill(process, 0) == -1 && errno == ESRCH) }
        }
    }

    @Test("dies even if it forks as fast as it can")
    func storm() async {
        await #expect(processExitsWith: .success) {
            let daemon = try Daemon()
            let forks = "while :; do /bin/true & /bin/true & /bin/true; done"
            let child = try daemon.start("setsid sh -c 'echo $$; \(forks)' & \(forks)")
            let escaped = try child.outputProcesses(1)[0]
            try daemon.end(child)
            #expect(kill(escaped, 0) == -1 && errno == ESRCH)
            #expect(waitpid(-1, nil, WNOHANG) == -1 && errno == ECHILD)
        }
    }

    @Test("dies even if it hops from process to process, each in a new session")
    func relay() async {
        await #expect(processExitsWith: .success) {
            let daemon = try Daemon()
            let perl = "while (1) { fork and exit; POSIX::setsid(); print qq($$\\n) unless $n++ }"
            let child = try daemon.start("exec perl -MPOSIX -e '$| = 1; \(perl)'")
            _ = try child.outputLines(1)
            #expect(try child.waitForExit() == .exited(0))
            daemon.sweepUntilEmpty()
            #expect(waitpid(-1, nil, WNOHANG) == -1 && errno == ECHILD)
        }
    }

    @Test("is reaped when it ends by itself, and takes no exit status from a handler")
    func zombies() async {
        await #expect(processExitsWith: .success) {
            let daemon = try Daemon()
            let child = try daemon.start("(sh -c 'echo $$; read line' &); sleep 60")
            let exited = try daemon.start("exit 3")
            let helper = try child.outputProcesses(1)[0]
            try #require(waitUntilReadable(exited.pidfd))
            while kill(helper, 0) == 0 { _ = daemon.reaper.sweep() }
            #expect(exited.reap() == .exited(3))
        }
    }

    @Test("is adopted after the pool has stopped, too, when the kernel gives its children to the main thread")
    func stoppedPool() async {
        await #expect(processExitsWith: .success) {
            let daemon = try Daemon()
            let child = try daemon.start("exec sleep 60")
            daemon.pool.stop()
            let sweep = daemon.reaper.sweep()
            #expect(sweep == OrphanReaper.Sweep())
            child.killGroup()
            #expect(try child.waitForExit() == .signaled(SIGKILL))
        }
    }

    @Test("is not confused with the daemon's earlier children, which are reaped but not killed")
    func inherited() async {
        await #expect(processExitsWith: .success) {
            // As after `other & exec pushrouterd`: a child that this module did not start. The kernel puts it into the
            // main thread's list when the thread that started it ends.
            var thread = pthread_t()
            var other: pid_t = 0
            pthread_create(
                &thread, nil,
                { other in
                    var arguments = [strdup("sleep"), strdup("60"), nil]
                    posix_spawn(other?.assumingMemoryBound(to: pid_t.self), "/bin/sleep", nil, nil, &arguments, nil)
                    return nil
                }, &other)
            pthread_join(thread, nil)
            let daemon = try Daemon()
            let sweep = daemon.reaper.sweep()
            #expect(sweep.killed == 0)
            #expect(isRunning(other))
            kill(other, SIGKILL)
            while kill(other, 0) == 0 { _ = daemon.reaper.sweep() }
        }
    }

    @Test("is spared in the process group of an earlier child, which left it")
    func leftByInherited() async {
        await #expect(processExitsWith: .success) {
            // As after `setsid other & exec pushrouterd`; the child continues once the daemon runs.
            var thread = pthread_t()
            var other: pid_t = 0
            pthread_create(
                &thread, nil,
                { other in
                    var attributes = posix_spawnattr_t()
                    posix_spawnattr_init(&attributes)
                    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
                    let script = "kill -STOP $$; (sleep 60 &); exec sleep 60"
                    var arguments = [strdup("sh"), strdup("-c"), strdup(script), nil]
                    posix_spawn(
                        other?.assumingMemoryBound(to: pid_t.self), "/bin/sh", nil, &attributes, &arguments, nil)
                    return nil
                }, &other)
            pthread_join(thread, nil)
            var facts = siginfo_t()
            #expect(waitid(P_PID, id_t(other), &facts, WSTOPPED | Int32(WNOWAIT)) == 0)
            let daemon = try Daemon()
            kill(other, SIGCONT)
            var left: Int32?
            while left == nil {
                let children = ProcessFiles.contents("/proc/self/task/\(getpid())/children") ?? []
                left = ProcessFiles.processes(parsing: children).first { $0 != other }
                sched_yield()
            }
            let process = try #require(left)
            #expect(daemon.killedUntilDecided() == 0)
            #expect(isRunning(other) && isRunning(process))
            kill(-other, SIGKILL)
            while kill(other, 0) == 0 || kill(process, 0) == 0 { _ = daemon.reaper.sweep() }
        }
    }
}
