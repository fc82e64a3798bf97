import LinuxSystem
import PushModel
import PushRouter

/// The large requests that wait: first to be parsed, the users by turns, then to be admitted, one in a turn, once the
/// log has room for more than small requests.
final class LargeRequests {
    /// The result of parsing a request, and the place of its reply.
    struct Read {
        var session: ClientSession
        var place: Int
        var result: LargeRequestReader.Result
    }

    /// How many requests are parsed ahead: a parsed one takes many times the memory of its line.
    private static let readMax = 8
    /// The longest wait after the last admission while the log has room for small requests only, in nanoseconds.
    private static let interval: Int64 = 100_000_000

    private let reader: LargeRequestReader
    private let mustWaitForRoom: () -> Bool
    /// The lines that are not parsed yet, each the only one of its connection.
    private(set) var unread = FairQueue<(line: [UInt8], session: ClientSession, place: Int)>()
    /// The number of lines that the thread parses.
    private var reading = 0
    /// The parsed requests.
    private(set) var read = Queue<Read>()
    /// The time of the last admission, in monotonic nanoseconds.
    private var admittedAt: Int64?
    /// Whether the daemon stops, so that no small requests come any more.
    private var isStopping = false

    /// - Parameters:
    ///   - reader: parses the lines on its thread.
    ///   - mustWaitForRoom: whether large requests have to wait, so that small ones do not.
    init(_ reader: LargeRequestReader, mustWaitForRoom: @escaping () -> Bool) {
        self.reader = reader
        self.mustWaitForRoom = mustWaitForRoom
    }

    /// Whether no large request waits.
    var isIdle: Bool { unread.isEmpty && reading == 0 && read.isEmpty }

    /// Queues a line, and blocks its connection.
    func take(_ line: [UInt8], from session: ClientSession, _ place: Int, limits: JSONLimits) {
        session.heldBytes = line.count
        session.block()
        unread.append((line, session, place), of: session.account)
        readMore(limits)
    }

    private func readMore(_ limits: JSONLimits) {
        while reading + read.count < Self.readMax, let (line, session, place) = unread.popFirst() {
            do throws(SystemError) {
                try reader.read(line, limits: limits) { [self] result in
                    reading -= 1
                    read.append(Read(session: session, place: place, result: result))
                }
                reading += 1
            } catch {
                let refusal = ProtocolError(.overloaded, message: error.description, retryAfter: .seconds(1))
                read.append(Read(session: session, place: place, result: .failure(refusal)))
            }
        }
    }

    /// Whether a parsed request may be admitted now: there is room, or the last admission was long ago. A ledger that
    /// stays far behind must not hold up large requests for ever.
    func mayResume(at now: Int64) -> Bool {
        !read.isEmpty
            && (isStopping || !mustWaitForRoom() || now >= admittedAt.map { $0 + Self.interval } ?? now)
    }

    /// The latest time of the next admission, in monotonic nanoseconds; `nil` if no parsed request waits.
    var nextDue: Int64? { read.isEmpty ? nil : admittedAt.map { $0 + Self.interval } }

    /// Takes the next parsed request, if it may be admitted. Only one in a turn: several would make the turn too long.
    func next(at now: Int64, limits: JSONLimits) -> Read? {
        guard mayResume(at: now), let next = read.popFirst() else { return nil }
        readMore(limits)
        admittedAt = now
        next.session.heldBytes = 0
        return next
    }

    /// Notes that the daemon stops: the remaining requests are admitted without waiting for room.
    func stop() { isStopping = true }
}

/// Parses large requests on its own thread: to scan a quarter of a megabyte takes longer than a turn of the loop may.
final class LargeRequestReader {
    typealias Result = Swift.Result<Request, ProtocolError>

    /// A line of at least this many bytes is large.
    static let threshold = 16 << 10

    private struct Job: Sendable {
        var token: UInt64
        var line: [UInt8]
        var limits: JSONLimits
    }

    private let thread: JobThread<Job>
    private var lastToken: UInt64 = 0
    private var completions: [UInt64: (Result) -> Void] = [:]

    /// - Parameter onAnswer: gets each result with its token, on the thread; the caller passes it to ``didRead(_:_:)``
    ///   on the loop's thread.
    init(onAnswer: @escaping @Sendable (_ token: UInt64, Result) -> Void) {
        thread = JobThread("large requests") {
            { job in
                onAnswer(
                    job.token, Result { () throws(ProtocolError) in try Request(line: job.line, limits: job.limits) })
            }
        }
    }

    /// Parses a line on the thread.
    ///
    /// - Parameter take: gets the result in a later turn.
    /// - Throws: when the system can start no thread.
    func read(_ line: [UInt8], limits: JSONLimits, _ take: @escaping (Result) -> Void) throws(SystemError) {
        lastToken += 1
        try thread.submit(Job(token: lastToken, line: line, limits: limits))
        completions[lastToken] = take
    }

    /// Passes on a result of the thread.
    func didRead(_ token: UInt64, _ result: Result) { completions.removeValue(forKey: token)?(result) }

    /// Ends the thread, and drops the closures that wait for results.
    func stop() {
        thread.stop()
        completions = [:]
    }
}
