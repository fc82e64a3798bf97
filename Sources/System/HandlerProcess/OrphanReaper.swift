import CLinux
import Glibc
import LinuxSystem

/// Ends what a run started and left behind, wherever it went.
///
/// The process becomes a child subreaper: whatever its descendants orphan (setsid, a double fork) becomes its own child.
/// Such an adopted process, that is, a child that we did not start, is judged so:
///
/// - a zombie is reaped, by its exact id: `waitpid(-1)` would take the handlers' exits away;
/// - with the mark of a live run, or in the process group of one, it may live: it goes when that run ends;
/// - with the mark of a run that has ended it is killed, and its group with it;
/// - in the middle of execve, or while it exits, nobody can tell: it is looked at again;
/// - of any other nobody can tell either: it has no mark, or does not let us read it, or goes on exiting, with threads that
///   do not. It may be a helper of any run that is live when it is found, a worker's as well, so it is killed when all of
///   those have ended. As process 1 of a container this includes strangers that somebody else orphaned;
/// - a child from before this value was made (`other & exec pushrouterd`) is none of our business, and neither is what its
///   process group leaves.
///
/// A process is judged once, and remembered until it is gone: only unreaped children of ours are remembered and signalled,
/// so no number can mean another process by now. What a killed process leaves is adopted in turn, with a SIGCHLD, so that
/// the tree dies from the top, a level a sweep; forks within one group do not help, as the kernel signals a group at once.
///
/// Which of our children are adopted? The kernel lists children by the thread that started them and gives orphans to the
/// first living thread of the process (`find_alive_thread` in kernel/exit.c), which is the main thread as long as it
/// lives; and only the threads of `SpawnPool` start processes. So one list, the main thread's, has the adopted, and a
/// child that was started a moment ago and is not known yet is never in it.
///
/// One a process, used by one thread.
public struct OrphanReaper: ~Copyable {
    /// What one sweep did.
    public struct Sweep: Sendable, Equatable {
        /// Zombies that were reaped.
        public var reaped = 0
        /// Processes that were sent SIGKILL, now or by an earlier sweep, and are not reaped: each death is a SIGCHLD.
        public var killed = 0
        /// Processes in the middle of execve, or exiting, or not looked at, ended or reaped yet because there are many: sweep
        /// again in a few milliseconds, there is no signal for that.
        public var undecided = 0
        /// Processes that may not be signalled (another user's, through a set-user-id program), each named once: they stay.
        public var untouchable: [Int32] = []
    }

    /// What is known of an adopted process.
    private enum Verdict {
        /// It belongs to the run with this mark, which was live when it was found.
        case belongs(String)
        /// It may belong to any run that began up to this point.
        case unknown(since: LiveRuns.Point)
        /// It was exiting each time that it was looked at, so many times.
        case exiting(Int)
        /// It was sent SIGKILL.
        case killed
        case untouchable
        /// It is a child from before, or was in the process group of one.
        case inherited
    }

    /// How much a sweep does, in kills, each about 8 us: the loop must not wait longer than about 1 ms.
    public static let workMax = 128
    /// As many kills does it cost to read what `/proc` says of a process.
    static let lookCost = 3
    /// A sweep reaps one zombie for each so many kills that it may do, about 15 us each and so half a millisecond: what one
    /// sweep kills, the next finds dead.
    static let killsForReap = 4
    /// After how many looks an exiting process is one of which nobody can tell whose it is.
    static let exitingMax = 100

    /// How many processes that it adopted are not reaped.
    public var adoptedCount: Int {
        verdicts.values.count { verdict in
            if case .inherited = verdict { false } else { true }
        }
    }

    private let children: FileDescriptor
    private var verdicts: [Int32: Verdict]
    /// Those that are none of our business.
    private var inherited: Set<Int32>
    private let mark: (Int32) -> ProcessFiles.Mark
    /// What the sweep has done, in kills.
    private var work = 0

    /// Gives SIGCHLD its default action, and makes this process a subreaper. Before the first run, on any thread.
    ///
    /// - Parameter adopts: whether it becomes a subreaper. Where each run has a cgroup nothing has to be adopted, but what
    ///   process 1 of a container is given all the same.
    /// - Throws: `OrphanReaperError` if the kernel does not list children.
    public init(adopts: Bool = true) throws(OrphanReaperError) {
        try self.init(adopts: adopts, mark: ProcessFiles.mark(of:))
    }

    /// - Parameter mark: whose run a process belongs to.
    init(adopts: Bool, mark: @escaping (Int32) -> ProcessFiles.Mark) throws(OrphanReaperError) {
        let path = "/proc/self/task/\(getpid())/children"
        guard let children = FileDescriptor(open(path, O_RDONLY | O_CLOEXEC)) else {
            throw OrphanReaperError(path: path, code: errno)
        }
        // An ignored SIGCHLD survives exec; then the kernel would reap: no exit status, ids used again behind our back.
        signal(SIGCHLD, SIG_DFL)
        if adopts { _ = CLinux_become_subreaper() }
        inherited = Set(Self.list(children))
        verdicts = Dictionary(uniqueKeysWithValues: inherited.map { ($0, Verdict.inherited) })
        self.children = children
        self.mark = mark
    }

    /// Judges all adopted processes that are not judged yet, and ends those whose run has ended; never waits. Below 1 us
    /// when there is none; below 1 us for each that is known, so call it through a ``SweepPace``. To be called on SIGCHLD,
    /// and after `ChildProcess.killGroup` and `reap`, which end a run.
    ///
    /// - Parameter limit: how much it does, in kills; what it does not look at or end counts as undecided.
    public mutating func sweep(atMost limit: Int = OrphanReaper.workMax) -> Sweep {
        var sweep = Sweep()
        let listed = Self.list(children)
        guard !listed.isEmpty else { return sweep }
        let oldest = LiveRuns.oldest
        let reapedMax = max(1, limit / Self.killsForReap)
        var ended: [String: Bool] = [:]
        work = 0
        for process in listed where !LiveRuns.hasChild(process) {
            if sweep.reaped < reapedMax, ExitStatus.wait(P_PID, id_t(process), WNOHANG) != nil {
                if case .inherited = verdicts.removeValue(forKey: process) { inherited.remove(process) }
                sweep.reaped += 1
                continue
            }
            switch verdicts[process] {
            case .inherited, .untouchable: break
            case .killed: sweep.killed += 1
            case .belongs(let mark):
                let hasEnded = ended[mark] ?? !LiveRuns.isLive(mark)
                ended[mark] = hasEnded
                guard hasEnded else { continue }
                if work < limit { end(process, &sweep) } else { sweep.undecided += 1 }
            case .unknown(let since):
                guard oldest > since else { continue }
                if work < limit { end(process, &sweep) } else { sweep.undecided += 1 }
            case nil, .exiting:
                if work < limit { judge(process, &sweep) } else { sweep.undecided += 1 }
            }
        }
        // There may be more zombies, and their signals are taken.
        if sweep.reaped == reapedMax { sweep.undecided += 1 }
        return sweep
    }

    /// Ends all that is left, for a process that ends: what the dead leave is adopted, and ended in turn.
    ///
    /// - Parameter limit: how long it waits at most, in nanoseconds.
    public mutating func endAll(withinNanoseconds limit: Int64) {
        let end = SystemClock.monotonicNanoseconds + limit
        while true {
            // Before the sweep: what they leave is adopted when they die.
            let areDead = LiveRuns.areDead
            let sweep = sweep(atMost: .max)
            guard !areDead || sweep.reaped + sweep.killed + sweep.undecided > 0 else { return }
            guard SystemClock.monotonicNanoseconds < end else { return }
            usleep(1000)
        }
    }

    private mutating func judge(_ process: Int32, _ sweep: inout Sweep) {
        work += Self.lookCost
        // Before it is looked at: a run that begins later cannot have started it.
        let now = LiveRuns.now
        switch mark(process) {
        case .undecided: sweep.undecided += 1
        case .marked(let mark) where LiveRuns.isLive(mark): verdicts[process] = .belongs(mark)
        case .marked(let mark) where LiveRuns.isOurs(mark): end(process, &sweep)
        case .exiting where looks(at: process) < Self.exitingMax:
            verdicts[process] = .exiting(looks(at: process) + 1)
            sweep.undecided += 1
        case .marked, .unmarked, .unreadable, .exiting:
            let group = ProcessFiles.status(of: process)?.group
            if let mark = group.flatMap(LiveRuns.mark(ofGroup:)) {
                verdicts[process] = .belongs(mark)
            } else if let group, isInherited(group) {
                verdicts[process] = .inherited
                inherited.insert(process)
            } else if LiveRuns.oldest > now {
                end(process, &sweep)
            } else {
                verdicts[process] = .unknown(since: now)
            }
        }
    }

    /// Whether a process group is that of a child from before. Our own, which all of them may be in, is nobody's.
    private func isInherited(_ group: Int32) -> Bool {
        group != getpgrp() && inherited.contains { ProcessFiles.status(of: $0)?.group == group }
    }

    private func looks(at process: Int32) -> Int {
        if case .exiting(let count) = verdicts[process] { count } else { 0 }
    }

    /// Kills a process, and its group if that is no live run's: groups may fork faster than single processes are found.
    private mutating func end(_ process: Int32, _ sweep: inout Sweep) {
        work += 1
        // Who left the group of its run leads one mostly, or has led it: a group with the number of our unreaped child is
        // nobody else's, and needs no look.
        if kill(-process, SIGKILL) != 0 {
            work += Self.lookCost
            let group = ProcessFiles.status(of: process)?.group ?? 0
            if group > 1, group != getpgrp(), LiveRuns.mark(ofGroup: group) == nil, !isInherited(group) {
                kill(-group, SIGKILL)
            }
        }
        if kill(process, SIGKILL) == 0 {
            verdicts[process] = .killed
            sweep.killed += 1
        } else {
            verdicts[process] = .untouchable
            sweep.untouchable.append(process)
        }
    }

    private static func list(_ children: borrowing FileDescriptor) -> [Int32] {
        ProcessFiles.contents(children).map(ProcessFiles.processes) ?? []
    }
}

/// The kernel does not tell which children a process has.
public struct OrphanReaperError: Error, Equatable, CustomStringConvertible {
    /// The file that could not be opened.
    public let path: String
    /// The error number.
    public let code: Int32

    /// What was wrong and what is needed.
    public var description: String {
        "cannot read \(path): \(errorText(code)); escaped processes cannot be found without /proc and a "
            + "kernel with CONFIG_PROC_CHILDREN"
    }
}
