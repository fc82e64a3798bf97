import CLinux
import Glibc
import LinuxSystem

extension ProcessCommand {
    /// Starts the program; about 0.4 ms, most of it the kernel's exec, and another 0.3 ms with a cgroup.
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
        do { cgroup = try cgroups.begin(confinement.cgroup) } catch { throw SpawnError(error, starting: self) }
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
        LiveRuns.begin(mark)
        var processID: pid_t = 0
        var descriptor: Int32 = -1
        var step = CLinux_step.program
        let start = SystemClock.monotonicNanoseconds
        let error = spawn(&processID, &descriptor, ends, identity, processes, &step)
        guard error == 0 else {
            LiveRuns.end(mark)
            throw SpawnError(error, at: step, starting: self)
        }
        LiveRuns.addChild(processID, mark: mark)
        return ChildProcess(
            processID: processID, mark: mark, startedAt: start, process: FileDescriptor(owning: descriptor),
            cgroup: cgroup, ends: ends.takeOurs())
    }

    private func spawn(
        _ processID: inout pid_t, _ descriptor: inout Int32, _ ends: borrowing ProgramEnds, _ identity: UserIdentity?,
        _ processes: Int32, _ step: inout CLinux_step
    ) -> Int32 {
        let (input, output, errors) = (ends.input, ends.output, ends.errors)
        let groups = identity?.groups ?? []
        return withCStrings([workingDirectory] + arguments) { words in
            withCStrings(["\(Self.markVariable)=\(mark)"] + environment) { environment in
                groups.withUnsafeBufferPointer { groups in
                    guard let directory = words[0], let path = words[1] else { return EINVAL }
                    var program = CLinux_program(
                        path: path, arguments: words + 1, environment: environment, directory: directory, input: input,
                        output: output, error: errors, cgroup: processes,
                        descriptor_limit: confinement.openFilesMax.map(UInt64.init) ?? descriptorLimit ?? 0,
                        is_hard_limit: confinement.openFilesMax != nil, sets_niceness: confinement.niceness != nil,
                        niceness: Int32(confinement.niceness ?? 0), changes_user: identity != nil,
                        user: identity?.user ?? 0, group: identity?.group ?? 0, group_count: groups.count,
                        groups: groups.baseAddress)
                    return CLinux_spawn(&processID, &descriptor, &program, &step)
                }
            }
        }
    }
}

/// Calls `body` with the texts as C takes arguments: an array of pointers that ends with a null.
private func withCStrings(_ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Int32) -> Int32 {
    var characters: [CChar] = []
    var starts: [Int] = []
    for text in texts {
        starts.append(characters.count)
        characters.append(contentsOf: text.utf8CString)
    }
    return characters.withUnsafeMutableBufferPointer { buffer in
        let pointers = starts.map { start in buffer.baseAddress.map { $0 + start } } + [nil]
        return pointers.withUnsafeBufferPointer { $0.baseAddress.map(body) ?? EINVAL }
    }
}
