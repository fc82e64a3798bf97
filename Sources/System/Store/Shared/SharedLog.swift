import Glibc
import LinuxSystem
import PushModel
import Synchronization

/// The log of a shard: batches become durable in an engine that other machines read and write as well. The local disk
/// has only the ledger, which is a prefix of the chain.
final class SharedLog: BatchLog {
    /// The state of the log's thread; the lock lets other threads read the position.
    private struct State {
        var writer: ChainWriter
        var position: LogPosition
        var gate: VersionGate
        /// The cursor of the last event in all batches so far, including the one under way.
        var lastCursor: Int64
        /// The batch with an unknown fate, and the next step for it.
        var underway: (batch: ChainBatch, position: LogPosition, step: ChainWriter.Step)?
    }

    private let store: SharedStore
    private let limit: Int
    private let state: Mutex<State>

    /// - Parameter writer: the ledger, which has the chain up to `reference`.
    private init(
        _ store: SharedStore, after reference: BatchReference, version: Int, _ writer: LedgerWriter, limit: Int
    ) throws(StoreError) {
        (self.store, self.limit) = (store, limit)
        state = Mutex(
            State(
                writer: ChainWriter(after: reference, epoch: store.epoch), position: writer.position,
                gate: VersionGate(after: version, own: store.version), lastCursor: try writer.lastCursor()))
    }

    /// Brings the ledger up to date and begins the term with a batch without rows; after it, the previous leader can
    /// append no more.
    ///
    /// - Parameters:
    ///   - writer: the ledger.
    ///   - store: the engine and the term.
    ///   - limit: how far the ledger may fall behind, in bytes.
    ///   - onProgress: called at intervals.
    /// - Throws: `fenced` if a later term has begun; `engineAway` or `unprotected` after ten seconds of failures.
    static func open(
        _ writer: LedgerWriter, _ store: SharedStore, limit: Int, onProgress: () -> Void
    ) throws(StoreError) -> (log: any BatchLog, summary: RecoverySummary) {
        let copy = try LedgerCopy(writer, of: store.identity, reads: store.version)
        var summary = RecoverySummary()
        var clocks = store.clocks
        while true {
            while true {
                let count = try retryingUntilReachable(onProgress) { () throws(StoreError) in
                    try copy.catchUp(from: store.reading, clocks: &clocks)
                }
                guard count > 0 else { break }
                summary.batches += count
                if writer.hasLog(of: LedgerWriter.checkpointLength) { try writer.checkpoint() }
                onProgress()
            }
            store.learn(clocks, lastBatchAt: copy.lastBatchAt)
            guard let reference = copy.reference else { preconditionFailure("a reading compares") }
            let log = try SharedLog(store, after: reference, version: copy.version, writer, limit: limit)
            let number = SequenceNumber(try writer.reader().highestSequenceNumber().value)
            do throws(StoreError) {
                let now = WallTime(milliseconds: SystemClock.wallMilliseconds)
                let position = try retryingUntilReachable(onProgress) { () throws(StoreError) in
                    try log.append(RowBuffer(capacity: 0), lastSequence: number, at: now)
                }
                try writer.apply([UnsafeRawBufferPointer](), through: position)
                return (log, summary)
            } catch let error where error.kind == .fenced {
                // The previous leader's last batch came in between. A higher term in the tail ends this one.
                let tail = try retryingUntilReachable(onProgress) { () throws(StoreError) in try store.tail() }
                guard tail.epoch < store.epoch else { throw error }
            }
        }
    }

    /// How long the beginning of a term waits for an engine that does not answer, in nanoseconds. A slow engine is no
    /// reason to give up a lease, which another thread renews meanwhile.
    private static let patience: Int64 = 10_000_000_000
    /// The pause between two tries, in microseconds.
    private static let retryPause: UInt32 = 50_000

    /// Repeats a question while the engine fails.
    private static func retryingUntilReachable<Value>(
        _ onProgress: () -> Void, _ ask: () throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        let end = SystemClock.monotonicNanoseconds + patience
        while true {
            do throws(StoreError) {
                return try ask()
            } catch let error where error.isOfEngine && SystemClock.monotonicNanoseconds < end {
                onProgress()
                usleep(retryPause)
            }
        }
    }

    var position: LogPosition { state.withLock(\.position) }
    var usage: LogUsage { LogUsage(used: 0, length: 0, limit: limit) }
    func hasRoom(for rows: Int) -> Bool { true }
    var isShort: Bool { false }
    func addSegment() -> Bool { false }
    func release(through number: UInt64) {}
    func close() {}
    func markForErasure() {}
    func overwriteNextPart() -> Bool { false }
    var isClean: Bool { true }
    var isShared: Bool { true }

    // MARK: Writing

    /// Appends a batch. A batch with an unknown fate keeps its bytes, and the next call continues with it.
    func append(
        _ buffer: RowBuffer, lastSequence: SequenceNumber, at time: WallTime
    ) throws(StoreError) -> LogPosition {
        var underway = state.withLock(\.underway) ?? form(buffer, lastSequence: lastSequence, at: time)
        var isUnanswered = false
        while true {
            switch underway.step {
            case .append, .confirm:
                let isAppend = underway.step == .append
                let result =
                    isAppend
                    ? store.writing.append(underway.batch) : store.writing.confirm(underway.batch.reference)
                if case .unknown(let problem) = result {
                    underway.step = answered(result)
                    // A first missing answer may be a lost connection. After a second one the engine has answered the
                    // question in between, so it answers and does not end the commit.
                    if isUnanswered {
                        keep(underway)
                        throw store.reason(forHangingCommit: problem)
                    }
                    isUnanswered = true
                    continue
                }
                if !isAppend, case .uncertain(let reason) = result {
                    keep(underway)
                    throw StoreError(.unprotected, message: reason, context: StoreError.engine)
                }
                underway.step = answered(result)
            case .reconnect:
                do throws(StoreError) {
                    let tail = try store.tail()
                    underway.step = state.withLock { $0.writer.found(tail) }
                } catch {
                    keep(underway)
                    throw error
                }
            case .acknowledge:
                let position = underway.position
                state.withLock { ($0.position, $0.underway) = (position, nil) }
                return position
            case .fenced(let tail):
                throw StoreError(
                    .fenced, message: "another leader wrote batch \(tail.reference.number) in term \(tail.epoch)",
                    context: StoreError.engine)
            case .lost(let tail):
                throw StoreError(
                    .forked,
                    message: "the chain ends with batch \(tail.reference.number), although batch "
                        + "\(underway.batch.reference.number - 1) was acknowledged",
                    context: StoreError.engine)
            }
        }
    }

    var readers: Int {
        let copies = store.copiesRead
        return state.withLock { $0.gate.version(copies: copies) }
    }

    private func answered(_ result: AppendResult) -> ChainWriter.Step { state.withLock { $0.writer.answered(result) } }

    private func keep(_ underway: (batch: ChainBatch, position: LogPosition, step: ChainWriter.Step)) {
        state.withLock { $0.underway = underway }
    }

    /// Draws the id, and writes the header: the bytes never change after this.
    private func form(
        _ buffer: RowBuffer, lastSequence: SequenceNumber, at time: WallTime
    ) -> (batch: ChainBatch, position: LogPosition, step: ChainWriter.Step) {
        let id = UUID128(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
        let events = Int64(RowReader.count(of: .event, in: buffer.rows))
        let (last, position) = state.withLock { ($0.writer.last, $0.position) }
        let (reference, step, lastCursor, version) = state.withLock { state in
            state.lastCursor += events
            let (reference, step) = state.writer.begin(id: id)
            let version = state.gate.next(copies: store.copiesRead, rows: buffer.version)
            return (reference, step, state.lastCursor, version)
        }
        let header = BatchHeader(
            number: reference.number, previousChecksum: position.checksum, rowsLength: buffer.byteCount, released: 0,
            lastSequence: lastSequence, writtenAt: store.wall?() ?? time, id: id)
        let checksum = header.write(to: buffer)
        var batch = ChainBatch(
            reference: reference, previous: last.id, epoch: store.epoch, boot: store.boot,
            handedOver: Instant(nanoseconds: SystemClock.monotonicNanoseconds), lastCursor: lastCursor,
            bytes: Array(buffer.memory[..<buffer.end]))
        batch.version = version
        return (batch, LogPosition(number: reference.number, checksum: checksum, segment: 0, end: 0), step)
    }

    // MARK: Reading back

    func read(_ position: LogPosition, rows length: Int, into buffer: RowBuffer) throws(StoreError) {
        let stored: StoredBatch?
        do throws(EngineProblem) {
            stored = try store.reading.batches(from: position.number, atMost: 1).first
        } catch {
            throw StoreError(error)
        }
        guard let bytes = stored?.batch.bytes, bytes.withUnsafeBytes(BatchHeader.verifiedChecksum) == position.checksum,
            buffer.fill(
                rows: length, blocks: bytes.count,
                {
                    $0.copyBytes(from: bytes)
                    return bytes.count
                })
        else {
            throw StoreError(
                .forked, message: "batch \(position.number) is not the one that was written", context: StoreError.engine
            )
        }
    }
}

extension SharedStore {
    /// Returns why a commit has had no answer twice, although the engine answered a question in between.
    fileprivate func reason(forHangingCommit problem: EngineProblem) -> StoreError {
        guard problem.kind == .unreachable else { return StoreError(problem) }
        let standby: String?
        do throws(EngineProblem) {
            standby = try writing.absentStandby()
        } catch {
            return StoreError(error)
        }
        guard let standby else {
            return StoreError(
                .engineAway,
                message:
                    "the database answers queries, but a commit takes longer than its time limit (\(problem)): look for "
                    + "locks (pg_locks), a slow disk of the database, or a standby that does not confirm",
                context: StoreError.engine)
        }
        return StoreError(
            .unprotected, message: "the database answers queries, but a commit hangs: \(standby)",
            context: StoreError.engine)
    }

    fileprivate func tail() throws(StoreError) -> ChainTail {
        do throws(EngineProblem) {
            return try writing.tail()
        } catch {
            throw StoreError(error)
        }
    }
}
