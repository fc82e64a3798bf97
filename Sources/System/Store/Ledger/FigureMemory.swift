import PushFigures
import PushModel

// What `FigureRows` has in memory.

/// What figures need of a request.
struct CountedRequest {
    var seq: Int64 = -1
    var acceptedAt: Int64 = 0
    var minute: Int64 = 0
    /// Whether its operation leads to invocations.
    var operation = false
    /// Mode, platform, app, transport and both priorities.
    var parts = KeyParts()
}

/// What figures need of an invocation beside its key.
struct CountedEnd {
    var id = InvocationID(seq: SequenceNumber(0), n: 0)
    var times = DecidedTimes(budget: 0, queue: 0, exec: 0, total: 0)
    var isObserver = false
    var waited = false
}

/// A key as the ledger knows it.
final class CountedKey {
    let key: FigureKey
    /// Its number in the ledger; `nil` before it was asked for.
    var number: Int64?
    /// Up to which minute the ledger keeps it.
    var lastMinute: Int64 = -1
    /// The same of all apps for which there is no room.
    var other: CountedKey?

    init(_ key: FigureKey) { self.key = key }
}

/// The figures of one key in one minute.
final class CountedCell {
    var figures = KeyFigures()
    var isChanged = false
}

/// The figures of one minute that no key has.
final class CountedMinute {
    let number: Int64
    var figures = SpanFigures()
    /// The apps that have figures of their own.
    var apps: Set<String> = []
    var isChanged = false

    init(_ number: Int64) { self.number = number }
}
