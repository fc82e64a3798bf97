/// Which rule a rejected entry of custom data breaks, for programs: a closed set. The raw values are on disk and in what
/// people's scripts read, so a code never gets another meaning.
public enum RejectionCode: String, Sendable, CaseIterable {
    /// A part that there must be is missing.
    case missing
    /// It is of another kind than it must be: a number where there must be a string, say.
    case wrongType = "wrong_type"
    /// It is empty.
    case empty
    /// It has more characters or bytes than are allowed.
    case tooLong = "too_long"
    /// It has more members or elements than are allowed.
    case tooMany = "too_many"
    /// The name is not written as a name must be.
    case invalidName = "invalid_name"
    /// The endpoint takes the name for something else.
    case reservedName = "reserved_name"
    /// It is a field of the profile: not a custom attribute, or one that no app sets.
    case profileField = "profile_field"
    /// It is no field of the profile.
    case unknownField = "unknown_field"
    /// The same field is given under two names.
    case givenTwice = "given_twice"
    /// `null` cannot stand here.
    case null
    /// An array cannot stand in an array.
    case nestedArray = "nested_array"
    /// The value is not what the field takes.
    case invalidValue = "invalid_value"
    /// One of the operations on an attribute must be given, and several are.
    case severalOperations = "several_operations"
    /// There were so many rejections that these stand together.
    case severalRejections = "several_rejections"
    /// As much waits as is allowed.
    case noRoom = "no_room"
    /// A payload has not what a track says.
    case notInPayload = "not_in_payload"
    /// It is not known: a version that had no codes rejected the entry.
    case unknown
    /// The endpoint's answer blames the entry.
    case blamedByEndpoint = "blamed_by_endpoint"
}

/// What is wrong with something logged.
public struct EntryProblem: Error, Hashable, Sendable {
    /// Which rule it breaks.
    public var code: RejectionCode
    /// Where: a path such as `properties.cart[2].name`, or a name beside what was logged; empty: all of it.
    public var field: String
    /// What is wrong, and what to do, for people. Nothing is decided by it.
    public var message: String

    /// - Parameters:
    ///   - code: which rule it breaks.
    ///   - message: what is wrong, and what to do.
    ///   - field: where; what knows where the value is adds that.
    public init(_ code: RejectionCode, _ message: String, field: String = "") {
        (self.code, self.field, self.message) = (code, field, message)
    }

    /// The message with the field before it.
    public var text: String { field.isEmpty ? message : "\(field): \(message)" }
}
