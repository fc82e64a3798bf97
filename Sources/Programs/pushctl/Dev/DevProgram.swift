import CLinux
import Glibc
import LinuxSystem

/// One of the programs that `pushctl dev` runs. It ends with this process, and only this process passes Ctrl-C on to
/// it.
final class DevProgram {
    /// How a program ended.
    enum End: Hashable {
        case exited(Int32)
        case signaled(Int32)

        /// `ended with status 1`
        var text: String {
            switch self {
            case .exited(let status): "ended with status \(status)"
            case .signaled(let signal):
                "was ended by signal \(signal)" + (strsignal(signal).map { " (\(String(cString: $0)))" } ?? "")
            }
        }
    }

    /// The program's name, for people.
    let name: String
    /// How the program ended; `nil` while it runs.
    private(set) var end: End?
    /// The last lines that it logged before it was ready.
    private(set) var held: [DevLogLine] = []
    /// Whether it reported readiness.
    private(set) var isReady = false

    private let process: FileDescriptor
    private let output: FileDescriptor
    private var isOutputOver = false
    private var splitter = DevLineSplitter()

    /// How many lines are kept until the program is ready.
    private static let heldMax = 50
    /// How many times the log of one program is read in a turn, 64 KiB each.
    private static let readsMax = 16

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - path: the path of the program.
    ///   - name: the program's name, for people.
    ///   - arguments: the arguments after the program's name.
    ///   - environment: the complete environment, as `NAME=value`.
    ///   - deathSignal: the signal that the kernel sends it when this process ends (PR_SET_PDEATHSIG).
    ///   - isForeground: whether it has this program's standard input, output and error, and the terminal's signals,
    ///     instead of a log.
    init(
        _ path: String, name: String, arguments: [String], environment: [String], deathSignal: Int32,
        isForeground: Bool = false
    ) throws(Failure) {
        var ends: [Int32] = [-1, -1]
        guard CLinux_pipe(&ends) == 0 else { throw Failure(.inputOutput, "cannot make a pipe: \(errorText(errno))") }
        let reading = FileDescriptor(owning: ends[0])
        let writing = FileDescriptor(owning: ends[1])
        _ = fcntl(reading.rawValue, F_SETFL, O_NONBLOCK)
        let words = ([path] + arguments).map { strdup($0) } + [nil]
        let variables = environment.map { strdup($0) } + [nil]
        defer { for text in words + variables { free(text) } }
        var descriptor: Int32 = -1
        let number = CLinux_start_companion(
            &descriptor, path, words, variables, isForeground ? -1 : writing.rawValue, deathSignal)
        guard number == 0 else { throw Failure(.unavailable, "cannot start \(path): \(errorText(number))") }
        self.name = name
        process = FileDescriptor(owning: descriptor)
        output = consume reading
    }

    /// A pidfd that is readable once the program has ended; -1 after ``checkExit()`` has seen the end.
    var processDescriptor: Int32 { end == nil ? process.rawValue : -1 }

    /// The reading end of the log's pipe; -1 after its end of file.
    var outputDescriptor: Int32 { isOutputOver ? -1 : output.rawValue }

    /// Sends the program a signal, if it runs.
    func send(_ signal: Int32) {
        if end == nil { _ = CLinux_pidfd_signal(process.rawValue, signal) }
    }

    /// Notes that the program is ready.
    ///
    /// - Returns: the lines that it logged before.
    func noteReady() -> [DevLogLine] {
        isReady = true
        defer { held = [] }
        return held
    }

    /// Checks whether the program has ended. The rest of its log can be taken after that.
    func checkExit() {
        var isSignal = false
        var value: Int32 = 0
        guard end == nil,
            CLinux_wait(Int32(P_PIDFD.rawValue), id_t(process.rawValue), Int32(WNOHANG), &isSignal, &value) == 1
        else { return }
        end = isSignal ? .signaled(value) : .exited(value)
    }

    /// Reads the log without waiting.
    ///
    /// - Returns: the lines to print now.
    func takeLog() -> [DevLogLine] {
        let lines = readLines().map { DevLogLine($0, from: name, at: LocalTime.now) }
        guard !isReady else { return lines }
        held = Array((held + lines).suffix(Self.heldMax))
        return []
    }

    private func readLines() -> [[UInt8]] {
        guard !isOutputOver else { return [] }
        var lines: [[UInt8]] = []
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        for _ in 0..<Self.readsMax {
            let count = bytes.withUnsafeMutableBytes { bytes in
                retryingInterrupts { read(output.rawValue, bytes.baseAddress, bytes.count) }
            }
            isOutputOver = count == 0 || count < 0 && errno != EAGAIN
            guard count > 0 else { break }
            lines += splitter.take(bytes[..<count])
        }
        return isOutputOver || end != nil ? lines + splitter.finish() : lines
    }
}
