import PushModel

/// Finds batches in segments, each by the one before it: numbers go up by one, and each names the checksum of the last.
/// What was in a segment before it was used again has lower numbers, and what a power cut tore has another checksum.
struct LogChain: BatchSource, ~Copyable {
    /// A batch that was found.
    struct Batch {
        var header: BatchHeader
        /// The place behind it.
        var position: LogPosition
        /// All of it as it lies on the disk. It is in the chain's memory, until the next one is looked for.
        var blocks: UnsafeRawBufferPointer
        /// The rows.
        var rows: UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(
                rebasing: blocks[BatchHeader.length..<BatchHeader.length + header.rowsLength])
        }
    }

    /// Where a batch begins.
    private struct Place {
        var segment: Int
        var offset: Int
    }

    let segments: [LogSegment]
    /// The number of the first batch of each segment; 0 for one without.
    private var firsts: [UInt64] = []
    /// Where every batch begins, by its number: made when it is first needed, where there are copies.
    private var index: [UInt64: [Place]]?
    /// What was read last: a part of a segment.
    private var memory = AlignedMemory(byteCount: 64 << 10)
    private var inMemory: (place: Place, count: Int)?
    /// How much is read at a time: of each segment its first block, then more with each read, since what follows is wanted
    /// next.
    private var readAhead = RowBuffer.alignment

    /// - Throws: that the disk cannot read one of them; so does everything below.
    init(_ segments: [LogSegment]) throws(StoreError) {
        self.segments = segments
        for segment in segments.indices {
            let place = Place(segment: segment, offset: LogSegment.headerLength)
            firsts.append(try batch(at: place)?.header.number ?? 0)
        }
        readAhead = Self.shortRead
    }

    /// The batch that follows one; `nil` when there is none.
    ///
    /// It may be there more than once: a write that failed for want of room can leave all of it behind, and the next try may
    /// go elsewhere. The rows are the same, and what came later follows the one that was acknowledged.
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

    /// Where the batch after a position may be: behind it, at the start of a segment, or where there are copies, anywhere.
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

    /// The number of a batch above this one that is whole, or of which a segment's header says that it or the one before it
    /// was on the disk; `nil` when there is none. To be asked where the chain ends: then it is cut off from what is before it.
    ///
    /// A torn batch is the last one that was written, because one is written at a time. So what is whole and follows it
    /// within the length of a batch, or begins a segment, was there before the torn one could be. A segment is looked
    /// through as well if its first batch cannot be read, or is from before its last use: that was not overwritten. Of one
    /// that was finished with before the chain's end only the beginning is: after a clean stop there is nothing to find,
    /// unless the disk lost the note that it was begun again.
    mutating func batchBeyond(_ position: LogPosition) throws(StoreError) -> UInt64? {
        // A daemon may have written since.
        inMemory = nil
        var found: BatchHeader?
        for segment in segments.indices {
            let start = Place(segment: segment, offset: LogSegment.headerLength)
            let begunWith = segments[segment].begunWith
            if begunWith > position.number, begunWith > firsts[segment] {
                try look(for: &found, from: start, after: position.number)
            } else if let last = segments[segment].closedWith, last <= position.number {
                try look(for: &found, from: start, after: position.number, within: Self.shortRead)
            } else if segments[segment].id == position.segment {
                try look(for: &found, from: Place(segment: segment, offset: position.end), after: position.number)
            } else if firsts[segment] == 0 {
                try look(for: &found, from: start, after: position.number)
            } else if firsts[segment] > position.number {
                try look(for: &found, at: start, after: position.number)
            }
        }
        if let found { return found.number }
        // A segment is begun when the batch before its first one is on the disk. The first one itself may not have come.
        // The last one of a segment that was closed had come.
        let begun = segments.map(\.begunWith).filter { $0 > position.number + 1 }
        return (begun + segments.compactMap(\.closedWith).filter { $0 > position.number }).min()
    }

    /// Looks for the batch with the lowest number above `number` from a place on, as far as a batch may reach, or not as
    /// far.
    private mutating func look(
        for found: inout BatchHeader?, from start: Place, after number: UInt64, within reach: Int = longestBatch
    ) throws(StoreError) {
        readAhead = Self.shortRead
        let end = min(start.offset + reach, segments[start.segment].length)
        for offset in stride(from: start.offset, to: end, by: RowBuffer.alignment) {
            try look(for: &found, at: Place(segment: start.segment, offset: offset), after: number)
        }
    }

    private mutating func look(
        for found: inout BatchHeader?, at place: Place, after number: UInt64
    ) throws(StoreError) {
        guard let header = try header(at: place), header.number > number, header.number < found?.number ?? .max,
            try batch(at: place) != nil
        else { return }
        found = header
    }

    /// What is wrong where the chain ends; `nil`: nothing comes later.
    mutating func damage(behind position: LogPosition) throws(StoreError) -> String? {
        guard let beyond = try batchBeyond(position) else { return nil }
        let last = position.number
        return beyond == last + 1
            ? "batch \(beyond) was on the disk, and cannot be read or does not follow batch \(last)"
            : "batch \(beyond) follows batch \(last), and the batches between them cannot be read"
    }

    /// The header of the batch with a number; `nil` when there is none.
    mutating func batch(_ number: UInt64) throws(StoreError) -> BatchHeader? {
        for place in try everyBatch()[number] ?? [] {
            if let batch = try batch(at: place) { return batch.header }
        }
        return nil
    }

    /// All batches from the one after `number` to `last`, in order.
    mutating func forEach(
        after number: UInt64, through last: UInt64, _ body: (Batch) throws(StoreError) -> Void
    ) throws(StoreError) {
        guard last > number else { return }
        let places = try everyBatch()
        for number in number + 1...last {
            guard let place = places[number]?.first, let batch = try batch(at: place) else {
                throw StoreError(.corrupt, message: "batch \(number) of the log is gone", context: "log")
            }
            try body(batch)
        }
    }

    /// No batch takes more, in bytes.
    static let longestBatch = 128 << 20

    /// How much is read first, and how far a segment that was finished with is looked through, in bytes: it takes hardly
    /// longer than a block.
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
                // What was here before the segment was used again has lower numbers.
                guard last.map({ batch.header.number == $0 + 1 }) ?? true else { break }
                places[batch.header.number, default: []].append(Place(segment: segment, offset: offset))
                last = batch.header.number
                offset = batch.position.end
            }
        }
        index = places
        return places
    }

    /// What looks like a batch's header at a place.
    private mutating func header(at place: Place) throws(StoreError) -> BatchHeader? {
        let segment = segments[place.segment]
        guard place.offset >= LogSegment.headerLength, place.offset < segment.length,
            let block = try blocks(RowBuffer.alignment, at: place),
            let header = BatchHeader(block),
            header.blocksLength <= min(Self.longestBatch, segment.length - place.offset)
        else { return nil }
        return header
    }

    /// The batch that begins at a place, if a whole one does.
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

    /// So many bytes of a segment, in the chain's memory until more are read; `nil` where the segment ends before.
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
            // What the disk cannot read may lie in what nobody asked for.
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
