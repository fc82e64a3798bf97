/// What an app has registered with the platform, which no payload tells and which decides what it hears of the person.
public struct InteractionRules: Hashable, Sendable {
    /// The categories, beside Braze's, that an iOS app registers with `customDismissAction`: iOS tells it of a dismissal.
    public var dismissActionCategories: [Glob]

    /// - Parameter dismissActionCategories: patterns of the category identifiers.
    public init(dismissActionCategories: [Glob] = []) { self.dismissActionCategories = dismissActionCategories }
}
