import CLinux
import Glibc
import LinuxSystem

/// Kills the processes that a run started and left behind, in whatever group or session they are.
///
/// The process becomes a child subreaper: it adopts each process that its descendants orphan (setsid, a double fork).
/// It classifies an adopted process, that is, a child that it did not start, as follows:
///
/// - It reaps a zombie by its exact id: `waitpid(-1)` would consume the handlers' exits.
/// - A process with the mark of a live run, or in the process group of one, may live until that run ends.
/// - A process with the mark of an ended run is killed, together with its group.
/// - A process in execve, or in exit, cannot be classified yet: it is checked again.
/// - Any other process cannot be classified: it has no mark, or its environment is unreadable, or some of its threads
///   exit and others do not. It may be a helper of any run that is live when it is found, including a worker's, so it
///   is killed after all of those have ended. If this process is process 1 of a container, these include strangers that
///   other processes orphaned.
/// - A child from before this value was made (`other & exec pushrouterd`) is left alone, and so are the orphans of its
///   process group.
///
/// A process is classified once, and remembered until it is gone. Only unreaped children are remembered and signalled,
/// so their numbers cannot have been reused. The orphans of a killed process are adopted in turn, with a SIGCHLD, so a
/// tree dies from the top, one level a sweep. Forks within a group do not escape, because the kernel signals a group at
/// once.
///
/// The kernel keeps a list of children for each thread: it lists a child with the thread that started it, and gives
/// orphans to the first living thread of the process (`find_alive_thread` in kernel/exit.c), which is the main thread
/// as long as it lives. Only the threads of `SpawnPool` start processes. So the main thread's list has exactly the
/// adopted processes, and never a child that was started a moment ago and is not known yet.
///
/// One for each process, used by one thread.
public struct OrphanReaper: ~Copyable {
    /// The result of one sweep.
    public struct Sweep: Sendable, Equatable {
        /// Zombies that were reaped.
        public var reaped = 0
        /// Processes that were sent SIGKILL, now or earlier, and are not reaped: each death sends a SIGCHLD.
        public var killed = 0
        /// Processes in execve or in exit, and processes that the limit of work left for later. No signal announces
        /// them: sweep again in a few milliseconds.
        public var undecided = 0
        /// Processes that may not be signalled (another user's, through a set-user-id program), each reported once:
        /// they stay.
        public var untouchable: [Int32] = []
    }

    /// The classification of an adopted process.
    private enum Verdict {
        /// It belongs to the run with this mark, which was live when the process was found.
        case belongs(String)
        /// It may belong to any run that began up to this point.
        case unknown(since: LiveRuns.Point)
        /// It was exiting at each of so many checks.
        case exiting(Int)
        /// It was sent SIGKILL.
        case killed
        case untouchable
        /// It is a child from before this value was made, or was in the process group of one.
        case inherited
    }

    /// The work of one sweep, in kills of about 8 us each, so that the loop waits at most about 1 ms.
    public static let workMax = 128
    /// The cost of reading `/proc` of a process, in kills.
    static let lookCost = 3
    /// The number of kills in the limit for each zombie that a sweep may reap. Reaping takes about 15 us, so half a
    /// millisecond in all, and a sweep can reap what the one before killed.
    static let killsForReap = 4
    /// The number of checks after which an exiting process counts as unclassifiable.
    static let exitingMax = 100

    /// The number of adopted processes that are not reaped.
    public var adoptedCount: Int {
        verdicts.values.count { verdict in
            if case .inherited = verdict { false } else { true }
        }
    }

    private let children: FileDescriptor
    private var verdicts: [Int32: Verdict]
    /// The children from before this value was made, with the processes of their groups.
    private var inherited: Set<Int32>
    private let mark: (Int32) -> ProcessFiles.Mark
    /// The work that the sweep has done, in kills.
    private var work = 0

    /// Gives SIGCHLD its default action, and makes this process a subreaper. To be called before the first run, on any
    /// thread.
    ///
    /// - Parameter adopts: whether to become a subreaper. If each run has a cgroup, this is not needed; process 1 of a
    ///   container is given orphans all the same.
    /// - Throws: `OrphanReaperError` if the kernel does not list children.
    public init(adopts: Bool = true) throws(OrphanReaperError) {
        try self.init(adopts: adopts, mark: ProcessFiles.mark(of:))
    }

    /// - Parameter mark: returns the mark of a process.
    init(adopts: Bool, mark: @escaping (Int32) -> ProcessFiles.Mark) throws(OrphanReaperError) {
        let path = "/proc/self/task/\(getpid())/children"
        guard let children = FileDescriptor(open(path, O_RDONLY | O_CLOEXEC)) else {
            throw OrphanReaperError(path: path, code: errno)
        }
        // An ignored SIGCHLD survives exec, and then the kernel reaps children: exit statuses are lost, and ids are
        // reused.
        signal(SIGCHLD, SIG_DFL)
        if adopts { _ = CLinux_become_subreaper() }
        inherited = Set(Self.list(children))
        verdicts = Dictionary(uniqueKeysWithValues: inherited.map { ($0, Verdict.inherited) })
        self.children = children
        self.mark = mark
    }

    /// Classifies the adopted processes that are new, and kills those whose run has ended; never waits. Takes below 1
    /// us if there is none, and below 1 us for each known one, so call it through a ``SweepPace``. To be called on
    /// SIGCHLD, and after `ChildProcess.killGroup` and `reap`, which end a run.
    ///
    /// - Parameter limit: the largest amount of work, in kills; the processes left for later count as undecided.
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
        // More zombies may be left, and their SIGCHLD is consumed already.
        if sweep.reaped == reapedMax { sweep.undecided += 1 }
        return sweep
    }

    /// Kills all adopted processes, when this process ends: the orphans of killed processes are adopted, and killed in
    /// turn.
    ///
    /// - Parameter limit: the longest time, in nanoseconds.
    public mutating func endAll(withinNanoseconds limit: Int64) {
        let end = SystemClock.monotonicNanoseconds + limit
        while true {
            // Read before the sweep: this process adopts the orphans of its children when they die.
            let areDead = LiveRuns.areDead
            let sweep = sweep(atMost: .max)
            guard !areDead || sweep.reaped + sweep.killed + sweep.undecided > 0 else { return }
            guard SystemClock.monotonicNanoseconds < end else { return }
            usleep(1000)
        }
    }

    private mutating func judge(_ process: Int32, _ sweep: inout Sweep) {
        work += Self.lookCost
        // Read before the process is checked: a run that begins later cannot have started it.
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

    /// Returns whether a process group is that of a child from before. The group of this process, which may contain all
    /// of them, does not count.
    private func isInherited(_ group: Int32) -> Bool {
        group != getpgrp() && inherited.contains { ProcessFiles.status(of: $0)?.group == group }
    }

    private func looks(at process: Int32) -> Int {
        if case .exiting(let count) = verdicts[process] { count } else { 0 }
    }

    /// Kills a process, and its group if no live run has it: members of a group may fork faster than they are found one
    /// by one.
    private mutating func end(_ process: Int32, _ sweep: inout Sweep) {
        work += 1
        // A process that left the group of its run usually leads a group, or has led it. A group with the number of an
        // unreaped child belongs to that child, so its number needs no check.
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

/// The error if the kernel does not list the children of a process.
public struct OrphanReaperError: Error, Equatable, CustomStringConvertible {
    /// The file that could not be opened.
    public let path: String
    /// The error number.
    public let code: Int32

    /// The fault, and what is needed.
    public var description: String {
        "cannot read \(path): \(errorText(code)); escaped processes cannot be found without /proc and a "
            + "kernel with CONFIG_PROC_CHILDREN"
    }
}

/// Processes that an earlier daemon's runs left behind. They are not children of this process, so their mark identifies
/// them.
public enum LeftoverProcesses {
    struct Entry {
        let process: Int32
        let status: ProcessFiles.Status
    }

    /// Kills every process whose mark begins with `<owner>:`, its descendants and its process group, and waits for
    /// their exit. To be called before the first run, as it kills live runs, too. Takes about 10 us for each process of
    /// the system if it finds none.
    ///
    /// - Parameters:
    ///   - owner: the first part of the mark
    ///   - patience: the longest time to wait for all of them
    /// - Returns: the processes that still exist: stuck in the kernel, or not permitted to be signalled.
    public static func kill(of owner: String, patience: Duration) -> [Int32] {
        let end = SystemClock.monotonicNanoseconds + Int64(patience / .nanoseconds(1))
        // Repeats until it finds none: a process may have forked while the list was read.
        while true {
            let found = find(markPrefix: "\(owner):", in: processes())
            for entry in found { signal(entry) }
            let left = found.filter { !waitForExit($0, until: end) }
            if found.isEmpty || !left.isEmpty { return left.map(\.process) }
            // A process that forks faster than it is found must not keep the daemon from starting.
            if SystemClock.monotonicNanoseconds >= end { return found.map(\.process) }
        }
    }

    /// - Parameters:
    ///   - markPrefix: the prefix of the marks.
    ///   - processes: the processes of the system.
    ///   - mark: returns the mark of a process.
    ///   - status: returns the status of a process.
    static func find(
        markPrefix: String, in processes: [Int32], mark: (Int32) -> String? = mark(of:),
        status: (Int32) -> ProcessFiles.Status? = ProcessFiles.status(of:)
    ) -> [Entry] {
        func isMarked(_ process: Int32) -> Bool { mark(process)?.hasPrefix(markPrefix) ?? false }
        let candidates = Set(processes.filter(isMarked))
        // Usually there is none: then the start does not read the status of every process.
        guard !candidates.isEmpty else { return [] }
        let all = processes.compactMap { process in status(process).map { Entry(process: process, status: $0) } }
        // Another process may have got the number since the mark was read: reads the mark again, and compares the start
        // time before and after.
        let found = all.filter { entry in
            candidates.contains(entry.process) && isMarked(entry.process)
                && status(entry.process)?.startTime == entry.status.startTime
        }
        let marked = Set(found.map(\.process))
        // A process that cleared its environment is found by its group or its ancestors.
        let groups = Set(found.map(\.status.group)).subtracting([getpgrp(), 0, 1])
        var parents = marked.union(all.filter { groups.contains($0.status.group) }.map(\.process))
        var size = 0
        while parents.count > size {
            size = parents.count
            parents.formUnion(all.filter { parents.contains($0.status.parent) }.map(\.process))
        }
        return all.filter { parents.contains($0.process) && $0.process != getpid() }
    }

    static func mark(of process: Int32) -> String? {
        ProcessFiles.contents("/proc/\(process)/environ").flatMap(ProcessFiles.mark(in:))
    }

    private static func processes() -> [Int32] {
        guard let directory = opendir("/proc") else { return [] }
        defer { closedir(directory) }
        var found: [Int32] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { $0.prefix { $0 != 0 } }
            if let process = Int32(String(decoding: name, as: UTF8.self)) { found.append(process) }
        }
        return found
    }

    private static func signal(_ entry: Entry) {
        guard let process = descriptor(of: entry) else { return }
        _ = CLinux_pidfd_signal(process.rawValue, SIGKILL)
    }

    /// - Parameter end: a time on `CLOCK_MONOTONIC`, in nanoseconds.
    private static func waitForExit(_ entry: Entry, until end: Int64) -> Bool {
        guard let process = descriptor(of: entry) else { return true }
        var exit = pollfd(fd: process.rawValue, events: Int16(POLLIN), revents: 0)
        while true {
            // Rounds up: a poll of 0 ms would spin through the last millisecond.
            let left = (max(0, end - SystemClock.monotonicNanoseconds) + 999_999) / 1_000_000
            let ready = poll(&exit, 1, Int32(clamping: left))
            if ready >= 0 || errno != EINTR { return ready > 0 }
        }
    }

    /// Returns a pidfd of the process that was found. It is opened first, then the start time is compared, so that it
    /// cannot be another process with the same number. Nil if the process is gone.
    private static func descriptor(of entry: Entry) -> FileDescriptor? {
        guard let process = FileDescriptor(CLinux_pidfd_open(entry.process)),
            ProcessFiles.status(of: entry.process)?.startTime == entry.status.startTime
        else { return nil }
        return process
    }
}

/// The pace of an `OrphanReaper`: sweeps take at most a twentieth of the time, however many processes there are, and
/// their number is at most a thousand a second, however many processes end.
public struct SweepPace: Sendable, Equatable {
    /// The pause after a sweep, as a multiple of its duration.
    static let rest: Int64 = 19
    /// The shortest pause after a sweep, in nanoseconds.
    static let pause: Int64 = 1_000_000

    /// The earliest time of the next sweep, in monotonic nanoseconds.
    private var earliest: Int64 = .min

    /// Allows the first sweep at once.
    public init() {}

    /// Returns when a sweep may begin.
    ///
    /// - Parameter now: monotonic nanoseconds.
    /// - Returns: `now`, or a later time.
    public func next(at now: Int64) -> Int64 { max(now, earliest) }

    /// Notes a sweep.
    ///
    /// - Parameters:
    ///   - start: its begin, in monotonic nanoseconds.
    ///   - end: its end, in monotonic nanoseconds.
    public mutating func noteSweep(from start: Int64, to end: Int64) {
        earliest = end + max((end - start) * Self.rest, Self.pause)
    }
}
