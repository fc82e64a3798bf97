import Glibc
import LinuxSystem
import PushModel
import PushViews

/// Prints the logs of the programs of `pushctl dev`.
struct DevLog {
    /// Decides whether standard error gets colours.
    private let colours = Output(to: STDERR_FILENO)
    private let zone: LocalZone
    private let isBrief: Bool

    /// - Parameters:
    ///   - zone: the zone of the times.
    ///   - isBrief: whether only warnings, errors and what handlers write are shown.
    init(zone: LocalZone, isBrief: Bool) { (self.zone, self.isBrief) = (zone, isBrief) }

    /// Writes a line to standard error. A failure has nowhere to be reported.
    func show(_ line: DevLogLine) {
        guard !isBrief || line.isOfHandler || line.level.rawValue <= JournalEntry.Priority.warning.rawValue else {
            return
        }
        var rest = Array("\(colours.coloured(line.shown(in: zone)))\n".utf8)[...]
        while !rest.isEmpty {
            let count = retryingInterrupts { rest.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) } }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}

/// One line of a program's log.
struct DevLogLine: Hashable {
    /// The time of the line.
    private(set) var time: WallTime
    private(set) var level = JournalEntry.Priority.info
    /// The name of the program, or of the handler that wrote the line.
    private(set) var program: String
    private(set) var isOfHandler = false
    private(set) var message: String

    /// Parses a line: logfmt, or a text with or without a level prefix of sd-daemon(3).
    ///
    /// - Parameters:
    ///   - bytes: the line, without its line feed.
    ///   - program: the name of the program.
    ///   - time: now, for a line without a time.
    init(_ bytes: [UInt8], from program: String, at time: WallTime) {
        (self.time, self.program) = (time, program)
        var text = bytes[...]
        if text.count >= 3, text[0] == UInt8(ascii: "<"), text[2] == UInt8(ascii: ">"),
            let level = JournalEntry.Priority(rawValue: Int(text[1]) - Int(UInt8(ascii: "0")))
        {
            self.level = level
            text = text.dropFirst(3)
        }
        message = String(decoding: text, as: UTF8.self)
        if message.hasPrefix("\(program): ") { message.removeFirst(program.count + 2) }
        guard message.hasPrefix("time=") else { return }
        var fields = LogfmtFields(rest: text)
        guard let time = fields.next(), let level = fields.next(), let message = fields.next(),
            level.name == "level", message.name == "message"
        else { return }
        self.time = WallTime(rfc3339: time.value) ?? self.time
        // Logfmt has the whole names of levels.
        self.level = JournalEntry.Priority.allCases.first { "\($0)" == level.value } ?? self.level
        self.message = message.value
        // The daemon's own entries about a handler have an id, or are warnings.
        var others: [String: String] = [:]
        while let field = fields.next() { others[field.name] = field.value }
        guard let handler = others["push_handler"], others["message_id"] == nil, self.level == .info else { return }
        (self.program, isOfHandler) = ("handler \(handler)", true)
    }

    /// The line for people: `09:00:00  info     pushrouterd: the message`.
    func shown(in zone: LocalZone) -> ReportLine {
        let word = "\(level)"
        let space = String(repeating: " ", count: max(0, 7 - word.count))
        let tone: ReportLine.Tone =
            switch level {
            case .emergency, .alert, .critical, .error: .bad
            case .warning: .warning
            case .notice, .info: .plain
            case .debug: .faint
            }
        // Without the date before the time and the zone behind it.
        let clock = zone.text(time).dropFirst(11).prefix(8)
        return ReportLine("\(clock)  \(word)\(space)  \(program): \(message)", tone)
    }
}

/// Reads the fields of one line of logfmt.
private struct LogfmtFields {
    private(set) var rest: ArraySlice<UInt8>

    /// The next field; `nil` at the end of the line, and for a malformed field.
    mutating func next() -> (name: String, value: String)? {
        guard let equals = rest.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let name = String(decoding: rest[..<equals], as: UTF8.self)
        rest = rest[(equals + 1)...]
        guard rest.first == UInt8(ascii: "\"") else {
            let value = rest.prefix { $0 != UInt8(ascii: " ") }
            rest = rest.dropFirst(value.count + 1)
            return (name, String(decoding: value, as: UTF8.self))
        }
        rest = rest.dropFirst()
        guard let value = quoted() else { return nil }
        rest = rest.dropFirst()
        return (name, value)
    }

    /// Reads up to the next quote, and consumes the quote.
    private mutating func quoted() -> String? {
        var value: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: value, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst() else { return nil }
                switch escaped {
                case UInt8(ascii: "n"): value.append(UInt8(ascii: "\n"))
                case UInt8(ascii: "r"): value.append(UInt8(ascii: "\r"))
                case UInt8(ascii: "t"): value.append(UInt8(ascii: "\t"))
                case UInt8(ascii: "u"):
                    let digits = String(decoding: rest.prefix(4), as: UTF8.self)
                    guard let number = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(number) else {
                        return nil
                    }
                    rest = rest.dropFirst(4)
                    value += String(Character(scalar)).utf8
                default: value.append(escaped)
                }
            default: value.append(byte)
            }
        }
        return nil
    }
}

/// Splits the output of a program into lines.
struct DevLineSplitter {
    /// The longest line, in bytes; the rest of a longer one is dropped.
    static let lengthMax = 64 << 10

    private var line: [UInt8] = []

    /// Adds bytes.
    ///
    /// - Returns: the lines that are complete now, without their line feeds.
    mutating func take(_ bytes: ArraySlice<UInt8>) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        var rest = bytes
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            append(rest[..<end])
            lines.append(line)
            line.removeAll(keepingCapacity: true)
            rest = rest[(end + 1)...]
        }
        append(rest)
        return lines
    }

    /// Ends the output.
    ///
    /// - Returns: the last line, if it has no line feed.
    mutating func finish() -> [[UInt8]] {
        defer { line = [] }
        return line.isEmpty ? [] : [line]
    }

    private mutating func append(_ part: ArraySlice<UInt8>) { line += part.prefix(Self.lengthMax - line.count) }
}
