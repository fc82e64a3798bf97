/// The number of an entry of custom data. A state directory has one counter, which increases in the order in which
/// entries are saved; an acknowledged number is never reused, and gaps are allowed.
public struct EntryNumber: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number itself; the first one is 1.
    public var value: Int64

    /// - Parameter value: the number itself.
    public init(_ value: Int64) { self.value = value }

    /// The number that follows.
    public var next: EntryNumber { EntryNumber(value + 1) }

    public var description: String { String(value) }

    public static func < (left: EntryNumber, right: EntryNumber) -> Bool { left.value < right.value }
}

extension EntryNumber: ShardedKey {
    public var shardHash: UInt64 { SequenceNumber(value).shardHash }
}

/// The kind of an entry of custom data. The raw values are the wire names.
public enum EntryKind: String, Sendable, CaseIterable {
    /// An event: a name, with properties.
    case customEvent = "custom_event"
    /// Fields of the profile that the customer defines.
    case customAttributes = "custom_attributes"
    /// Fields of the profile that the provider defines: `email`, `first_name`, ...
    case userAttributes = "user_attributes"

    /// The key of this kind of entry in an app's storage; the kinds have separate keys.
    public var storageKey: String {
        switch self {
        case .customEvent: "pending_custom_events"
        case .customAttributes: "pending_custom_attributes"
        case .userAttributes: "pending_user_attributes"
        }
    }
}

/// The identifier by which `/users/track` finds a profile.
public enum UserIdentifier: Hashable, Sendable {
    /// The customer's own id of the user.
    case externalID(String)
    /// The provider's id of the profile.
    case brazeID(String)
    /// An alias of the user, which is unique within a label.
    case alias(name: String, label: String)
}

/// The destination of an entry.
public enum EntryDestination: Hashable, Sendable {
    /// A suite (an app group, or `standard`), until the app's next session start. If the daemon also sends what it
    /// flushes (`SendFlushed=`), `brazeID` names the profile in place of the session's user.
    case stored(suite: String, brazeID: String? = nil)
    /// `/users/track` at once, for this profile.
    case sent(UserIdentifier)

    /// The destination of an entry that a track rejects because the payload does not identify a profile. Never sent.
    public static let unidentified = EntryDestination.sent(.brazeID(""))

    /// The suite of the app's own storage, beside its app groups.
    public static let standardSuite = "standard"
}

/// The state of an entry. The raw values are the names in the ledger.
public enum EntryState: String, Sendable, CaseIterable {
    /// Stored in its suite until the app's next session start.
    case pending
    /// Turned into an event or fields of a profile at a session start; final.
    case flushed
    /// Waiting to be sent.
    case queued
    /// Claimed by the forwarder, which may send it at any moment, or has sent it.
    case claimed
    /// Accepted by the endpoint; final.
    case sent
    /// Perhaps sent, without a known answer of the endpoint. Waits for a person (`OnUnknown=hold`).
    case unknown
    /// Set aside for a reason.
    case rejected
    /// Removed by a person; final.
    case discarded
}

/// One entry of custom data: an event, or attributes that are set together.
public struct CustomEntry: Hashable, Sendable {
    /// Its number.
    public var number: EntryNumber
    /// The request that logged the entry.
    public var cause: SequenceNumber
    /// The kind.
    public var kind: EntryKind
    /// The destination.
    public var destination: EntryDestination
    /// The platform.
    public var platform: Platform
    /// The app.
    public var app: String?
    /// The device.
    public var device: String?
    /// The user, if the producer named one.
    public var externalID: String?
    /// The name of an event; `nil` for attributes.
    public var name: String?
    /// The properties of the event, or the attributes: a checked JSON object without white space. A rejected entry has
    /// the JSON as it came, or nothing if it was missing or there was no room for it.
    public var data: [UInt8]
    /// The time of the event, as the producer says.
    public var time: WallTime
    /// The time of saving by the daemon's clock.
    public var savedAt: WallTime

    public init(
        number: EntryNumber, cause: SequenceNumber, kind: EntryKind, destination: EntryDestination, platform: Platform,
        app: String?,
        device: String?, externalID: String?, name: String?, data: [UInt8], time: WallTime, savedAt: WallTime
    ) {
        self.number = number
        self.cause = cause
        self.kind = kind
        self.destination = destination
        self.platform = platform
        self.app = app
        self.device = device
        self.externalID = externalID
        self.name = name
        self.data = data
        self.time = time
        self.savedAt = savedAt
    }
}

/// An operation on a field of a profile. The values are JSON texts without white space.
public enum AttributeChange: Hashable, Sendable {
    /// Sets the field to this value.
    case set([UInt8])
    /// Removes the field.
    case remove
    /// Appends these values to an array, up to a limit of elements.
    case add([[UInt8]], elementsMax: Int)
    /// Removes these values from an array.
    case drop([[UInt8]])
    /// Adds a number to a number.
    case increment(Int64)

    /// Returns the value of the field after the operation.
    ///
    /// An array holds a value once: an added value goes to the end, even if the array had it before, and the first
    /// elements beyond the limit are dropped (Braze docs, custom attributes, arrays). A missing field counts as an
    /// empty array or as 0. A field of another type keeps its value.
    ///
    /// - Parameter existing: the JSON value of the field; `nil` if it is missing.
    /// - Returns: the new value; `nil` if the field is missing afterwards.
    public func apply(to existing: [UInt8]?) -> [UInt8]? {
        switch self {
        case .set(let value): return value
        case .remove: return nil
        case .add(let values, let elementsMax):
            guard let elements = Elements(existing) else { return existing }
            return elements.appending(values, elementsMax: elementsMax).json
        case .drop(let values):
            guard existing != nil, let elements = Elements(existing) else { return existing }
            return elements.removing(values).json
        case .increment(let step):
            return existing.map { incremented($0, by: step) } ?? Array(String(step).utf8)
        }
    }
}

/// The elements of an array without repetitions.
private struct Elements {
    private var values: [[UInt8]]

    /// - Parameter array: a JSON array; `nil` for an empty one. The initializer returns `nil` for any other JSON.
    init?(_ array: [UInt8]?) {
        guard let array else {
            values = []
            return
        }
        // The reader of the log request has checked the depth of the elements already.
        let document = try? JSONDocument(scanning: array, limits: JSONLimits(depth: .max))
        guard let root = document?.root, root.kind == .array else { return nil }
        values = root.elements.map { Array($0.rawBytes) }
    }

    func appending(_ added: [[UInt8]], elementsMax: Int) -> Elements {
        var result = removing(added)
        var seen: Set<[UInt8]> = []
        // Keeps the last occurrence of a value that is added twice, as if the values were added one by one.
        let last = added.reversed().filter { seen.insert(meaning(of: $0)).inserted }
        result.values.append(contentsOf: last.reversed())
        result.values.removeFirst(max(0, result.values.count - elementsMax))
        return result
    }

    func removing(_ removed: [[UInt8]]) -> Elements {
        let meanings = Set(removed.map(meaning))
        var result = self
        result.values.removeAll { meanings.contains(meaning(of: $0)) }
        return result
    }

    var json: [UInt8] {
        var writer = JSONWriter()
        writer.array { writer in
            for value in values { writer.raw(value) }
        }
        return writer.bytes
    }
}

/// The identity of a JSON value: the unescaped text of a string, the literal of any other value.
private func meaning(of value: [UInt8]) -> [UInt8] {
    guard let text = try? JSONDocument(scanning: value).root.string else { return value }
    return [UInt8(ascii: "\"")] + text.utf8
}

/// A sum of whole numbers saturates at the limits of 64 bits. A value that is no number stays unchanged.
private func incremented(_ value: [UInt8], by step: Int64) -> [UInt8] {
    guard let root = try? JSONDocument(scanning: value).root, let double = root.double else { return value }
    var writer = JSONWriter(reserving: 20)
    if let number = root.int64 {
        let (sum, overflow) = number.addingReportingOverflow(step)
        writer.int(overflow ? (step < 0 ? Int64.min : .max) : sum)
    } else {
        writer.double(double + Double(step))
    }
    return writer.bytes
}
