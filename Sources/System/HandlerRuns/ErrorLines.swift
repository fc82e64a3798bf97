import EventLoop
import Glibc
import JournalLog
import LinuxSystem
import PushModel
import UnixSockets

/// Takes in what a program writes to standard error: keeps its end for the outcome, and has it in the journal line by line
/// where that is wanted, so many lines and so much of each. Who looks on gets it as it comes.
///
/// Nothing is read by itself before `begin`: what a pipe holds waits there. A program that writes without end is read from
/// time to time only: then its own writing waits, not the loop.
final class ErrorLines {
    /// How often the end of a program has what is left read: others may go on writing.
    private static let lastReads = 8
    /// How much is read in one interval.
    private static let intervalLength = 1 << 20
    /// In nanoseconds: with ``intervalLength`` 10 MiB in a second.
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
    /// For whom the program works now; `nil`: for nobody, or for more than one.
    private var owner: InvocationID?
    /// What was written for it.
    private var output = ErrorOutput()

    /// - Parameters:
    ///   - descriptor: the read end; it does not block.
    ///   - name: of the handler.
    ///   - owner: for whom the program works; `nil`: for nobody yet.
    ///   - isLogged: whether the lines go into the journal.
    ///   - system: the loop and the journal.
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

    /// Reads what comes, as it comes.
    func begin() throws(SystemError) { if !hasEnded { try watch() } }

    /// What was written for whom the program worked; from now on it works for somebody else. What it wrote before and
    /// nobody has read yet is still the former one's.
    func handOver(to next: InvocationID?) -> ErrorOutput? {
        if !hasEnded, pause == nil { read() }
        defer { (owner, output) = (next, ErrorOutput()) }
        return owner == nil || output.isEmpty ? nil : output
    }

    /// Takes in what is left. Others may hold the pipe open, so its end is not waited for.
    func finish() {
        for _ in 0..<Self.lastReads where !hasEnded { if !read() { break } }
        end()
        tell(lines.end(at: EventLoop.nowNanoseconds))
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

    /// Reads no more for the rest of the interval when it was too much.
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

    /// - Returns: whether there was something, and so may be more.
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
            tell(lines.take(bytes, at: EventLoop.nowNanoseconds))
        }
        return true
    }

    private func tell(_ lines: [String]) {
        guard !lines.isEmpty else { return }
        var fields: [JournalEntry.Field] = [.init(.handler, name)]
        if let owner { fields += [.init(.seq, owner.seq.value), .init(.invocation, owner.n)] }
        for line in lines { system.log(JournalEntry(.info, line, fields: fields)) }
    }
}

/// Cuts what a program writes into lines for the journal, and counts those that are too many.
struct LoggedLines {
    /// How many bytes of a line are told.
    static let lengthMax = 2048
    /// How many lines are told in an interval.
    static let countMax = 100
    /// In nanoseconds.
    static let interval: Int64 = 10_000_000_000

    private var line: [UInt8] = []
    /// Bytes of the line beyond what is told.
    private var cut = 0
    private var intervalBegan: Int64 = .min
    private var told = 0
    private var untold = 0

    /// Takes in bytes.
    ///
    /// - Returns: the lines to tell.
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

    /// Nothing more will come.
    ///
    /// - Returns: the lines that are left to tell.
    mutating func end(at now: Int64) -> [String] {
        var lines: [String] = []
        if !line.isEmpty { endLine(at: now, &lines) }
        if let note = noteOfUntold() { lines.append(note) }
        return lines
    }

    private mutating func endLine(at now: Int64, _ lines: inout [String]) {
        defer {
            line = []
            cut = 0
        }
        if intervalBegan == .min || now - intervalBegan >= Self.interval {
            if let note = noteOfUntold() { lines.append(note) }
            intervalBegan = now
            told = 0
        }
        guard told < Self.countMax else {
            untold += 1
            return
        }
        told += 1
        let text = String(decoding: line, as: UTF8.self)
        lines.append(cut > 0 ? "\(text) (\(cut) bytes more)" : text)
    }

    private mutating func noteOfUntold() -> String? {
        guard untold > 0 else { return nil }
        defer { untold = 0 }
        return
            "\(untold) \(untold == 1 ? "line" : "lines") of standard error \(untold == 1 ? "is" : "are") left out: at most \(Self.countMax) are logged in 10 s"
    }
}
