/// A producer of a chain that several machines write: a user's name, and the number that rows of requests store in
/// place of the name. The same user may have a different uid on each machine.
public struct Producer: Hashable, Sendable {
    /// The number.
    public var number: UInt32
    /// The user's name.
    public var name: String

    /// Joins the two.
    public init(number: UInt32, name: String) { (self.number, self.name) = (number, name) }
}

/// The producers of a chain, each with its number.
///
/// A producer keeps its number for ever. The number is the user's uid on the machine that saw the producer first if no
/// other producer has it; otherwise it is the lowest free number above the uids that systems assign.
public struct ProducerNumbers: Sendable {
    /// The largest number of producers: names stay for ever, and the leader has each in memory.
    public static let limit = 65_536
    /// The longest name, in bytes.
    public static let nameLengthMax = 256
    /// The first number that is not a uid of the machine that assigns it.
    private static let firstForeign: UInt32 = 1 << 31

    private var numbers: [ExactName: UInt32] = [:]
    private var taken: Set<UInt32> = []
    /// The lowest candidate: all numbers from `firstForeign` up to it are taken.
    private var nextForeign = firstForeign

    /// - Parameter producers: the producers that a ledger has.
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
    /// - Returns: the row to write before its first request; `nil` if the limit is reached.
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
