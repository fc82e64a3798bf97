extension JSONView {
    // MARK: Look-ups

    /// The member of an object; `nil` if it has none, or this is no object. Takes constant time.
    @inlinable
    @inline(__always)
    public func member(_ name: StaticString) -> JSONView? {
        let bytes = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        return member(bytes, hash: UInt32(truncatingIfNeeded: WordHash.keys(bytes)))
    }

    /// The member of an object; `nil` if it has none, or this is no object.
    public subscript(name: String) -> JSONView? {
        var name = name
        return name.withUTF8 { member($0) }
    }

    /// The member of an object, by its name in UTF-8; `nil` if it has none, or this is no object.
    public func member(_ name: UnsafeBufferPointer<UInt8>) -> JSONView? {
        member(name, hash: UInt32(truncatingIfNeeded: WordHash.keys(name)))
    }

    @usableFromInline
    func member(_ name: UnsafeBufferPointer<UInt8>, hash: UInt32) -> JSONView? {
        guard isObject else { return nil }
        // The scan hashed the keys of a flagged object again with other seeds.
        let hash = entry.pointee.isFlagged ? UInt32(truncatingIfNeeded: WordHash.ofThisProcess(name)) : hash
        guard let table = JSONKeyTable(of: entry) else {
            var key = entry + 1
            for _ in 0..<entry.pointee.count {
                if key.pointee.link == hash, JSONText(key.pointee, in: text).equals(name) {
                    return JSONView(key + 1, in: text)
                }
                key += 1 &+ Int(key[1].link)
            }
            return nil
        }
        var slot = table.home(hash)
        while true {
            let distance = table[slot]
            guard distance != 0 else { return nil }
            let key = entry + distance
            if key.pointee.link == hash, JSONText(key.pointee, in: text).equals(name) {
                return JSONView(key + 1, in: text)
            }
            slot = table.next(slot)
        }
    }

    // MARK: All members or elements

    /// The members of an object in their order; none for another kind of value.
    @inlinable public var members: JSONMembers { JSONMembers(of: self) }

    /// The elements of an array in their order; none for another kind of value.
    @inlinable public var elements: JSONElements { JSONElements(of: self) }
}

/// The members of an object in their order, as views: valid while the document lives.
public struct JSONMembers: Sequence, IteratorProtocol {
    @usableFromInline var place: UnsafePointer<JSONEntry>
    @usableFromInline var left: Int
    @usableFromInline let text: UnsafePointer<UInt8>

    @inlinable
    init(of object: JSONView) {
        place = object.entry + 1
        left = object.isObject ? object.count : 0
        text = object.text
    }

    /// Returns the next key and its value.
    @inlinable
    @inline(__always)
    public mutating func next() -> (key: JSONView, value: JSONView)? {
        guard left > 0 else { return nil }
        left &-= 1
        let key = place
        place = key + 1 + Int(key[1].link)
        return (JSONView(key, in: text), JSONView(key + 1, in: text))
    }
}

/// The elements of an array in their order, as views: valid while the document lives.
public struct JSONElements: Sequence, IteratorProtocol {
    @usableFromInline var place: UnsafePointer<JSONEntry>
    @usableFromInline var left: Int
    @usableFromInline let text: UnsafePointer<UInt8>

    @inlinable
    init(of array: JSONView) {
        place = array.entry + 1
        left = array.kind == .array ? array.count : 0
        text = array.text
    }

    /// Returns the next element.
    @inlinable
    @inline(__always)
    public mutating func next() -> JSONView? {
        guard left > 0 else { return nil }
        left &-= 1
        let element = place
        place = element + Int(element.pointee.link)
        return JSONView(element, in: text)
    }
}
