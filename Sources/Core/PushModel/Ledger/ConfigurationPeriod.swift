/// The id of a configuration: a digest of its files. The same files have the same id on every machine.
public struct ConfigurationID: Hashable, Sendable, CustomStringConvertible {
    /// The digest.
    public let value: UInt64

    /// Makes the id of the files that these bytes describe. Ledgers store it: the digest of bytes never changes.
    public init(digestOf bytes: [UInt8]) { value = bytes.withUnsafeBufferPointer { WordHash.digests($0) } }

    /// Reads an id as ``description`` has it; `nil` for anything else.
    public init?(_ text: String) {
        let digits = text.utf8.compactMap(hexadecimalValue(of:))
        guard text.utf8.count == Self.digits, digits.count == Self.digits else { return nil }
        value = digits.reduce(0) { $0 << 4 | UInt64($1) }
    }

    private static let digits = 16

    /// 16 hexadecimal digits.
    public var description: String { hexadecimal(value, digits: Self.digits) }
}

/// A time in which one configuration decided all requests.
///
/// A request has no column for its configuration: the numbers of requests rise, and the configuration changes between
/// two of them. So the period with the highest first number up to a request's own has decided the request.
public struct ConfigurationPeriod: Hashable, Sendable {
    /// The first number that a request of the period may have.
    public var first: SequenceNumber
    /// The configuration.
    public var id: ConfigurationID
    /// When it came into force.
    public var since: WallTime

    /// Joins the parts.
    public init(first: SequenceNumber, id: ConfigurationID, since: WallTime) {
        (self.first, self.id, self.since) = (first, id, since)
    }
}

/// The configuration that decided a request.
public struct DecidingConfiguration: Hashable, Sendable {
    /// Its period.
    public var period: ConfigurationPeriod
    /// Whether the daemon's last configuration is the same one.
    public var isInForce: Bool

    /// Joins the parts.
    public init(_ period: ConfigurationPeriod, isInForce: Bool) { (self.period, self.isInForce) = (period, isInForce) }
}
