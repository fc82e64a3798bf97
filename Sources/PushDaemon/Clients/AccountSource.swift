import Glibc
import LinuxSystem
import PushModel

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
