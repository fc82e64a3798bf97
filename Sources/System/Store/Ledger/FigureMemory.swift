import PushModel

// The values that `FigureRows` caches.

/// The facts of a request that figures need.
struct CountedRequest {
    var seq: Int64 = -1
    var acceptedAt: Int64 = 0
    var minute: Int64 = 0
    /// Whether its operation leads to invocations.
    var operation = false
    /// Mode, platform, app, transport and both priorities.
    var parts = KeyParts()
}

/// The facts of an invocation that figures need besides its key.
struct CountedEnd {
    var id = InvocationID(seq: SequenceNumber(0), n: 0)
    var times = DecidedTimes(budget: 0, queue: 0, exec: 0, total: 0)
    var isObserver = false
    var waited = false
}

/// A key and its row in the ledger.
final class CountedKey {
    let key: FigureKey
    /// Its number in the ledger; `nil` until it is looked up.
    var number: Int64?
    /// The last minute for which the ledger is known to keep the key.
    var lastMinute: Int64 = -1
    /// The key that stands for all further apps once the minute has no room for another.
    var other: CountedKey?

    init(_ key: FigureKey) { self.key = key }
}

/// The figures of one key in one minute.
final class CountedCell {
    var figures = KeyFigures()
    var isChanged = false
}

/// The figures of one minute that belong to no key.
final class CountedMinute {
    let number: Int64
    var figures = SpanFigures()
    /// The apps that have figures of their own.
    var apps: Set<String> = []
    var isChanged = false

    init(_ number: Int64) { self.number = number }
}
