import Glibc

/// Scratch memory for reads, one for all connections of a thread: an idle connection needs no buffer.
public final class ReadBuffer {
    /// The memory, with the data of the last read.
    public let storage: UnsafeMutableRawBufferPointer

    /// - Parameter size: in bytes; the limit of one read.
    public init(size: Int = 64 * 1024) {
        precondition(size > 0, "a read buffer has room for something")
        storage = .allocate(byteCount: size, alignment: 16)
    }

    deinit { storage.deallocate() }
}

/// The result of one read.
public enum ReadResult: Equatable {
    /// The complete lines, in order, without their line feeds; the list, or a line, may be empty.
    case lines([[UInt8]])
    /// A line longer than the limit follows these lines. Later reads discard the input, until its end.
    case tooLong(after: [[UInt8]])
    /// The peer has closed its output. A last line without a line feed counts as a line (`printf '{...}' | nc -U`), and
    /// is given here.
    case endOfFile(unterminated: [UInt8]?)
    /// No bytes are available. Try again when the connection is readable.
    case wouldBlock
}

/// The result of a fill.
public enum FillResult: Equatable, Sendable {
    /// Bytes were read.
    case some
    /// The peer has closed its output.
    case endOfFile
    /// No bytes are available. Try again when the connection is readable.
    case wouldBlock
}

/// The next one of the received lines.
public enum NextLine: Equatable, Sendable {
    /// A line without its line feed; it may be empty.
    case line([UInt8])
    /// A line longer than the limit. Later input is discarded, until its end.
    case tooLong
    /// No line is complete.
    case incomplete
}

/// Splits a byte stream into lines. Keeps the bytes that were not taken yet.
struct LineReader {
    private var bytes: [UInt8] = []
    /// The number of bytes that were taken.
    private var taken = 0
    /// The number of bytes that were taken or searched: there is no line feed between `taken` and here.
    private var searched = 0
    private var isDiscarding = false
    /// Whether the peer closed the connection with unread data (ECONNRESET).
    private(set) var wasReset = false

    /// The number of bytes received and not yet taken as a line.
    var unreadBytes: Int { bytes.count - taken }

    /// Reads the available bytes, at most one buffer full, and at most `limit` bytes.
    mutating func fill(from descriptor: Int32, using buffer: ReadBuffer, atMost limit: Int = .max) -> FillResult {
        let storage = UnsafeMutableRawBufferPointer(rebasing: buffer.storage.prefix(limit))
        let count = retryingInterrupts {
            recv(descriptor, storage.baseAddress, storage.count, Int32(MSG_DONTWAIT))
        }
        guard count > 0 else {
            if count < 0, errno == EAGAIN { return .wouldBlock }
            precondition(
                count == 0 || errno != EBADF && errno != ENOTSOCK, "read from something that is not an open socket")
            // ECONNRESET: the peer left replies unread. After any error no more input follows.
            if count < 0, errno == ECONNRESET { wasReset = true }
            return .endOfFile
        }
        guard !isDiscarding else { return .some }
        if taken > 0 {
            bytes.removeFirst(taken)
            searched -= taken
            taken = 0
        }
        bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: storage[..<count]))
        return .some
    }

    /// Removes and returns the next line.
    mutating func nextLine(maximumLength: Int) -> NextLine {
        let end = bytes.withUnsafeBytes { all -> Int? in
            guard let base = all.baseAddress, searched < all.count,
                let found = memchr(base + searched, Int32(UInt8(ascii: "\n")), all.count - searched)
            else { return nil }
            return UnsafeRawPointer(found) - base
        }
        searched = end ?? bytes.count
        guard searched - taken <= maximumLength else {
            discard()
            return .tooLong
        }
        guard let end else { return .incomplete }
        let line = Array(bytes[taken..<end])
        taken = end + 1
        searched = taken
        if taken == bytes.count { clear() }
        return .line(line)
    }

    /// Removes and returns the bytes after the last line feed; `nil` if there are none. At the end of the stream they
    /// are a line, too.
    mutating func takeRest() -> [UInt8]? {
        guard unreadBytes > 0 else { return nil }
        defer { clear() }
        return Array(bytes[taken...])
    }

    /// Reads the available bytes, and returns all complete lines.
    mutating func read(from descriptor: Int32, using buffer: ReadBuffer, maximumLineLength: Int) -> ReadResult {
        switch fill(from: descriptor, using: buffer) {
        case .wouldBlock: return .wouldBlock
        case .endOfFile: return .endOfFile(unterminated: takeRest())
        case .some: break
        }
        var lines: [[UInt8]] = []
        while true {
            switch nextLine(maximumLength: maximumLineLength) {
            case .line(let line): lines.append(line)
            case .tooLong: return .tooLong(after: lines)
            case .incomplete: return .lines(lines)
            }
        }
    }

    /// Discards received bytes and all later ones.
    mutating func discard() {
        isDiscarding = true
        clear()
    }

    /// Frees the memory as well: an idle connection has none.
    private mutating func clear() {
        bytes = []
        taken = 0
        searched = 0
    }
}
