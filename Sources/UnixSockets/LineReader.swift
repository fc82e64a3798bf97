import Glibc
import LinuxSystem

/// Scratch memory to read into. One for all connections of a thread: an idle connection has none of its own.
public final class ReadBuffer {
    let storage: UnsafeMutableRawBufferPointer

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

/// Cuts a byte stream into lines. Between reads it holds the beginning of a line, and nothing else.
struct LineReader {
    private var partial: [UInt8] = []
    private var isDiscarding = false

    mutating func read(from descriptor: Int32, using buffer: ReadBuffer, maximumLineLength: Int) -> ReadResult {
        let storage = buffer.storage
        let count = retryingInterrupts {
            recv(descriptor, storage.baseAddress, storage.count, Int32(MSG_DONTWAIT))
        }
        guard count >= 0 else {
            if errno == EAGAIN { return .wouldBlock }
            precondition(errno != EBADF && errno != ENOTSOCK, "read from something that is not an open socket")
            // ECONNRESET: the peer went and left replies unread. Whatever it is, nothing more will come.
            return takeEnd()
        }
        guard count > 0 else { return takeEnd() }
        if isDiscarding { return .lines([]) }
        return cut(UnsafeRawBufferPointer(rebasing: storage[..<count]), maximumLineLength: maximumLineLength)
    }

    private mutating func cut(_ bytes: UnsafeRawBufferPointer, maximumLineLength: Int) -> ReadResult {
        var lines: [[UInt8]] = []
        var rest = bytes
        while let base = rest.baseAddress, let lineFeed = memchr(base, Int32(UInt8(ascii: "\n")), rest.count) {
            let length = UnsafeRawPointer(lineFeed) - base
            guard partial.count + length <= maximumLineLength else { return discard(after: lines) }
            let line = UnsafeRawBufferPointer(rebasing: rest[..<length])
            if partial.isEmpty {
                lines.append([UInt8](line))
            } else {
                partial.append(contentsOf: line)
                lines.append(exchange(&partial, with: []))
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[(length + 1)...])
        }
        guard partial.count + rest.count <= maximumLineLength else { return discard(after: lines) }
        partial.append(contentsOf: rest)
        return .lines(lines)
    }

    private mutating func discard(after lines: [[UInt8]]) -> ReadResult {
        isDiscarding = true
        partial = []
        return .tooLong(after: lines)
    }

    private mutating func takeEnd() -> ReadResult {
        let last = exchange(&partial, with: [])
        return .endOfFile(unterminated: last.isEmpty ? nil : last)
    }
}
