import PushModel

/// Waiters for a batch in the ledger, some with a time limit.
struct BatchWaits<Waiter> {
    private struct Wait: Comparable {
        /// A batch number, or a time.
        var value: Int64
        var number: Int

        static func < (left: Wait, right: Wait) -> Bool { (left.value, left.number) < (right.value, right.number) }
    }

    private var waiters: [Int: Waiter] = [:]
    private var lastNumber = 0
    private var byPosition = Heap<Wait>()
    private var byTime = Heap<Wait>()

    /// The number of waiters.
    var count: Int { waiters.count }

    /// The length of the longer heap, which may have entries of waiters that were answered.
    var waitCount: Int { max(byPosition.count, byTime.count) }

    /// Adds a waiter for a batch, with a time limit; `nil`: none.
    mutating func add(_ waiter: Waiter, position: UInt64, due: Int64?) {
        Self.dropAnswered(from: &byPosition, waiters)
        Self.dropAnswered(from: &byTime, waiters)
        lastNumber += 1
        waiters[lastNumber] = waiter
        byPosition.insert(Wait(value: Int64(clamping: position), number: lastNumber))
        if let due { byTime.insert(Wait(value: due, number: lastNumber)) }
    }

    /// Takes the next waiter that can be answered: first those whose batch the ledger has, then those whose time is
    /// over.
    ///
    /// - Returns: the waiter, and whether the ledger has the batch.
    mutating func next(applied: UInt64, now: Int64) -> (waiter: Waiter, hasIt: Bool)? {
        if let waiter = Self.take(from: &byPosition, &waiters, through: Int64(clamping: applied)) {
            return (waiter, true)
        }
        return Self.take(from: &byTime, &waiters, through: now).map { ($0, false) }
    }

    /// The earliest time limit; `nil` without one.
    mutating func nextDue() -> Int64? {
        Self.dropAnswered(from: &byTime, waiters)
        return byTime.first?.value
    }

    /// Whether the ledger has the batch of at least one waiter.
    mutating func hasServedWaiter(by applied: UInt64) -> Bool {
        Self.dropAnswered(from: &byPosition, waiters)
        return byPosition.first.map { $0.value <= Int64(clamping: applied) } ?? false
    }

    // Without key paths: the runtime builds each of them anew, which doubled the time of a turn of the loop.

    private static func take(from heap: inout Heap<Wait>, _ waiters: inout [Int: Waiter], through value: Int64)
        -> Waiter?
    {
        dropAnswered(from: &heap, waiters)
        guard let first = heap.first, first.value <= value else { return nil }
        _ = heap.popFirst()
        return waiters.removeValue(forKey: first.number)
    }

    /// Removes entries of waiters that the other heap answered: those at the top, and all if they are the majority.
    private static func dropAnswered(from heap: inout Heap<Wait>, _ waiters: [Int: Waiter]) {
        while let first = heap.first, waiters[first.number] == nil { _ = heap.popFirst() }
        guard heap.count > 2 * waiters.count + 64 else { return }
        heap.removeAll { waiters[$0.number] == nil }
    }
}
