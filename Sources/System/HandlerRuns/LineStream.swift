public import EventLoop
public import LinuxSystem
public import UnixSockets

/// The lines of one instance, to it and from it: the same at both ends. Nothing here waits.
public final class LineStream {
    /// What is said of a stream.
    public enum Report {
        /// A line, without its line feed.
        case line([UInt8])
        /// The other end has closed its output: nothing more will come.
        case end
        /// What comes is no line any more; the reason is for people.
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
    /// Whether lines wait for the end of the turn.
    private var isFlushDue = false

    /// Whether the other end has not taken the last line that was sent to its line feed; to be asked at the end, when it
    /// takes no more.
    public var hasUnreadLine: Bool { connection.leftLastUnread }

    /// - Parameters:
    ///   - connection: what is read and written; the stream closes it.
    ///   - buffer: scratch memory of the loop's thread.
    ///   - loop: the loop.
    ///   - maximumLineLength: how long a line of the other end may be, in bytes.
    ///   - report: takes lines, and the end; never after `close`.
    /// - Throws: when the system has no descriptor left to watch it by.
    public init(
        _ connection: Connection, buffer: ReadBuffer, loop: EventLoop, maximumLineLength: Int = maximumLineLength,
        report: @escaping (Report) -> Void
    ) throws(SystemError) {
        self.connection = connection
        self.maximumLineLength = maximumLineLength
        self.buffer = buffer
        self.loop = loop
        self.report = report
        // Unowned: the source is a property of this object, and calls no more once it is gone. A flush reports nothing, so this
        // object is there after it.
        source = try IOSource(loop: loop, descriptor: try connection.descriptor, interest: .read) {
            [unowned self] events in
            if events.contains(.write) { flush() }
            if source != nil, !events.isDisjoint(with: [.read, .hangup, .error]) { read() }
        }
    }

    /// Sends a line, which has its line feed. All lines of a turn leave together at its end, as far as the other end takes
    /// them; the rest follows.
    public func send(_ line: [UInt8]) {
        guard source != nil else { return }
        connection.queue(line)
        guard !isFlushDue else { return }
        isFlushDue = true
        loop.atEndOfTurn { [weak self] in self?.flush() }
    }

    /// Tells the other end that no more lines will come, once it has taken those that were sent.
    public func finishSending() {
        finishesSending = true
        flush()
    }

    /// Takes in what is there; for the lines of a program that has just ended. What it left behind may go on writing, so no
    /// more is taken in than a socket holds.
    func drain() {
        for _ in 0..<Self.readsOfFullSocket where source != nil { if !read() { return } }
    }

    private static let readsOfFullSocket = 8

    /// Lets go of the other end.
    public func close() {
        // Also from its own handler, in which the source lives on.
        source?.cancel()
        source = nil
        connection.close()
    }

    private func flush() {
        isFlushDue = false
        guard source != nil else { return }
        switch connection.flush() {
        case .wouldBlock: source?.interest = [.read, .write]
        // The other end may still have said something though it takes no more: the end of that says so.
        case .done, .closed:
            source?.interest = .read
            if finishesSending { connection.finishSending() }
        }
    }

    /// - Returns: whether there may be more.
    @discardableResult
    private func read() -> Bool {
        switch connection.read(using: buffer, maximumLineLength: maximumLineLength) {
        case .wouldBlock: return false
        case .lines(let lines):
            tell(lines)
            return true
        case .tooLong(let lines):
            tell(lines)
            end(.fault("wrote a line of more than \(maximumLineLength) bytes"))
        case .endOfFile(let unterminated):
            tell(unterminated.map { [$0] } ?? [])
            end(.end)
        }
        return false
    }

    private func tell(_ lines: [[UInt8]]) {
        // What a line leads to may be the end of the stream.
        for line in lines where source != nil { report(.line(line)) }
    }

    private func end(_ end: Report) {
        guard source != nil else { return }
        close()
        report(end)
    }
}
