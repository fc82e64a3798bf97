import PushModel

/// Finds batches in segments, each by the one before it: numbers go up by one, and each batch has the checksum of the
/// previous one. Batches from an earlier use of a segment have lower numbers, and a batch torn by a power cut has a
/// wrong checksum.
struct LogChain: BatchSource, ~Copyable {
    /// A batch that was found.
    struct Batch {
        var header: BatchHeader
        /// The place behind it.
        var position: LogPosition
        /// The whole batch as on the disk, in the chain's memory; valid until the next search.
        var blocks: UnsafeRawBufferPointer
        /// The rows.
        var rows: UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(
                rebasing: blocks[BatchHeader.length..<BatchHeader.length + header.rowsLength])
        }
    }

    /// The place where a batch begins.
    private struct Place {
        var segment: Int
        var offset: Int
    }

    let segments: [LogSegment]
    /// The number of the first batch of each segment; 0 if it has none.
    private var firsts: [UInt64] = []
    /// The places of every batch, by its number; built at the first need.
    private var index: [UInt64: [Place]]?
    /// The part of a segment that was read last.
    private var memory = AlignedMemory(byteCount: 64 << 10)
    private var inMemory: (place: Place, count: Int)?
    /// The bytes of one read: one block for the first read of each segment, then more with each read, since the next
    /// batch is wanted next.
    private var readAhead = RowBuffer.alignment

    /// - Throws: if the disk cannot read a segment; the methods below throw the same.
    init(_ segments: [LogSegment]) throws(StoreError) {
        self.segments = segments
        for segment in segments.indices {
            let place = Place(segment: segment, offset: LogSegment.headerLength)
            firsts.append(try batch(at: place)?.header.number ?? 0)
        }
        readAhead = Self.shortRead
    }

    /// Returns the batch that follows a position; `nil` if there is none.
    ///
    /// The log may hold it more than once: a write that failed for lack of room can leave the whole batch behind, and
    /// the next try may go elsewhere. The rows are the same, but later batches follow only the acknowledged one, so
    /// that is the one returned.
    mutating func next(after position: LogPosition) throws(StoreError) -> Batch? {
        var found: [(place: Place, position: LogPosition)] = []
        for place in try places(after: position) {
            if let batch = try batch(at: place), batch.follows(position) { found.append((place, batch.position)) }
        }
        guard var chosen = found.first else { return nil }
        for candidate in found where found.count > 1 {
            if try isFollowed(candidate.position) {
                chosen = candidate
                break
            }
        }
        return try batch(at: chosen.place)
    }

    /// Returns the places where the batch after a position may begin: behind it, at the start of a segment, or with
    /// copies anywhere.
    private mutating func places(after position: LogPosition) throws(StoreError) -> [Place] {
        let number = position.number + 1
        var places: [Place] = []
        if let segment = segments.firstIndex(where: { $0.id == position.segment }) {
            places.append(Place(segment: segment, offset: position.end))
        }
        for segment in segments.indices where firsts[segment] == number {
            places.append(Place(segment: segment, offset: LogSegment.headerLength))
        }
        if segments.contains(where: \.isCopy) { places += try everyBatch()[number] ?? [] }
        return places
    }

    private mutating func isFollowed(_ position: LogPosition) throws(StoreError) -> Bool {
        for place in try places(after: position) {
            if let batch = try batch(at: place), batch.follows(position) { return true }
        }
        return false
    }

    /// Returns the lowest number above this position of a batch that is whole, or that a segment's header proves to
    /// have been on the disk; `nil` if there is none. At the end of the chain, a result means that batches are missing
    /// before it.
    ///
    /// A torn batch is the last one written, because the log writes one at a time. A whole batch that follows the
    /// chain's end within the length of a batch, or that begins a segment, was therefore on the disk before the torn
    /// one. The search also covers a segment whose first batch is unreadable or older than the segment's last use: the
    /// disk lost that write. Of a segment that was closed before the chain's end it reads only the beginning: after a
    /// clean stop there is nothing to find, unless the disk lost the note that the segment was begun again.
    mutating func batchBeyond(_ position: LogPosition) throws(StoreError) -> UInt64? {
        // Discards the cached blocks: a daemon may have written since.
        inMemory = nil
        var found: BatchHeader?
        for segment in segments.indices {
            let start = Place(segment: segment, offset: LogSegment.headerLength)
            let begunWith = segments[segment].begunWith
            if begunWith > position.number, begunWith > firsts[segment] {
                try search(for: &found, from: start, after: position.number)
            } else if let last = segments[segment].closedWith, last <= position.number {
                try search(for: &found, from: start, after: position.number, within: Self.shortRead)
            } else if segments[segment].id == position.segment {
                try search(for: &found, from: Place(segment: segment, offset: position.end), after: position.number)
            } else if firsts[segment] == 0 {
                try search(for: &found, from: start, after: position.number)
            } else if firsts[segment] > position.number {
                try search(for: &found, at: start, after: position.number)
            }
        }
        if let found { return found.number }
        // A segment is begun once the batch before its first one is on the disk; the first one itself may be missing. A
        // segment is closed once its last batch is on the disk.
        let begun = segments.map(\.begunWith).filter { $0 > position.number + 1 }
        return (begun + segments.compactMap(\.closedWith).filter { $0 > position.number }).min()
    }

    /// Looks for the batch with the lowest number above `number`, from a place on, within the length of the longest
    /// batch or within `reach`.
    private mutating func search(
        for found: inout BatchHeader?, from start: Place, after number: UInt64,
        within reach: Int = BatchLimits.longestReadable
    ) throws(StoreError) {
        readAhead = Self.shortRead
        let end = min(start.offset + reach, segments[start.segment].length)
        for offset in stride(from: start.offset, to: end, by: RowBuffer.alignment) {
            try search(for: &found, at: Place(segment: start.segment, offset: offset), after: number)
        }
    }

    private mutating func search(
        for found: inout BatchHeader?, at place: Place, after number: UInt64
    ) throws(StoreError) {
        guard let header = try header(at: place), header.number > number, header.number < found?.number ?? .max,
            try batch(at: place) != nil
        else { return }
        found = header
    }

    /// Returns whether the segment is missing that had the chain's last batch, and perhaps later ones.
    func lacksSegment(of position: LogPosition) -> Bool {
        position.segment != 0 && !segments.contains { $0.id == position.segment }
    }

    /// Returns what is wrong at the end of the chain; `nil` if nothing shows that a later batch exists or existed.
    mutating func damage(behind position: LogPosition) throws(StoreError) -> String? {
        guard let beyond = try batchBeyond(position) else {
            guard lacksSegment(of: position) else { return nil }
            return "segment \(position.segment) is missing: the batches after batch \(position.number) are lost"
        }
        let last = position.number
        return beyond == last + 1
            ? "batch \(beyond) was on the disk, and cannot be read or does not follow batch \(last)"
            : "batch \(beyond) follows batch \(last), and the batches between them cannot be read"
    }

    /// Returns the header of the batch with a number; `nil` if there is none.
    mutating func batch(_ number: UInt64) throws(StoreError) -> BatchHeader? {
        for place in try everyBatch()[number] ?? [] {
            if let batch = try batch(at: place) { return batch.header }
        }
        return nil
    }

    /// Passes all batches from the one after `number` to `last` to `body`, in order.
    mutating func forEach(
        after number: UInt64, through last: UInt64, _ body: (Batch) throws(StoreError) -> Void
    ) throws(StoreError) {
        guard last > number else { return }
        let places = try everyBatch()
        for number in number + 1...last {
            guard let place = places[number]?.first, let batch = try batch(at: place) else {
                throw StoreError(.corrupt, message: "batch \(number) of the log is missing", context: "log")
            }
            try body(batch)
        }
    }

    /// The length of a first read, and of the search in a closed segment, in bytes: it takes hardly longer than one
    /// block.
    private static let shortRead = 64 << 10
    private static let longestRead = 1 << 20

    // MARK: Reading

    private mutating func everyBatch() throws(StoreError) -> [UInt64: [Place]] {
        if let index { return index }
        var places: [UInt64: [Place]] = [:]
        for segment in segments.indices {
            var offset = LogSegment.headerLength
            var last: UInt64?
            while let batch = try batch(at: Place(segment: segment, offset: offset)) {
                // Batches from before the segment was used again have lower numbers.
                guard last.map({ batch.header.number == $0 + 1 }) ?? true else { break }
                places[batch.header.number, default: []].append(Place(segment: segment, offset: offset))
                last = batch.header.number
                offset = batch.position.end
            }
        }
        index = places
        return places
    }

    /// Returns the header of a batch at a place, not verified by its checksum.
    private mutating func header(at place: Place) throws(StoreError) -> BatchHeader? {
        let segment = segments[place.segment]
        guard place.offset >= LogSegment.headerLength, place.offset < segment.length,
            let block = try blocks(RowBuffer.alignment, at: place),
            let header = BatchHeader(block),
            header.blocksLength <= min(BatchLimits.longestReadable, segment.length - place.offset)
        else { return nil }
        return header
    }

    /// Returns the whole batch that begins at a place; `nil` if there is none.
    private mutating func batch(at place: Place) throws(StoreError) -> Batch? {
        guard let header = try header(at: place),
            let blocks = try blocks(header.blocksLength, at: place),
            let checksum = BatchHeader.verifiedChecksum(
                UnsafeRawBufferPointer(rebasing: blocks[..<(BatchHeader.length + header.rowsLength)]))
        else { return nil }
        let position = LogPosition(
            number: header.number, checksum: checksum, segment: segments[place.segment].id,
            end: place.offset + blocks.count)
        return Batch(header: header, position: position, blocks: blocks)
    }

    /// Reads so many bytes of a segment into the chain's memory, valid until the next read; `nil` if the segment ends
    /// before.
    private mutating func blocks(_ count: Int, at place: Place) throws(StoreError) -> UnsafeRawBufferPointer? {
        if let inMemory, inMemory.place.segment == place.segment {
            let start = place.offset - inMemory.place.offset
            if start >= 0, start + count <= inMemory.count {
                return UnsafeRawBufferPointer(rebasing: memory.bytes[start..<start + count])
            }
        }
        let segment = segments[place.segment]
        let wanted = max(count, min(readAhead, segment.length - place.offset))
        if memory.bytes.count < wanted { memory = AlignedMemory(byteCount: wanted) }
        inMemory = nil
        let taken: Int
        do throws(StoreError) {
            taken = try segment.read(
                into: UnsafeMutableRawBufferPointer(rebasing: memory.bytes[..<wanted]), at: place.offset)
        } catch {
            // The unreadable block may be in the part that was read ahead.
            guard wanted > count else { throw error }
            taken = try segment.read(
                into: UnsafeMutableRawBufferPointer(rebasing: memory.bytes[..<count]), at: place.offset)
        }
        inMemory = (place, taken)
        if readAhead >= Self.shortRead { readAhead = min(2 * readAhead, Self.longestRead) }
        return taken < count ? nil : UnsafeRawBufferPointer(rebasing: memory.bytes[..<count])
    }
}

extension LogChain.Batch {
    fileprivate func follows(_ position: LogPosition) -> Bool {
        header.number == position.number + 1 && header.previousChecksum == position.checksum
    }
}
