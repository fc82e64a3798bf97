/// The handlers that an invocation bypassed; the reason of its outcome names them.
struct BypassedHandlers: Sendable {
    /// The handlers that declined it, each with the time it took.
    var declined = NamedHandlers()
    /// The handlers whose breakers were open.
    var passedOver = NamedHandlers()
}

/// A count of handlers with the names of the first five: an invocation may bypass hundreds of routes.
struct NamedHandlers: Sendable {
    private static let namesMax = 5

    private var names: [String] = []
    private var count = 0

    var isEmpty: Bool { count == 0 }

    /// Adds a handler.
    mutating func append(_ name: @autoclosure () -> String) {
        count += 1
        if names.count < Self.namesMax { names.append(name()) }
    }

    /// Returns the handlers for people; `nil`: there are none.
    ///
    /// - Parameter and: the text before the number of unnamed handlers.
    func text(and: String) -> String? {
        guard count > 0 else { return nil }
        return names.joined(separator: ", ") + (count > names.count ? "\(and) \(count - names.count) more" : "")
    }
}
