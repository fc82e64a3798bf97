import CLinux
import Glibc
import LinuxSystem

extension ProcessCommand {
    /// Starts the program. With its whole input given, the call returns before the exec, and a failed exec shows at the
    /// process's end.
    ///
    /// - Parameters:
    ///   - cgroups: makes a cgroup for the run; `nil` for none.
    ///   - users: the cache of users.
    func start(in cgroups: RunCgroups?, _ users: KnownUsers) throws(SpawnError) -> ChildProcess {
        switch streams {
        case .once(let input, let readsErrors):
            guard let ends = ProgramEnds(sealing: input, readingErrors: readsErrors) else {
                throw SpawnError(errno, starting: self)
            }
            return try start(ends, in: cgroups, users)
        case .conversation(let readsErrors):
            guard let ends = ProgramEnds(readingErrors: readsErrors) else { throw SpawnError(errno, starting: self) }
            return try start(ends, in: cgroups, users)
        }
    }

    private func start(
        _ ends: consuming ProgramEnds, in cgroups: RunCgroups?, _ users: KnownUsers
    ) throws(SpawnError) -> ChildProcess {
        let identity = try identity(users)
        var files: [SharedDescriptor] = []
        for credential in credentials { files.append(try credential.open(for: self)) }
        guard let cgroups else {
            return try start(ends, files, identity, nil, processes: -1)
        }
        let cgroup: NewCgroup
        do { cgroup = try cgroups.begin(self) } catch { throw SpawnError(error, starting: self) }
        do throws(SpawnError) {
            return try start(ends, files, identity, cgroup.run, processes: cgroup.processes.rawValue)
        } catch {
            cgroup.run.end()
            throw error
        }
    }

    private func identity(_ users: KnownUsers) throws(SpawnError) -> UserIdentity? {
        guard let user = confinement.user else { return nil }
        guard let identity = users.identity(of: user) else { throw SpawnError(unknownUser: user, starting: self) }
        // The program already has the user of this process.
        return identity.user == geteuid() ? nil : identity
    }

    private func start(
        _ ends: consuming ProgramEnds, _ credentials: [SharedDescriptor], _ identity: UserIdentity?,
        _ cgroup: RunCgroup?, processes: Int32
    ) throws(SpawnError) -> ChildProcess {
        let memory = SpawnContext(self, credentials, identity)
        LiveRuns.begin(mark)
        let start = SystemClock.monotonicNanoseconds
        do throws(SpawnError) {
            let (processID, descriptor) = try memory.start(ends, cgroup: processes, waits: waits(identity))
            LiveRuns.addChild(processID, mark: mark)
            return ChildProcess(
                processID: processID, mark: mark, startedAt: start, process: FileDescriptor(owning: descriptor),
                cgroup: cgroup, memory: memory, ends: ends.takeParentEnds())
        } catch {
            LiveRuns.end(mark)
            if memory.hasNotJoined { cgroup?.distrustKept() }
            throw error
        }
    }

    /// Returns whether the start waits for the kernel's exec. Three kinds of programs need this. A program that stays
    /// must report at once whether it runs. This process cannot change the oom_score_adj of another user's program
    /// after the exec. With a limit of memory, a shortage before the exec would make the kernel kill every process that
    /// shares the child's memory, and so this one; the kernel makes an exception for vfork only.
    private func waits(_ identity: UserIdentity?) -> Bool {
        if case .conversation = streams { return true }
        return identity != nil || confinement.cgroup.memoryMax != nil
    }
}

extension ProcessCommand.Credential {
    /// The length of a secret at most, in bytes.
    private static let longest = 1 << 20

    /// Copies the file's bytes into a sealed memory file. Any user can open it, but only by a descriptor of the program.
    fileprivate func open(for command: ProcessCommand) throws(SpawnError) -> SharedDescriptor {
        // A FIFO without a writer must not hold up other starts.
        guard let file = FileDescriptor(Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) else {
            throw SpawnError(self, errno, starting: command)
        }
        var status = stat()
        guard fstat(file.rawValue, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw SpawnError(self, EINVAL, starting: command)
        }
        var bytes = [UInt8](repeating: 0, count: Self.longest + 1)
        var length = 0
        while length < bytes.count {
            let count = bytes.withUnsafeMutableBytes { bytes in
                retryingInterrupts {
                    read(file.rawValue, bytes.baseAddress.map { $0 + length }, bytes.count - length)
                }
            }
            guard count >= 0 else { throw SpawnError(self, errno, starting: command) }
            if count == 0 { break }
            length += count
        }
        guard length <= Self.longest else { throw SpawnError(self, EFBIG, starting: command) }
        guard let copy = FileDescriptor(sealing: Array(bytes.prefix(length))) else {
            throw SpawnError(self, errno, starting: command)
        }
        return SharedDescriptor(copy)
    }
}
