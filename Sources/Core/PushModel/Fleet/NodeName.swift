/// The state directory of a machine in which a node runs. At most one process runs there: it locks the directory.
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

    /// Joins the parts.
    public init(place: NodePlace, incarnation: UUID128, signs: Int64) {
        (self.place, self.incarnation, self.signs) = (place, incarnation, signs)
    }
}

/// The watch of a process that wants a node's name and finds that another process has it. The first process may take
/// the name if the other one has given no sign of life for some time, and gives way if it gave one meanwhile.
///
/// Times are of this machine's `CLOCK_BOOTTIME`: the engine's clock may be set while a process watches.
public struct NameWatch: Sendable {
    /// The finding about the other process.
    public enum Finding: Hashable, Sendable {
        /// The process is gone. The name may be taken only from this process, and only if this sign of life is still
        /// its last.
        case gone(NameHolder)
        /// The watch has not lasted long enough to tell.
        case unknown
        /// It lives.
        case lives
    }

    private let patience: Duration
    private var first: (holder: NameHolder, at: Instant)?

    /// - Parameter patience: how long a living process may give no sign.
    public init(patience: Duration) { self.patience = patience }

    /// The name was held by another process.
    public mutating func observe(_ holder: NameHolder, at now: Instant) -> Finding {
        guard let first, first.holder.incarnation == holder.incarnation else {
            first = (holder, now)
            return .unknown
        }
        guard first.holder.signs == holder.signs else { return .lives }
        return now - first.at > patience ? .gone(holder) : .unknown
    }
}
