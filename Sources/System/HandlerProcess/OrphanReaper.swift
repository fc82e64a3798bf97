import CLinux
import Glibc
import LinuxSystem

/// Ends what a run started and left behind, wherever it went.
///
/// The process becomes a child subreaper: whatever its descendants orphan (setsid, a double fork) becomes its own child.
/// Such an adopted process, that is, a child that we did not start, is judged so:
///
/// - a zombie is reaped, by its exact id: `waitpid(-1)` would take the handlers' exits away;
/// - with the mark of a live run, or in the process group of one, it may live: it goes when its run ends;
/// - with the mark of no live run, or with none (it cleared its environment, or hides it), it is killed, and its group
///   with it: nothing but a run starts processes here. As process 1 of a container this includes strangers that
///   somebody else orphaned;
/// - in the middle of execve nobody can tell: it is looked at again;
/// - a child from before this value was made (`other & exec pushrouterd`) is none of our business.
///
/// Only unreaped children of ours are signalled, so no number can mean another process by now. What a killed process
/// leaves is adopted in turn, with a SIGCHLD, so that the tree dies from the top, a level a sweep; forks within one
/// group do not help, as the kernel signals a group at once.
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
        /// Processes that were sent SIGKILL, some perhaps a second time: each death is a SIGCHLD.
        public var killed = 0
        /// Processes in the middle of execve: sweep again in a few milliseconds, there is no signal for that.
        public var undecided = 0
        /// Processes that may not be signalled (another user's, through a set-user-id program): they stay.
        public var untouchable: [Int32] = []
    }

    private let children: FileDescriptor
    private var inherited: Set<Int32>

    /// Makes this process a subreaper and gives SIGCHLD its default action. Before the first run, on any thread.
    ///
    /// - Throws: `OrphanReaperError` if the kernel does not list children.
    public init() throws(OrphanReaperError) {
        let path = "/proc/self/task/\(getpid())/children"
        guard let children = FileDescriptor(open(path, O_RDONLY | O_CLOEXEC)) else {
            throw OrphanReaperError(path: path, code: errno)
        }
        // An ignored SIGCHLD survives exec; then the kernel would reap: no exit status, ids used again behind our back.
        signal(SIGCHLD, SIG_DFL)
        _ = CLinux_become_subreaper()
        inherited = Set(Self.list(children))
        self.children = children
    }

    /// Judges all adopted processes; never waits; below 1 us when there is none. To be called on SIGCHLD, and after
    /// `ChildProcess.killGroup` and `reap`, which end a run.
    public mutating func sweep() -> Sweep {
        var sweep = Sweep()
        let listed = Self.list(children)
        guard !listed.isEmpty else { return sweep }
        for process in listed where !LiveRuns.hasChild(process) {
            if ExitStatus.wait(P_PID, id_t(process), WNOHANG) != nil {
                inherited.remove(process)
                sweep.reaped += 1
            } else if !inherited.contains(process) {
                judge(process, &sweep)
            }
        }
        return sweep
    }

    private func judge(_ process: Int32, _ sweep: inout Sweep) {
        let group = ProcessFiles.status(of: process)?.group ?? 0
        let isInLiveGroup = LiveRuns.isLiveGroup(group)
        switch ProcessFiles.mark(of: process) {
        case .undecided:
            sweep.undecided += 1
        case .marked(let mark) where LiveRuns.isLive(mark):
            break
        case .unmarked where isInLiveGroup:
            break
        case .marked, .unmarked:
            if group > 1, group != getpgrp(), !isInLiveGroup { kill(-group, SIGKILL) }
            if kill(process, SIGKILL) == 0 {
                sweep.killed += 1
            } else {
                sweep.untouchable.append(process)
            }
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
