import PushModel

/// A pruning: first what is too old, then, while the ledger is too large, what is oldest; then free pages are given back to
/// the file system. In slices of a few milliseconds, with batches between them.
struct Pruning: Sendable {
    private enum Step {
        case age, size, giveBack, done
    }

    /// How many requests, and how many entries, a transaction takes out.
    static let slice = 256
    /// How many pages a transaction gives back: 2 MiB.
    static let pagesAtOnce = 256

    private let cutoff: WallTime
    private let deadLetters: DeadLetterLimits?
    private let sizeMax: Int?
    private var step = Step.age
    private var pruned = Pruned()
    private var prunedBySize = 0
    private var told: StoreReport?
    /// Whether it has come to its end.
    private(set) var isDone = false

    /// - Parameters:
    ///   - cutoff: what was accepted before is too old.
    ///   - deadLetters: which dead letters are too old or too many.
    ///   - sizeMax: how large the ledger may be, in bytes.
    init(cutoff: WallTime, deadLetters: DeadLetterLimits?, sizeMax: Int?) {
        self.cutoff = cutoff
        self.deadLetters = deadLetters
        self.sizeMax = sizeMax
    }

    /// Does a slice.
    mutating func next(_ writer: LedgerWriter) throws(StoreError) {
        switch step {
        case .age:
            let slice = try writer.prune(olderThan: cutoff, limit: Self.slice, deadLetters: deadLetters)
            pruned.requests += slice.requests
            pruned.deadLetters += slice.deadLetters
            guard !slice.isPartial else { return }
            told = .pruned(requests: pruned.requests, deadLetters: pruned.deadLetters)
            let isTooLarge = try sizeMax.map { (size) throws(StoreError) in try writer.space().used > size } ?? false
            step = isTooLarge ? .size : .giveBack
        case .size:
            // With what may stay free the file is no longer than it may be then.
            let wanted = (sizeMax ?? 0) / 9 * 8
            guard try writer.space().used > wanted else { return endSize(isStillTooLarge: false) }
            let slice = try writer.prune(olderThan: WallTime(milliseconds: .max), limit: Self.slice)
            prunedBySize += slice.requests
            if !slice.isPartial { endSize(isStillTooLarge: try writer.space().used > sizeMax ?? .max) }
        case .giveBack:
            if try !writer.giveBack(pages: Self.pagesAtOnce) { step = .done }
        case .done: isDone = true
        }
    }

    /// Ends before its time, and tells what it did.
    mutating func giveUp() {
        switch step {
        case .age: told = .pruned(requests: pruned.requests, deadLetters: pruned.deadLetters)
        case .size: told = .prunedBySize(requests: prunedBySize, isStillTooLarge: false)
        case .giveBack, .done: break
        }
        isDone = true
    }

    private mutating func endSize(isStillTooLarge: Bool) {
        told = .prunedBySize(requests: prunedBySize, isStillTooLarge: isStillTooLarge)
        step = .giveBack
    }

    /// What is to be told of the last slice.
    mutating func takeReport() -> StoreReport? { told.take() }
}
