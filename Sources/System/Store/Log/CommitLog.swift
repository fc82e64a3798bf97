import LinuxSystem
import PushModel
import Synchronization

/// The log. Synced batches in it may be acknowledged. The ledger follows the log, and batches that the ledger has on
/// disk leave the log.
///
/// A ring of segments, which are used again. One thread at a time writes one batch; all other calls are allowed on any
/// thread meanwhile.
final class CommitLog: BatchLog {
    /// The limits of the log's size.
    struct Limits: Hashable, Sendable {
        /// All segments together, in bytes.
        var length: Int
        /// One segment, in bytes. A batch that is larger gets a segment of its own length.
        var segmentLength: Int

        /// - Parameter length: all segments together, in bytes; values below 16 MiB count as 16 MiB.
        init(length: Int) {
            let alignment = RowBuffer.alignment
            self.length = max(length, 16 << 20)
            segmentLength = min(8 << 20, self.length / 4) / alignment * alignment
        }
    }

    /// A segment with batches that may still be needed.
    struct Filled {
        let segment: LogSegment
        /// The number of its last batch.
        var last: UInt64
        /// The end of that batch, in bytes.
        var end: Int
    }

    /// A segment with copies of batches.
    typealias Copy = Filled

    struct State {
        /// The segments with batches that may still be needed, the oldest first; the log writes to the last one.
        var filled: [Filled] = []
        var free: [LogSegment] = []
        /// The place behind the last batch.
        var position: LogPosition
        /// The last batch that the ledger has on disk.
        var released: UInt64
        var lastID: UInt32
        var length: Int
        /// The segments with data to be erased: the log overwrites each before the next write to it.
        var markedForErasure: Set<UInt32> = []

        func takes(_ length: Int, in current: Filled) -> Bool {
            !current.segment.isCopy && !markedForErasure.contains(current.segment.id)
                && current.segment.length - current.end >= length
        }
    }

    let limits: Limits
    private let directory: LogDirectory
    let state: Mutex<State>

    /// Creates a log in which every segment is free except those with copies.
    ///
    /// - Parameters:
    ///   - directory: where the segments are.
    ///   - segments: the existing segments, to be used again.
    ///   - copies: segments with batches that the ledger may not have on disk.
    ///   - position: the place behind the last batch before this start.
    ///   - released: the last batch that the ledger has on disk.
    init(
        _ directory: LogDirectory, limits: Limits, segments: [LogSegment], copies: [Copy] = [],
        after position: LogPosition, released: UInt64
    ) throws(StoreError) {
        self.limits = limits
        self.directory = directory
        let all = segments + copies.map(\.segment)
        state = Mutex(
            State(
                filled: copies, free: segments,
                position: position, released: released, lastID: all.map(\.id).max() ?? 0,
                length: all.reduce(0) { $0 + $1.length }))
        if segments.isEmpty { try make(length: Self.shortLength) }
    }

    var position: LogPosition { state.withLock { $0.position } }

    var usage: LogUsage {
        state.withLock { state in
            let used = state.filled.reduce(0) { $0 + $1.end }
            return LogUsage(used: used, length: state.length, limit: limits.length)
        }
    }

    // MARK: Writing

    func append(
        _ buffer: RowBuffer, lastSequence: SequenceNumber, at time: WallTime
    ) throws(StoreError) -> LogPosition {
        let length = BatchHeader.blocksLength(rows: buffer.byteCount)
        // A batch that fits only into an empty log would wait for all of it each time.
        guard BatchLimits.batchesInLog * (LogSegment.headerLength + length) <= limits.length else {
            throw .tooLong(buffer.byteCount, limit: limits.length / BatchLimits.batchesInLog)
        }
        let (segment, offset, position, released) = try place(for: length)
        let header = BatchHeader(
            number: position.number + 1, previousChecksum: position.checksum, rowsLength: buffer.byteCount,
            released: released, lastSequence: lastSequence, writtenAt: time)
        let checksum = header.write(to: buffer)
        let padded = buffer.padToAlignment()
        do throws(StoreError) {
            if offset == LogSegment.headerLength { try segment.begin(with: header.number) }
            try segment.write(UnsafeRawBufferPointer(rebasing: buffer.memory[..<padded]), at: offset)
        } catch {
            state.withLock { $0.filled[$0.filled.count - 1].last = position.number }
            throw error
        }
        let end = LogPosition(number: header.number, checksum: checksum, segment: segment.id, end: offset + length)
        state.withLock { state in
            state.position = end
            state.filled[state.filled.count - 1].last = end.number
            state.filled[state.filled.count - 1].end = end.end
        }
        return end
    }

    func hasRoom(for rows: Int) -> Bool {
        let length = BatchHeader.blocksLength(rows: rows)
        return state.withLock { state in
            if let current = state.filled.last, state.takes(length, in: current) { return true }
            return state.free.contains {
                !state.markedForErasure.contains($0.id) && $0.length - LogSegment.headerLength >= length
            }
        }
    }

    private func place(
        for length: Int
    ) throws(StoreError) -> (LogSegment, offset: Int, after: LogPosition, released: UInt64) {
        while true {
            let place = state.withLock { state -> (LogSegment, Int, LogPosition, UInt64)? in
                let isRoomLeft = state.filled.last.map { state.takes(length, in: $0) }
                if isRoomLeft != true {
                    // Takes the largest: the short ones serve the first start only.
                    let free = state.free.indices.filter { !state.markedForErasure.contains(state.free[$0].id) }
                        .max { state.free[$0].length < state.free[$1].length }
                    guard let free, state.free[free].length - LogSegment.headerLength >= length else { return nil }
                    let segment = state.free.remove(at: free)
                    state.filled.append(
                        Filled(segment: segment, last: state.position.number, end: LogSegment.headerLength))
                }
                guard let current = state.filled.last else { return nil }
                // Sets the number before the write, so that release() cannot free the segment during the write.
                state.filled[state.filled.count - 1].last = state.position.number + 1
                return (current.segment, current.end, state.position, state.released)
            }
            if let place { return place }
            guard try addSegment(for: length) else {
                throw StoreError(
                    .logFull, message: "the log is full: the ledger has not applied it yet",
                    context: directory.path)
            }
        }
    }

    // MARK: Segments

    /// Frees the segments whose batches the ledger has on disk.
    func release(through number: UInt64) {
        let copies = state.withLock { state -> [LogSegment] in
            state.released = max(state.released, number)
            var copies: [LogSegment] = []
            // The last segment may go, too: the next batch begins it anew.
            while let oldest = state.filled.first, oldest.last <= number {
                state.filled.removeFirst()
                if oldest.segment.isCopy {
                    state.markedForErasure.remove(oldest.segment.id)
                    state.length -= oldest.segment.length
                    copies.append(oldest.segment)
                } else {
                    state.free.append(oldest.segment)
                }
            }
            return copies
        }
        for copy in copies { copy.remove() }
    }

    /// Whether the writer will soon need a segment and too few are free.
    var isShort: Bool { state.withLock { $0.free.count < Self.minimumFreeSegments } }

    /// Makes another segment, if few are free and the limit allows it.
    @discardableResult
    func addSegment() throws(StoreError) -> Bool {
        let isAllowed = state.withLock { state in
            state.free.count < Self.minimumFreeSegments && state.length + limits.segmentLength <= limits.length
        }
        if isAllowed { try make(length: limits.segmentLength) }
        return isAllowed
    }

    /// Makes a segment with room for a batch of so many bytes. Removes smaller free ones if that gives the room.
    private func addSegment(for batch: Int) throws(StoreError) -> Bool {
        let wanted = max(limits.segmentLength, LogSegment.headerLength + batch)
        let removed = state.withLock { state -> [LogSegment]? in
            let free = state.free.reduce(0) { $0 + $1.length }
            guard state.length - free + wanted <= limits.length else { return nil }
            var removed: [LogSegment] = []
            while state.length + wanted > limits.length, let small = state.free.popLast() {
                state.markedForErasure.remove(small.id)
                state.length -= small.length
                removed.append(small)
            }
            return removed
        }
        guard let removed else { return false }
        for segment in removed { segment.remove() }
        do throws(StoreError) {
            try make(length: wanted)
        } catch let error where error.kind == .noSpace {
            // A full file system may still have room for a short segment.
            try make(length: max(Self.shortLength, LogSegment.headerLength + batch))
        }
        return true
    }

    /// The length of the first segment, in bytes: short, because every first start fills it with zeros.
    private static let shortLength = 1 << 20

    private static let minimumFreeSegments = 2

    private func make(length: Int) throws(StoreError) {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        let segment = try directory.create(id, length: length)
        state.withLock { state in
            state.free.append(segment)
            state.length += length
        }
    }

    /// The number of a segment; `nil`: there is none.
    var anySegment: UInt32? { state.withLock { ($0.filled.last?.segment ?? $0.free.last)?.id } }

    func hasSegment(_ id: UInt32) -> Bool {
        state.withLock { state in (state.filled.map(\.segment) + state.free).contains { $0.id == id } }
    }

    func close() throws(StoreError) {
        let (segment, number) = state.withLock { state in
            let all = state.filled.map(\.segment) + state.free
            return (all.first { $0.id == state.position.segment }, state.position.number)
        }
        try segment?.close(with: number)
    }

    // MARK: Erasing

    func markForErasure() {
        state.withLock { state in state.markedForErasure = Set((state.filled.map(\.segment) + state.free).map(\.id)) }
    }

    /// Overwrites one free segment that holds data to be erased.
    func overwriteNextPart() throws(StoreError) -> Bool {
        let taken = state.withLock { state -> LogSegment? in
            guard let place = state.free.firstIndex(where: { state.markedForErasure.contains($0.id) }) else {
                return nil
            }
            return state.free.remove(at: place)
        }
        guard let segment = taken else { return false }
        defer { state.withLock { $0.free.append(segment) } }
        try segment.fillWithZeros()
        try segment.close(with: 0)
        state.withLock { _ = $0.markedForErasure.remove(segment.id) }
        return true
    }

    var isClean: Bool { state.withLock { $0.markedForErasure.isEmpty } }

    // MARK: Reading back

    func read(_ position: LogPosition, rows length: Int, into buffer: RowBuffer) throws(StoreError) {
        let segment = state.withLock { state in
            state.filled.first { $0.segment.id == position.segment }?.segment
        }
        let blocks = BatchHeader.blocksLength(rows: length)
        guard let segment,
            buffer.fill(
                rows: length, blocks: blocks, { (try? segment.read(into: $0, at: position.end - blocks)) ?? 0 }),
            BatchHeader.verifiedChecksum(buffer.batch) == position.checksum
        else {
            throw StoreError(
                .failed, message: "batch \(position.number) of the log cannot be read back", context: directory.path)
        }
    }
}

extension RowBuffer {
    /// Header and rows, as the log stores them.
    fileprivate var batch: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<end]) }
}
