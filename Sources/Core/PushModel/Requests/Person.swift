/// The person of an erasure: a user with the user's devices, or devices alone.
public struct Person: Hashable, Sendable {
    /// The user; `nil`: any user of the devices.
    public var externalID: String?
    /// The devices.
    public var devices: Set<ExactName>

    public init(externalID: String?, devices: [String] = []) {
        self.externalID = externalID
        self.devices = Set(devices.map(ExactName.init))
    }

    /// Whether a row with this user and this device belongs to the person. A row that names another user never does if
    /// the person is a user, since users may share a device. A row without a user belongs to the person by its device.
    public func includes(user: String?, device: String?) -> Bool {
        if let externalID, let user { return user.isSame(as: externalID) }
        return device.map { devices.contains(ExactName($0)) } ?? false
    }
}

/// The bound of an erasure: rows accepted after it stay.
public struct ErasureBound: Hashable, Sendable {
    /// The last request that the erasure covers.
    public var request: SequenceNumber
    /// The last entry of custom data that the erasure covers.
    public var entry: EntryNumber

    public init(request: SequenceNumber, entry: EntryNumber) {
        (self.request, self.entry) = (request, entry)
    }
}

/// The owner of requests: limits count for an account, and a request id is unique within one.
///
/// On one machine an account is a user of the machine. In a pair it is a producer of the chain, independent of uids.
/// Only this type and the code that makes accounts know the difference.
public struct Account: Hashable, Sendable, CustomStringConvertible {
    /// A name behind a reference, so that it takes 8 bytes in each request.
    private final class Label: Sendable {
        let text: String

        init(_ text: String) { self.text = text }
    }

    private let label: Label?
    /// The uid, or the producer's number. Only the ledger and the journal use it; they store it as a number.
    public let uid: UInt32

    /// - Parameters:
    ///   - uid: the uid, or the producer's number.
    ///   - name: the producer's name; `nil` if only the uid is known.
    public init(uid: UInt32, name: String? = nil) { (self.uid, label) = (uid, name.map(Label.init)) }

    /// The account's name in the status and in metrics.
    public var name: String { label?.text ?? String(uid) }

    /// The account's name for people.
    public var description: String { label?.text ?? "uid \(uid)" }

    public static func == (left: Account, right: Account) -> Bool { left.uid == right.uid }

    public func hash(into hasher: inout Hasher) { hasher.combine(uid) }
}

/// A producer of a chain that several machines write: a user's name, and the number that stands for it in rows of
/// requests. The same user may have another uid on each machine.
public struct Producer: Hashable, Sendable {
    /// The number.
    public var number: UInt32
    /// The user's name.
    public var name: String
}

/// The producers of a chain, each with its number.
///
/// A producer keeps its number for ever. The number is the uid on the machine that saw the producer first, if no other
/// producer has that number yet; otherwise it is the lowest free number from 2^31 on, above the uids that systems
/// assign.
public struct ProducerNumbers: Sendable {
    /// The limit of producers: names stay for ever, and the leader has all of them in memory.
    public static let limit = 65_536
    /// The longest name, in bytes.
    public static let nameLengthMax = 256
    /// The first number for producers whose uid is taken; systems assign no uid as high.
    private static let firstForeign: UInt32 = 1 << 31

    private var numbers: [ExactName: UInt32] = [:]
    private var taken: Set<UInt32> = []
    /// The lowest number that may be free; every number from `firstForeign` up to it is taken.
    private var nextForeign = firstForeign

    /// - Parameter producers: the producers in the ledger.
    public init(_ producers: [Producer]) {
        for producer in producers {
            numbers[ExactName(producer.name)] = producer.number
            taken.insert(producer.number)
        }
    }

    /// The number of a producer; `nil` if it has none.
    public subscript(name: String) -> UInt32? { numbers[ExactName(name)] }

    /// Assigns a number to a producer that has none.
    ///
    /// - Parameter user: its uid on this machine.
    /// - Returns: the row to write before the producer's first request; `nil` if the limit is reached.
    public mutating func add(_ name: String, user: UInt32) -> Producer? {
        precondition(self[name] == nil, "a producer keeps its number")
        guard numbers.count < Self.limit else { return nil }
        let number: UInt32
        if taken.contains(user) {
            while taken.contains(nextForeign) { nextForeign += 1 }
            number = nextForeign
        } else {
            number = user
        }
        numbers[ExactName(name)] = number
        taken.insert(number)
        return Producer(number: number, name: name)
    }
}
