public import PushModel

/// The dead letters of a ledger, in numbers.
public struct DeadLetterTotals: Hashable, Sendable {
    /// The dead letters of one handler.
    public struct Share: Hashable, Sendable {
        public var count = 0
        /// Bytes that count for `DeadLetterSizeMax=`.
        public var bytes = 0
    }

    /// By the last handler: at most ``handlersMax`` names, and one name that all others share.
    public var handlers: [String: Share] = [:]
    /// When the first of them became one; `nil` without any.
    public var oldest: WallTime?

    /// The number of handlers with figures of their own.
    static let handlersMax = 64
    /// The name for dead letters without a handler: no route matched.
    static let noHandler = "(none)"

    /// All dead letters.
    public var all: Share {
        handlers.values.reduce(into: Share()) { all, share in
            all.count += share.count
            all.bytes += share.bytes
        }
    }
}

/// Counts dead letters as they come and go, so that nobody reads them all for a figure. For one thread.
///
/// A pruning and an erasure remove many at once; then, after a rollback and at the start they are counted anew.
final class DeadLetterCounter {
    private var handlers = LabelTable(limit: DeadLetterTotals.handlersMax, empty: DeadLetterTotals.Share())
    private var ofRequest: Statement
    private var hasChanged = true
    /// Whether the rows must be counted anew.
    private(set) var isStale = true
    /// Whether they could not be counted: the ledger is damaged there, which is no reason to end.
    private var isUnreadable = false

    init(_ database: borrowing Database) throws(StoreError) {
        ofRequest = try database.prepare(
            Self.sums("WHERE dead_letters.seq = ?1 AND (?2 IS NULL OR dead_letters.n = ?2)"))
    }

    private static func sums(_ condition: String) -> String {
        """
        SELECT \(LedgerTable.invocations.text("handler")) AS handler, count(*), sum(dead_letters.bytes)
        FROM dead_letters LEFT JOIN \(LedgerTable.invocations.source)
            ON invocations.seq = dead_letters.seq AND invocations.n = dead_letters.n
        \(condition) GROUP BY 1
        """
    }

    /// Counts a dead letter that was added.
    func added(_ seq: Int64, _ n: Int64) throws(StoreError) { try change(seq, n, by: 1) }

    /// Counts the dead letters of a request that will be removed.
    func willRemove(_ seq: Int64) throws(StoreError) { try change(seq, nil, by: -1) }

    private func change(_ seq: Int64, _ n: Int64?, by sign: Int) throws(StoreError) {
        guard !isStale else { return }
        ofRequest.bind(seq, at: 1)
        ofRequest.bind(n, at: 2)
        defer { ofRequest.reset() }
        while try ofRequest.step() { add(ofRequest, sign) }
        hasChanged = true
    }

    private func add(_ row: borrowing Statement, _ sign: Int) {
        let name = row.text(0) ?? DeadLetterTotals.noHandler
        handlers[name].count += sign * Int(row.integer(1))
        handlers[name].bytes += sign * Int(row.integer(2))
    }

    /// Notes that the rows changed in another way.
    func invalidate() { isStale = true }

    /// Returns the figures if they changed since the last call; counts the rows anew if they must be.
    func news(_ database: borrowing Database) throws(StoreError) -> DeadLetterTotals? {
        guard hasChanged || isStale, !isUnreadable else { return nil }
        do throws(StoreError) {
            if isStale {
                handlers = LabelTable(limit: DeadLetterTotals.handlersMax, empty: DeadLetterTotals.Share())
                let all = try database.prepare(Self.sums(""))
                while try all.step() { add(all, 1) }
                isStale = false
            }
            let oldest = try database.prepare("SELECT min(at) FROM dead_letters")
            var totals = DeadLetterTotals()
            for (name, share) in handlers.entries where share.count > 0 { totals.handlers[name] = share }
            if try oldest.step(), !oldest.isNull(0) { totals.oldest = WallTime(milliseconds: oldest.integer(0)) }
            hasChanged = false
            return totals
        } catch let error where error.kind == .corrupt {
            isUnreadable = true
            return nil
        }
    }
}
