/// A rule of the protocol that a mutation takes out.
enum Rule: String, CaseIterable {
    /// A batch is acknowledged at the end of the commit; without this rule at CommandComplete, before the standby has
    /// it.
    case waitsForCommit
    /// R1: a batch keeps its bytes and its id until its fate is known.
    case keepsBytes
    /// R2: a writer that gets no row back asks the engine.
    case asksWhenRefused
    /// R3: a batch that was read is in doubt.
    case readingIsNoCommit
    /// R3: a batch with a notice is in doubt.
    case noticeIsDoubt
    /// R3: a repeat is answered once its batch is no longer in doubt.
    case repeatsWait
    /// R4: a copy is compared with the chain.
    case comparesCopies
    /// The append compares the id of the batch before.
    case comparesPrevious
    /// Taking the lease waits for the standby too; without that the take is void.
    case takeIsDurable
    /// R6: the new term is above that of the row.
    case termAboveRow
    /// R6: the new term is above that of the tail.
    case termAboveTail
    /// R9: a commit waits for a standby.
    case isSynchronous
    /// A leader hands over once its handlers have ended, and their outcomes are written.
    case movesWhenIdle
    /// An id is random; without this rule it follows from the contents of the batch.
    case drawsIDs
}

/// A property that must not break.
enum Violation: String {
    case acknowledgedLost = "an acknowledged request is not in the chain"
    case requestTwice = "a request is twice in the chain"
    case twoOutcomes = "a request has two outcomes"
    case otherOutcome = "an outcome that was told is another one in the chain, or none"
    case handlerTwice = "a handler ran twice"
    case startLost = "a handler ran, and the chain has no start of it"
    case fencedByOwn = "a leader is fenced by its own batch"
    case durableLost = "the engine lost what a leader was told to be durable"
    case fork = "a leader goes on with a state that is not the chain's"
    case broken = "a batch does not go on behind the one before it"
    case termTwice = "a term has two leaders"
    case termBelowChain = "a term is given that is not above the chain's"
    case sameBatch = "two leaders take the same batch for theirs"
    case lostByMove = "a handler's outcome is lost, and every leader has handed over"
    case stuck = "the holder of the lease cannot go on"
}
