import EventLoop
import Glibc
import JournalLog
import LinuxSystem

/// Takes in what a program writes to standard error: into the journal, line by line, so many lines and so much of each; or
/// as it comes to who looks on.
final class ErrorLines {
    /// How often the end of a program has what is left read: a pipe holds 64 KiB, and others may go on writing.
    private static let lastReads = 8

    private let name: String
    private let log: (JournalEntry) -> Void
    private let observe: RunObserver?
    private let descriptor: FileDescriptor
    private var lines = LoggedLines()
    private var source: IOSource?

    /// - Parameters:
    ///   - descriptor: the read end; it does not block.
    ///   - name: of the handler.
    ///   - system: the loop and the journal.
    init(
        _ descriptor: consuming FileDescriptor, of name: String, _ system: InstanceSystem
    ) throws(SystemError) {
        self.name = name
        log = system.log
        observe = system.observe
        self.descriptor = descriptor
        source = try IOSource(loop: system.loop, descriptor: self.descriptor.rawValue, interest: .read) {
            [unowned self] _ in
            if !read() { source = nil }
        }
    }

    /// Takes in what is left. Others may hold the pipe open, so its end is not waited for.
    func finish() {
        for _ in 0..<Self.lastReads where source != nil { if !read() { source = nil } }
        source = nil
        tell(lines.end(at: EventLoop.nowNanoseconds))
    }

    /// - Returns: whether more may come.
    private func read() -> Bool {
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { chunk in
            let count = retryingInterrupts { Glibc.read(descriptor.rawValue, chunk.baseAddress, chunk.count) }
            guard count > 0 else { return count < 0 && errno == EAGAIN }
            if let observe {
                observe(.errors(Array(chunk[..<count])))
            } else {
                tell(lines.take(chunk[..<count], at: EventLoop.nowNanoseconds))
            }
            return true
        }
    }

    private func tell(_ lines: [String]) {
        for line in lines { log(JournalEntry(.info, line, fields: [.init(.handler, name)])) }
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
