import CSystemd
import Glibc
import LinuxSystem

extension JournalWriter {
    /// Where entries go.
    public enum Destination: Equatable, Sendable {
        /// The journal, by its native protocol; and where it is gone, standard error as logfmt.
        case journal
        /// A descriptor, as logfmt. It is borrowed.
        case logfmt(descriptor: Int32)

        /// The journal where standard error is the journal's (`JOURNAL_STREAM`, systemd.exec(5)), else standard error:
        /// who runs the daemon in a terminal, or sends its standard error elsewhere, sees the entries there.
        public static func detect() -> Destination {
            isJournal(STDERR_FILENO, stream: getenv("JOURNAL_STREAM").map { String(cString: $0) })
                ? .journal : .logfmt(descriptor: STDERR_FILENO)
        }

        /// - Parameter stream: device and inode of the service manager's stream to the journal, with a colon between them.
        static func isJournal(_ descriptor: Int32, stream: String?) -> Bool {
            var facts = stat()
            guard let stream, fstat(descriptor, &facts) == 0 else { return false }
            return stream == "\(facts.st_dev):\(facts.st_ino)"
        }

        /// `sd_journal_sendv` says that all is well where no journal is. Its socket tells.
        private static var hasJournal: Bool { access("/run/systemd/journal/socket", F_OK) == 0 }

        func write(_ entry: JournalEntry, encoding: inout NativeEncoding) {
            switch self {
            case .journal:
                // Looked for each time, because it may be gone since the start, or back again.
                let isTaken =
                    Destination.hasJournal
                    && encoding.withVectors(of: entry, { sd_journal_sendv($0, Int32($0.count)) }) >= 0
                if !isTaken { writeAll(Logfmt.line(entry, time: currentTime()), to: STDERR_FILENO) }
            case .logfmt(let descriptor):
                writeAll(Logfmt.line(entry, time: currentTime()), to: descriptor)
            }
        }
    }
}

/// The civil time now, as RFC 3339 with milliseconds, UTC.
func currentTime() -> String {
    let now = SystemClock.wallMilliseconds
    var seconds = time_t(now / 1000)
    var calendar = tm()
    gmtime_r(&seconds, &calendar)
    func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
    let date = [
        padded(Int(calendar.tm_year) + 1900, 4), padded(Int(calendar.tm_mon) + 1, 2), padded(Int(calendar.tm_mday), 2),
    ]
    let time = [calendar.tm_hour, calendar.tm_min, calendar.tm_sec].map { padded(Int($0), 2) }
    return "\(date.joined(separator: "-"))T\(time.joined(separator: ":")).\(padded(Int(now % 1000), 3))Z"
}

/// Writes all of `bytes`, waiting for a reader that is slow. What nobody can read any more is let go.
func writeAll(_ bytes: [UInt8], to descriptor: Int32) {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        if count >= 0 {
            rest = rest.dropFirst(count)
        } else if errno == EAGAIN {
            var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            poll(&request, 1, -1)
        } else if errno != EINTR {
            return
        }
    }
}
