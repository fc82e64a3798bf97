import PushModel

/// A pruning in three stages: rows that are too old; then, while the ledger is too large, the oldest rows, in whole
/// minutes; then free pages, which go back to the file system. Each slice takes a few milliseconds, and batches are
/// applied between slices.
struct Pruning: Sendable {
    private enum Step {
        case age, size, minute, releasePages, done
    }

    /// The number of requests, and of entries, that one transaction removes.
    static let slice = 256
    /// The same number for an order, each of which costs a commit in the log.
    static let orderedSlice = 1024
    /// The bytes that one transaction gives back to the file system.
    static let bytesReleasedAtOnce = 2 << 20

    private let cutoff: WallTime
    private let deadLetters: DeadLetterLimits?
    private let figures: WallTime?
    private let sizeMax: Int?
    private var step = Step.age
    private var pruned = Pruned()
    private var bySize = 0
    /// The time of acceptance of the last request that was removed because the ledger was too large.
    private var newest: WallTime?
    private var remains: LedgerRemains?

    /// - Parameters:
    ///   - cutoff: requests that were accepted before it are too old.
    ///   - deadLetters: the limits for age and size of dead letters.
    ///   - figures: figures without rows of requests accepted before it are too old; `nil` keeps all.
    ///   - sizeMax: the largest size of the ledger, in bytes.
    init(cutoff: WallTime, deadLetters: DeadLetterLimits?, figures: WallTime? = nil, sizeMax: Int?) {
        self.cutoff = cutoff
        self.deadLetters = deadLetters
        self.figures = figures
        self.sizeMax = sizeMax
    }

    /// Removes a slice, or gives pages back.
    mutating func next(_ writer: LedgerWriter) throws(StoreError) {
        if let slice = try nextSlice(writer, limit: Self.slice) { return try took(writer.prune(slice), writer) }
        try releasePages(writer)
    }

    /// Returns the next slice; `nil` if no more rows are to be removed.
    mutating func nextSlice(_ writer: LedgerWriter, limit: Int) throws(StoreError) -> PruningSlice? {
        switch step {
        case .age:
            return PruningSlice(olderThan: cutoff, limit: limit, deadLetters: deadLetters, figures: figures)
        case .size:
            // Removes rows down to 8/9 of the limit: with the free pages that may remain, the file is then within the
            // limit.
            if try isLarger(writer, than: sizeMax.map({ $0 / 9 * 8 })) {
                return PruningSlice(olderThan: nil, limit: limit)
            }
            step = .minute
            return try nextSlice(writer, limit: limit)
        case .minute:
            // Reports take a minute from its figures as soon as one of its rows is removed, so its other rows serve no
            // report. The latest minute stays: it still grows, and the newest rows are worth most.
            if let newest, case let minute = FigureMinute.of(milliseconds: newest.milliseconds),
                try minute < writer.latestMinute()
            {
                return PruningSlice(olderThan: FigureMinute.begin(minute + 1), limit: limit)
            }
            step = .releasePages
            return nil
        case .releasePages, .done: return nil
        }
    }

    /// Notes that the last slice was removed.
    mutating func took(_ slice: Pruned, _ writer: LedgerWriter) throws(StoreError) {
        switch step {
        case .age:
            pruned.requests += slice.requests
            pruned.deadLetters += slice.deadLetters
            pruned.deadLettersBySize += slice.deadLettersBySize
            if !slice.isPartial { step = try isLarger(writer, than: sizeMax) ? .size : .releasePages }
        case .size:
            bySize += slice.requests
            newest = slice.newest ?? newest
            guard !slice.isPartial else { return }
            if try isLarger(writer, than: sizeMax) { remains = try writer.remains() }
            step = .releasePages
        case .minute:
            bySize += slice.requests
            if !slice.isPartial { step = .releasePages }
        case .releasePages, .done: break
        }
    }

    /// Gives some free pages back.
    mutating func releasePages(_ writer: LedgerWriter) throws(StoreError) {
        guard step == .releasePages else { return }
        if try !writer.releasePages(bytes: Self.bytesReleasedAtOnce) { step = .done }
    }

    private func isLarger(_ writer: LedgerWriter, than size: Int?) throws(StoreError) -> Bool {
        guard let size else { return false }
        return try writer.space().used > size
    }

    /// Whether the pruning is finished.
    var isDone: Bool { step == .done }

    /// Ends the pruning early.
    mutating func giveUp() { step = .done }

    /// The report of what was removed.
    var report: StoreReport {
        .pruned(
            requests: pruned.requests, deadLetters: pruned.deadLetters, deadLettersBySize: pruned.deadLettersBySize,
            bySize: bySize, remains: remains)
    }
}
