import PushModel

/// The invocations in flight by their ids. Each is large, so the table holds references to them.
struct InvocationsInFlight: Sendable {
    private var byID = ShardedDictionary<InvocationID, Indirect<Invocation>>()

    /// A copy of one; ``read(_:_:)`` and ``change(_:_:)`` make none.
    subscript(id: InvocationID) -> Invocation? { byID[id]?.value }

    /// Keeps one, in place of what it was before.
    mutating func put(_ invocation: consuming Invocation) {
        let id = invocation.record.id
        byID[id] = Indirect(invocation)
    }

    /// Shows one where it is; does nothing when there is none.
    func read<Result>(_ id: InvocationID, _ body: (Invocation) -> Result) -> Result? {
        byID[id].map { body($0.value) }
    }

    /// Changes one where it is; does nothing when there is none.
    @discardableResult
    mutating func change<Result>(_ id: InvocationID, _ body: (inout Invocation) -> Result) -> Result? {
        byID.change(id) { body(&$0.value) }
    }

    mutating func remove(_ id: InvocationID) { byID[id] = nil }

    mutating func reserve(_ count: Int) { byID.reserveCapacity(count) }

    var isEmpty: Bool { byID.isEmpty }

    /// Their ids, in no order.
    var ids: some Sequence<InvocationID> { byID.keys }

    /// Whether this one is in flight.
    func contains(_ id: InvocationID) -> Bool { byID[id] != nil }
}
