import CLinux
import Glibc
import LinuxSystem

extension ProcessCommand {
    /// Starts the program. One that is started with its whole input is on its way to its exec when this returns: whether that
    /// fails is known at its end.
    ///
    /// - Parameters:
    ///   - cgroups: where it gets a cgroup; `nil`: it gets none.
    ///   - users: what is known of users.
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
        guard let cgroups else {
            return try start(ends, identity, nil, processes: -1)
        }
        let cgroup: NewCgroup
        do { cgroup = try cgroups.begin(self) } catch { throw SpawnError(error, starting: self) }
        do throws(SpawnError) {
            return try start(ends, identity, cgroup.run, processes: cgroup.processes.rawValue)
        } catch {
            cgroup.run.end()
            throw error
        }
    }

    private func identity(_ users: KnownUsers) throws(SpawnError) -> UserIdentity? {
        guard let user = confinement.user else { return nil }
        guard let identity = users.identity(of: user) else { throw SpawnError(unknownUser: user, starting: self) }
        // Nothing changes, and nothing is needed for it.
        return identity.user == geteuid() ? nil : identity
    }

    private func start(
        _ ends: consuming ProgramEnds, _ identity: UserIdentity?, _ cgroup: RunCgroup?, processes: Int32
    ) throws(SpawnError) -> ChildProcess {
        let memory = StartMemory(self, identity)
        LiveRuns.begin(mark)
        let start = SystemClock.monotonicNanoseconds
        do throws(SpawnError) {
            let (processID, descriptor) = try memory.start(ends, cgroup: processes, waits: waits(identity))
            LiveRuns.addChild(processID, mark: mark)
            return ChildProcess(
                processID: processID, mark: mark, startedAt: start, process: FileDescriptor(owning: descriptor),
                cgroup: cgroup, memory: memory, ends: ends.takeOurs())
        } catch {
            LiveRuns.end(mark)
            if memory.hasNotJoined { cgroup?.distrustKept() }
            throw error
        }
    }

    /// Whether the start waits for the kernel's exec. Of a program that stays it is to be known at once whether it runs, and
    /// what becomes another user's can no longer be told by us that it is to be ended before us. Where memory has a limit the
    /// kernel, short of it before the exec, would kill all who share the child's, and so us: it spares a vfork alone.
    private func waits(_ identity: UserIdentity?) -> Bool {
        if case .conversation = streams { return true }
        return identity != nil || confinement.cgroup.memoryMax != nil
    }
}
