/// The strict pass over a text: the structure. Strings, numbers, keys and error texts are in files beside this one.
///
/// The containers that are open form a list through their entries, so depth costs no stack.
struct JSONScanner {
    let text: UnsafeBufferPointer<UInt8>
    let limits: JSONLimits
    var position = 0
    var tape: [JSONEntry] = []
    private(set) var innermost = outside
    private var depth = 0

    /// Stands for the container around the outermost value.
    static let outside = Int(UInt32.max)

    /// The entries of `bytes`.
    static func tape(of bytes: [UInt8], limits: JSONLimits) throws(JSONError) -> [JSONEntry] {
        guard bytes.count <= JSONEntry.longestText else {
            throw JSONError(at: JSONEntry.longestText, "the text is longer than 512 MiB")
        }
        return try bytes.withUnsafeBufferPointer { (text) throws(JSONError) -> [JSONEntry] in
            var scanner = JSONScanner(text: text, limits: limits)
            try scanner.scan()
            return scanner.tape
        }
    }

    private init(text: UnsafeBufferPointer<UInt8>, limits: JSONLimits) {
        self.text = text
        self.limits = limits
        tape.reserveCapacity(text.count / 10 + 4)
    }

    /// The byte at the position; 0, which is wrong wherever it stands, at the end of the text.
    @inline(__always)
    var byte: UInt8 { position < text.count ? text[position] : 0 }

    private mutating func scan() throws(JSONError) {
        try scanValue()
        while innermost != Self.outside {
            skipWhiteSpace()
            let container = tape[innermost]
            let isObject = container.kind == .object
            if byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
                try close(container)
                continue
            }
            if container.count > 0 {
                guard byte == UInt8(ascii: ",") else { throw separatorMissing(inObject: isObject) }
                position += 1
                skipWhiteSpace()
            }
            tape[innermost].addOne()
            if isObject { try scanKey() }
            try scanValue()
        }
        skipWhiteSpace()
        guard position == text.count else { throw unexpected("the value is complete, but text follows it") }
    }

    @inline(__always)
    private mutating func skipWhiteSpace() {
        while position < text.count {
            switch text[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }

    private mutating func scanKey() throws(JSONError) {
        guard byte == UInt8(ascii: "\"") else { throw keyMissing() }
        try scanString(isKey: true)
        skipWhiteSpace()
        guard byte == UInt8(ascii: ":") else { throw unexpected("a ':' is expected after a key") }
        position += 1
    }

    /// Scans a scalar whole, of a container the opening bracket.
    private mutating func scanValue() throws(JSONError) {
        skipWhiteSpace()
        switch byte {
        case UInt8(ascii: "\""): try scanString(isKey: false)
        case UInt8(ascii: "{"): try open(.object)
        case UInt8(ascii: "["): try open(.array)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try scanNumber()
        case UInt8(ascii: "t"): try scanWord("true", .bool)
        case UInt8(ascii: "f"): try scanWord("false", .bool)
        case UInt8(ascii: "n"): try scanWord("null", .null)
        default: throw valueMissing()
        }
    }

    private mutating func scanWord(_ word: StaticString, _ kind: JSONNode.Kind) throws(JSONError) {
        let end = position + word.utf8CodeUnitCount
        guard end <= text.count, text[position..<end].elementsEqual(word.bytes) else { throw valueMissing() }
        append(kind, from: position, to: end)
    }

    /// Appends the entry of a value that holds no others, and goes to its end.
    @inline(__always)
    mutating func append(_ kind: JSONNode.Kind, from start: Int, to end: Int, hasEscapes: Bool = false) {
        tape.append(JSONEntry(kind, start..<end, next: tape.count + 1, hasEscapes: hasEscapes))
        position = end
    }

    private mutating func open(_ kind: JSONNode.Kind) throws(JSONError) {
        guard depth < limits.depth else {
            throw JSONError(.tooDeep, at: position, "arrays and objects are nested more than \(limits.depth) deep")
        }
        depth += 1
        tape.append(JSONEntry(kind, position..<position + 1, next: innermost))
        innermost = tape.count - 1
        position += 1
    }

    private mutating func close(_ container: JSONEntry) throws(JSONError) {
        position += 1
        depth -= 1
        if container.kind == .object { try refuseDuplicateKeys(ofObjectAt: innermost) }
        tape[innermost].close(end: position, next: tape.count)
        innermost = container.next
    }
}

extension StaticString {
    /// The text in UTF-8; it lives as long as the program.
    var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: utf8Start, count: utf8CodeUnitCount) }
}
