import Glibc
import PushModel

extension LedgerReader {
    /// Opens the ledger of a state directory with every acknowledged request, also those that only the log has. A
    /// running daemon applies these within moments. After a daemon that was killed, this function applies them: to the
    /// ledger if it can lock the directory and write there, otherwise to a copy.
    ///
    /// With a running daemon, `sync` on `control.sock` is cheaper.
    ///
    /// - Parameter directory: the state directory.
    /// - Throws: as ``init(directory:)``, and `logDamaged` for a damaged log: the batches behind the damage are
    ///   missing.
    public static func complete(directory: String) throws(StoreError) -> LedgerReader {
        let reader = try LedgerReader(directory: directory)
        guard let last = try LogTail(directory, reader)?.last else { return reader }
        if try LogTail.apply(in: directory) { return reader }
        for _ in 0..<Self.attempts {
            if try reader.logPosition().number >= last { return reader }
            usleep(Self.pause)
        }
        return try LogTail.copy(of: reader, in: directory, through: last)
    }

    /// The number of tries, 20 ms apart, while a daemon applies the tail: two seconds in all.
    private static let attempts = 100
    private static let pause: UInt32 = 20_000

    /// Returns the place in the log behind the last batch that the ledger has.
    func logPosition() throws(StoreError) -> LogPosition { try LedgerSchema.logPosition(database) }
}

/// The part of the log that the ledger lacks.
private struct LogTail {
    /// The number of its last batch.
    let last: UInt64

    /// `nil` if the ledger lacks nothing.
    init?(_ directory: String, _ reader: LedgerReader) throws(StoreError) {
        var position = try reader.logPosition()
        while true {
            let start = position
            var chain = try Self.chain(directory, reader.stateIdentity)
            while let batch = try chain.next(after: position) { position = batch.position }
            if position != start {
                last = position.number
                return
            }
            // A running daemon may have overwritten the next batch, because the ledger has it by now.
            position = try reader.logPosition()
            guard position == start else { continue }
            // A later batch exists, and the batches between cannot be read: apply() or copy() reports the damage.
            if let beyond = try chain.batchBeyond(position) {
                last = beyond
            } else if chain.lacksSegment(of: position) {
                last = position.number
            } else {
                return nil
            }
            return
        }
    }

    private static func chain(_ directory: String, _ state: UUID128) throws(StoreError) -> LogChain {
        try LogChain(LogDirectory(reading: directory, state: state)?.segmentsForReading() ?? [])
    }

    /// Applies the tail to the ledger.
    ///
    /// - Returns: whether it did; `false` while another process has the directory, and if this one may not write there.
    static func apply(in directory: String) throws(StoreError) -> Bool {
        do throws(StoreError) {
            let lock = try StateDirectory(path: directory)
            let writer = try LedgerWriter(directory: directory)
            let log = try LogDirectory(in: directory, state: writer.stateID)
            var chain = try LogChain(log.segmentsForReading())
            if let reason = try Recovery.replay(&chain, writer) {
                throw damage(reason, log.path)
            }
            lock.unlock()
            return true
        } catch {
            switch error.kind {
            case .inUse, .notPermitted, .readOnly, .noSpace, .busy: return false
            default: throw error
            }
        }
    }

    private static func damage(_ reason: String, _ path: String) -> StoreError {
        StoreError(.logDamaged, message: "the log is damaged: \(reason)", context: path)
    }

    /// Returns a copy of the ledger with the tail applied.
    static func copy(
        of reader: LedgerReader, in directory: String, through last: UInt64
    ) throws(StoreError) -> LedgerReader {
        var reason: String?
        for _ in 0..<3 {
            let copy = try Database.copy(of: reader.database)
            let applier = try RowApplier(copy)
            var position = try LedgerSchema.logPosition(copy)
            var chain = try chain(directory, reader.stateIdentity)
            try copy.execute("BEGIN")
            while let batch = try chain.next(after: position) {
                try applier.apply([batch.rows])
                position = batch.position
            }
            try copy.execute("COMMIT")
            reason = try chain.damage(behind: position)
            if position.number >= last { return try LedgerReader(copy) }
            // The daemon overwrote a part of the tail in between.
        }
        if let reason { throw damage(reason, directory) }
        throw StoreError(
            .busy, message: "the log changes faster than it can be read; ask the daemon through control.sock",
            context: directory)
    }
}
