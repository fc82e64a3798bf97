import Glibc
import LinuxSystem

/// An input file, or standard input, read line by line, so that its size does not matter for memory.
final class InputFile {
    /// The name in messages.
    let name: String
    /// The word for the file in a shell command of a message.
    var shellName: String { descriptor == STDIN_FILENO ? "FILE" : name }
    /// The number of the last line that ``nextLine()`` returned, from 1.
    private(set) var lineNumber = 0

    /// The size in bytes; `nil` if it is not a regular file.
    let size: Int?

    private let descriptor: Int32
    /// The file offset when it was opened; `nil` if it cannot be read twice.
    private let start: off_t?
    private var buffer: [UInt8] = []
    private var position = 0
    private var chunk = [UInt8](repeating: 0, count: 1 << 16)

    /// Longer than any request, whatever the daemon's limit.
    private static let longestLine = 64 << 20

    /// - Parameter operand: a path, or `-` for standard input.
    init(_ operand: String) throws(Failure) {
        if operand == "-" {
            name = "standard input"
            descriptor = STDIN_FILENO
        } else {
            name = operand
            descriptor = open(operand, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw Self.failure(operand) }
        }
        var status = stat()
        let isRegular = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        size = isRegular ? Int(status.st_size) : nil
        start = isRegular ? lseek(descriptor, 0, SEEK_CUR) : nil
    }

    deinit { if descriptor != STDIN_FILENO { close(descriptor) } }

    /// Whether ``rewind()`` is possible.
    var canRewind: Bool { start != nil }

    /// Seeks back to the offset at which the file was opened.
    func rewind() throws(Failure) {
        guard let start, lseek(descriptor, start, SEEK_SET) >= 0 else { throw Self.failure(name) }
        buffer = []
        position = 0
        lineNumber = 0
    }

    /// The next line without its line feed; `nil` at the end. A last line may lack its line feed.
    func nextLine() throws(Failure) -> [UInt8]? {
        var searched = position
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { position = end + 1 }
                return next(buffer[position..<end])
            }
            guard buffer.count - position <= Self.longestLine else {
                throw Failure(.badData, "\(name):\(lineNumber + 1): the line is longer than 64 MiB")
            }
            searched = buffer.count - position
            buffer.removeSubrange(..<position)
            position = 0
            guard try fill() else {
                guard !buffer.isEmpty else { return nil }
                defer { buffer = [] }
                return next(buffer[...])
            }
        }
    }

    /// Counts a line. Removes the byte order mark that some editors write at the start of a file.
    private func next(_ line: ArraySlice<UInt8>) -> [UInt8] {
        lineNumber += 1
        return Array(lineNumber == 1 && line.starts(with: [0xEF, 0xBB, 0xBF]) ? line.dropFirst(3) : line)
    }

    /// Whether the next line has not been written yet, as in a pipe.
    var mustWait: Bool {
        guard !canRewind, !buffer[position...].contains(UInt8(ascii: "\n")) else { return false }
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&request, 1, 0) == 0
    }

    /// The descriptor to poll for the next line; `nil` if ``nextLine()`` does not have to wait.
    var awaitedDescriptor: Int32? { mustWait ? descriptor : nil }

    /// Whether no line is left. `false` for a pipe, because a read might wait.
    func isAtEnd() throws(Failure) -> Bool {
        guard canRewind else { return false }
        if position == buffer.count { _ = try fill() }
        return position == buffer.count
    }

    /// Reads all bytes that are left.
    func rest() throws(Failure) -> [UInt8] {
        while try fill() {
            guard buffer.count - position <= Self.longestLine else {
                throw Failure(.badData, "\(name): one JSON value of more than 64 MiB")
            }
        }
        defer { position = buffer.count }
        return Array(buffer[position...])
    }

    /// Returns all bytes that are left, if they are no more than a limit, and leaves them to be read.
    func whole(upTo limit: Int) throws(Failure) -> [UInt8]? {
        while buffer.count - position <= limit {
            guard try fill() else { return Array(buffer[position...]) }
        }
        return nil
    }

    /// Reads more; returns `false` at the end.
    private func fill() throws(Failure) -> Bool {
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Self.failure(name) }
            buffer += chunk[..<count]
            return count > 0
        }
    }

    private static func failure(_ name: String) -> Failure {
        let number = errno
        let status: ExitStatus =
            switch number {
            case EACCES, EPERM: .noPermission
            case EIO: .inputOutput
            default: .noInput
            }
        return Failure(status, "\(name): \(errorText(number))")
    }
}
