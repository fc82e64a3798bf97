import CLinux
import Glibc
public import LinuxSystem
import Synchronization

/// One running program: the leader of a process group of its own, our child until it is reaped.
///
/// Nothing here blocks but `deinit`. All may be called from any thread. A child that is dropped before it was reaped is killed and waited for.
public final class ChildProcess: Sendable {
    /// The most that one call of `readOutput` takes from the pipe, so that a program that floods it cannot keep us.
    static let readBound = 256 << 10

    private enum Phase {
        case running
        /// Killed by us, or gone: what is left of the run is fair game.
        case ended
        case reaped
    }

    /// Its process id, and that of its group. It means this process only until `reap` has returned a status.
    public let processID: Int32
    /// The run's `PUSH_RUN`.
    public let mark: String
    /// When the system was asked to start it, in monotonic nanoseconds.
    public let startedAt: Int64
    private let cgroup: RunCgroup?
    /// `nil` once nobody needs it any more.
    private let memory: Mutex<StartMemory?>
    /// Our ends of its streams; `nil` for one that was taken away, or never was.
    private let ends: Mutex<(output: SharedDescriptor?, errors: SharedDescriptor?)>
    private let phase = Mutex(Phase.running)
    private let leftProcesses = Atomic(false)

    /// Readable once the leader has exited.
    public let pidfd: SharedDescriptor
    /// The read end of the program's standard output, nonblocking; `nil` once the conversation was taken. A descendant may
    /// hold it open beyond the leader's exit: read it once more after `reap`, then do not wait for its end.
    public var standardOutput: SharedDescriptor? { ends.withLock { $0.output } }

    /// The run must have begun and the child be known in `LiveRuns`.
    init(
        processID: Int32, mark: String, startedAt: Int64, process: consuming FileDescriptor, cgroup: RunCgroup?,
        memory: StartMemory, ends: OurEnds
    ) {
        self.processID = processID
        self.mark = mark
        self.startedAt = startedAt
        pidfd = SharedDescriptor(process)
        self.cgroup = cgroup
        self.memory = Mutex(memory)
        self.ends = Mutex((ends.output, ends.errors))
    }

    deinit {
        guard phase.withLock({ $0 != .reaped }) else { return }
        killGroup()
        _ = wait(Int32(WNOWAIT))
        _ = reap()
    }

    /// Takes the socket away that is the program's standard input and output; `nil`: it was taken away before.
    public func takeConversation() -> SharedDescriptor? { ends.withLock { exchange(&$0.output, with: nil) } }

    /// Takes the read end of the program's standard error away, which does not block; `nil` when nobody reads that.
    public func takeErrors() -> SharedDescriptor? { ends.withLock { exchange(&$0.errors, with: nil) } }

    /// Asks the group to end, SIGTERM. Nothing happens once the leader has been reaped.
    public func terminateGroup() {
        phase.withLock { if $0 != .reaped { signalGroup(SIGTERM) } }
    }

    /// Ends the run: SIGKILL to the leader and to its whole group, and soon to all of its cgroup; `OrphanReaper.sweep` no
    /// longer spares the mark.
    public func killGroup() {
        phase.withLock { phase in
            guard phase != .reaped else { return }
            signalGroup(SIGKILL)
            // The leader may have moved to another group.
            _ = CLinux_pidfd_signal(pidfd.rawValue, SIGKILL)
            // After that: the leader may be on its way into its cgroup.
            if endRun(&phase) { cgroup?.end() }
        }
    }

    /// How the leader ended; nil while it runs. The first status ends the run: whatever is left of it is killed, of the group
    /// while the unreaped leader still keeps its number from being used again. Then the leader is reaped.
    ///
    /// Only the first call after the exit has the status; later ones return nil. It is that of the program if there is no
    /// `startFailure`.
    public func reap() -> ExitStatus? {
        phase.withLock { phase in
            guard phase != .reaped, let status = wait(WNOHANG | Int32(WNOWAIT)) else { return nil }
            let endedByItself = endRun(&phase)
            var hasLeft = endedByItself && cgroup?.isPopulated == true
            if endedByItself { leaveCgroup() }
            signalGroup(SIGKILL)
            // Before its number can be that of a new child.
            LiveRuns.removeChild(processID)
            _ = wait(WNOHANG)
            phase = .reaped
            if endedByItself, cgroup == nil { hasLeft = groupWasKilled() }
            if hasLeft { leftProcesses.store(true, ordering: .relaxed) }
            return status
        }
    }

    /// Whether the leader of the reaped run had ended by itself and had left processes behind, which were killed then; `false`
    /// where they had got away to a group of their own and the run had no cgroup.
    public var hasLeftProcesses: Bool { leftProcesses.load(ordering: .relaxed) }

    /// Whether the adopted rest of the group, which was sent SIGKILL, was running before.
    private func groupWasKilled() -> Bool {
        var signaled = false
        var value: Int32 = 0
        let result = CLinux_wait(
            Int32(P_PGID.rawValue), id_t(processID), Int32(WNOHANG | Int32(WNOWAIT)), &signaled, &value)
        // One is dying, or has died of it; who had ended before has a status of his own.
        return result == 0 || result == 1 && signaled && value == SIGKILL
    }

    /// Why the program never ran, of a process that has been reaped; nil: it did.
    public var startFailure: SpawnError? { memory.withLock { $0?.failure } }

    /// Has a program that runs ended before us when memory is short, and lets go of what its start needed. Not done at the
    /// start, since it costs a tenth of what a short run costs; not before the exec stands.
    ///
    /// - Returns: whether it is done.
    public func settle() -> Bool {
        phase.withLock { phase in
            guard phase != .reaped else { return true }
            return memory.withLock { memory in
                guard let start = memory else { return true }
                guard start.isDone else { return false }
                // The reason is asked for once it is reaped.
                guard !start.hasFailed else { return true }
                CLinux_prefer_to_end(processID)
                memory = nil
                return true
            }
        }
    }

    /// Takes what the program has written, without waiting, and appends it to `buffer` until that holds `limit` bytes;
    /// what is more is thrown away. At most 256 KiB a call: the descriptor stays readable if there is more.
    ///
    /// - Parameters:
    ///   - buffer: what was kept so far.
    ///   - limit: how much is kept, in bytes.
    ///   - chunk: scratch memory; as much of the output is read at once as there is room.
    public func readOutput(
        into buffer: inout [UInt8], limit: Int = 64 << 10, using chunk: UnsafeMutableRawBufferPointer
    ) -> OutputProgress {
        var progress = OutputProgress(hasEnded: false, discarded: 0)
        guard let standardOutput else { return progress }
        var taken = 0
        while taken < Self.readBound {
            let count = retryingInterrupts { read(standardOutput.rawValue, chunk.baseAddress, chunk.count) }
            progress.hasEnded = count == 0
            guard count > 0 else { break }
            let kept = min(count, max(0, limit - buffer.count))
            buffer.append(contentsOf: chunk[..<kept])
            progress.discarded += count - kept
            taken += count
        }
        return progress
    }

    /// - Returns: whether it was running.
    private func endRun(_ phase: inout Phase) -> Bool {
        guard phase == .running else { return false }
        phase = .ended
        LiveRuns.end(mark)
        return true
    }

    /// Of a leader that has exited, and was not killed.
    private func leaveCgroup() {
        let (hasFailed, hasNotJoined) = memory.withLock { ($0?.hasFailed == true, $0?.hasNotJoined == true) }
        if hasNotJoined { cgroup?.distrustKept() }
        if hasFailed { cgroup?.end() } else { cgroup?.leave() }
    }

    /// The leader is unreaped, so the number is still that of its group; the descriptor proves it once more from 6.9 on. A
    /// leader that has only just been made has no group yet.
    private func signalGroup(_ signal: Int32) {
        var result = CLinux_pidfd_signal_group(pidfd.rawValue, signal)
        if result < 0, errno == EINVAL { result = kill(-processID, signal) }
        if result < 0, errno == ESRCH { _ = CLinux_pidfd_signal(pidfd.rawValue, signal) }
    }

    private func wait(_ options: Int32) -> ExitStatus? {
        ExitStatus.wait(P_PIDFD, id_t(pidfd.rawValue), options)
    }
}

/// What one call of `ChildProcess.readOutput` found.
public struct OutputProgress: Sendable, Equatable {
    /// Everybody who could write has closed the pipe.
    public var hasEnded: Bool
    /// How many bytes this call threw away.
    public var discarded: Int
}

extension ExitStatus {
    /// waitid for an exit. Nil: not yet, or there is no such child.
    static func wait(_ type: idtype_t, _ id: id_t, _ options: Int32) -> ExitStatus? {
        var signaled = false
        var value: Int32 = 0
        while true {
            let result = CLinux_wait(Int32(type.rawValue), id, options, &signaled, &value)
            if result < 0, errno == EINTR { continue }
            guard result == 1 else { return nil }
            return signaled ? .signaled(value) : .exited(value)
        }
    }
}

/// How a process ended.
public enum ExitStatus: Sendable, Equatable {
    /// By itself, with this code, 0 to 255.
    case exited(Int32)
    /// By this signal.
    case signaled(Int32)
}
