/// An object for many look-ups that mostly fail: a missing member costs a few instructions.
///
/// A view like ``JSONView``, and valid for as long.
public struct JSONObject: Sendable {
    /// The object.
    public let view: JSONView
    /// The distance on the tape to its table of keys; 0 if there is none, or if the keys are hashed with other seeds.
    @usableFromInline let tableDistance: Int
    /// The mask of the table.
    @usableFromInline let mask: Int

    /// - Parameter view: the object; any other value has no members.
    public init(_ view: JSONView) {
        self.view = view
        let hasTable = view.isObject && !view.entry.pointee.isFlagged && view.count > JSONKeyTable.membersWithout
        let slots = JSONKeyTable.slots(for: view.count)
        tableDistance = hasTable ? Int(view.entry.pointee.link) - slots >> 2 : 0
        mask = slots - 1
    }

    @inlinable
    @inline(__always)
    var table: JSONKeyTable? {
        tableDistance == 0 ? nil : JSONKeyTable(at: view.entry + tableDistance, mask: mask)
    }

    /// The member of this name, or `nil`.
    @inlinable
    @inline(__always)
    public func member(_ name: StaticString) -> JSONView? {
        let bytes = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        let hash = UInt32(truncatingIfNeeded: WordHash.keys(bytes))
        if let table, table[table.home(hash)] == 0 { return nil }
        return view.member(bytes, hash: hash)
    }

    /// Whether a member of this name may exist: `false` is certain, `true` can be a hash collision.
    @inlinable
    @inline(__always)
    public func mayHaveMember(_ name: JSONKeyHash) -> Bool {
        guard let table else { return view.mayHaveMember(name) }
        var slot = table.home(name.value)
        while table[slot] != 0 {
            if view.entry[table[slot]].link == name.value { return true }
            slot = table.next(slot)
        }
        return false
    }

    /// The member of this name, or `nil`.
    public subscript(name: String) -> JSONView? { view[name] }
}

extension JSONView {
    /// Whether a member of this name may exist in an object without a table, or with other seeds.
    @usableFromInline
    func mayHaveMember(_ name: JSONKeyHash) -> Bool {
        guard isObject, !entry.pointee.isFlagged else { return isObject }
        var key = entry + 1
        for _ in 0..<entry.pointee.count {
            if key.pointee.link == name.value { return true }
            key += 1 &+ Int(key[1].link)
        }
        return false
    }
}

/// The hash of a name, computed once for look-ups in many objects.
public struct JSONKeyHash: Hashable, Sendable {
    @usableFromInline let value: UInt32

    /// Hashes a name.
    public init(_ name: String) {
        var name = name
        value = name.withUTF8 { UInt32(truncatingIfNeeded: WordHash.keys($0)) }
    }
}
