/// The code of the rule that a rejected entry of custom data breaks, for programs: a closed set. The raw values are on
/// disk and in scripts of people, so a code never changes its meaning.
public enum RejectionCode: String, Sendable, CaseIterable {
    /// A required part is missing.
    case missing
    /// The value has the wrong type, such as a number in place of a string.
    case wrongType = "wrong_type"
    /// The value is empty.
    case empty
    /// The value has more characters or bytes than are allowed.
    case tooLong = "too_long"
    /// The value has more members or elements than are allowed.
    case tooMany = "too_many"
    /// The name has an invalid form.
    case invalidName = "invalid_name"
    /// The endpoint uses the name for another purpose.
    case reservedName = "reserved_name"
    /// The name is a field of the profile: it is not a custom attribute, or no app may set it.
    case profileField = "profile_field"
    /// The profile has no field of this name.
    case unknownField = "unknown_field"
    /// A field is given twice, under two names.
    case givenTwice = "given_twice"
    /// `null` is not allowed here.
    case null
    /// An array contains an array.
    case nestedArray = "nested_array"
    /// The field does not accept the value.
    case invalidValue = "invalid_value"
    /// An attribute has several operations in place of one.
    case severalOperations = "several_operations"
    /// A record of several rejections together, because there were too many for one record each.
    case severalRejections = "several_rejections"
    /// The limit of waiting entries is reached.
    case noRoom = "no_room"
    /// A payload lacks a value that a track names.
    case notInPayload = "not_in_payload"
    /// A version without codes rejected the entry.
    case unknown
    /// The endpoint's answer blames the entry.
    case blamedByEndpoint = "blamed_by_endpoint"
}

/// The problem of an entry of custom data.
public struct EntryProblem: Error, Hashable, Sendable {
    /// The code of the rule.
    public var code: RejectionCode
    /// The path of the wrong value, such as `properties.cart[2].name`, or a name beside the data; empty: the whole
    /// entry.
    public var field: String
    /// The fault and its remedy, for people. No decision uses it.
    public var message: String

    /// - Parameters:
    ///   - code: the code of the rule.
    ///   - message: the fault and its remedy.
    ///   - field: the path of the value; callers that know the enclosing path add it.
    public init(_ code: RejectionCode, _ message: String, field: String = "") {
        (self.code, self.field, self.message) = (code, field, message)
    }

    /// The message with the field before it.
    public var text: String { field.isEmpty ? message : "\(field): \(message)" }
}
