public import LinuxSystem
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

/// The lines of one instance, in both directions; both ends use it. No call waits.
public final class LineStream {
    /// A report of a stream.
    public enum Report {
        /// A line, without its line feed.
        case line([UInt8])
        /// The other end has closed its output.
        case end
        /// The input is not a line; the text is for people.
        case fault(String)
    }

    /// The longest line that an instance may write.
    public static let maximumLineLength = 256 << 10

    private let connection: Connection
    private let maximumLineLength: Int
    private let buffer: ReadBuffer
    private let loop: EventLoop
    private let report: (Report) -> Void
    private var source: IOSource?
    private var finishesSending = false
    /// Whether a flush is scheduled for the end of the turn.
    private var isFlushDue = false

    /// Whether the other end has left the last line unread, in whole or in part. To be read once the other end reads no
    /// more.
    var hasUnreadLine: Bool { connection.leftLastUnread }

    /// - Parameters:
    ///   - connection: the connection, which the stream closes.
    ///   - buffer: scratch memory of the loop's thread.
    ///   - loop: the loop.
    ///   - maximumLineLength: the longest line from the other end, in bytes.
    ///   - report: takes lines, and the end; never called after `close`.
    /// - Throws: if the system has no descriptor left for the watch.
    public init(
        _ connection: Connection, buffer: ReadBuffer, loop: EventLoop, maximumLineLength: Int = maximumLineLength,
        report: @escaping (Report) -> Void
    ) throws(SystemError) {
        self.connection = connection
        self.maximumLineLength = maximumLineLength
        self.buffer = buffer
        self.loop = loop
        self.report = report
        // Unowned: this object owns the source, which makes no call after its release. flush() makes no report, so this
        // object still exists after it.
        source = try IOSource(loop: loop, descriptor: try connection.descriptor, interest: .read) {
            [unowned self] events in
            if events.contains(.write) { flush() }
            if source != nil, !events.isDisjoint(with: [.read, .hangup, .error]) { read() }
        }
    }

    /// Sends a line, with its line feed. All lines of a turn leave together at its end, as far as the other end reads
    /// them; the rest follows.
    public func send(_ line: [UInt8]) {
        guard source != nil else { return }
        connection.queue(line)
        guard !isFlushDue else { return }
        isFlushDue = true
        loop.atEndOfTurn { [weak self] in self?.flush() }
    }

    /// Closes the output after the lines that were sent.
    func finishSending() {
        finishesSending = true
        flush()
    }

    /// Reads the remaining lines of a program that has just ended. Its leftover processes may still write, so this
    /// reads at most as much as a socket holds.
    func drain() {
        for _ in 0..<Self.readsOfFullSocket where source != nil { if !read() { return } }
    }

    private static let readsOfFullSocket = 8

    /// Closes the connection.
    public func close() {
        // cancel() first: in a call of its handler, the source stays alive.
        source?.cancel()
        source = nil
        connection.close()
    }

    private func flush() {
        isFlushDue = false
        guard source != nil else { return }
        switch connection.flush() {
        case .wouldBlock: source?.interest = [.read, .write]
        // A peer that has closed its input may still have written lines: its end of file is the end.
        case .done, .closed:
            source?.interest = .read
            if finishesSending { connection.finishSending() }
        }
    }

    /// - Returns: whether there may be more input.
    @discardableResult
    private func read() -> Bool {
        switch connection.read(using: buffer, maximumLineLength: maximumLineLength) {
        case .wouldBlock: return false
        case .lines(let lines):
            reportLines(lines)
            return true
        case .tooLong(let lines):
            reportLines(lines)
            end(.fault("wrote a line of more than \(maximumLineLength) bytes"))
        case .endOfFile(let unterminated):
            reportLines(unterminated.map { [$0] } ?? [])
            end(.end)
        }
        return false
    }

    private func reportLines(_ lines: [[UInt8]]) {
        // The report of a line may close the stream.
        for line in lines where source != nil { report(.line(line)) }
    }

    private func end(_ end: Report) {
        guard source != nil else { return }
        close()
        report(end)
    }
}
