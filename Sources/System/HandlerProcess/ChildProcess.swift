import CLinux
import Glibc
public import LinuxSystem
import Synchronization

/// A running program: the leader of its own process group, and a child of this process until it is reaped.
///
/// Only `deinit` blocks: it kills and reaps a child that was not reaped before. All calls are allowed on any thread.
public final class ChildProcess: Sendable {
    /// The limit for one `readOutput`, in bytes, so that a program that floods its pipe cannot block the caller.
    static let readBound = 256 << 10

    private enum Phase {
        case running
        /// The leader was killed or has exited: the rest of the run may be killed.
        case ended
        case reaped
    }

    /// Its process id, which is also that of its group. It is valid only until `reap` returns a status.
    let processID: Int32
    /// The run's `PUSH_RUN`.
    public let mark: String
    /// The time of the request to start it, in monotonic nanoseconds.
    public let startedAt: Int64
    private let cgroup: RunCgroup?
    /// `nil` once it is no longer needed.
    private let memory: Mutex<SpawnContext?>
    /// This process's ends of the program's streams; `nil` for an end that was taken, or that never existed.
    private let ends: Mutex<(output: SharedDescriptor?, errors: SharedDescriptor?)>
    private let phase = Mutex(Phase.running)
    private let leftProcesses = Atomic(false)

    /// Readable once the leader has exited.
    public let pidfd: SharedDescriptor
    /// The read end of the program's standard output, nonblocking; `nil` after `takeConversation`. A descendant may
    /// hold the other end open after the leader's exit: read once more after `reap`, and do not wait for the end of the
    /// pipe.
    public var standardOutput: SharedDescriptor? { ends.withLock { $0.output } }

    /// The run must have begun, and `LiveRuns` must have the child.
    init(
        processID: Int32, mark: String, startedAt: Int64, process: consuming FileDescriptor, cgroup: RunCgroup?,
        memory: SpawnContext, ends: ParentEnds
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

    /// Takes the socket that is the program's standard input and output; `nil` if it was taken before.
    public func takeConversation() -> SharedDescriptor? { ends.withLock { exchange(&$0.output, with: nil) } }

    /// Takes the nonblocking read end of the program's standard error; `nil` if it is not read.
    public func takeErrors() -> SharedDescriptor? { ends.withLock { exchange(&$0.errors, with: nil) } }

    /// Sends SIGTERM to the group, unless the leader has been reaped.
    public func terminateGroup() {
        phase.withLock { if $0 != .reaped { signalGroup(SIGTERM) } }
    }

    /// Ends the run: sends SIGKILL to the leader and its group at once, and to the whole cgroup soon.
    /// `OrphanReaper.sweep` no longer spares the mark.
    public func killGroup() {
        phase.withLock { phase in
            guard phase != .reaped else { return }
            signalGroup(SIGKILL)
            // The leader may have moved to another process group.
            _ = CLinux_pidfd_signal(pidfd.rawValue, SIGKILL)
            // Comes after the signals: the leader may not have joined its cgroup yet.
            if endRun(&phase) { cgroup?.end() }
        }
    }

    /// Returns how the leader ended; nil while it runs. The first status ends the run: this call kills the rest of the
    /// group while the unreaped leader still reserves the group's number, then reaps the leader.
    ///
    /// Only the first call after the exit returns the status; later ones return nil. If there is a `startFailure`, the
    /// status is not the program's.
    public func reap() -> ExitStatus? {
        phase.withLock { phase in
            guard phase != .reaped, let status = wait(WNOHANG | Int32(WNOWAIT)) else { return nil }
            let endedByItself = endRun(&phase)
            var hasLeft = endedByItself && cgroup?.isPopulated == true
            if endedByItself { leaveCgroup() }
            signalGroup(SIGKILL)
            // Removes the child before its number can be reused.
            LiveRuns.removeChild(processID)
            _ = wait(WNOHANG)
            phase = .reaped
            if endedByItself, cgroup == nil { hasLeft = groupWasKilled() }
            if hasLeft { leftProcesses.store(true, ordering: .relaxed) }
            return status
        }
    }

    /// Whether the leader exited by itself and left processes behind, which were killed then. `false` if they had moved
    /// to another group and the run had no cgroup.
    public var hasLeftProcesses: Bool { leftProcesses.load(ordering: .relaxed) }

    /// Returns whether an adopted process of the group, which was sent SIGKILL, was still running.
    private func groupWasKilled() -> Bool {
        var signaled = false
        var value: Int32 = 0
        let result = CLinux_wait(
            Int32(P_PGID.rawValue), id_t(processID), Int32(WNOHANG | Int32(WNOWAIT)), &signaled, &value)
        // 0: a process is dying. 1 with SIGKILL: one has died of it. A process that ended before has another status.
        return result == 0 || result == 1 && signaled && value == SIGKILL
    }

    /// Why the program never ran; nil if it did. Valid once the process is reaped.
    public var startFailure: SpawnError? { memory.withLock { $0?.failure } }

    /// Raises the oom_score_adj of a running program, and frees the memory of its start. This waits until the exec has
    /// succeeded, and is not part of the start: it costs a tenth of a short run.
    ///
    /// - Returns: whether it is done.
    public func settle() -> Bool {
        phase.withLock { phase in
            guard phase != .reaped else { return true }
            return memory.withLock { memory in
                guard let start = memory else { return true }
                guard start.isDone else { return false }
                // Keeps the reason of a failure until the process is reaped.
                guard !start.hasFailed else { return true }
                CLinux_prefer_to_end(processID)
                memory = nil
                return true
            }
        }
    }

    /// Reads the program's output without waiting, and appends it to `buffer` up to `limit` bytes; discards the rest.
    /// Reads at most 256 KiB a call: the descriptor stays readable if there is more.
    ///
    /// - Parameters:
    ///   - buffer: the output kept so far.
    ///   - limit: the largest length of `buffer`, in bytes.
    ///   - chunk: scratch memory for one read.
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

    /// - Returns: whether the run was live.
    private func endRun(_ phase: inout Phase) -> Bool {
        guard phase == .running else { return false }
        phase = .ended
        LiveRuns.end(mark)
        return true
    }

    /// Releases the cgroup of a leader that has exited and was not killed.
    private func leaveCgroup() {
        let (hasFailed, hasNotJoined) = memory.withLock { ($0?.hasFailed == true, $0?.hasNotJoined == true) }
        if hasNotJoined { cgroup?.distrustKept() }
        if hasFailed { cgroup?.end() } else { cgroup?.leave() }
    }

    /// Signals the group. The unreaped leader reserves the group's number; from Linux 6.9 on the pidfd identifies the
    /// group as well. A leader that was only just made has no group yet.
    private func signalGroup(_ signal: Int32) {
        var result = CLinux_pidfd_signal_group(pidfd.rawValue, signal)
        if result < 0, errno == EINVAL { result = kill(-processID, signal) }
        if result < 0, errno == ESRCH { _ = CLinux_pidfd_signal(pidfd.rawValue, signal) }
    }

    private func wait(_ options: Int32) -> ExitStatus? {
        ExitStatus.wait(P_PIDFD, id_t(pidfd.rawValue), options)
    }
}

/// The result of one `ChildProcess.readOutput`.
public struct OutputProgress: Sendable, Equatable {
    /// Whether every writer has closed the pipe.
    public var hasEnded: Bool
    /// The number of bytes that this call discarded.
    public var discarded: Int
}

extension ExitStatus {
    /// Calls waitid for an exit. Nil if the child is still running, or is not a child.
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

/// The exit status of a process.
public enum ExitStatus: Sendable, Equatable {
    /// The process exited with this code, 0 to 255.
    case exited(Int32)
    /// This signal killed the process.
    case signaled(Int32)
}
