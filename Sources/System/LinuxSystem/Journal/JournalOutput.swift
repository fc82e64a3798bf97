import CSystemd
import Glibc
import PushModel

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
