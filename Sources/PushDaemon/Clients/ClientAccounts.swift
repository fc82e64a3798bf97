import Glibc
import LinuxSystem
import PushModel
import PushRouter
import PushSettings

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
    /// The one client of each account that may exceed the limits, to finish its long line. Without such a client, all
    /// clients of the account could wait for room, and none could release any.
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

    /// Whether the account has room for one more request that waits. Waiting requests go on without their client, so
    /// a full account becomes free by itself.
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

/// Finds the account that the requests of a connection belong to.
protocol AccountSource: AnyObject {
    /// The account of a user of this machine.
    ///
    /// - Throws: the reason for refusing the user's connection.
    func account(of user: UInt32) throws(ProtocolError) -> Account
}

extension AccountSource {
    /// The account of this process.
    func ownAccount() throws(ProtocolError) -> Account { try account(of: getuid()) }
}

/// On one machine an account is a user id.
final class UserAccounts: AccountSource {
    func account(of user: UInt32) -> Account { Account(uid: user) }
}

/// On a machine that follows an account is a user id as well, shown with the user's name.
final class NamedAccounts: AccountSource {
    private let names: UserNames

    init(_ names: UserNames = UserNames()) { self.names = names }

    func account(of user: UInt32) -> Account { Account(uid: user, name: try? names.name(of: user)) }
}

/// On a machine that leads a pair an account is a producer of the shared log: a user name.
final class ProducerAccounts: AccountSource {
    private let names: UserNames
    private var numbers: ProducerNumbers
    private let record: (Producer) -> Void

    /// - Parameters:
    ///   - producers: the producers of the shared log.
    ///   - names: finds the names of users.
    ///   - record: writes a new producer, before its first request.
    init(_ producers: [Producer], names: UserNames = UserNames(), record: @escaping (Producer) -> Void) {
        (self.names, self.record) = (names, record)
        numbers = ProducerNumbers(producers)
    }

    func account(of user: UInt32) throws(ProtocolError) -> Account {
        let name = try names.name(of: user)
        if let number = numbers[name] { return Account(uid: number, name: name) }
        guard let producer = numbers.add(name, user: user) else {
            throw ProtocolError(
                .overloaded,
                message:
                    "the shared log has \(ProducerNumbers.limit) users, the most that is allowed",
                retryAfter: .seconds(60))
        }
        record(producer)
        return Account(uid: producer.number, name: name)
    }
}

/// The names of this machine's users, cached for a minute: getpwuid_r(3) may ask a service.
final class UserNames {
    /// How long an answer is valid, in nanoseconds: a user may be renamed.
    private static let validity: Int64 = 60_000_000_000
    /// How many answers the cache holds.
    private static let limit = 4096

    private let lookUp: (UInt32) -> UserName
    private let now: () -> Int64
    private var known: [UInt32: (name: String, until: Int64)] = [:]

    /// - Parameters:
    ///   - lookUp: asks the system.
    ///   - now: monotonic nanoseconds.
    init(
        lookUp: @escaping (UInt32) -> UserName = UserName.init(of:),
        now: @escaping () -> Int64 = { SystemClock.monotonicNanoseconds }
    ) {
        (self.lookUp, self.now) = (lookUp, now)
    }

    /// The name of a user.
    ///
    /// - Throws: a refusal if the system cannot name the user. A made-up name would be another producer, with no known
    ///   ids.
    func name(of user: UInt32) throws(ProtocolError) -> String {
        let time = now()
        if let entry = known[user], time < entry.until { return entry.name }
        let found = lookUp(user)
        if case .failed(let reason) = found { throw Self.refusal(user, reason) }
        guard let name = found.text(of: user), name.utf8.count <= ProducerNumbers.nameLengthMax else {
            throw Self.refusal(user, "it is longer than \(ProducerNumbers.nameLengthMax) bytes")
        }
        if known.count >= Self.limit { known.removeAll() }
        known[user] = (name, time + Self.validity)
        return name
    }

    private static func refusal(_ user: UInt32, _ reason: String) -> ProtocolError {
        ProtocolError(
            .unavailable, message: "the name of uid \(user) cannot be used: \(reason)", retryAfter: .seconds(1))
    }
}

extension DaemonSettings {
    /// The limits of `inject.sock`.
    var injectLimits: LineServer.Limits {
        limits(requestLength: requestLengthMax, descriptors: DescriptorReserve.belowForProducers)
    }

    /// The limits of requests that bridges send: those of one producer.
    var ownLimits: OwnRequests.Limits {
        OwnRequests.Limits(requestLength: requestLengthMax, inputSize: inputSizeMaxPerPeer)
    }

    /// The limits of `control.sock`. A line of the forwarder always fits, however small `RequestLengthMax=` is.
    var controlLimits: LineServer.Limits {
        limits(
            requestLength: max(requestLengthMax, ControlRequest.longestLine),
            descriptors: DescriptorReserve.belowForAdministrators)
    }

    /// The limits of `read.sock`: its lines are short, because the loop itself reads them.
    var readLimits: LineServer.Limits {
        var limits = limits(requestLength: 16 << 10, descriptors: DescriptorReserve.belowForAdministrators)
        limits.lengthSetting = nil
        return limits
    }

    private func limits(requestLength: Int, descriptors: Int32) -> LineServer.Limits {
        LineServer.Limits(
            connections: connectionsMax, connectionsPerPeer: connectionsMaxPerPeer, requestLength: requestLength,
            input: .init(total: inputSizeMax, perPeer: inputSizeMaxPerPeer),
            output: .init(total: outputSizeMax, perPeer: outputSizeMaxPerPeer),
            timeouts: ClientTimeouts(
                line: lineTimeout.nanoseconds, write: writeTimeout.nanoseconds,
                idle: idleTimeout == .zero ? nil : idleTimeout.nanoseconds),
            descriptors: descriptors)
    }
}
