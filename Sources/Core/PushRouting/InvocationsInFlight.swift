import PushModel

/// The invocations in flight by id. The table holds references, because an invocation is large.
struct InvocationsInFlight: Sendable {
    private var byID = ShardedDictionary<InvocationID, Indirect<Invocation>>()

    /// Returns a copy; ``read(_:_:)`` and ``change(_:_:)`` make none.
    subscript(id: InvocationID) -> Invocation? { byID[id]?.value }

    /// Stores an invocation, replacing its previous value.
    mutating func put(_ invocation: consuming Invocation) {
        let id = invocation.record.id
        byID[id] = Indirect(invocation)
    }

    /// Calls `body` with an invocation in place; does nothing if there is none.
    func read<Result>(_ id: InvocationID, _ body: (Invocation) -> Result) -> Result? {
        byID[id].map { body($0.value) }
    }

    /// Changes an invocation in place; does nothing if there is none.
    @discardableResult
    mutating func change<Result>(_ id: InvocationID, _ body: (inout Invocation) -> Result) -> Result? {
        byID.change(id) { body(&$0.value) }
    }

    mutating func remove(_ id: InvocationID) { byID[id] = nil }

    mutating func reserve(_ count: Int) { byID.reserveCapacity(count) }

    var isEmpty: Bool { byID.isEmpty }

    /// The ids, in no order.
    var ids: some Sequence<InvocationID> { byID.keys }

    func contains(_ id: InvocationID) -> Bool { byID[id] != nil }
}
