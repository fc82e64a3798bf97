@testable import PushModel

/// The daemon's `ChainWriter`, also without one of its rules.
struct ModelWriter {
    var rules: ChainWriter
    let without: Rule?

    mutating func answered(_ result: AppendResult) -> ChainWriter.Step {
        switch (result, without) {
        case (.uncertain, .noticeIsDoubt): rules.answered(.committed)
        case (.conflict, .asksWhenRefused): .fenced(ChainTail(rules.last, epoch: 0))
        default: rules.answered(result)
        }
    }

    mutating func found(_ tail: ChainTail) -> ChainWriter.Step {
        let step = rules.found(tail)
        return step == .confirm && without == .readingIsNoCommit ? rules.answered(.committed) : step
    }
}

/// The part of a daemon that concerns the chain: it follows, takes the lease, reads to the tail, appends a takeover,
/// leads, acknowledges, starts handlers.
struct ModelNode {
    enum Role: UInt64 {
        case follower
        /// Holds the lease; its takeover is not acknowledged yet.
        case taker
        case leader
    }

    enum Waits: UInt64 {
        case nothing
        case answer
        /// Waits for no answer: it has to ask for the tail.
        case nobody
    }

    let index: Int
    var role = Role.follower
    var epoch: Int64 = 0
    /// Its ledger: a batch enters it when it is acknowledged, or read by a follower, and never leaves it.
    var copy: [ModelBatch] = [.start]
    var writer: ModelWriter?
    /// The batch in doubt.
    var pending: ModelBatch?
    var waits = Waits.nothing
    var generation = 0
    /// The rows of the next batch.
    var next = ModelRows()
    /// The number of ids that this node drew.
    var drawn: UInt64 = 0

    init(_ index: Int) { self.index = index }

    var session: ModelSession { ModelSession(node: index, generation: generation) }
    var last: BatchReference { copy[copy.count - 1].reference }

    /// All rows of its ledger.
    var rows: ModelRows {
        var rows = ModelRows()
        for batch in copy { rows.add(batch.rows) }
        return rows
    }

    func drew(_ id: UUID128) -> Bool { id.high == UInt64(index) + 1 }

    /// Forms a batch behind the last one.
    mutating func begin(_ rows: ModelRows, without rule: Rule?) {
        var writer = writer ?? ModelWriter(rules: ChainWriter(after: last, epoch: epoch), without: rule)
        let previous = writer.rules.last
        drawn += 1
        var id = UUID128(high: UInt64(index) + 1, low: drawn)
        if rule == .drawsIDs { id = UUID128(high: 9, low: previous.id.low &* 31 &+ rows.word) }
        let reference = writer.rules.begin(id: id).reference
        pending = ModelBatch(reference: reference, previous: previous.id, epoch: epoch, rows: rows)
        self.writer = writer
    }

    /// Makes the pending batch durable, and returns the rows that follow from its acknowledgement.
    mutating func acknowledged() -> ModelRows {
        guard let batch = pending else { return ModelRows() }
        copy.append(batch)
        (pending, waits) = (nil, .nothing)
        if batch.rows.isTakeover {
            let rows = rows
            role = .leader
            next = ModelRows(starts: rows.requests & ~rows.starts & ~rows.outcomes & ~rows.lost)
        } else {
            next.starts |= batch.rows.requests
            next.outcomes |= batch.rows.starts
        }
        return batch.rows
    }

    /// Stops leading, and drops uncommitted rows.
    mutating func steppedDown() {
        (role, epoch, writer, pending, waits, next) = (.follower, 0, nil, nil, .nothing, ModelRows())
    }

    /// The next step of following.
    enum Following { case nothing, batch, anew }

    /// Whether it follows by one batch, or sets its copy aside and fetches the chain anew.
    func following(_ engine: ModelEngine, without rule: Rule?) -> Following {
        if rule == .comparesCopies { return engine.chain.count > copy.count ? .batch : .nothing }
        return switch CopyCheck(last: last, batches: engine.batches(from: last.number, atMost: 2)) {
        case .follows(let batches): batches.isEmpty ? .nothing : .batch
        case .ahead, .another, .trimmed: .anew
        }
    }

    mutating func follow(_ engine: ModelEngine, without rule: Rule?) {
        switch following(engine, without: rule) {
        case .nothing: break
        case .batch: copy.append(engine.chain[copy.count])
        case .anew: copy = engine.chain
        }
    }
}
