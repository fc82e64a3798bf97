extension JSONView {
    /// A digest that is equal for equivalent values (``JSONNode/isEquivalent(to:)``), in any order of their members,
    /// and the same in every run. Different values collide only by chance. Does not recurse.
    ///
    /// Ledgers store it: the digest of a value never changes.
    public var digest: UInt64 { isContainer ? containerDigest : scalarDigest }

    private var containerDigest: UInt64 {
        // A sum is independent of the order of members; each summand depends on the path of its value. So the loop adds a
        // container when it opens it, and keeps only those open containers that have values left.
        var innermost = Open(entry, at: 0)
        var outer = OpenContainers()
        defer { outer.free() }
        var sum = WordHash.digests.joined(0, isObject ? 4 : 2)
        while true {
            guard innermost.left > 0 else {
                guard let last = outer.popLast() else { return sum }
                innermost = last
                continue
            }
            let (value, place) = innermost.next(in: text)
            guard value.isContainer else {
                sum &+= WordHash.digests.joined(place, value.scalarDigest)
                continue
            }
            sum &+= WordHash.digests.joined(place, value.isObject ? 4 : 2)
            guard value.entry.pointee.count > 0 else { continue }
            if innermost.left > 0 { outer.append(innermost) }
            innermost = Open(value.entry, at: place)
        }
    }

    /// The digest of the text of a string or key.
    @inline(__always)
    fileprivate var textDigest: UInt64 {
        // A character has only one usual escape, so a string without unusual ones is hashed with its bytes as they
        // came.
        let entry = self.entry.pointee
        if entry.isFlagged { return JSONText.digestOfRewritten(jsonText.content) }
        return digest(from: Int(entry.start) &+ 1, to: Int(entry.end) &- 1)
    }

    /// Returns the digest of bytes of the text.
    @inline(__always)
    private func digest(from start: Int, to end: Int) -> UInt64 {
        let count = end &- start
        guard 1..<8 ~= count, end >= 8 else { return WordHash.digests(text + start, count: count) }
        // One load of the eight bytes up to the end, shifted by the bytes before the start.
        let word = WordHash.digests.word(text + (end &- 8)) &>> UInt64(truncatingIfNeeded: (8 &- count) &* 8)
        return WordHash.digests.ofShort(word, 0, count: count)
    }

    /// A digest of the members of an object that count: equal for equal members in any order.
    ///
    /// - Parameter counts: decides by the key whether a member counts.
    public func digestOfMembers(where counts: (_ key: JSONView) -> Bool) -> UInt64 {
        var sum: UInt64 = 0
        for (key, value) in members where counts(key) {
            sum &+= WordHash.digests.joined(key.textDigest, value.isString ? value.textDigest : value.digest)
        }
        return sum
    }

    @inline(__always)
    private var scalarDigest: UInt64 {
        isString ? textDigest : ~digest(from: Int(entry.pointee.start), to: Int(entry.pointee.end))
    }
}

/// A container whose digest is in progress.
private struct Open {
    /// The next element, or the next key.
    private var entry: UnsafePointer<JSONEntry>
    /// The number of values that ``next(in:)`` has still to return.
    private(set) var left: Int
    private var number: UInt64 = 0
    private let isObject: Bool
    /// The digest of the path of the container.
    private let place: UInt64

    @inline(__always)
    init(_ container: UnsafePointer<JSONEntry>, at place: UInt64) {
        entry = container + 1
        left = container.pointee.count
        isObject = container.pointee.isObject
        self.place = place &+ (isObject ? 5 : 3)
    }

    /// Returns the next value, of which there must be one, and the digest of its path.
    @inline(__always)
    mutating func next(in text: UnsafePointer<UInt8>) -> (value: JSONView, place: UInt64) {
        left &-= 1
        let step: UInt64
        if isObject {
            step = JSONView(entry, in: text).textDigest
            entry += 1
        } else {
            number &+= 1
            step = number
        }
        let value = JSONView(entry, in: text)
        entry += Int(entry.pointee.link)
        return (value, WordHash.digests.joined(place, step))
    }
}

/// The containers around the innermost one, a stack without the bounds checks of an array.
///
/// The owner calls `free()` once.
private struct OpenContainers {
    private var memory = UnsafeMutablePointer<Open>.allocate(capacity: 16)
    private var capacity = 16
    private var count = 0

    func free() { memory.deallocate() }

    @inline(__always)
    mutating func append(_ container: Open) {
        if count == capacity { grow() }
        (memory + count).initialize(to: container)
        count &+= 1
    }

    @inline(__always)
    mutating func popLast() -> Open? {
        guard count > 0 else { return nil }
        count &-= 1
        return (memory + count).move()
    }

    @inline(never)
    private mutating func grow() {
        let larger = UnsafeMutablePointer<Open>.allocate(capacity: capacity * 2)
        larger.moveInitialize(from: memory, count: count)
        memory.deallocate()
        (memory, capacity) = (larger, capacity * 2)
    }
}

extension JSONText {
    /// The digest of a text with unusual escapes: equals that of the same text with the usual ones.
    @inline(never)
    static func digestOfRewritten(_ content: UnsafeBufferPointer<UInt8>) -> UInt64 {
        withUnescaped(content) { text in
            guard text.contains(where: mustBeEscaped) else { return WordHash.digests(text) }
            // `content` has escapes for these characters already, and no other escape is shorter than the usual one.
            return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: content.count) { buffer in
                let length = escape(text, into: buffer)
                return WordHash.digests(UnsafeBufferPointer(rebasing: buffer[..<length]))
            }
        }
    }

    @inline(__always)
    private static func mustBeEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    /// Writes a text with the usual escapes, for the characters that JSON demands to escape, and returns the length.
    private static func escape(
        _ text: UnsafeBufferPointer<UInt8>, into buffer: UnsafeMutableBufferPointer<UInt8>
    ) -> Int {
        var length = 0
        func write(_ byte: UInt8) {
            buffer[length] = byte
            length += 1
        }
        for byte in text {
            guard mustBeEscaped(byte) else {
                write(byte)
                continue
            }
            write(UInt8(ascii: "\\"))
            switch byte {
            case 0x08: write(UInt8(ascii: "b"))
            case 0x09: write(UInt8(ascii: "t"))
            case 0x0A: write(UInt8(ascii: "n"))
            case 0x0C: write(UInt8(ascii: "f"))
            case 0x0D: write(UInt8(ascii: "r"))
            case ..<0x20: "u\(hexadecimal(byte, digits: 4))".utf8.forEach(write)
            default: write(byte)
            }
        }
        return length
    }
}
