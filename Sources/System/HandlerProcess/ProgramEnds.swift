import CLinux
import Glibc
import LinuxSystem
import Synchronization

/// The descriptors between this process and a program about to start: the program's ends, which close here once it has
/// them, and this process's ends.
struct ProgramEnds: ~Copyable {
    /// The program's standard input.
    let input: Int32
    /// The program's standard output.
    let output: Int32
    /// The program's standard error; -1 keeps that of this process.
    let errors: Int32

    private let inputEnd: FileDescriptor
    /// `nil` if one descriptor is both input and output.
    private let outputEnd: FileDescriptor?
    /// `nil` if the program keeps this process's standard error.
    private let errorEnd: FileDescriptor?
    private let parentEnds: ParentEnds

    /// The ends for a program that gets its whole input at its start; `nil` if no descriptor is left, with `errno` set.
    ///
    /// - Parameters:
    ///   - bytes: the input.
    ///   - readsErrors: whether this process reads its standard error; otherwise the program keeps this process's.
    init?(sealing bytes: [UInt8], readingErrors readsErrors: Bool) {
        guard let input = FileDescriptor(sealing: bytes), let pipe = Pipe() else { return nil }
        var errorNumbers: (read: Int32, write: Int32) = (-1, -1)
        if readsErrors {
            guard let errorPipe = Pipe() else { return nil }
            errorNumbers = errorPipe.release()
        }
        self.input = input.rawValue
        output = pipe.writeEnd.rawValue
        errors = errorNumbers.write
        inputEnd = consume input
        let (readNumber, writeNumber) = pipe.release()
        outputEnd = FileDescriptor(owning: writeNumber)
        errorEnd = FileDescriptor(errorNumbers.write)
        parentEnds = ParentEnds(
            output: SharedDescriptor(FileDescriptor(owning: readNumber)), errors: SharedDescriptor(errorNumbers.read))
    }

    /// The ends for a conversation; `nil` if no descriptor is left, with `errno` set.
    ///
    /// - Parameter readsErrors: whether this process reads its standard error; otherwise it is /dev/null.
    init?(readingErrors readsErrors: Bool) {
        var ends: [Int32] = [-1, -1]
        guard CLinux_socket_pair(&ends) == 0, let parentEnds = FileDescriptor(ends[0]),
            let theirs = FileDescriptor(ends[1])
        else { return nil }
        var errorNumbers: (read: Int32?, write: Int32) = (nil, -1)
        if readsErrors {
            guard let pipe = Pipe() else { return nil }
            let (read, write) = pipe.release()
            errorNumbers = (read, write)
        } else {
            errorNumbers.write = open("/dev/null", O_WRONLY | O_CLOEXEC)
            guard errorNumbers.write >= 0 else { return nil }
        }
        (input, output, errors) = (theirs.rawValue, theirs.rawValue, errorNumbers.write)
        inputEnd = consume theirs
        outputEnd = nil
        errorEnd = FileDescriptor(owning: errorNumbers.write)
        self.parentEnds = ParentEnds(
            output: SharedDescriptor(parentEnds), errors: errorNumbers.read.flatMap { SharedDescriptor($0) })
    }

    /// Returns this process's ends; the program's are closed.
    consuming func takeParentEnds() -> ParentEnds { parentEnds }
}

/// This process's ends of a program's standard streams, nonblocking.
struct ParentEnds {
    /// The read end of its standard output, or the socket that is its input as well.
    let output: SharedDescriptor
    /// The read end of its standard error; `nil` if it is not read.
    let errors: SharedDescriptor?
}

/// A pipe with a nonblocking read end.
private struct Pipe: ~Copyable {
    let readEnd: FileDescriptor
    let writeEnd: FileDescriptor

    /// `nil` if no descriptor is left, with `errno` set.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard CLinux_pipe(&ends) == 0, let readEnd = FileDescriptor(ends[0]), let writeEnd = FileDescriptor(ends[1])
        else { return nil }
        _ = fcntl(readEnd.rawValue, F_SETFL, O_NONBLOCK)
        self.readEnd = readEnd
        self.writeEnd = writeEnd
    }

    consuming func release() -> (read: Int32, write: Int32) {
        let read = readEnd.release()
        return (read, writeEnd.release())
    }
}

extension FileDescriptor {
    /// A memory file at its start. Writing it never waits for a reader, as a pipe would, and its seals keep the program
    /// from growing it.
    init?(sealing bytes: [UInt8]) {
        guard let file = FileDescriptor(CLinux_memory_file()) else { return nil }
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { write(file.rawValue, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            written += count
        }
        guard CLinux_seal(file.rawValue) == 0, lseek(file.rawValue, 0, SEEK_SET) == 0 else { return nil }
        self = file
    }
}

/// The runs of this process that have not ended, and its children that are not reaped.
///
/// One set for the whole process, like the kernel's list of children; for any thread. A mark is added before its child
/// exists, so that a helper that the child orphans at once is never taken for a leftover.
enum LiveRuns {
    /// A point in the order in which runs began.
    struct Point: Hashable, Comparable {
        fileprivate let value: UInt64

        static func < (left: Point, right: Point) -> Bool { left.value < right.value }
    }

    private struct Run {
        /// The number of runs with this mark; more than one only if the caller uses a mark twice.
        var count: Int
        var begin: UInt64
    }

    private struct State {
        var runs: [String: Run] = [:]
        var unreaped: [Int32: String] = [:]
        var lastBegin: UInt64 = 0
        /// The common prefix of all marks of this process, up to their first colon.
        var prefix: Substring?
    }

    private static let state = Mutex(State())

    static func begin(_ mark: String) {
        state.withLock { state in
            if state.prefix == nil { state.prefix = mark.prefix { $0 != ":" } }
            state.lastBegin += 1
            state.runs[mark, default: Run(count: 0, begin: state.lastBegin)].count += 1
        }
    }

    static func end(_ mark: String) {
        state.withLock { state in
            guard var run = state.runs[mark] else { preconditionFailure("run \(mark) has not begun") }
            run.count -= 1
            state.runs[mark] = run.count == 0 ? nil : run
        }
    }

    static func addChild(_ process: Int32, mark: String) {
        state.withLock { $0.unreaped[process] = mark }
    }

    static func removeChild(_ process: Int32) {
        state.withLock { $0.unreaped[process] = nil }
    }

    /// Returns whether a run with the mark is live.
    static func isLive(_ mark: String) -> Bool {
        state.withLock { $0.runs[mark] != nil }
    }

    /// Returns whether a mark is that of a live or ended run of this process; another program that runs handlers uses
    /// other marks.
    static func isOurs(_ mark: String) -> Bool {
        state.withLock { $0.prefix == mark.prefix { $0 != ":" } }
    }

    /// Whether all unreaped children have exited.
    static var areDead: Bool {
        let unreaped = state.withLock { Array($0.unreaped.keys) }
        return unreaped.allSatisfy { ExitStatus.wait(P_PID, id_t($0), WNOHANG | Int32(WNOWAIT)) != nil }
    }

    /// Returns whether this process started the process itself.
    static func hasChild(_ process: Int32) -> Bool {
        state.withLock { $0.unreaped[process] != nil }
    }

    /// Returns the mark of the live run with this process group; `nil` if there is none.
    static func mark(ofGroup group: Int32) -> String? {
        state.withLock { state in
            guard let mark = state.unreaped[group], state.runs[mark] != nil else { return nil }
            return mark
        }
    }

    /// The present point in the order of runs.
    static var now: Point { state.withLock { Point(value: $0.lastBegin) } }

    /// The point at which the oldest live run began, including programs that stay; every run that began before it has
    /// ended.
    static var oldest: Point {
        state.withLock { state in Point(value: state.runs.values.lazy.map(\.begin).min() ?? .max) }
    }
}
