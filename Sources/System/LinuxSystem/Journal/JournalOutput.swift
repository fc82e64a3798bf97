import CSystemd
import Glibc
import PushModel
import Synchronization

/// Writes entries to their destination. Lines of logfmt wait for ``flush()``, so that several share a system call.
struct JournalOutput {
    private let destination: JournalWriter.Destination
    private var encoding = NativeEncoding()
    private var lines: [UInt8] = []
    /// The ends of the entries in ``lines``.
    private var ends: [Int] = []
    /// Whether the last line was written in part: the next write must begin a new line.
    private var isWithinLine = false
    /// The number of entries that were not written, or not to their end, since the last ``takeLost()``.
    private var lost = 0

    /// The length of waiting lines at which they are flushed, in bytes.
    private static let lengthMax = 64 << 10

    init(to destination: JournalWriter.Destination) { self.destination = destination }

    mutating func write(_ entry: JournalEntry) {
        // Checks for the journal each time: it may have gone, or come back, since the start.
        if destination == .journal, Self.hasJournal,
            encoding.withVectors(of: entry, { sd_journal_sendv($0, Int32($0.count)) }) >= 0
        {
            return
        }
        Logfmt.append(entry, time: currentTime(), to: &lines)
        ends.append(lines.count)
        if lines.count >= Self.lengthMax { flush() }
    }

    /// Writes the waiting lines.
    mutating func flush() {
        guard !lines.isEmpty else { return }
        let descriptor =
            switch destination {
            case .journal: STDERR_FILENO
            case .logfmt(let descriptor): descriptor
            }
        if isWithinLine, writeAll([UInt8(ascii: "\n")], to: descriptor) == 1 { isWithinLine = false }
        let written = isWithinLine ? 0 : writeAll(lines, to: descriptor)
        lost += ends.count { $0 > written }
        if written > 0 { isWithinLine = lines[written - 1] != UInt8(ascii: "\n") }
        lines.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
    }

    /// Returns the number of entries lost since the last call, to a full disk or a reader that is gone. An entry
    /// written in part counts as lost.
    mutating func takeLost() -> Int {
        defer { lost = 0 }
        return lost
    }

    /// Whether the journal's socket exists: `sd_journal_sendv` reports success without a journal.
    fileprivate static var hasJournal: Bool { access("/run/systemd/journal/socket", F_OK) == 0 }
}

extension JournalEntry {
    /// Sends the entry to the journal, for a program that writes nothing else there. Without a journal it goes nowhere.
    public func sendToJournal() {
        guard JournalOutput.hasJournal else { return }
        var encoding = NativeEncoding()
        encoding.withVectors(of: self) { _ = sd_journal_sendv($0, Int32($0.count)) }
    }
}

/// Returns the current time in UTC, as RFC 3339 with milliseconds.
func currentTime() -> String {
    let now = SystemClock.wallMilliseconds
    var seconds = time_t(now / 1000)
    var calendar = tm()
    gmtime_r(&seconds, &calendar)
    return String(unsafeUninitializedCapacity: 24) { text in
        var length = 0
        func put(_ number: Int32, _ width: Int, then mark: Unicode.Scalar) {
            var rest = number
            for place in (length..<length + width).reversed() {
                text[place] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            }
            text[length + width] = UInt8(ascii: mark)
            length += width + 1
        }
        put(calendar.tm_year + 1900, 4, then: "-")
        put(calendar.tm_mon + 1, 2, then: "-")
        put(calendar.tm_mday, 2, then: "T")
        put(calendar.tm_hour, 2, then: ":")
        put(calendar.tm_min, 2, then: ":")
        put(calendar.tm_sec, 2, then: ".")
        put(Int32(now % 1000), 3, then: "Z")
        return length
    }
}

/// Writes `bytes`, and waits for a slow reader. Gives up if write(2) fails.
///
/// - Returns: how many bytes were written: all, unless write(2) failed.
func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Int {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        if count >= 0 {
            rest = rest.dropFirst(count)
        } else if errno == EAGAIN {
            var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            poll(&request, 1, -1)
        } else if errno != EINTR {
            break
        }
    }
    return bytes.count - rest.count
}

extension JournalWriter {
    /// The destination of entries.
    public enum Destination: Equatable, Sendable {
        /// The journal, by its native protocol; if it is away, standard error as logfmt.
        case journal
        /// A borrowed descriptor, as logfmt.
        case logfmt(descriptor: Int32)

        /// Returns the journal if standard error is connected to it (`JOURNAL_STREAM`, systemd.exec(5)), otherwise
        /// standard error: a user who runs the daemon in a terminal, or redirects its standard error, sees the entries
        /// there.
        public static func detect() -> Destination {
            isJournal(STDERR_FILENO, stream: getenv("JOURNAL_STREAM").map { String(cString: $0) })
                ? .journal : .logfmt(descriptor: STDERR_FILENO)
        }

        /// - Parameter stream: `JOURNAL_STREAM`: device and inode of the stream to the journal, separated by a colon.
        static func isJournal(_ descriptor: Int32, stream: String?) -> Bool {
            var facts = stat()
            guard let stream, fstat(descriptor, &facts) == 0 else { return false }
            return stream == "\(facts.st_dev):\(facts.st_ino)"
        }
    }
}

/// Converts entries to the argument of `sd_journal_sendv`: an array of `NAME=value`. The memory is reused for each
/// entry.
struct NativeEncoding {
    private var bytes: [UInt8] = []
    private var ends: [Int] = []
    private var vectors: [iovec] = []

    /// Calls `body` with the fields of `entry`, which are valid until it returns.
    mutating func withVectors<R>(of entry: JournalEntry, _ body: ([iovec]) -> R) -> R {
        bytes.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        // `journalctl` shows MESSAGE to people, so its control characters are made visible; other fields keep their
        // bytes.
        append("MESSAGE", .text(entry.message.showingControls()))
        append("PRIORITY", .integer(Int64(entry.priority.rawValue)))
        if let id = entry.messageID { append("MESSAGE_ID", .text(id.rawValue)) }
        for field in entry.fields { append(field.name.text, field.value) }

        vectors.removeAll(keepingCapacity: true)
        return bytes.withUnsafeMutableBytes { memory in
            var start = 0
            for end in ends {
                vectors.append(iovec(iov_base: memory.baseAddress.map { $0 + start }, iov_len: end - start))
                start = end
            }
            return body(vectors)
        }
    }

    private mutating func append(_ name: String, _ value: JournalEntry.Value) {
        bytes.append(contentsOf: name.utf8)
        bytes.append(UInt8(ascii: "="))
        switch value {
        case .text(let text): bytes.append(contentsOf: text.utf8)
        case .integer(let number): bytes.append(contentsOf: String(number).utf8)
        }
        ends.append(bytes.count)
    }
}

/// Formats an entry as one line of logfmt, for use without a journal: the same fields with names in lower case.
enum Logfmt {
    /// Appends the line of `entry`, with its line feed; `time` is RFC 3339.
    static func append(_ entry: JournalEntry, time: String, to line: inout [UInt8]) {
        line += "time=\(time) level=\(entry.priority.name) message=".utf8
        append(entry.message, to: &line)
        for field in entry.fields {
            line.append(UInt8(ascii: " "))
            line += field.name.lowerCase.utf8
            line.append(UInt8(ascii: "="))
            switch field.value {
            case .text(let text): append(text, to: &line)
            case .integer(let number): line += String(number).utf8
            }
        }
        if let id = entry.messageID { line += " message_id=\(id.rawValue)".utf8 }
        line.append(UInt8(ascii: "\n"))
    }

    /// Appends a text, quoted unless it is a plain word. Control characters are escaped: an entry stays one line, and a
    /// producer's text cannot send control sequences to a terminal.
    private static func append(_ text: String, to line: inout [UInt8]) {
        // Checks bytes before characters: almost all texts are plain.
        let isWord = text.utf8.allSatisfy(isPlain) || !text.unicodeScalars.contains(where: needsQuotes)
        guard !isWord || text.isEmpty else {
            line += text.utf8
            return
        }
        line.append(UInt8(ascii: "\""))
        if text.utf8.allSatisfy({ isPlain($0) || $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "=") }) {
            line += text.utf8
        } else {
            for scalar in text.unicodeScalars { appendEscaped(scalar, to: &line) }
        }
        line.append(UInt8(ascii: "\""))
    }

    private static func appendEscaped(_ scalar: Unicode.Scalar, to line: inout [UInt8]) {
        switch scalar {
        case "\"", "\\": line += "\\\(scalar)".utf8
        case "\n": line += "\\n".utf8
        case "\r": line += "\\r".utf8
        case "\t": line += "\\t".utf8
        case _ where isControl(scalar):
            let hexadecimal = String(scalar.value, radix: 16)
            line += "\\u\(String(repeating: "0", count: 4 - hexadecimal.count))\(hexadecimal)".utf8
        default: line += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
        }
    }

    /// Returns whether a byte is printable ASCII without a meaning in logfmt. Other bytes need a check by character.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "="), UInt8(ascii: "\\"): false
        default: 0x21...0x7E ~= byte
        }
    }

    private static func needsQuotes(_ scalar: Unicode.Scalar) -> Bool {
        scalar == " " || scalar == "\"" || scalar == "=" || scalar == "\\" || isControl(scalar)
    }

    /// Returns whether a character controls a terminal, or is one of the two separators that Unicode counts as line
    /// ends.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isSteering || scalar.value == 0x2028 || scalar.value == 0x2029
    }
}

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
