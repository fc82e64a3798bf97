/// The places of an object's keys by their hashes: open addressing with linear probing, at least half empty.
///
/// An object with more than ``membersWithout`` members has a table after its last member on the tape. The scan makes it
/// to find repeated keys, and look-ups use it. A look-up takes the same time for any number of members.
///
/// The hash of keys is fixed, and a client may send keys that collide. If filling a table takes too many steps, the
/// object's keys are hashed again with the seeds of the process, which are secret.
///
/// The table points into the tape, and is valid while the tape exists and does not grow.
@usableFromInline
struct JSONKeyTable {
    /// The largest number of members of an object without a table; their keys are compared one by one.
    @usableFromInline static var membersWithout: Int { 8 }

    /// Returns the number of slots of the table for this many members; a power of two.
    @inlinable
    static func slots(for members: Int) -> Int { 1 &<< (Int.bitWidth &- (2 &* members &- 1).leadingZeroBitCount) }

    /// Returns the number of entries of the tape that the table for this many members takes.
    @inlinable
    static func length(for members: Int) -> Int { members > membersWithout ? slots(for: members) &>> 2 : 0 }

    /// The distance on the tape from the object to a key, in 32 bits for each slot; 0 in an empty slot.
    @usableFromInline let start: UnsafeMutableRawPointer
    @usableFromInline let mask: Int

    /// Makes the table of an object on a finished tape; `nil` for an object without one.
    @inlinable
    init?(of object: UnsafePointer<JSONEntry>) {
        let count = object.pointee.count
        guard count > Self.membersWithout else { return nil }
        self.init(at: object + (Int(object.pointee.link) &- (Self.slots(for: count) &>> 2)), members: count)
    }

    /// Makes the table that begins at an entry.
    @inlinable
    init(at entry: UnsafePointer<JSONEntry>, members: Int) {
        self.init(at: entry, mask: Self.slots(for: members) &- 1)
    }

    /// Makes the table that begins at an entry.
    ///
    /// - Parameter mask: the number of its slots minus one.
    @inlinable
    init(at entry: UnsafePointer<JSONEntry>, mask: Int) {
        start = UnsafeMutableRawPointer(mutating: entry)
        self.mask = mask
    }

    /// Returns the slot in which a search begins.
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
