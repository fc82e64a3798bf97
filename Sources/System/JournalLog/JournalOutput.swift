import CSystemd
import Glibc
import LinuxSystem

/// Writes entries where they go. Lines of logfmt wait for ``flush()``: a system call for several.
struct JournalOutput {
    private let destination: JournalWriter.Destination
    private var encoding = NativeEncoding()
    private var lines: [UInt8] = []
    /// The ends of the entries in ``lines``.
    private var ends: [Int] = []
    /// Whether a line was begun and not ended: what comes next must not go on with it.
    private var isWithinLine = false
    /// How many entries were not taken, or not to their end, since ``takeLost()`` was last called.
    private var lost = 0

    /// How many bytes of lines wait, about.
    private static let lengthMax = 64 << 10

    init(to destination: JournalWriter.Destination) { self.destination = destination }

    mutating func write(_ entry: JournalEntry) {
        // Looked for each time, because the journal may be gone since the start, or back again.
        if destination == .journal, Self.hasJournal,
            encoding.withVectors(of: entry, { sd_journal_sendv($0, Int32($0.count)) }) >= 0
        {
            return
        }
        Logfmt.append(entry, time: currentTime(), to: &lines)
        ends.append(lines.count)
        if lines.count >= Self.lengthMax { flush() }
    }

    /// Has everything written.
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

    /// How many entries nobody took since the last call: a full disk, a reader that is gone. Half an entry is none.
    mutating func takeLost() -> Int {
        defer { lost = 0 }
        return lost
    }

    /// `sd_journal_sendv` says that all is well where no journal is. Its socket tells.
    private static var hasJournal: Bool { access("/run/systemd/journal/socket", F_OK) == 0 }
}

/// The civil time now, as RFC 3339 with milliseconds, UTC.
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

/// Writes `bytes`, waiting for a reader that is slow. What nobody can read any more is let go.
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
