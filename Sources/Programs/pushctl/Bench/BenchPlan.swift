import Glibc
import LinuxSystem
import PushModel
import PushSettings
import PushViews

/// The requests that a load generator sends, and how it sends them.
struct BenchPlan {
    /// The settings of the sending.
    let setup: LoadFigures.Setup
    /// The duration in nanoseconds; `nil`: until the count is reached.
    let length: Int64?
    let count: Int?
    /// The prefix of all request ids; `nil`: the requests have no ids.
    let idPrefix: String?
    /// The path of the socket.
    let socket: String
    /// The request lines, each without an id and without its opening brace.
    private let lines: [[UInt8]]

    private static let lengths = Duration.milliseconds(1)...Duration.seconds(86_400)
    /// The limit of all payloads together, in bytes.
    private static let payloadLimit = 64 << 20

    init(_ arguments: Arguments, _ session: Session) throws(Failure) {
        func number(_ option: Option, _ range: ClosedRange<Int>) throws(Failure) -> Int? {
            guard let text = arguments[option] else { return nil }
            guard let number = Int(text), range.contains(number) else {
                throw arguments.usageFailure(
                    "--\(option.name) \(text): a number from \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }
        let rate = try arguments[.rate].map { text throws(Failure) in
            guard let rate = Double(text), rate >= 0.001, rate <= 10_000_000 else {
                throw arguments.usageFailure("--rate \(text): requests a second, from 0.001 to 10000000")
            }
            return rate
        }
        setup = LoadFigures.Setup(
            connections: try number(.connections, 1...1000) ?? 1, pipeline: try number(.pipeline, 1...10_000) ?? 16,
            rate: rate)
        count = try number(.count, 1...1_000_000_000)
        let length = try arguments[.benchDuration].map { text throws(Failure) in
            guard let length = Duration(timeSpan: text), Self.lengths.contains(length) else {
                throw arguments.usageFailure("--duration \(text): a time span from 1ms to 1d, such as 30s or 5min")
            }
            return length
        }
        self.length = (length ?? (count == nil ? .seconds(10) : nil))?.nanoseconds
        if arguments.operands.contains("-"), !arguments.has(.unasked), !Self.isScratch(session.directories.runtime) {
            throw arguments.usageFailure(
                "payloads from standard input need --yes, because standard input cannot answer the question")
        }
        idPrefix = arguments.has(.withoutIDs) ? nil : "bench-\(SystemClock.wallMilliseconds)-\(getpid())-"
        socket = session.directories.injectSocket
        isForScratch = Self.isScratch(session.directories.runtime)
        lines = try Self.lines(arguments)
    }

    /// Whether the daemon's state directory is a temporary one, whose requests concern nobody else.
    let isForScratch: Bool

    /// Asks the person whether to send real requests.
    func confirm(_ output: Output) -> Bool {
        let amount = count.map { counted($0, "request") } ?? "requests"
        let time = length.map { " for \(Double($0) / 1e9) s" } ?? ""
        output.note(
            """
            \(amount) would be sent\(time) to \(socket). The requests are real: handlers get them, and the ledger \
            keeps them
            type yes to send them, or use --yes
            """)
        return readLine() == "yes"
    }

    /// The line of a request, with its line feed.
    /// - Parameter index: the number of the request, from 0; each has its own id.
    func line(_ index: Int) -> [UInt8] {
        let rest = lines[index % lines.count]
        guard let idPrefix else { return [UInt8(ascii: "{")] + rest }
        return Array("{\"id\":\"\(idPrefix)\(index)\",".utf8) + rest
    }

    private static func isScratch(_ directory: String) -> Bool {
        let own = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        let parts = directory.split(separator: "/")
        return ["/tmp", "/var/tmp", own].contains { scratch in
            // A directory that is empty, relative or the root is no temporary one.
            let above = scratch.split(separator: "/")
            return scratch.hasPrefix("/") && !above.isEmpty && directory.hasPrefix("/") && !parts.contains("..")
                && parts.count > above.count && parts.starts(with: above)
        }
    }

    private static func lines(_ arguments: Arguments) throws(Failure) -> [[UInt8]] {
        let template = RequestTemplate(arguments)
        guard !arguments.operands.isEmpty else {
            return [try line(try payload(#"{"pushctl":"bench"}"#), template, isAPNs: false)]
        }
        var lines: [[UInt8]] = []
        var size = 0
        for operand in arguments.operands {
            let file = try InputFile(operand)
            var payloads = PayloadReader(file)
            while let record = try payloads.next() {
                try file.check(record)
                let line = try line(record, template, isAPNs: file.isAPNs)
                size += line.count
                guard size <= payloadLimit else {
                    throw Failure(.badData, "\(record.place): all payloads together are longer than 64 MiB")
                }
                lines.append(line)
            }
        }
        return lines
    }

    private static func payload(_ text: String) throws(Failure) -> PayloadRecord {
        do {
            return PayloadRecord(document: try JSONDocument(scanning: Array(text.utf8)), place: "the default payload")
        } catch {
            preconditionFailure("the default payload is JSON: \(error.message)")
        }
    }

    /// Makes the line of a request without its opening brace, with a line feed.
    private static func line(_ record: PayloadRecord, _ template: RequestTemplate, isAPNs: Bool) throws(Failure)
        -> [UInt8]
    {
        let line = template.line(for: record, isAPNs: isAPNs)
        guard let request = (try? JSONDocument(scanning: line, limits: JSONLimits(depth: .max)))?.root,
            request.kind == .object, !request.members.isEmpty
        else { throw Failure(.badData, "\(record.place): the request must be a JSON object with members") }
        for (key, why) in [
            ("id", "each request gets an id of its own"), ("wait", "bench reads the outcomes from the ledger"),
        ]
        where request[key] != nil { throw record.failure(field: key, "must not be there: \(why)") }
        return request.compactBytes.dropFirst() + [UInt8(ascii: "\n")]
    }
}
