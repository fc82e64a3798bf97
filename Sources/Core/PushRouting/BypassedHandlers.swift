/// The handlers that an invocation went past, for the reason of its outcome.
struct BypassedHandlers: Sendable {
    /// Those that declined it, each with how long it took.
    var declined = NamedHandlers()
    /// Those whose breakers were open.
    var passedOver = NamedHandlers()
}

/// Handlers, of which the first ones are named: an invocation may go past hundreds of routes.
struct NamedHandlers: Sendable {
    private static let namesMax = 5

    private var names: [String] = []
    private var count = 0

    var isEmpty: Bool { count == 0 }

    /// Notes one.
    mutating func append(_ name: @autoclosure () -> String) {
        count += 1
        if names.count < Self.namesMax { names.append(name()) }
    }

    /// All of them, for people; `nil` when there is none.
    ///
    /// - Parameter and: what comes before the number of those that are not named.
    func text(and: String) -> String? {
        guard count > 0 else { return nil }
        return names.joined(separator: ", ") + (count > names.count ? "\(and) \(count - names.count) more" : "")
    }
}
