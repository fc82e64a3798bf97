import PushModel
import UnixSockets

/// The bytes that a server holds for its clients: of requests that are not worked yet, of those that were read and wait
/// for something, and of what clients are owed.
struct ClientAccounts {
    /// How many bytes of each kind a client may always have, whatever others have.
    static let share = 16 << 10
    /// How many bytes a client may be owed before it is worked for again.
    private static let outputLimit = 256 << 10

    private(set) var input: ByteAccount
    private(set) var output: ByteAccount
    /// Memory of requests that were read and wait: a short line of many values takes fifty times its length.
    private(set) var waiting: ByteAccount
    /// Of each account the client that may go beyond the limits to bring its long line to its end: if all waited for
    /// room, none would ever make any.
    private var longLines: [Account: ClientSession] = [:]
    /// Whether something was let go since this was asked last.
    private var hasReleased = false

    init(input: ByteAccount.Limits, output: ByteAccount.Limits) {
        self.input = ByteAccount(input)
        self.output = ByteAccount(output)
        waiting = ByteAccount(input)
    }

    mutating func setLimits(input: ByteAccount.Limits, output: ByteAccount.Limits) {
        (self.input.limits, self.output.limits, waiting.limits) = (input, output, input)
    }

    /// Brings the accounts up to date for a client; one that is closed
    /// holds nothing but a request that waits.
    mutating func count(_ session: ClientSession) {
        let unread = session.isClosed ? 0 : session.connection.unreadBytes + session.heldBytes
        let pending = session.isClosed ? 0 : session.owedBytes
        let held = session.waitingBytes
        guard unread != session.inputCounted || pending != session.outputCounted || held != session.waitingCounted
        else { return }
        if unread < session.inputCounted || pending < session.outputCounted || held < session.waitingCounted {
            hasReleased = true
        }
        input.add(unread - session.inputCounted, for: session.account)
        output.add(pending - session.outputCounted, for: session.account)
        waiting.add(held - session.waitingCounted, for: session.account)
        (session.inputCounted, session.outputCounted, session.waitingCounted) = (unread, pending, held)
    }

    /// Whether something was let go since this was asked last.
    mutating func takeRelease() -> Bool { exchange(&hasReleased, with: false) }

    /// Whether there is room for what a client would be owed if it were worked for.
    func hasOutputRoom(for session: ClientSession) -> Bool {
        let owed = session.owedBytes
        return owed < Self.share || owed < Self.outputLimit && !output.isFull(for: session.account)
    }

    /// Whether another request of a client may have to wait. What waits goes on by itself, so this ends.
    func mayHold(for session: ClientSession) -> Bool { !waiting.isFull(for: session.account) }

    /// Whether there is room for more of what a client sends.
    mutating func hasInputRoom(for session: ClientSession) -> Bool {
        guard session.connection.unreadBytes >= Self.share, input.isFull(for: session.account) else { return true }
        if let holder = longLines[session.account], holder.holdsLongLine { return holder === session }
        longLines[session.account] = session
        return true
    }

    /// Whether others of its account wait until this one's long line has come to its end.
    ///
    /// - Parameter waiting: who waits for room.
    func isHeldUp(by session: ClientSession, _ waiting: [ClientSession]) -> Bool {
        longLines[session.account] === session && session.holdsLongLine && input.isFull(for: session.account)
            && waiting.contains { $0 !== session && !$0.isClosed && $0.account == session.account }
    }

    /// Notes that an account has no client any more.
    mutating func forget(_ account: Account) { longLines[account] = nil }
}

extension ClientSession {
    /// Whether it is in the middle of a line that takes more than its share, or such a line waits to be accepted.
    fileprivate var holdsLongLine: Bool {
        guard !isClosed, !isDiscarding else { return false }
        return heldBytes > 0 || !mayHaveLines && connection.unreadBytes >= ClientAccounts.share
    }
}
