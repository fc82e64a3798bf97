/// Where the keys of an object are, by their hashes: open addressing with linear probing, half empty at least.
///
/// An object with more than a few members has one behind its last member on the tape: the scan makes it to find keys
/// that come twice, and look-ups use it. So each takes the same time, however many members there are.
///
/// The hash of keys is fixed, and a client may send keys that collide. Where a table takes too many steps to fill, the
/// object's keys are hashed again with the seeds of the process, which nobody outside knows.
///
/// It is a pointer into the tape, to be used while the tape is there and does not grow.
@usableFromInline
struct JSONKeyTable {
    /// Objects with no more members than this have no table: their keys are compared one by one.
    @usableFromInline static var membersWithout: Int { 8 }

    /// How many slots the table of an object with so many members has; a power of two.
    @inlinable
    static func slots(for members: Int) -> Int { 1 &<< (Int.bitWidth &- (2 &* members &- 1).leadingZeroBitCount) }

    /// How many entries of the tape the table of an object with so many members takes.
    @inlinable
    static func length(for members: Int) -> Int { members > membersWithout ? slots(for: members) &>> 2 : 0 }

    /// For each slot how much further on the tape than its object a key is, in 32 bits; 0 where the slot is empty.
    @usableFromInline let start: UnsafeMutableRawPointer
    @usableFromInline let mask: Int

    /// The table of an object on a finished tape; `nil` for an object without one.
    @inlinable
    init?(of object: UnsafePointer<JSONEntry>) {
        let count = object.pointee.count
        guard count > Self.membersWithout else { return nil }
        self.init(at: object + (Int(object.pointee.link) &- (Self.slots(for: count) &>> 2)), members: count)
    }

    /// The table that begins at an entry.
    @inlinable
    init(at entry: UnsafePointer<JSONEntry>, members: Int) {
        self.init(at: entry, mask: Self.slots(for: members) &- 1)
    }

    /// The table that begins at an entry.
    ///
    /// - Parameter mask: its slots less one.
    @inlinable
    init(at entry: UnsafePointer<JSONEntry>, mask: Int) {
        start = UnsafeMutableRawPointer(mutating: entry)
        self.mask = mask
    }

    /// The slot in which a search begins.
    @inlinable
    func home(_ hash: UInt32) -> Int { Int(hash) & mask }

    @inlinable
    func next(_ slot: Int) -> Int { (slot &+ 1) & mask }

    @inlinable
    subscript(slot: Int) -> Int {
        get { Int(start.load(fromByteOffset: slot &* 4, as: UInt32.self)) }
        nonmutating set {
            start.storeBytes(of: UInt32(truncatingIfNeeded: newValue), toByteOffset: slot &* 4, as: UInt32.self)
        }
    }

    /// Makes all slots empty.
    func clear() { _ = start.initializeMemory(as: UInt32.self, repeating: 0, count: mask + 1) }
}
