import Glibc
public import LinuxSystem
import Synchronization

/// Writes entries on a thread of its own: a journal that stalls blocks whoever writes to it.
///
/// May be used from any thread. Entries are written in the order in which they were logged. When the queue is
/// full an entry is dropped and counted, and the next that is written says how many were.
public final class JournalWriter: Sendable {
    private struct Queue {
        var entries: [@Sendable () -> JournalEntry] = []
        /// The lowest priority that is written.
        var level = JournalEntry.Priority.debug
        var dropped = 0
        var droppedInAll: UInt64 = 0
        var isStopping = false
    }

    private let queue = Mutex(Queue())
    private let capacity: Int
    private let destination: Destination
    /// Readable when the queue is no longer empty or the writer is to stop.
    private let wakeup: EventDescriptor
    /// Readable when all is written and the thread is about to end.
    private let finished: EventDescriptor

    /// Starts the thread. ``stop(timeoutMilliseconds:)`` ends it.
    ///
    /// - Parameters:
    ///   - destination: where entries go.
    ///   - capacity: how many entries may wait.
    /// - Throws: when there is no descriptor or thread left.
    public init(destination: Destination = .detect(), capacity: Int = 4096) throws(SystemError) {
        precondition(capacity > 0, "a journal queue has room for something")
        self.capacity = capacity
        self.destination = destination
        wakeup = try EventDescriptor()
        finished = try EventDescriptor()
        // The thread keeps the writer alive until it ends. No signal comes to it: a standard error that nobody reads any more
        // does not end the process.
        try WorkerThread("journal") { [self] in
            writeUntilStopped()
            finished.signal()
        }.detach()
    }

    /// The lowest priority that is written; entries of a lower one are left out, those that wait already too, but for
    /// those that are always written. At first all are.
    public var level: JournalEntry.Priority {
        get { queue.withLock { $0.level } }
        set { queue.withLock { $0.level = newValue } }
    }

    /// Whether entries go to standard error, and not to the journal.
    public var isOnTerminal: Bool { destination != .journal }

    /// How many entries were dropped since the start, because the queue was full or because nobody took them; on any thread.
    public var dropCount: UInt64 { queue.withLock(\.droppedInAll) }

    /// Queues an entry; never waits. After `stop` it is lost.
    public func log(_ entry: JournalEntry) {
        // One that is left out takes no place in the queue.
        if entry.isWritten(at: level) { log { entry } }
    }

    /// Queues an entry that is made on the writer's thread, if it is not dropped: for what comes often.
    public func log(_ entry: @escaping @Sendable () -> JournalEntry) {
        let wasEmpty = queue.withLock { queue in
            guard queue.entries.count < capacity else {
                queue.dropped += 1
                queue.droppedInAll += 1
                return false
            }
            queue.entries.append(entry)
            return queue.entries.count == 1
        }
        if wasEmpty { wakeup.signal() }
    }

    /// Waits until all that was logged is written and the thread has ended.
    ///
    /// - Parameter timeoutMilliseconds: how long at most: a stalled journal must not keep a daemon from ending.
    /// - Returns: whether all was written.
    @discardableResult
    public func stop(timeoutMilliseconds: Int32) -> Bool {
        queue.withLock { $0.isStopping = true }
        wakeup.signal()
        return finished.wait(timeoutMilliseconds: timeoutMilliseconds)
    }

    /// For how long entries are gathered before they are written, in microseconds: to wake a thread costs the one that
    /// logs more than an entry does.
    private static let gathering: UInt32 = 5000

    private func writeUntilStopped() {
        var output = JournalOutput(to: destination)
        /// The number of entries that were dropped and not told yet.
        var untold = 0
        while true {
            wakeup.wait()
            usleep(Self.gathering)
            // Cleared before the entries are taken: one logged in between signals again and is not forgotten.
            wakeup.clear()
            let batch = queue.withLock { queue in
                let taken = queue
                queue.entries = []
                queue.dropped = 0
                return taken
            }
            for make in batch.entries {
                let entry = make()
                if entry.isWritten(at: batch.level) { output.write(entry) }
            }
            output.flush()
            let lost = output.takeLost()
            if lost > 0 { queue.withLock { $0.droppedInAll += UInt64(lost) } }
            untold += batch.dropped + lost
            // The dropped entries came after those that filled the queue. This one itself is not counted where it is lost.
            if untold > 0, lost == 0 {
                output.write(.dropped(untold))
                output.flush()
                if output.takeLost() == 0 { untold = 0 }
            }
            if batch.isStopping { return }
        }
    }
}

extension JournalEntry {
    static func dropped(_ count: Int) -> JournalEntry {
        JournalEntry(
            .warning,
            "\(count) journal \(count == 1 ? "entry" : "entries") dropped: nobody took them, or not as fast as they came",
            messageID: .entriesDropped, fields: [Field(.dropped, count)])
    }
}
