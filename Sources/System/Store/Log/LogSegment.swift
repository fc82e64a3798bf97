import CChecksum
import CLinux
import Glibc
import LinuxSystem
import PushModel

/// One file of the log: a header block, then blocks for batches. The whole file is written once before its first batch,
/// so that the write of a batch changes only the batch's own blocks.
///
/// A write is on the disk when it returns. Reads and writes are of whole blocks, from memory at a multiple of
/// `RowBuffer.alignment`. All calls are allowed on any thread; the log orders the writes.
final class LogSegment: Sendable {
    /// The header's length, in bytes: one block.
    static let headerLength = RowBuffer.alignment
    /// The valid lengths of a segment, in bytes, and so the valid offsets in one.
    static let lengths: ClosedRange<Int64> = 0...1 << 40
    /// The highest number of a segment; the number after it fits in a `UInt32`, too.
    private static let highestID = UInt32(Int32.max)
    /// The first bytes of every segment.
    static let magic: [UInt8] = Array("PUSHLOG1".utf8)

    /// Its number, which is part of its file name.
    let id: UInt32
    /// Its length with the header, in bytes.
    let length: Int
    /// Whether it has copies of batches that a start found where it could not trust them. Such a segment is used once.
    let isCopy: Bool
    /// The number of the batch that was to be its first when it was last begun, as its header said when it was opened;
    /// 0 if the header has none.
    let begunWith: UInt64
    /// The number above which it had no batch when it was last closed, as its header said when it was opened: the log's
    /// last batch at a stop, 0 when it was made or overwritten. `nil` if the header has none, as in a segment that was
    /// in use when the daemon ended.
    let closedWith: UInt64?
    let path: String
    private let state: UUID128
    let file: FileDescriptor

    private init(
        id: UInt32, length: Int, isCopy: Bool, begunWith: UInt64 = 0, closedWith: UInt64? = nil, path: String,
        state: UUID128, file: consuming FileDescriptor
    ) {
        self.id = id
        self.length = length
        self.isCopy = isCopy
        self.begunWith = begunWith
        self.closedWith = closedWith
        self.path = path
        self.state = state
        self.file = file
    }

    static func path(_ id: UInt32, in directory: String) -> String {
        let digits = String(id)
        return "\(directory)/segment-\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)"
    }

    /// Returns the number in the name of a segment; `nil` for another file's name.
    static func id(named name: String) -> UInt32? {
        guard name.hasPrefix("segment-") else { return nil }
        return UInt32(name.dropFirst("segment-".count)).flatMap { $0 <= highestID ? $0 : nil }
    }

    // MARK: Making and opening

    /// Makes a segment. It writes the header to the disk last; a start ignores a segment without one.
    ///
    /// - Parameters:
    ///   - id: its number; no file of that name may exist.
    ///   - length: its length with the header, a multiple of the alignment.
    ///   - isCopy: whether it is for copies of batches.
    ///   - directory: where the file goes; the caller syncs the directory.
    ///   - state: the id of the state directory.
    static func create(
        _ id: UInt32, length: Int, isCopy: Bool = false, in directory: String, state: UUID128
    ) throws(StoreError) -> LogSegment {
        let path = path(id, in: directory)
        do throws(StoreError) {
            let file = try open(path, create: true)
            guard CLinux_allocate(file.rawValue, Int64(length)) == 0 || errno == EOPNOTSUPP else {
                throw StoreError.system("fallocate", path, errno: errno)
            }
            let segment = LogSegment(id: id, length: length, isCopy: isCopy, path: path, state: state, file: file)
            try segment.fillWithZeros()
            // A copy gets its note after its batches are written.
            try segment.writeHeader(isCopy ? nil : (.closed, 0))
            return segment
        } catch {
            unlink(path)
            throw error
        }
    }

    /// Opens a segment; `nil` if the file was never finished.
    ///
    /// - Throws: `corrupt` for a segment of another state directory or another format.
    static func open(
        _ id: UInt32, in directory: String, state: UUID128, forReading: Bool = false
    ) throws(StoreError) -> LogSegment? {
        let path = path(id, in: directory)
        let file = forReading ? try openForReading(path) : try open(path, create: false)
        let block = AlignedMemory(byteCount: headerLength)
        let isRead = try read(file, path, block.bytes, at: 0) == headerLength
        guard isRead, let header = SegmentHeader(UnsafeRawBufferPointer(block.bytes)) else {
            if try isUnfinished(file, path, block.bytes) { return nil }
            throw StoreError(
                .corrupt, message: "the header of segment \(id) of the log is damaged", context: path)
        }
        guard header.version == SegmentHeader.version else {
            throw StoreError(
                .newerSchema, message: "this segment of the log has format \(header.version)", context: path)
        }
        guard header.state == state, header.id == id else {
            throw StoreError(.corrupt, message: "segment \(id) belongs to another log", context: path)
        }
        guard lengths.contains(Int64(header.length)), header.length > headerLength,
            header.length % RowBuffer.alignment == 0
        else {
            throw StoreError(.corrupt, message: "segment \(id) has the length \(header.length)", context: path)
        }
        let bytes = UnsafeRawBufferPointer(block.bytes)
        return LogSegment(
            id: id, length: header.length, isCopy: header.isCopy, begunWith: SegmentNote.first.read(bytes) ?? 0,
            closedWith: SegmentNote.closed.read(bytes), path: path, state: state, file: file)
    }

    /// Returns whether a segment was never finished: the header is written last, before any batch, so the whole file is
    /// zeros until then.
    private static func isUnfinished(
        _ file: borrowing FileDescriptor, _ path: String, _ block: UnsafeMutableRawBufferPointer
    ) throws(StoreError) -> Bool {
        var facts = stat()
        guard fstat(file.rawValue, &facts) == 0 else { throw StoreError.system("fstat", path, errno: errno) }
        let length = Int(facts.st_size)
        for offset in stride(from: 0, to: length, by: headerLength) {
            let wanted = min(headerLength, length - offset)
            guard try read(file, path, block, at: offset) == wanted, block[..<wanted].allSatisfy({ $0 == 0 }) else {
                return false
            }
        }
        return true
    }

    private static func openForReading(_ path: String) throws(StoreError) -> FileDescriptor {
        guard let file = FileDescriptor(Glibc.open(path, O_RDONLY | O_CLOEXEC)) else {
            throw StoreError.system("open", path, errno: errno)
        }
        return file
    }

    private static func open(_ path: String, create: Bool) throws(StoreError) -> FileDescriptor {
        // Some file systems refuse O_DIRECT with EINVAL.
        for isDirect in [true, false] {
            if let file = FileDescriptor(CLinux_open_for_writing(path, create, true, isDirect)) { return file }
            if isDirect, errno == EINVAL {
                // open() may have created the file before it refused O_DIRECT.
                if create { unlink(path) }
            } else {
                break
            }
        }
        throw StoreError.system("open", path, errno: errno)
    }

    /// Notes in the header which batch the segment begins with, before that batch is written: a later start that finds
    /// an older batch there knows that the disk lost the write. The note is on the disk when this returns.
    ///
    /// - Parameter number: the number of the batch.
    func begin(with number: UInt64) throws(StoreError) { try writeHeader((.first, number)) }

    /// Notes in the header that the segment has no batch above this one until it is begun again, which saves a start
    /// the search. The note is on the disk when this returns.
    ///
    /// - Parameter number: the number of the log's last batch; 0 if the segment has none.
    func close(with number: UInt64) throws(StoreError) { try writeHeader((.closed, number)) }

    private func writeHeader(_ note: (SegmentNote, number: UInt64)?) throws(StoreError) {
        let block = AlignedMemory(byteCount: Self.headerLength)
        SegmentHeader(id: id, length: length, isCopy: isCopy, state: state).write(to: block.bytes)
        if let (note, number) = note { note.write(number, to: block.bytes) }
        try write(UnsafeRawBufferPointer(block.bytes), at: 0)
    }

    /// Overwrites all blocks except the header; the zeros are on the disk when this returns.
    func fillWithZeros() throws(StoreError) {
        let zeros = AlignedMemory(byteCount: min(1 << 20, length - Self.headerLength))
        var offset = Self.headerLength
        while offset < length {
            let count = min(zeros.bytes.count, length - offset)
            try write(UnsafeRawBufferPointer(rebasing: zeros.bytes[..<count]), at: offset)
            offset += count
        }
    }

    /// Removes the file. No read or write may follow.
    func remove() { unlink(path) }

    // MARK: Blocks

    /// Writes blocks, which are on the disk when this returns.
    func write(_ blocks: UnsafeRawBufferPointer, at offset: Int) throws(StoreError) {
        var problem = file.writeAll(blocks, at: offset)
        // The kernel refuses a direct write whose block RLIMIT_FSIZE cuts: with EINVAL in place of EFBIG.
        if problem == EINVAL, UInt64(offset + blocks.count) > DiskSpace.fileLengthMax { problem = EFBIG }
        guard problem == 0 else { throw StoreError.logWrite(path, errno: problem) }
    }

    /// Reads blocks; fewer than fit into the buffer at the end of the segment.
    ///
    /// - Returns: how many bytes were read.
    /// - Throws: if the disk cannot read them. The batches do not end there: acknowledged ones may lie in those blocks.
    func read(into blocks: UnsafeMutableRawBufferPointer, at offset: Int) throws(StoreError) -> Int {
        try Self.read(file, path, blocks, at: offset)
    }

    private static func read(
        _ file: borrowing FileDescriptor, _ path: String, _ blocks: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(StoreError) -> Int {
        var taken = 0
        while taken < blocks.count {
            let number = file.rawValue
            let count = retryingInterrupts {
                pread(number, blocks.baseAddress.map { $0 + taken }, blocks.count - taken, off_t(offset + taken))
            }
            guard count >= 0 else { throw StoreError.logRead(path, errno: errno) }
            guard count > 0 else { break }
            taken += count
            // The file ends within a block, and a direct read needs an aligned offset.
            guard taken % RowBuffer.alignment == 0 else { break }
        }
        return taken
    }
}

/// The header in the first block of a segment.
private struct SegmentHeader {
    static let version: UInt32 = 1
    /// The bytes of magic, version, number, state directory, length and the flag for a copy; their checksum follows.
    private static let checkedLength = 44

    var version = Self.version
    var id: UInt32
    var length: Int
    var isCopy: Bool
    var state: UUID128

    init(id: UInt32, length: Int, isCopy: Bool, state: UUID128) {
        self.id = id
        self.length = length
        self.isCopy = isCopy
        self.state = state
    }

    init?(_ bytes: UnsafeRawBufferPointer) {
        func load<Value: FixedWidthInteger>(_ offset: Int, _ type: Value.Type) -> Value {
            Value(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: type))
        }
        guard bytes.prefix(8).elementsEqual(LogSegment.magic),
            load(Self.checkedLength, UInt32.self) == CChecksum_crc32c(0, bytes.baseAddress, Self.checkedLength)
        else { return nil }
        version = load(8, UInt32.self)
        id = load(12, UInt32.self)
        state = UUID128(high: load(16, UInt64.self), low: load(24, UInt64.self))
        length = Int(truncatingIfNeeded: load(32, UInt64.self))
        isCopy = load(40, UInt32.self) != 0
    }

    func write(to bytes: UnsafeMutableRawBufferPointer) {
        bytes.copyBytes(from: LogSegment.magic)
        bytes.storeBytes(of: version.littleEndian, toByteOffset: 8, as: UInt32.self)
        bytes.storeBytes(of: id.littleEndian, toByteOffset: 12, as: UInt32.self)
        bytes.storeBytes(of: state.high.littleEndian, toByteOffset: 16, as: UInt64.self)
        bytes.storeBytes(of: state.low.littleEndian, toByteOffset: 24, as: UInt64.self)
        bytes.storeBytes(of: UInt64(length).littleEndian, toByteOffset: 32, as: UInt64.self)
        bytes.storeBytes(of: UInt32(isCopy ? 1 : 0).littleEndian, toByteOffset: 40, as: UInt32.self)
        let checksum = CChecksum_crc32c(0, bytes.baseAddress, Self.checkedLength)
        bytes.storeBytes(of: checksum.littleEndian, toByteOffset: Self.checkedLength, as: UInt32.self)
    }
}

/// A number in the first block of a segment, beside the header. It changes, so it has a sector of its own: a power cut
/// may tear the note, and never the header.
private struct SegmentNote {
    /// The number of the segment's first batch, noted before that batch is written.
    static let first = SegmentNote(offset: 512, name: "FIRST")
    /// The number above which the segment has no batch.
    static let closed = SegmentNote(offset: 1024, name: "CLOSED")

    /// The bytes of magic and number; their checksum follows.
    private static let checkedLength = 16

    /// The offset in the block, a multiple of 512 bytes: no disk has smaller sectors.
    private let offset: Int
    private let magic: [UInt8]

    private init(offset: Int, name: String) {
        self.offset = offset
        magic = Array(name.utf8) + [UInt8](repeating: 0, count: 8 - name.utf8.count)
    }

    /// Returns the number; `nil` if there is none, or a torn one.
    func read(_ block: UnsafeRawBufferPointer) -> UInt64? {
        let bytes = UnsafeRawBufferPointer(rebasing: block[offset...])
        let checksum = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: Self.checkedLength, as: UInt32.self))
        guard bytes.prefix(8).elementsEqual(magic),
            checksum == CChecksum_crc32c(0, bytes.baseAddress, Self.checkedLength)
        else { return nil }
        return UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }

    func write(_ number: UInt64, to block: UnsafeMutableRawBufferPointer) {
        let bytes = UnsafeMutableRawBufferPointer(rebasing: block[offset...])
        bytes.copyBytes(from: magic)
        bytes.storeBytes(of: number.littleEndian, toByteOffset: 8, as: UInt64.self)
        let checksum = CChecksum_crc32c(0, bytes.baseAddress, Self.checkedLength)
        bytes.storeBytes(of: checksum.littleEndian, toByteOffset: Self.checkedLength, as: UInt32.self)
    }
}

/// Memory at a multiple of `RowBuffer.alignment`, filled with zeros and freed with the value.
struct AlignedMemory: ~Copyable {
    let bytes: UnsafeMutableRawBufferPointer

    init(byteCount: Int) {
        bytes = .allocate(byteCount: byteCount, alignment: RowBuffer.alignment)
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
    }

    deinit { bytes.deallocate() }
}

extension StoreError {
    /// Makes an error of a failed read of the log.
    static func logRead(_ path: String, errno number: Int32) -> StoreError {
        var error = StoreError.system("read", path, errno: number)
        error.kind = .failed
        error.message = "the log cannot be read (\(error.message)); nothing was changed, and the log is kept"
        return error
    }

    /// Makes an error of a failed write to the log. The content of the disk is unknown after it; only after `noSpace`
    /// may the same blocks be written again.
    static func logWrite(_ path: String, errno number: Int32) -> StoreError {
        var error = StoreError.system("write", path, errno: number)
        if error.kind != .noSpace { error.kind = .failed }
        return error
    }
}
