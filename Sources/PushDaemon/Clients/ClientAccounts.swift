import LinuxSystem
import PushModel

/// The bytes that a server holds for its clients: lines that are not worked yet, parsed requests that wait, and replies
/// that clients have not read.
struct ClientAccounts {
    /// How many bytes of each kind a client may always hold, whatever others hold.
    static let share = 16 << 10
    /// With more bytes of unread replies than this the server works none of a client's requests.
    private static let outputLimit = 256 << 10

    private(set) var input: ByteAccount
    private(set) var output: ByteAccount
    /// Memory of parsed requests that wait: a short line of many values takes fifty times its length.
    private(set) var waiting: ByteAccount
    /// For each account, the client that may exceed the limits to finish its long line: if all clients waited for room,
    /// no client could make any.
    private var longLines: [Account: ClientSession] = [:]
    /// Whether a client released bytes since `takeRelease` was last called.
    private var hasReleased = false

    init(input: ByteAccount.Limits, output: ByteAccount.Limits) {
        self.input = ByteAccount(input)
        self.output = ByteAccount(output)
        waiting = ByteAccount(input)
    }

    mutating func setLimits(input: ByteAccount.Limits, output: ByteAccount.Limits) {
        (self.input.limits, self.output.limits, waiting.limits) = (input, output, input)
    }

    /// Brings the accounts up to date for a client. A closed client holds only the memory of a request that waits.
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

    /// Whether a client released bytes since the last call.
    mutating func takeRelease() -> Bool { exchange(&hasReleased, with: false) }

    /// Whether a client's unread replies leave room for another one.
    func hasOutputRoom(for session: ClientSession) -> Bool {
        let owed = session.owedBytes
        return owed < Self.share || owed < Self.outputLimit && !output.isFull(for: session.account)
    }

    /// Whether another request of a client may wait. Requests that wait continue without their client, so this ends.
    func mayHold(for session: ClientSession) -> Bool { !waiting.isFull(for: session.account) }

    /// Whether there is room for more input of a client.
    mutating func hasInputRoom(for session: ClientSession) -> Bool {
        guard session.connection.unreadBytes >= Self.share, input.isFull(for: session.account) else { return true }
        if let holder = longLines[session.account], holder.holdsLongLine { return holder === session }
        longLines[session.account] = session
        return true
    }

    /// Whether other clients of the account wait until this client's long line is complete.
    ///
    /// - Parameter waiting: the clients that wait for room.
    func isHeldUp(by session: ClientSession, _ waiting: [ClientSession]) -> Bool {
        longLines[session.account] === session && session.holdsLongLine && input.isFull(for: session.account)
            && waiting.contains { $0 !== session && !$0.isClosed && $0.account == session.account }
    }

    /// Notes that an account has no client left.
    mutating func forget(_ account: Account) { longLines[account] = nil }
}

extension ClientSession {
    /// Whether the client is in the middle of a line that exceeds its share, or waits until such a line is accepted.
    fileprivate var holdsLongLine: Bool {
        guard !isClosed, !isDiscarding else { return false }
        return heldBytes > 0 || !mayHaveLines && connection.unreadBytes >= ClientAccounts.share
    }
}

/// Counts the bytes that are held for clients, in total and by account, against limits.
struct ByteAccount {
    /// The limits of the bytes held.
    struct Limits: Hashable {
        /// In all, in bytes.
        var total: Int
        /// For one account, in bytes.
        var perPeer: Int
    }

    var limits: Limits
    /// How many bytes are held in all.
    private(set) var total = 0
    private var byAccount: [Account: Int] = [:]

    init(_ limits: Limits) { self.limits = limits }

    /// How many bytes are held for an account.
    func held(for account: Account) -> Int { byAccount[account] ?? 0 }

    /// Whether a limit keeps an account from holding more.
    func isFull(for account: Account) -> Bool { total >= limits.total || held(for: account) >= limits.perPeer }

    /// Adds the bytes of an account; a negative number releases them.
    mutating func add(_ bytes: Int, for account: Account) {
        guard bytes != 0 else { return }
        total += bytes
        let left = held(for: account) + bytes
        byAccount[account] = left == 0 ? nil : left
    }
}
