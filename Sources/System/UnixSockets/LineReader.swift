import Glibc
import LinuxSystem

/// Scratch memory to read into. One for all connections of a thread: an idle connection has none of its own.
public final class ReadBuffer {
    /// The memory; what is in it is the last reader's.
    public let storage: UnsafeMutableRawBufferPointer

    /// - Parameter size: in bytes; the most that is read from one connection at a time.
    public init(size: Int = 64 * 1024) {
        precondition(size > 0, "a read buffer has room for something")
        storage = .allocate(byteCount: size, alignment: 16)
    }

    deinit { storage.deallocate() }
}

/// What one read brought.
public enum ReadResult: Equatable {
    /// The lines that are complete now, in order, without their line feeds; perhaps none, perhaps empty ones.
    case lines([[UInt8]])
    /// After these lines came one that is longer than allowed. Reads from now on discard what comes, until the end.
    case tooLong(after: [[UInt8]])
    /// The peer will send no more. A last line that has no line feed counts as a line all the same
    /// (`printf '{...}' | nc -U`); it is here.
    case endOfFile(unterminated: [UInt8]?)
    /// Nothing has come. Try again when the connection is readable.
    case wouldBlock
}

/// What was found when more was asked for.
public enum FillResult: Equatable, Sendable {
    /// Bytes have come.
    case some
    /// The peer will send no more.
    case endOfFile
    /// Nothing has come. Try again when the connection is readable.
    case wouldBlock
}

/// The next of the lines that have come.
public enum NextLine: Equatable, Sendable {
    /// A line without its line feed, perhaps an empty one.
    case line([UInt8])
    /// One that is longer than allowed. What comes from now on is discarded, until the end.
    case tooLong
    /// There is none that is complete.
    case incomplete
}

/// Cuts a byte stream into lines. What has come and was not asked for yet stays here as it came.
struct LineReader {
    private var bytes: [UInt8] = []
    /// How many of the bytes were taken.
    private var taken = 0
    /// How many of the bytes are known to have no line feed among those that were not taken.
    private var searched = 0
    private var isDiscarding = false
    /// Whether the peer went and left unread what was sent to it last.
    private(set) var wasReset = false

    /// How many bytes have come that are no line yet, or a line that nobody asked for yet.
    var unreadBytes: Int { bytes.count - taken }

    /// Takes in what has come, at most one buffer full, and at most so many bytes.
    mutating func fill(from descriptor: Int32, using buffer: ReadBuffer, atMost limit: Int = .max) -> FillResult {
        let storage = UnsafeMutableRawBufferPointer(rebasing: buffer.storage.prefix(limit))
        let count = retryingInterrupts {
            recv(descriptor, storage.baseAddress, storage.count, Int32(MSG_DONTWAIT))
        }
        guard count > 0 else {
            if count < 0, errno == EAGAIN { return .wouldBlock }
            precondition(
                count == 0 || errno != EBADF && errno != ENOTSOCK, "read from something that is not an open socket")
            // The peer went and left replies unread. Whatever it is, nothing more will come.
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

    /// Takes out the next line.
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

    /// Takes out what came after the last line feed; `nil` for nothing. At the end of the stream that is a line, too.
    mutating func takeRest() -> [UInt8]? {
        guard unreadBytes > 0 else { return nil }
        defer { clear() }
        return Array(bytes[taken...])
    }

    /// Takes in what has come, and takes out all lines that are complete.
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

    /// Throws away what has come and whatever still comes.
    mutating func discard() {
        isDiscarding = true
        clear()
    }

    /// Lets go of the memory, too: a connection that is idle has none.
    private mutating func clear() {
        bytes = []
        taken = 0
        searched = 0
    }
}
