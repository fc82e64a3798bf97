import PushModel

/// Those who wait until the ledger has a batch, or until their time is over.
struct BatchWaits<Waiter> {
    private struct Wait: Comparable {
        /// A position of the ledger, or a time.
        var value: Int64
        var number: Int

        static func < (left: Wait, right: Wait) -> Bool { (left.value, left.number) < (right.value, right.number) }
    }

    private var waiters: [Int: Waiter] = [:]
    private var lastNumber = 0
    private var byPosition = Heap<Wait>()
    private var byTime = Heap<Wait>()

    /// How many wait.
    var count: Int { waiters.count }

    /// How many places in line are kept, those that were left behind among them.
    var waitCount: Int { max(byPosition.count, byTime.count) }

    /// Adds one who waits for a position, until a time; `nil`: however long it takes.
    mutating func add(_ waiter: Waiter, position: UInt64, due: Int64?) {
        Self.dropAnswered(from: &byPosition, waiters)
        Self.dropAnswered(from: &byTime, waiters)
        lastNumber += 1
        waiters[lastNumber] = waiter
        byPosition.insert(Wait(value: Int64(clamping: position), number: lastNumber))
        if let due { byTime.insert(Wait(value: due, number: lastNumber)) }
    }

    /// Takes the next one to be answered: whom the ledger has enough for comes first, then whose time is over.
    ///
    /// - Returns: the waiter, and whether the ledger has the batch.
    mutating func next(applied: UInt64, now: Int64) -> (waiter: Waiter, hasIt: Bool)? {
        if let waiter = Self.take(from: &byPosition, &waiters, through: Int64(clamping: applied)) {
            return (waiter, true)
        }
        return Self.take(from: &byTime, &waiters, through: now).map { ($0, false) }
    }

    /// When one is to be answered next, as far as it goes by time.
    mutating func nextDue() -> Int64? {
        Self.dropAnswered(from: &byTime, waiters)
        return byTime.first?.value
    }

    /// Whether somebody waits for no more than this position.
    mutating func isSomebodyServed(by applied: UInt64) -> Bool {
        Self.dropAnswered(from: &byPosition, waiters)
        return byPosition.first.map { $0.value <= Int64(clamping: applied) } ?? false
    }

    // Not by key paths: the runtime builds each of them anew, which doubled a turn of the loop.

    private static func take(from heap: inout Heap<Wait>, _ waiters: inout [Int: Waiter], through value: Int64)
        -> Waiter?
    {
        dropAnswered(from: &heap, waiters)
        guard let first = heap.first, first.value <= value else { return nil }
        _ = heap.popFirst()
        return waiters.removeValue(forKey: first.number)
    }

    /// Takes out the waiters that the other order has answered: those that come first, and all when they are most.
    private static func dropAnswered(from heap: inout Heap<Wait>, _ waiters: [Int: Waiter]) {
        while let first = heap.first, waiters[first.number] == nil { _ = heap.popFirst() }
        guard heap.count > 2 * waiters.count + 64 else { return }
        heap.removeAll { waiters[$0.number] == nil }
    }
}
