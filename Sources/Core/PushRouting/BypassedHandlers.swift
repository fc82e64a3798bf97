import PushModel

/// The handlers that an invocation went past, for the reason of its outcome.
struct BypassedHandlers: Sendable {
    /// Those that declined it.
    var declined = DeclinedHandlers()
    /// Those whose breakers were open.
    var passedOver = PassedOverHandlers()
}

/// The handlers that were asked in vain to take an invocation, for the reason of its outcome.
struct DeclinedHandlers: Sendable {
    /// How many are named: an invocation may go past hundreds of routes.
    private static let namesMax = 5

    private var names: [String] = []
    private var count = 0

    /// Notes one.
    ///
    /// - Parameter took: from its start until it declined.
    mutating func append(_ handler: String, took: Duration) {
        count += 1
        if names.count < Self.namesMax { names.append("\(handler) declined after \(took.milliseconds) ms") }
    }

    /// Who declined, for people; `nil` when nobody did.
    var remark: String? {
        guard count > 0 else { return nil }
        return names.joined(separator: ", ") + (count > names.count ? ", and \(count - names.count) more" : "")
    }
}

/// The handlers that an invocation went past because their breakers were open, for the reason of its outcome.
struct PassedOverHandlers: Sendable {
    private static let namesMax = 5

    private var names: [String] = []
    private var count = 0

    var isEmpty: Bool { count == 0 }

    /// Notes one.
    mutating func append(_ handler: String) {
        count += 1
        if names.count < Self.namesMax { names.append(handler) }
    }

    /// Who was not asked, for people; `nil` when everybody was.
    var remark: String? {
        guard count > 0 else { return nil }
        let others = count > names.count ? " and \(count - names.count) more" : ""
        return "not asked, because the breaker is open: " + names.joined(separator: ", ") + others
    }
}
