extension JSONView {
    /// A digest that is equal for values that are equivalent (``JSONNode/isEquivalent(to:)``), whatever the order of
    /// their members, and the same in every run. Different values have different ones but for chance. Does not recurse.
    ///
    /// Ledgers keep it: what it is for a value is fixed for good.
    public var digest: UInt64 { kind == .object || kind == .array ? containerDigest : scalarDigest }

    private var containerDigest: UInt64 {
        // A sum does not depend on the order; what is added for a value depends on its place.
        var sum: UInt64 = 0
        var open = [Open(self, at: 0)]
        var innermost = open[0]
        while true {
            guard let child = innermost.next() else {
                sum &+= innermost.ending
                open.removeLast()
                guard let outer = open.last else { return sum }
                innermost = outer
                continue
            }
            switch child.value.kind {
            case .object, .array:
                open[open.count - 1] = innermost
                innermost = Open(child.value, at: child.place)
                open.append(innermost)
            default: sum &+= WordHash.digests.joined(child.place, child.value.scalarDigest)
            }
        }
    }

    /// The digest of the text of a string or key.
    @inline(__always)
    fileprivate var textDigest: UInt64 {
        // The usual escapes are the only ones that stand for what they stand for, so the bytes can be taken as they came.
        let content = jsonText.content
        return entry.pointee.isFlagged ? JSONText.digestOfRewritten(content) : WordHash.digests(content)
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
    private var scalarDigest: UInt64 { isString ? textDigest : ~WordHash.digests(rawBytes) }
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

    /// What is added for the container itself.
    var ending: UInt64 { WordHash.digests.joined(place, isObject ? 4 : 2) }

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
            // What must be escaped was escaped in `content`, and no other escape is shorter than the usual one.
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: content.count) { buffer in
                let length = escape(text, into: buffer)
                return WordHash.digests(UnsafeBufferPointer(rebasing: buffer[..<length]))
            }
        }
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
            guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else {
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
