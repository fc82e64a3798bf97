import PushModel

/// The numbers of invocations in flight and by outcome.
struct OutcomeTally: Hashable, Sendable {
    /// The number of accepted invocations, which is the number of rows.
    public private(set) var accepted = 0
    /// The number of rows without an outcome.
    public private(set) var inFlight = 0
    /// The number of rows by outcome; a missing outcome means 0.
    public private(set) var outcomes: [Outcome: Int] = [:]

    mutating func add(_ result: InvocationResult?) {
        accepted += 1
        if let result { outcomes[result.outcome, default: 0] += 1 } else { inFlight += 1 }
    }

    mutating func add(_ outcome: Outcome, count: Int) {
        accepted += count
        outcomes[outcome, default: 0] += count
    }

    /// The number of rows with an outcome.
    public var decided: Int { outcomes.values.reduce(0, +) }

    /// Whether every row is counted once, decided or in flight.
    var balanced: Bool { decided + inFlight == accepted }

    /// The numbers of due and missed rows.
    public var compliance: Compliance {
        Compliance(
            due: outcomes.reduce(0) { $0 + ($1.key.isDue ? $1.value : 0) },
            missed: outcomes.reduce(0) { $0 + ($1.key.isMissed ? $1.value : 0) })
    }
}

/// The figures of observers, separate from all others: a copy changes nothing for the owner.
public struct ObserverFigures: Hashable, Sendable {
    /// The numbers of copies by outcome.
    private(set) var tally = OutcomeTally()
    /// Figures by route, of the rows that have one.
    private(set) var byRoute: [String: FigureGroup] = [:]

    mutating func add(_ invocation: InvocationRecord) {
        tally.add(invocation.result)
        if let route = invocation.route { byRoute[route, default: FigureGroup()].add(invocation.result) }
    }

    mutating func add(_ figures: KeyFigures, of key: FigureKey) {
        tally.add(key.outcome, count: figures.count)
        if let route = key.route { byRoute[route, default: FigureGroup()].add(figures, of: key) }
    }
}
