import Glibc
import LinuxSystem
import PushModel

/// Reads what a program writes to standard error: keeps its end for the outcome, and logs it line by line if that is
/// configured, with limits for the number and the length of lines. An observer gets it as it comes.
///
/// Reading begins with `begin`; the pipe holds the output until then. The rate is limited to 1 MiB in 100 ms, so a
/// program that writes without end blocks itself, and not the loop.
final class ErrorLines {
    /// The number of reads after the program's end: other processes may still write.
    private static let lastReads = 8
    /// The number of bytes after which reading pauses for the rest of the interval.
    private static let intervalLength = 1 << 20
    /// The length of an interval, in nanoseconds; with ``intervalLength`` the rate is 10 MiB a second.
    private static let interval: Int64 = 100_000_000

    private let name: String
    private let isLogged: Bool
    private let system: InstanceSystem
    private let descriptor: SharedDescriptor
    private var lines = LoggedLines()
    private var source: IOSource?
    private var pause: TimerSource?
    private var hasEnded = false
    private var intervalBegan: Int64 = .min
    private var readInInterval = 0
    /// The one invocation that the program works for; `nil` if there is none, or more than one.
    private var owner: InvocationID?
    /// The output for that invocation.
    private var output = ErrorOutput()

    /// - Parameters:
    ///   - descriptor: the read end, nonblocking.
    ///   - name: the handler's name.
    ///   - owner: the invocation that the program works for; `nil` if there is none yet.
    ///   - isLogged: whether to log the lines.
    ///   - system: the loop and the log.
    init(
        _ descriptor: SharedDescriptor, of name: String, for owner: InvocationID? = nil, isLogged: Bool,
        _ system: InstanceSystem
    ) {
        self.name = name
        self.owner = owner
        self.isLogged = isLogged
        self.system = system
        self.descriptor = descriptor
    }

    /// Begins to read the output as it comes.
    func begin() throws(SystemError) { if !hasEnded { try watch() } }

    /// Returns the output for the present invocation, and sets the next one. Output that is still in the pipe counts
    /// for the present one.
    func handOver(to next: InvocationID?) -> ErrorOutput? {
        if !hasEnded, pause == nil { read() }
        defer { (owner, output) = (next, ErrorOutput()) }
        return owner == nil || output.isEmpty ? nil : output
    }

    /// Reads the rest of the output. Does not wait for the end of the pipe, which other processes may hold open.
    func finish() {
        for _ in 0..<Self.lastReads where !hasEnded { if !read() { break } }
        end()
        logLines(lines.end(at: EventLoop.nowNanoseconds))
    }

    private func watch() throws(SystemError) {
        pause = nil
        source = try IOSource(loop: system.loop, descriptor: descriptor, interest: .read) {
            [unowned self] _ in
            read()
            if !hasEnded { slowDown() }
        }
    }

    private func end() {
        hasEnded = true
        source = nil
        pause = nil
    }

    /// Stops reading for the rest of the interval once the limit is reached.
    private func slowDown() {
        let now = EventLoop.nowNanoseconds
        if intervalBegan == .min || now - intervalBegan >= Self.interval {
            intervalBegan = now
            readInInterval = 0
        }
        guard readInInterval >= Self.intervalLength else { return }
        source = nil
        do throws(SystemError) {
            pause = try TimerSource(loop: system.loop) { [unowned self] in
                do throws(SystemError) { try watch() } catch { end() }
            }
            pause?.arm(at: intervalBegan + Self.interval)
        } catch {
            end()
        }
    }

    /// - Returns: whether it read something, so that there may be more.
    @discardableResult
    private func read() -> Bool {
        let chunk = system.buffer.storage
        let count = retryingInterrupts { Glibc.read(descriptor.rawValue, chunk.baseAddress, chunk.count) }
        guard count > 0 else {
            if count == 0 || errno != EAGAIN { end() }
            return false
        }
        readInInterval += count
        let bytes = UnsafeRawBufferPointer(rebasing: chunk[..<count])
        output.append(bytes)
        if let observe = system.observe {
            observe(.errors(Array(bytes)))
        } else if isLogged {
            logLines(lines.take(bytes, at: EventLoop.nowNanoseconds))
        }
        return true
    }

    private func logLines(_ lines: [String]) {
        guard !lines.isEmpty else { return }
        var fields: [JournalEntry.Field] = [.init(.handler, name)]
        if let owner { fields += [.init(.seq, owner.seq.value), .init(.invocation, owner.n)] }
        for line in lines { system.log(JournalEntry(.info, line, fields: fields)) }
    }
}

/// Splits a program's output into lines for the journal, and counts those beyond the limit.
struct LoggedLines {
    /// The limit for the bytes of a logged line.
    static let lengthMax = 2048
    /// The limit for the lines logged in an interval.
    static let countMax = 100
    /// The length of an interval, in nanoseconds.
    static let interval: Int64 = 10_000_000_000

    private var line: [UInt8] = []
    /// The bytes of the line beyond the limit.
    private var cut = 0
    private var intervalBegan: Int64 = .min
    private var logged = 0
    private var unreported = 0

    /// Adds bytes.
    ///
    /// - Returns: the lines to log.
    mutating func take(_ bytes: some Sequence<UInt8>, at now: Int64) -> [String] {
        var lines: [String] = []
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                endLine(at: now, &lines)
            } else if line.count < Self.lengthMax {
                line.append(byte)
            } else {
                cut += 1
            }
        }
        return lines
    }

    /// Ends the output.
    ///
    /// - Returns: the remaining lines to log.
    mutating func end(at now: Int64) -> [String] {
        var lines: [String] = []
        if !line.isEmpty { endLine(at: now, &lines) }
        if let note = noteOfUnreported() { lines.append(note) }
        return lines
    }

    private mutating func endLine(at now: Int64, _ lines: inout [String]) {
        defer {
            line = []
            cut = 0
        }
        if intervalBegan == .min || now - intervalBegan >= Self.interval {
            if let note = noteOfUnreported() { lines.append(note) }
            intervalBegan = now
            logged = 0
        }
        guard logged < Self.countMax else {
            unreported += 1
            return
        }
        logged += 1
        let text = String(decoding: line, as: UTF8.self)
        lines.append(cut > 0 ? "\(text) (\(cut) bytes more)" : text)
    }

    private mutating func noteOfUnreported() -> String? {
        guard unreported > 0 else { return nil }
        defer { unreported = 0 }
        return
            "\(unreported) \(unreported == 1 ? "line" : "lines") of standard error \(unreported == 1 ? "is" : "are") left out: at most \(Self.countMax) are logged in 10 s"
    }
}
