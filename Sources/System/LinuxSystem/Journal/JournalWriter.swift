import Glibc
import Synchronization

/// Writes entries on a thread of its own, because a stalled journal blocks its writers.
///
/// May be used from any thread. Entries are written in the order in which they were logged. If the queue is full, an
/// entry is dropped and counted, and a later entry tells the number.
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
    /// Readable if the queue has entries, or the writer is to stop.
    private let wakeup: EventDescriptor
    /// Readable once all entries are written and the thread is about to end.
    private let finished: EventDescriptor

    /// Starts the thread. ``stop(timeoutMilliseconds:)`` ends it.
    ///
    /// - Parameters:
    ///   - destination: the destination of entries.
    ///   - capacity: the largest number of queued entries.
    /// - Throws: if there is no descriptor or thread left.
    public init(destination: Destination = .detect(), capacity: Int = 4096) throws(SystemError) {
        precondition(capacity > 0, "a journal queue has room for something")
        self.capacity = capacity
        self.destination = destination
        wakeup = try EventDescriptor()
        finished = try EventDescriptor()
        // The thread keeps the writer alive until it ends. It blocks all signals: a SIGPIPE from a closed standard
        // error does not end the process.
        try WorkerThread("journal") { [self] in
            writeUntilStopped()
            finished.signal()
        }.detach()
    }

    /// The lowest priority that is written. Entries of a lower priority are omitted, also those in the queue, except
    /// the ones that are always written. The initial level writes all.
    public var level: JournalEntry.Priority {
        get { queue.withLock { $0.level } }
        set { queue.withLock { $0.level = newValue } }
    }

    /// Whether entries go to standard error rather than to the journal.
    public var isOnTerminal: Bool { destination != .journal }

    /// The number of entries dropped since the start, by a full queue or a failed write; on any thread.
    public var dropCount: UInt64 { queue.withLock(\.droppedInAll) }

    /// Queues an entry; never waits. An entry after `stop` is lost.
    public func log(_ entry: JournalEntry) {
        // An omitted entry takes no place in the queue.
        if entry.isWritten(at: level) { log { entry } }
    }

    /// Queues a closure that makes an entry on the writer's thread, unless it is dropped: for frequent entries.
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

    /// Waits until all entries are written and the thread has ended.
    ///
    /// - Parameter timeoutMilliseconds: the longest wait: a stalled journal must not keep a daemon from ending.
    /// - Returns: whether all entries were written.
    @discardableResult
    public func stop(timeoutMilliseconds: Int32) -> Bool {
        queue.withLock { $0.isStopping = true }
        wakeup.signal()
        return finished.wait(timeoutMilliseconds: timeoutMilliseconds)
    }

    /// The time for which entries are gathered before they are written, in microseconds: waking a thread costs the
    /// caller more than an entry does.
    private static let gathering: UInt32 = 5000

    private func writeUntilStopped() {
        var output = JournalOutput(to: destination)
        /// The number of dropped entries that are not reported yet.
        var unreported = 0
        while true {
            wakeup.wait()
            usleep(Self.gathering)
            // clear() comes first: an entry logged in between signals again, and is not missed.
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
            unreported += batch.dropped + lost
            // The report follows the entries of the full queue. If the report itself is lost, it is not counted.
            if unreported > 0, lost == 0 {
                output.write(.dropped(unreported))
                output.flush()
                if output.takeLost() == 0 { unreported = 0 }
            }
            if batch.isStopping { return }
        }
    }
}

extension JournalEntry {
    static func dropped(_ count: Int) -> JournalEntry {
        JournalEntry(
            .warning,
            "\(count) journal \(count == 1 ? "entry" : "entries") dropped: journald did not take them, or too slowly",
            messageID: .entriesDropped, fields: [Field(.dropped, count)])
    }
}
