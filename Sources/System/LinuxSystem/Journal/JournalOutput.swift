import CSystemd
import Glibc

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
    private static var hasJournal: Bool { access("/run/systemd/journal/socket", F_OK) == 0 }
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
