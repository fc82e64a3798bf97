import CLinux
import Glibc
import LinuxSystem

/// The cgroups of runs, one each, below the cgroup that the service manager delegated to this service.
///
/// `daemon` has this process, since a cgroup that enables controllers for others may have no processes of its own;
/// `runs` has a cgroup for each run. A run joins its cgroup before any of its code runs, and its descendants stay
/// there; `cgroup.kill` ends all of them at once, forks included (Linux 5.14; before, each process of the frozen cgroup
/// is killed). A separate thread, which starts at the first end of a run, kills and removes cgroups: the kernel has one
/// lock for all cgroups, and the loop must not wait for it.
///
/// A cgroup that a run has left empty is reused by runs of the same command with the same confinement: making and
/// removing one costs half of a short run. A cgroup with a limit of memory is not reused: the leftovers of a run, files
/// in memory for example, count against the limit. For any thread.
public final class RunCgroups: Sendable {
    /// The reason why there are no cgroups, with the advice for it.
    public struct Unavailable: Error, Equatable, CustomStringConvertible {
        /// One clause for people.
        public let description: String
    }

    private struct State: Sendable {
        /// The cgroups that the thread has to end.
        var ended: [UInt64] = []
        /// The number of cgroups that are being ended, and are not removed yet.
        var leaving = 0
        /// The empty cgroups, for reuse.
        var free: [Owner: [UInt64]] = [:]
        var freeCount = 0
        var lastNumber: UInt64 = 0
        var isThreadStarted = false
        var isStopped = false

        /// - Returns: a cgroup that must be removed in exchange.
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

    /// The key of runs that may share a cgroup, one after the other.
    fileprivate struct Owner: Hashable {
        let arguments: [String]
        let confinement: ProcessConfinement

        /// `nil` if each run needs a cgroup of its own.
        init?(_ command: ProcessCommand) {
            guard command.confinement.cgroup.memoryMax == nil else { return nil }
            (arguments, confinement) = (command.arguments, command.confinement)
        }
    }

    /// The number of empty cgroups that are kept: as many as run at once by default.
    static let freeMax = 64
    /// The interval between two tries to remove a cgroup whose processes still exist, at first and at most.
    private static let patience = (first: Duration.milliseconds(2), most: Duration.milliseconds(500))
    /// The longest time that a start waits for the processes of an earlier one.
    private static let leftoverPatience = Duration.seconds(2)

    /// The cgroup of the service, an absolute path.
    public let directory: String
    private let runs: String
    private let isStandIn: Bool
    private let state = Monitor(State())

    /// - Parameters:
    ///   - directory: the directory of `runs`.
    ///   - isStandIn: whether it is an ordinary directory, in which writing creates the files.
    init(directory: String, isStandIn: Bool = false) {
        self.directory = directory
        runs = "\(directory)/runs"
        self.isStandIn = isStandIn
    }

    /// Takes over the cgroup of this process, if it was delegated: moves the process to a leaf cgroup, and ends the
    /// processes that an earlier start left there. To be called before the first run; waits for the kernel.
    ///
    /// - Throws: the reason why runs have no cgroups.
    public static func takeOver() throws(Unavailable) -> RunCgroups {
        guard let path = ownPath() else { throw Unavailable(description: "the system has no cgroups of version 2") }
        // systemd mounts version 2 at the second path beside cgroups of version 1.
        let mounts = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"]
        guard let directory = mounts.map({ $0 + path }).first(where: { CLinux_is_delegated($0) }) else {
            throw Unavailable(description: "the service has no cgroup of its own: set Delegate=yes in its unit")
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
            throw Unavailable(description: "processes of an earlier start do not end: cgroups \(list)")
        }
        // Keeps a run from making cgroups below its own by mistake.
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

    /// Returns the path of this process's cgroup below the mount.
    private static func ownPath() -> String? {
        let lines = ProcessFiles.contents("/proc/self/cgroup") ?? []
        for line in lines.split(separator: UInt8(ascii: "\n")) where line.starts(with: "0::/".utf8) {
            let path = String(decoding: line.dropFirst(3), as: UTF8.self)
            // "/..": the cgroup is outside of this process's cgroup namespace.
            return path.hasPrefix("/..") ? nil : path == "/" ? "" : path
        }
        return nil
    }

    // MARK: Controllers

    /// Enables controllers for runs; enabled ones stay enabled, because runs may need them. Waits for the kernel.
    ///
    /// - Returns: the controllers that the service does not have.
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

    /// Makes the cgroup of a run, or reuses one. Limits without their controller have no effect.
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

    /// Whether cgroups of ended runs still exist, with processes that are being killed.
    public var hasEndingCgroups: Bool { state.withLock { $0.leaving > 0 } }

    /// Kills the processes of all runs at once. The next start removes the cgroups.
    public func killAll() { CgroupFile.kill(runs) }

    /// Removes the empty cgroups that are kept; soon, without waiting.
    public func removeFree() {
        let free = state.withLock { state in
            state.freeCount = 0
            return exchange(&state.free, with: [:]).values.flatMap(\.self)
        }
        if !free.isEmpty { leave(free) }
    }

    /// Keeps a cgroup for later runs if it is empty; otherwise kills its processes and removes it.
    fileprivate func keep(_ number: UInt64, for owner: Owner) {
        guard CgroupFile.isEmpty(path(of: number)) else { return leave([number]) }
        let other = state.withLock { $0.keep(number, for: owner) }
        if let other { leave([other]) }
    }

    /// Kills the processes of cgroups, and removes the cgroups after that; soon, without waiting.
    fileprivate func leave(_ numbers: [UInt64]) {
        state.update { state in
            state.leaving += numbers.count
            state.ended += numbers
            guard !state.isThreadStarted else { return }
            // If no thread can be started, the numbers wait, and a later call tries again.
            guard let thread = try? WorkerThread("cgroups", { [self] in work() }) else { return }
            thread.detach()
            state.isThreadStarted = true
        }
    }

    /// Ends the thread, which keeps this value alive; for callers with more than one value.
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
            // Kills again: a process may have joined the cgroup since.
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

/// A cgroup that was just made or reused.
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

    /// Releases the cgroup of a run that ended by itself: another run may reuse an empty one. To be called once; does
    /// not wait.
    func leave() {
        guard let owner else { return end() }
        tree.keep(number, for: owner)
    }

    /// Whether it has a process that has not exited.
    var isPopulated: Bool { CgroupFile.isPopulated(tree.path(of: number)) }

    /// Kills all its processes. To be called once; does not wait.
    func end() { tree.leave([number]) }

    /// Removes the empty cgroups that are kept: one of them could not be joined.
    func distrustKept() { tree.removeFree() }
}

/// The failure to make or set up a cgroup.
struct CgroupFailure: Error, Equatable {
    /// The file or directory.
    let path: String
    /// The error number.
    let code: Int32
}

/// Reads and writes the files in a cgroup's directory (cgroup-v2.rst).
enum CgroupFile {
    /// The depth to which cgroups below one are removed: a run may make none, so deeper ones are not this program's.
    private static let depthMax = 3

    /// Writes a value.
    ///
    /// - Parameter creating: whether to create the file, which a real cgroup does not allow.
    /// - Returns: whether the kernel accepted the value; otherwise `errno` is set.
    static func write(_ text: String, to path: String, creating: Bool = false) -> Bool {
        guard let file = FileDescriptor(open(path, O_WRONLY | O_CLOEXEC | (creating ? O_CREAT : 0), 0o600)) else {
            return false
        }
        return retryingInterrupts { Glibc.write(file.rawValue, text, text.utf8.count) } == text.utf8.count
    }

    /// Returns the words of a file; none if it cannot be read.
    static func words(of path: String) -> [String] {
        (ProcessFiles.contents(path) ?? []).split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
            .map { String(decoding: $0, as: UTF8.self) }
    }

    /// Returns whether a cgroup is unfrozen and without processes; false if its state cannot be read. Takes none of the
    /// kernel's cgroup locks.
    static func isEmpty(_ cgroup: String) -> Bool { events(of: cgroup, begin: "populated 0\nfrozen 0\n") }

    /// Returns whether a cgroup has a process that has not exited; false if its state cannot be read. Takes none of the
    /// kernel's cgroup locks.
    static func isPopulated(_ cgroup: String) -> Bool { events(of: cgroup, begin: "populated 1\n") }

    private static func events(of cgroup: String, begin beginning: String) -> Bool {
        guard let file = FileDescriptor(open("\(cgroup)/cgroup.events", O_RDONLY | O_CLOEXEC)) else { return false }
        return withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { text in
            let count = retryingInterrupts { read(file.rawValue, text.baseAddress, text.count) }
            return text.prefix(max(0, count)).starts(with: beginning.utf8)
        }
    }

    /// Returns the processes of a cgroup, without those of cgroups below it.
    static func processes(of cgroup: String) -> [Int32] { words(of: "\(cgroup)/cgroup.procs").compactMap(Int32.init) }

    /// Returns the names of the cgroups directly below one.
    static func children(of cgroup: String) -> [String] {
        guard let directory = opendir(cgroup) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            guard entry.pointee.d_type == UInt8(DT_DIR) else { continue }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { $0.prefix { $0 != 0 } }
            if name.first != UInt8(ascii: ".") { names.append(String(decoding: name, as: UTF8.self)) }
        }
        return names
    }

    /// Kills all processes of a cgroup and of those below it.
    ///
    /// - Parameter atOnce: whether to use `cgroup.kill`, if the kernel has it.
    static func kill(_ cgroup: String, atOnce: Bool = true) {
        if atOnce, write("1", to: "\(cgroup)/cgroup.kill") || errno != ENOENT { return }
        // Before Linux 5.14. Frozen processes cannot fork, and SIGKILL still ends them.
        _ = write("1", to: "\(cgroup)/cgroup.freeze")
        killEach(cgroup, depth: 0)
        _ = write("0", to: "\(cgroup)/cgroup.freeze")
    }

    private static func killEach(_ cgroup: String, depth: Int) {
        for process in processes(of: cgroup) where process > 0 { Glibc.kill(process, SIGKILL) }
        guard depth < depthMax else { return }
        for child in children(of: cgroup) { killEach("\(cgroup)/\(child)", depth: depth + 1) }
    }

    /// Removes a cgroup and those below it, if they have no processes.
    ///
    /// - Returns: whether it no longer exists.
    static func remove(_ cgroup: String, depth: Int = 0) -> Bool {
        if rmdir(cgroup) == 0 || errno == ENOENT { return true }
        guard depth < depthMax else { return false }
        let children = children(of: cgroup)
        guard !children.isEmpty else { return false }
        for child in children { _ = remove("\(cgroup)/\(child)", depth: depth + 1) }
        return rmdir(cgroup) == 0
    }
}
