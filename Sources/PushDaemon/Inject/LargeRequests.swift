import LinuxSystem
import PushModel
import PushRouting

/// Large requests that wait: to be read, users by turns, and then to go on, one a turn, once the log has room for more than
/// small ones.
final class LargeRequests {
    /// A request that was read, or why it is none, and where its reply goes.
    struct Read {
        var session: ClientSession
        var place: Int
        var result: LargeRequestReader.Result
    }

    /// How many are read ahead of those that go on: read, one takes many times the memory of its line.
    private static let readMax = 8
    /// How long one waits at most after the last that went on, where there is room for small ones alone.
    private static let interval: Int64 = 100_000_000

    private let reader: LargeRequestReader
    private let mustWaitForRoom: () -> Bool
    /// Those that are not read yet, each the only one of its connection.
    private(set) var unread = FairQueue<(line: [UInt8], session: ClientSession, place: Int)>()
    /// How many are being read.
    private var reading = 0
    /// Those that were read.
    private(set) var read = Queue<Read>()
    /// When the last of them went on, in monotonic nanoseconds.
    private var admittedAt: Int64?
    /// Whether the daemon is to end, and nobody sends small ones any more.
    private var isStopping = false

    /// - Parameters:
    ///   - reader: reads them, on a thread of its own.
    ///   - mustWaitForRoom: whether a large request has to wait, so that those who send small ones do not.
    init(_ reader: LargeRequestReader, mustWaitForRoom: @escaping () -> Bool) {
        self.reader = reader
        self.mustWaitForRoom = mustWaitForRoom
    }

    /// Whether none waits.
    var isIdle: Bool { unread.isEmpty && reading == 0 && read.isEmpty }

    /// Takes in a line; its connection waits with it.
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

    /// Whether one was read, and may go on now: there is room, or none went on for a while. A ledger that stays far behind
    /// must not keep large requests off for ever.
    func mayGoOn(at now: Int64) -> Bool {
        !read.isEmpty
            && (isStopping || !mustWaitForRoom() || now >= admittedAt.map { $0 + Self.interval } ?? now)
    }

    /// When the next one goes on at the latest, in monotonic nanoseconds; `nil` while none waits.
    var nextDue: Int64? { read.isEmpty ? nil : admittedAt.map { $0 + Self.interval } }

    /// Takes out the next one, if it may go on: many would make a turn too long.
    func next(at now: Int64, limits: JSONLimits) -> Read? {
        guard mayGoOn(at: now), let next = read.popFirst() else { return nil }
        readMore(limits)
        admittedAt = now
        next.session.heldBytes = 0
        return next
    }

    /// The daemon is to end: what has come goes on as fast as it can.
    func stop() { isStopping = true }
}
