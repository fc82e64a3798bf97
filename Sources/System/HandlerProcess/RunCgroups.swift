import CLinux
import Glibc
import LinuxSystem

/// The cgroups of runs, one each, below the cgroup that the service manager has given to this service.
///
/// `daemon` has this process, since a cgroup with controllers for others may have no processes of its own, and `runs` has
/// a cgroup for each run. A run is in its cgroup before anything of it runs, and what it starts stays there; `cgroup.kill`
/// ends all of it at once, forks included (Linux 5.14; before, each process of the frozen cgroup is killed). A thread of
/// its own, which begins with the first end, ends and removes cgroups: the kernel has one lock for all of them, for which
/// a loop must not wait.
///
/// A cgroup that a run has left empty is used again, by runs of the same command with the same confinement: to make and
/// remove one costs half of what a short run costs. One with a limit of memory is not: what a run leaves in it, files in
/// memory for example, counts. Any thread.
public final class RunCgroups: Sendable {
    /// Why there are none; what to do stands there too.
    public struct Unavailable: Error, Equatable, CustomStringConvertible {
        /// One clause for people.
        public let description: String
    }

    private struct State: Sendable {
        /// Those that are to be ended, and are not taken up by the thread.
        var ended: [UInt64] = []
        /// Those that are ended, and not removed yet.
        var leaving = 0
        /// Those that are empty.
        var free: [Owner: [UInt64]] = [:]
        var freeCount = 0
        var lastNumber: UInt64 = 0
        var isThreadStarted = false
        var isStopped = false

        /// - Returns: one that goes in its place.
        mutating func keep(_ number: UInt64, for owner: Owner) -> UInt64? {
            free[owner, default: []].append(number)
            freeCount += 1
            guard freeCount > freeMax else { return nil }
            return free.max { $0.value.count < $1.value.count }.flatMap { takeFree($0.key) }
        }

        mutating func takeFree(_ owner: Owner) -> UInt64? {
            guard let number = free[owner]?.popLast() else { return nil }
            freeCount -= 1
            return number
        }
    }

    /// Whose runs may have a cgroup one after the other.
    fileprivate struct Owner: Hashable {
        let arguments: [String]
        let confinement: ProcessConfinement

        /// `nil`: each run needs one of its own.
        init?(_ command: ProcessCommand) {
            guard command.confinement.cgroup.memoryMax == nil else { return nil }
            (arguments, confinement) = (command.arguments, command.confinement)
        }
    }

    /// How many are kept for later runs: as many as run at once, without a setting.
    static let freeMax = 64
    /// How soon a cgroup is looked at again whose processes are not gone, at first and at most.
    private static let patience = (first: Duration.milliseconds(2), most: Duration.milliseconds(500))
    /// How long a start waits for the processes of an earlier one.
    private static let leftoverPatience = Duration.seconds(2)

    /// The cgroup of the service: an absolute path.
    public let directory: String
    private let runs: String
    private let isStandIn: Bool
    private let state = Monitor(State())

    /// - Parameters:
    ///   - directory: holds `runs`.
    ///   - isStandIn: it is an ordinary directory, in which files are made as they are written.
    init(directory: String, isStandIn: Bool = false) {
        self.directory = directory
        runs = "\(directory)/runs"
        self.isStandIn = isStandIn
    }

    /// Takes over the cgroup of this process, if it was delegated: moves the process to a leaf of its own, and ends what
    /// an earlier process has left there. Before the first run; waits for the kernel.
    ///
    /// - Throws: why runs have no cgroups.
    public static func takeOver() throws(Unavailable) -> RunCgroups {
        guard let path = ownPath() else { throw Unavailable(description: "the system has no cgroups of version 2") }
        // The second is where systemd mounts it beside cgroups of version 1.
        let mounts = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"]
        guard let directory = mounts.map({ $0 + path }).first(where: { CLinux_is_delegated($0) }) else {
            throw Unavailable(description: "the service has no cgroup of its own (Delegate=yes of its unit)")
        }
        guard CgroupFile.processes(of: directory) == [getpid()] else {
            throw Unavailable(description: "the service's cgroup \(directory) has other processes, too")
        }
        let cgroups = RunCgroups(directory: directory)
        try cgroups.prepare()
        return cgroups
    }

    private func prepare() throws(Unavailable) {
        let leaf = "\(directory)/daemon"
        for path in [leaf, runs] where mkdir(path, 0o755) != 0 && errno != EEXIST {
            throw Unavailable(description: "cannot make the cgroup \(path): \(errorText(errno))")
        }
        let left = endLeftovers()
        guard left.isEmpty else {
            let list = left.joined(separator: ", ")
            throw Unavailable(description: "processes of an earlier start do not end, in the cgroups \(list)")
        }
        // What a run starts stays in the run's own cgroup: with this it cannot make others below it by mistake.
        _ = CgroupFile.write("1", to: "\(runs)/cgroup.max.depth")
        guard CgroupFile.write("0", to: "\(leaf)/cgroup.procs") else {
            throw Unavailable(description: "cannot move to the cgroup \(leaf): \(errorText(errno))")
        }
    }

    private func endLeftovers() -> [String] {
        let end = SystemClock.monotonicNanoseconds + Int64(Self.leftoverPatience / .nanoseconds(1))
        var left = CgroupFile.children(of: runs).map { "\(runs)/\($0)" }
        for path in left { CgroupFile.kill(path) }
        while true {
            left.removeAll { CgroupFile.remove($0) }
            guard !left.isEmpty, SystemClock.monotonicNanoseconds < end else { return left }
            usleep(2000)
        }
    }

    /// The path of this process's cgroup below the mount.
    private static func ownPath() -> String? {
        let lines = ProcessFiles.contents("/proc/self/cgroup") ?? []
        for line in lines.split(separator: UInt8(ascii: "\n")) where line.starts(with: "0::/".utf8) {
            let path = String(decoding: line.dropFirst(3), as: UTF8.self)
            // It begins so where the cgroup is outside of what this process sees.
            return path.hasPrefix("/..") ? nil : path == "/" ? "" : path
        }
        return nil
    }

    // MARK: Controllers

    /// Turns controllers on for runs; those that are on stay so, as runs may need them. Waits for the kernel.
    ///
    /// - Returns: those that the service does not have.
    public func enable(_ controllers: some Sequence<CgroupController>) -> [CgroupController] {
        controllers.filter { controller in
            for path in [directory, runs] {
                let control = "\(path)/cgroup.subtree_control"
                if CgroupFile.words(of: control).contains(controller.rawValue) { continue }
                guard CgroupFile.words(of: "\(path)/cgroup.controllers").contains(controller.rawValue),
                    CgroupFile.write("+\(controller.rawValue)", to: control)
                else { return true }
            }
            return false
        }
    }

    // MARK: Runs

    /// The cgroup of a run. Limits whose controller is missing have no effect.
    ///
    /// - Throws: the error number of the system call that failed.
    func begin(_ command: ProcessCommand) throws(CgroupFailure) -> NewCgroup {
        let owner = Owner(command)
        if let owner, let number = state.withLock({ $0.takeFree(owner) }), let processes = openProcesses(number) {
            return NewCgroup(run: RunCgroup(tree: self, number: number, owner: owner), processes: processes)
        }
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let path = path(of: number)
        guard mkdir(path, 0o755) == 0 else { throw CgroupFailure(path: path, code: errno) }
        for file in command.confinement.cgroup.files {
            guard CgroupFile.write(file.text, to: "\(path)/\(file.name)", creating: isStandIn) || errno == ENOENT else {
                let failure = CgroupFailure(path: "\(path)/\(file.name)", code: errno)
                rmdir(path)
                throw failure
            }
        }
        guard let processes = openProcesses(number) else {
            let failure = CgroupFailure(path: "\(path)/cgroup.procs", code: errno)
            rmdir(path)
            throw failure
        }
        return NewCgroup(run: RunCgroup(tree: self, number: number, owner: owner), processes: processes)
    }

    private func openProcesses(_ number: UInt64) -> FileDescriptor? {
        let flags = O_WRONLY | O_CLOEXEC | (isStandIn ? O_CREAT : 0)
        return FileDescriptor(open("\(path(of: number))/cgroup.procs", flags, 0o600))
    }

    /// Whether cgroups are left whose run has ended: their processes are being killed.
    public var hasLeaving: Bool { state.withLock { $0.leaving > 0 } }

    /// Kills the processes of all runs, now. What is left is removed by the next start.
    public func killAll() { CgroupFile.kill(runs) }

    /// Removes the cgroups that are kept for later runs; soon, without waiting.
    public func removeFree() {
        let free = state.withLock { state in
            state.freeCount = 0
            return exchange(&state.free, with: [:]).values.flatMap(\.self)
        }
        if !free.isEmpty { leave(free) }
    }

    /// Keeps a cgroup for later runs if there is no process in it; else ends what is in it, and removes it.
    fileprivate func keep(_ number: UInt64, for owner: Owner) {
        guard CgroupFile.isEmpty(path(of: number)) else { return leave([number]) }
        let other = state.withLock { $0.keep(number, for: owner) }
        if let other { leave([other]) }
    }

    /// Ends what is in cgroups, and removes them once that is gone; soon, without waiting.
    fileprivate func leave(_ numbers: [UInt64]) {
        state.update { state in
            state.leaving += numbers.count
            state.ended += numbers
            guard !state.isThreadStarted else { return }
            // Without a thread a later end tries again; the numbers wait.
            guard let thread = try? WorkerThread("cgroups", { [self] in work() }) else { return }
            thread.detach()
            state.isThreadStarted = true
        }
    }

    /// Ends the thread, which keeps this value alive; for who has more than one.
    func stop() { state.update { $0.isStopped = true } }

    private func work() {
        var pending: [UInt64] = []
        var delay = Self.patience.first
        while true {
            let ended = state.wait(atMost: pending.isEmpty ? nil : delay) { state -> [UInt64]? in
                state.ended.isEmpty && !state.isStopped ? nil : exchange(&state.ended, with: [])
            }
            if state.withLock(\.isStopped) { return }
            delay = ended == nil ? min(delay * 2, Self.patience.most) : Self.patience.first
            for number in ended ?? [] { CgroupFile.kill(path(of: number)) }
            // A second time for what did not go: it may have been written into the cgroup since.
            if ended == nil { for number in pending { CgroupFile.kill(path(of: number)) } }
            pending += ended ?? []
            let before = pending.count
            pending.removeAll { CgroupFile.remove(path(of: $0)) }
            let removed = before - pending.count
            if removed > 0 { state.withLock { $0.leaving -= removed } }
        }
    }

    fileprivate func path(of number: UInt64) -> String { "\(runs)/run-\(number)" }
}

/// A cgroup that has just been made.
struct NewCgroup: ~Copyable {
    /// Its run.
    let run: RunCgroup
    /// Its `cgroup.procs`, for writing.
    let processes: FileDescriptor
}

/// The cgroup of one run.
struct RunCgroup: Sendable {
    fileprivate let tree: RunCgroups
    fileprivate let number: UInt64
    fileprivate let owner: RunCgroups.Owner?

    /// The run has ended by itself: a cgroup that is empty may be another run's. Once; without waiting.
    func leave() {
        guard let owner else { return end() }
        tree.keep(number, for: owner)
    }

    /// Whether it has a process that has not exited.
    var isPopulated: Bool { CgroupFile.isPopulated(tree.path(of: number)) }

    /// Ends all its processes; without waiting, once.
    func end() { tree.leave([number]) }

    /// Has the cgroups removed that are kept: one of them may keep others from being joined.
    func distrustKept() { tree.removeFree() }
}

/// A cgroup could not be made or set up.
struct CgroupFailure: Error, Equatable {
    /// The file or directory.
    let path: String
    /// The error number.
    let code: Int32
}
