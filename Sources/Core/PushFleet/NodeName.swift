public import PushModel

/// The place of a node's process. Only one process runs at a place: it has locked the state directory.
public struct NodePlace: Hashable, Sendable {
    /// The name that the machine has for people.
    public var host: String
    /// The id of its installation; zero: it has none.
    public var machine: UUID128
    /// The id of its boot.
    public var boot: UUID128
    /// The state directory.
    public var directory: String

    /// Joins the parts.
    public init(host: String, machine: UUID128, boot: UUID128, directory: String) {
        (self.host, self.machine, self.boot, self.directory) = (host, machine, boot, directory)
    }
}

/// The process that has a node's name, as the engine knows it.
public struct NameHolder: Hashable, Sendable {
    /// The place of the process.
    public var place: NodePlace
    /// The process.
    public var incarnation: UUID128
    /// A counter that each of its signs of life raises.
    public var signs: Int64
    /// How long ago the last one was, by the engine's clock.
    public var age: Duration

    /// Joins the parts.
    public init(place: NodePlace, incarnation: UUID128, signs: Int64, age: Duration) {
        (self.place, self.incarnation, self.signs, self.age) = (place, incarnation, signs, age)
    }
}

/// Another process's hold of a node's name, as one sees it that wants the name: it takes the name of a process that has
/// given no sign of life for some time, and gives way to one that gave a sign meanwhile.
///
/// Times are of `CLOCK_BOOTTIME`.
public struct NameWatch: Sendable {
    /// The finding about the other process.
    public enum Finding: Hashable, Sendable {
        /// It is gone: the name may be taken from this process at this sign, and from no other.
        case gone(NameHolder)
        /// Nobody knows yet.
        case unknown
        /// It lives.
        case lives
    }

    private let patience: Duration
    private var first: (holder: NameHolder, at: Instant)?

    /// - Parameter patience: how long a living process may give no sign.
    public init(patience: Duration) { self.patience = patience }

    /// The name was held by another process.
    public mutating func saw(_ holder: NameHolder, at now: Instant) -> Finding {
        if let first, first.holder.incarnation == holder.incarnation, first.holder.signs != holder.signs {
            return .lives
        }
        if first?.holder.incarnation != holder.incarnation { first = (holder, now) }
        let time = max(holder.age, first.map { now - $0.at } ?? .zero)
        return time > patience ? .gone(holder) : .unknown
    }
}
