import CLinux
import Glibc
import LinuxSystem

/// One of the programs that `pushctl dev` runs. It ends with us. Ctrl-C at the terminal reaches it through us alone.
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

    /// Its name, for people.
    let name: String
    /// How it ended; `nil` as long as it runs.
    private(set) var end: End?
    /// What it logged before it was ready, the last of it.
    private(set) var held: [DevLogLine] = []
    /// Whether it has said that it is ready.
    private(set) var isReady = false

    private let process: FileDescriptor
    private let output: FileDescriptor
    private var isOutputOver = false
    private var cutter = DevLineCutter()

    /// How many lines are kept until it is ready.
    private static let heldMax = 50
    /// How many times the log of one program is read before another's, 64 KiB each.
    private static let readsMax = 16

    /// Starts it.
    ///
    /// - Parameters:
    ///   - path: where it is.
    ///   - name: what it is called.
    ///   - arguments: the words behind its name.
    ///   - environment: all of its variables, as `NAME=value`.
    ///   - deathSignal: what the kernel sends it when we are gone.
    init(
        _ path: String, name: String, arguments: [String], environment: [String], deathSignal: Int32
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
        let number = CLinux_start_companion(&descriptor, path, words, variables, writing.rawValue, deathSignal)
        guard number == 0 else { throw Failure(.unavailable, "cannot start \(path): \(errorText(number))") }
        self.name = name
        process = FileDescriptor(owning: descriptor)
        output = consume reading
    }

    /// To watch until it is readable: the program has ended then. Negative once that is known.
    var processDescriptor: Int32 { end == nil ? process.rawValue : -1 }

    /// To watch until it is readable: there is something in the log. Negative at its end.
    var outputDescriptor: Int32 { isOutputOver ? -1 : output.rawValue }

    /// Sends it a signal, if it runs.
    func send(_ signal: Int32) {
        if end == nil { _ = CLinux_pidfd_signal(process.rawValue, signal) }
    }

    /// Notes that it is ready.
    ///
    /// - Returns: what it logged before.
    func noteReady() -> [DevLogLine] {
        isReady = true
        defer { held = [] }
        return held
    }

    /// Notes whether it has ended. What it has logged is to be taken after that.
    func look() {
        var isSignal = false
        var value: Int32 = 0
        guard end == nil,
            CLinux_wait(Int32(P_PIDFD.rawValue), id_t(process.rawValue), Int32(WNOHANG), &isSignal, &value) == 1
        else { return }
        end = isSignal ? .signaled(value) : .exited(value)
    }

    /// Takes what it has logged, without waiting.
    ///
    /// - Returns: what is to be shown now.
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
            lines += cutter.take(bytes[..<count])
        }
        return isOutputOver || end != nil ? lines + cutter.finish() : lines
    }
}
