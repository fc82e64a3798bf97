import PushModel

/// The kinds of names in custom data.
public enum CustomDataName: Sendable {
    /// An event.
    case event
    /// A property of an event; not of an object within one.
    case property
    /// A field of the profile that the customer defines.
    case customAttribute
    /// A field of the profile that the provider defines.
    case userAttribute

    /// The names that a user attribute may have.
    public static let userAttributes = UserField.allCases.map(\.rawValue) + [UserField.phoneOfTheSDKs]

    /// Returns why `name` is invalid for this kind, `nil` if it is valid. Configuration files name events and
    /// attributes before any data exists.
    public func objection(to name: String) -> String? {
        do throws(EntryProblem) {
            switch self {
            case .event: try checkName(name)
            case .property: try checkPropertyName(name)
            case .customAttribute: try checkCustomAttributeName(name)
            case .userAttribute: _ = try UserField(checking: name)
            }
            return nil
        } catch { return error.message }
    }
}
