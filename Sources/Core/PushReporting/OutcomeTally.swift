import PushFigures
public import PushModel

/// How many invocations there are, and how they ended.
public struct OutcomeTally: Hashable, Sendable {
    /// Invocations accepted: rows.
    public private(set) var accepted = 0
    /// Rows that have no outcome yet.
    public private(set) var inFlight = 0
    /// Rows by outcome; what is not there is 0.
    public private(set) var outcomes: [Outcome: Int] = [:]

    mutating func add(_ result: InvocationResult?) {
        accepted += 1
        if let result { outcomes[result.outcome, default: 0] += 1 } else { inFlight += 1 }
    }

    mutating func add(_ outcome: Outcome, count: Int) {
        accepted += count
        outcomes[outcome, default: 0] += count
    }

    /// Rows that have an outcome.
    public var decided: Int { outcomes.values.reduce(0, +) }

    /// Whether every row is counted once, either decided or in flight.
    var balanced: Bool { decided + inFlight == accepted }

    /// How many owed an answer within the deadline, and how many missed it.
    public var compliance: Compliance {
        Compliance(
            due: outcomes.reduce(0) { $0 + ($1.key.isDue ? $1.value : 0) },
            missed: outcomes.reduce(0) { $0 + ($1.key.isMissed ? $1.value : 0) })
    }
}

/// The figures of observers, which are in none of the others: a copy changes nothing for the owner.
public struct ObserverFigures: Hashable, Sendable {
    /// How many there are, and how they ended.
    public private(set) var tally = OutcomeTally()
    /// Figures by route, of the rows that have one.
    public private(set) var byRoute: [String: FigureGroup] = [:]

    mutating func add(_ invocation: InvocationRecord) {
        tally.add(invocation.result)
        if let route = invocation.route { byRoute[route, default: FigureGroup()].add(invocation.result) }
    }

    mutating func add(_ figures: KeyFigures, of key: FigureKey) {
        tally.add(key.outcome, count: figures.count)
        if let route = key.route { byRoute[route, default: FigureGroup()].add(figures, of: key) }
    }
}
