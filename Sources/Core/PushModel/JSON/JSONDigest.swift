extension JSONView {
    /// A digest that is equal for values that are equivalent (``JSONNode/isEquivalent(to:)``), whatever the order of
    /// their members, and the same in every run. Different values have different ones but for chance. Does not recurse.
    ///
    /// Ledgers keep it: what it is for a value is fixed for good.
    public var digest: UInt64 { isContainer ? containerDigest : scalarDigest }

    private var containerDigest: UInt64 {
        // A sum does not depend on the order; what is added for a value depends on its place. So a container is added when it
        // is opened, and of those that are open the ones with values to come are kept.
        var innermost = Open(self, at: 0)
        var sum = innermost.digest
        var outer: [Open] = []
        while true {
            guard let child = innermost.next() else {
                guard let last = outer.popLast() else { return sum }
                innermost = last
                continue
            }
            guard child.value.isContainer else {
                sum &+= WordHash.digests.joined(child.place, child.value.scalarDigest)
                continue
            }
            if innermost.hasNext { outer.append(innermost) }
            innermost = Open(child.value, at: child.place)
            sum &+= innermost.digest
        }
    }

    /// The digest of the text of a string or key.
    @inline(__always)
    fileprivate var textDigest: UInt64 {
        // The usual escapes are the only ones that stand for what they stand for, so the bytes can be taken as they came.
        let entry = self.entry.pointee
        if entry.isFlagged { return JSONText.digestOfRewritten(jsonText.content) }
        return digest(from: Int(entry.start) &+ 1, to: Int(entry.end) &- 1)
    }

    /// The digest of bytes of the text.
    @inline(__always)
    private func digest(from start: Int, to end: Int) -> UInt64 {
        let count = end &- start
        guard 1..<8 ~= count, end >= 8 else { return WordHash.digests(text + start, count: count) }
        // One load of the eight bytes up to the end, without those before the start.
        let word = WordHash.digests.word(text + (end &- 8)) &>> UInt64(truncatingIfNeeded: (8 &- count) &* 8)
        return WordHash.digests.ofShort(word, 0, count: count)
    }

    /// A digest of the members of an object, of those that count: equal for equal members in any order.
    ///
    /// - Parameter counts: whether the member of a key counts.
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

/// A container whose digest is being made.
private struct Open {
    private var key: JSONView
    private var left: Int
    private var number: UInt64 = 0
    private let isObject: Bool
    private let place: UInt64

    init(_ container: JSONView, at place: UInt64) {
        key = container
        left = container.count
        isObject = container.isObject
        self.place = place
        key = JSONView(container.entry + 1, in: container.text)
    }

    /// Whether there are values that ``next()`` did not give yet.
    @inline(__always)
    var hasNext: Bool { left > 0 }

    /// What is added for the container itself.
    var digest: UInt64 { WordHash.digests.joined(place, isObject ? 4 : 2) }

    /// The next value in it, and what stands for its place.
    @inline(__always)
    mutating func next() -> (value: JSONView, place: UInt64)? {
        guard left > 0 else { return nil }
        left &-= 1
        number &+= 1
        let value = isObject ? JSONView(key.entry + 1, in: key.text) : key
        let step = isObject ? key.textDigest : number
        key = JSONView(value.entry + Int(value.entry.pointee.link), in: value.text)
        return (value, WordHash.digests.joined(place &+ (isObject ? 5 : 3), step))
    }
}

extension JSONText {
    /// The digest of a text that is written with other escapes than the usual ones: of the same text with those.
    @inline(never)
    static func digestOfRewritten(_ content: UnsafeBufferPointer<UInt8>) -> UInt64 {
        withUnescaped(content) { text in
            guard text.contains(where: mustBeEscaped) else { return WordHash.digests(text) }
            // What must be escaped was escaped in `content`, and no other escape is shorter than the usual one.
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

    /// Writes a text with the usual escapes, those that no text can do without, and returns the length.
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
