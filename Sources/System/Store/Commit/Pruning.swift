import PushFigures
import PushModel

/// A pruning: first what is too old, then, while the ledger is too large, what is oldest, whole minutes of it; then free pages
/// are given back to the file system. In slices of a few milliseconds, with batches between them.
struct Pruning: Sendable {
    private enum Step {
        case age, size, minute, giveBack, done
    }

    /// How many requests, and how many entries, a transaction takes out.
    static let slice = 256
    /// The same for an order, which costs a commit in the log.
    static let orderedSlice = 1024
    /// How many bytes a transaction gives back.
    static let givenBackAtOnce = 2 << 20

    private let cutoff: WallTime
    private let deadLetters: DeadLetterLimits?
    private let figures: WallTime?
    private let sizeMax: Int?
    private var step = Step.age
    private var pruned = Pruned()
    private var bySize = 0
    /// When the last request was accepted that went because the ledger was too large.
    private var newest: WallTime?
    private var remains: LedgerRemains?

    /// - Parameters:
    ///   - cutoff: what was accepted before is too old.
    ///   - deadLetters: which dead letters are too old or too many.
    ///   - figures: figures without rows of what was accepted before are too old; without it none are.
    ///   - sizeMax: how large the ledger may be, in bytes.
    init(cutoff: WallTime, deadLetters: DeadLetterLimits?, figures: WallTime? = nil, sizeMax: Int?) {
        self.cutoff = cutoff
        self.deadLetters = deadLetters
        self.figures = figures
        self.sizeMax = sizeMax
    }

    /// Does a slice, or gives pages back.
    mutating func next(_ writer: LedgerWriter) throws(StoreError) {
        if let slice = try nextSlice(writer, limit: Self.slice) { return try took(writer.prune(slice), writer) }
        try giveBack(writer)
    }

    /// The slice that comes next; `nil`: nothing more is to be taken out.
    mutating func nextSlice(_ writer: LedgerWriter, limit: Int) throws(StoreError) -> PruningSlice? {
        switch step {
        case .age:
            return PruningSlice(olderThan: cutoff, limit: limit, deadLetters: deadLetters, figures: figures)
        case .size:
            // With what may stay free the file is no longer than it may be then.
            if try isLarger(writer, than: sizeMax.map({ $0 / 9 * 8 })) {
                return PruningSlice(olderThan: nil, limit: limit)
            }
            step = .minute
            return try nextSlice(writer, limit: limit)
        case .minute:
            // Reports count a minute by its figures as soon as one of its rows is out: the others have no use there.
            // The latest minute still grows, and what came last is worth most.
            if let newest, case let minute = FigureMinute.of(milliseconds: newest.milliseconds),
                try minute < writer.latestMinute()
            {
                return PruningSlice(olderThan: FigureMinute.begin(minute + 1), limit: limit)
            }
            step = .giveBack
            return nil
        case .giveBack, .done: return nil
        }
    }

    /// The last slice is out.
    mutating func took(_ slice: Pruned, _ writer: LedgerWriter) throws(StoreError) {
        switch step {
        case .age:
            pruned.requests += slice.requests
            pruned.deadLetters += slice.deadLetters
            if !slice.isPartial { step = try isLarger(writer, than: sizeMax) ? .size : .giveBack }
        case .size:
            bySize += slice.requests
            newest = slice.newest ?? newest
            guard !slice.isPartial else { return }
            if try isLarger(writer, than: sizeMax) { remains = try writer.remains() }
            step = .giveBack
        case .minute:
            bySize += slice.requests
            if !slice.isPartial { step = .giveBack }
        case .giveBack, .done: break
        }
    }

    /// Gives some free pages back.
    mutating func giveBack(_ writer: LedgerWriter) throws(StoreError) {
        guard step == .giveBack else { return }
        if try !writer.giveBack(bytes: Self.givenBackAtOnce) { step = .done }
    }

    private func isLarger(_ writer: LedgerWriter, than size: Int?) throws(StoreError) -> Bool {
        guard let size else { return false }
        return try writer.space().used > size
    }

    /// Whether it has come to its end.
    var isDone: Bool { step == .done }

    /// Ends it before its time.
    mutating func giveUp() { step = .done }

    /// What it did.
    var report: StoreReport {
        .pruned(requests: pruned.requests, deadLetters: pruned.deadLetters, bySize: bySize, remains: remains)
    }
}
