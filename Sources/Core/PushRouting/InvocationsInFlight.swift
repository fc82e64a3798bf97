import PushModel

/// The invocations in flight by their ids. Each is large, so the table holds references to them.
struct InvocationsInFlight: Sendable {
    private var byID = ShardedDictionary<InvocationID, Indirect<Invocation>>()

    subscript(id: InvocationID) -> Invocation? {
        get { byID[id]?.value }
        set {
            guard let newValue else {
                byID[id] = nil
                return
            }
            if byID[id] == nil { byID[id] = Indirect(newValue) } else { byID[id]?.value = newValue }
        }
    }

    mutating func reserve(_ count: Int) { byID.reserveCapacity(count) }

    var isEmpty: Bool { byID.isEmpty }

    /// Their ids, in no order.
    var ids: some Sequence<InvocationID> { byID.keys }

    /// Whether this one is in flight.
    func contains(_ id: InvocationID) -> Bool { byID[id] != nil }
}
