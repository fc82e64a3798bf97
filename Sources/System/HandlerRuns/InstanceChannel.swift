import LinuxSystem
import PushModel

/// The services for the runs and the instances of handlers.
struct InstanceSystem {
    let loop: EventLoop
    /// The pidfds of all watched processes.
    let exits: IOGroup
    let starter: ProgramStarter
    let sweeper: OrphanSweeper
    /// Takes entries for the operator.
    let log: (JournalEntry) -> Void
    /// Takes observations of runs; `nil` for none.
    let observe: RunObserver?
    /// Scratch memory of the loop's thread.
    let buffer = ReadBuffer()

    /// - Throws: if the system has no descriptor left.
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

/// A report of a channel about its instance.
enum ChannelReport {
    /// It accepts lines.
    case opened
    /// It could not be opened; the text is for people.
    case failedToOpen(String)
    /// It wrote a line.
    case line([UInt8])
    /// It neither writes nor reads any more; `closed` follows with the reason. It may have left the last line unread.
    case acceptsNoLines(leavesLast: Bool)
    /// It has ended; the text is for people.
    case closed(String)
    /// Its process is reaped, or will never be started; reported after `close` as well.
    case gone
}

/// The connection of the loop to one instance of a handler that answers by lines.
protocol InstanceChannel: AnyObject {
    /// Opens it; a report follows, during the call or later.
    func open()
    /// Sends a line, with its line feed.
    func send(_ line: [UInt8])
    /// Returns the instance's output to standard error for its present invocation, and sets the next one; `nil` means
    /// none, or more than one.
    func handOverErrors(to next: InvocationID?) -> ErrorOutput?
    /// Closes the instance's input after the lines that were sent.
    func finishInput()
    /// Ends it at once, with all processes that it started; no report but `gone` follows.
    func close()
}
