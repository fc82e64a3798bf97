import PushModel

/// Readers who wait until the ledger has what was acknowledged before they asked, or until their time is over.
struct SyncWaits<Reader> {
    private struct Wait: Comparable {
        /// A position of the ledger, or a time.
        var value: Int64
        var number: Int

        static func < (left: Wait, right: Wait) -> Bool { (left.value, left.number) < (right.value, right.number) }
    }

    private var readers: [Int: Reader] = [:]
    private var lastNumber = 0
    private var byPosition = Heap<Wait>()
    private var byTime = Heap<Wait>()

    /// How many wait.
    var count: Int { readers.count }

    /// How many places in line are kept, those that were left behind among them.
    var waitCount: Int { max(byPosition.count, byTime.count) }

    /// Adds one who waits for a position, until a time.
    mutating func add(_ reader: Reader, position: UInt64, due: Int64) {
        dropAnswered(from: \.byPosition)
        dropAnswered(from: \.byTime)
        lastNumber += 1
        readers[lastNumber] = reader
        byPosition.insert(Wait(value: Int64(clamping: position), number: lastNumber))
        byTime.insert(Wait(value: due, number: lastNumber))
    }

    /// Takes the next one to be answered: whom the ledger has enough for comes first, then whose time is over.
    ///
    /// - Returns: the reader, and whether the ledger has all.
    mutating func next(applied: UInt64, now: Int64) -> (reader: Reader, isComplete: Bool)? {
        if let reader = take(from: \.byPosition, through: Int64(clamping: applied)) { return (reader, true) }
        return take(from: \.byTime, through: now).map { ($0, false) }
    }

    /// When one is to be answered next, as far as it goes by time.
    mutating func nextDue() -> Int64? {
        dropAnswered(from: \.byTime)
        return byTime.first?.value
    }

    /// Whether somebody waits for no more than this position.
    mutating func isSomebodyServed(by applied: UInt64) -> Bool {
        dropAnswered(from: \.byPosition)
        return byPosition.first.map { $0.value <= Int64(clamping: applied) } ?? false
    }

    private mutating func take(from heap: WritableKeyPath<Self, Heap<Wait>>, through value: Int64) -> Reader? {
        dropAnswered(from: heap)
        guard let first = self[keyPath: heap].first, first.value <= value else { return nil }
        _ = self[keyPath: heap].popFirst()
        return readers.removeValue(forKey: first.number)
    }

    /// Takes out who was answered by the other order: those that come first, and all when they are most.
    private mutating func dropAnswered(from heap: WritableKeyPath<Self, Heap<Wait>>) {
        while let first = self[keyPath: heap].first, readers[first.number] == nil { _ = self[keyPath: heap].popFirst() }
        guard self[keyPath: heap].count > 2 * readers.count + 64 else { return }
        let readers = readers
        self[keyPath: heap].removeAll { readers[$0.number] == nil }
    }
}
