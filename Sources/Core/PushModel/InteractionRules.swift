/// What an app has registered with the platform, which no payload tells and which decides what it hears of the person.
package struct InteractionRules: Hashable, Sendable {
    /// The categories, beside Braze's, that an iOS app registers with `customDismissAction`: iOS tells it of a dismissal.
    package var dismissActionCategories: [Glob]

    /// - Parameter dismissActionCategories: patterns of the category identifiers.
    package init(dismissActionCategories: [Glob] = []) { self.dismissActionCategories = dismissActionCategories }
}
