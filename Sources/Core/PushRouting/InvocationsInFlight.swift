import PushModel

/// The invocations in flight by their ids. An invocation is large, so the table holds references.
struct InvocationsInFlight: Sendable {
    private var byID = ShardedDictionary<InvocationID, Indirect<Invocation>>()

    /// A copy of an invocation; ``read(_:_:)`` and ``change(_:_:)`` copy nothing.
    subscript(id: InvocationID) -> Invocation? { byID[id]?.value }

    /// Stores an invocation in place of its last value.
    mutating func put(_ invocation: consuming Invocation) {
        let id = invocation.record.id
        byID[id] = Indirect(invocation)
    }

    /// Reads an invocation in place; returns `nil` if there is none.
    func read<Result>(_ id: InvocationID, _ body: (Invocation) -> Result) -> Result? {
        byID[id].map { body($0.value) }
    }

    /// Changes an invocation in place; returns `nil` if there is none.
    @discardableResult
    mutating func change<Result>(_ id: InvocationID, _ body: (inout Invocation) -> Result) -> Result? {
        byID.change(id) { body(&$0.value) }
    }

    mutating func remove(_ id: InvocationID) { byID[id] = nil }

    mutating func reserve(_ count: Int) { byID.reserveCapacity(count) }

    var isEmpty: Bool { byID.isEmpty }

    /// The ids of all, unordered.
    var ids: some Sequence<InvocationID> { byID.keys }

    /// Whether an invocation is in flight.
    func contains(_ id: InvocationID) -> Bool { byID[id] != nil }
}
