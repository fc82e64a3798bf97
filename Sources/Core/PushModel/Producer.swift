/// A producer of a chain that several machines write: a user's name, and the number that rows of requests have in place of
/// it. The same user may have another id on each machine.
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
/// A producer keeps its number for ever. It is the user's id on the machine that saw it first, where no other producer has
/// that already; else the lowest free number above the ids that systems give.
public struct ProducerNumbers: Sendable {
    /// How many there may be: names stay for ever, and each is in the memory of the leader.
    public static let limit = 65_536
    /// The longest name, in bytes.
    public static let nameLengthMax = 256
    /// Where numbers begin that are nobody's id on the machine that gives them.
    private static let firstForeign: UInt32 = 1 << 31

    private var numbers: [ExactName: UInt32] = [:]
    private var taken: Set<UInt32> = []
    /// No number from the first foreign one up to here is free.
    private var nextForeign = firstForeign

    /// - Parameter producers: those that a ledger has.
    public init(_ producers: [Producer]) {
        for producer in producers {
            numbers[ExactName(producer.name)] = producer.number
            taken.insert(producer.number)
        }
    }

    /// The number of a producer; `nil`: it has none.
    public subscript(name: String) -> UInt32? { numbers[ExactName(name)] }

    /// Gives a producer a number that has none.
    ///
    /// - Parameter user: its id on this machine.
    /// - Returns: what is to be written before its first request; `nil`: there are as many as there may be.
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
