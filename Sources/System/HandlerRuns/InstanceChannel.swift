import EventLoop
import JournalLog
import LinuxSystem
import PushModel
import UnixSockets

/// What the runs and the instances of handlers work with.
struct InstanceSystem {
    let loop: EventLoop
    /// The ends of all processes that are watched.
    let exits: IOGroup
    let starter: ProgramStarter
    let sweeper: OrphanSweeper
    /// Takes what an operator must know.
    let log: (JournalEntry) -> Void
    /// Takes what is seen of runs; `nil`: nobody looks.
    let observe: RunObserver?
    /// Scratch memory of the loop's thread.
    let buffer = ReadBuffer()

    /// - Throws: when the system has no descriptor left.
    init(
        loop: EventLoop, starter: ProgramStarter, sweeper: OrphanSweeper, log: @escaping (JournalEntry) -> Void,
        observe: RunObserver?
    ) throws(SystemError) {
        self.loop = loop
        exits = try IOGroup(loop: loop, priority: .important)
        self.starter = starter
        self.sweeper = sweeper
        self.log = log
        self.observe = observe
    }
}

/// What a channel says of its instance.
enum ChannelReport {
    /// It takes lines.
    case opened
    /// It could not be opened; the reason is for people.
    case failedToOpen(String)
    /// It wrote a line.
    case line([UInt8])
    /// It says no more and takes no more: its end is near, and tells the reason. Perhaps it has left the last line unread.
    case takesNoMore(leavesLast: Bool)
    /// It is at its end; the reason is for people.
    case closed(String)
    /// Its process is reaped, or will never be started; told after `close` as well.
    case gone
}

/// One instance of a handler that answers by lines, as the loop has it.
protocol InstanceChannel: AnyObject {
    /// Opens it; says what became of that, now or later.
    func open()
    /// Sends a line, which has its line feed.
    func send(_ line: [UInt8])
    /// What the instance wrote to standard error for whom it worked; from now on it works for `next`, or for nobody or
    /// more than one.
    func handOverErrors(to next: InvocationID?) -> ErrorOutput?
    /// Tells the other end that no more lines will come, once it has those that were sent.
    func finishInput()
    /// Ends it now, with all that it started; nothing more is said of it.
    func close()
}
