/// Reads the XML form of a property list (Apple's DTD, PropertyList-1.0), without entities that the file declares.
struct XMLPropertyList {
    private let text: [UInt8]
    private var position = 0

    init(_ text: [UInt8]) { self.text = text }

    private struct Tag {
        var name: String
        var isEnd = false
        var isEmpty = false
    }

    /// The value in the `plist` element.
    mutating func root() throws(PropertyListError) -> StoredValue {
        let first = try nextTag()
        guard first.name == "plist", !first.isEnd, !first.isEmpty else { throw wrong("the root is not <plist>") }
        let value = try self.value(try nextTag(), depth: 0)
        let last = try nextTag()
        guard last.isEnd, last.name == "plist" else { throw wrong("</plist> is expected after one value") }
        return value
    }

    private mutating func value(_ tag: Tag, depth: Int) throws(PropertyListError) -> StoredValue {
        guard depth < PropertyList.depthMax else { throw wrong("it nests deeper than \(PropertyList.depthMax)") }
        guard !tag.isEnd else { throw wrong("</\(tag.name)> ends nothing") }
        switch tag.name {
        case "true", "false":
            if !tag.isEmpty { _ = try content(of: tag) }
            return .flag(tag.name == "true")
        case "string", "date": return .text(try content(of: tag))
        case "integer", "real":
            let number = try content(of: tag).trimmed
            guard let text = Self.number(number, isInteger: tag.name == "integer") else {
                throw wrong("\(number) is no \(tag.name)")
            }
            return .number(text)
        case "data":
            guard let bytes = base64(try content(of: tag)) else { throw wrong("<data> is not base64") }
            return .data(bytes)
        case "array":
            var elements: [StoredValue] = []
            while let tag = try nextElement(in: tag) { elements.append(try value(tag, depth: depth + 1)) }
            return .list(elements)
        case "dict":
            var members: [(key: String, value: StoredValue)] = []
            while let key = try nextElement(in: tag) {
                guard key.name == "key" else { throw wrong("<\(key.name)> stands where <key> is expected") }
                let name = try content(of: key)
                guard let element = try nextElement(in: tag) else { throw wrong("the key \(name) has no value") }
                members.append((name, try value(element, depth: depth + 1)))
            }
            return .object(members)
        default: throw wrong("<\(tag.name)> is no element of a property list")
        }
    }

    private static func number(_ text: String, isInteger: Bool) -> String? {
        if isInteger { return Int64(text).map(String.init) }
        guard let value = Double(text), value.isFinite else { return nil }
        return value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
    }

    /// The next element within one; `nil` at its end.
    private mutating func nextElement(in parent: Tag) throws(PropertyListError) -> Tag? {
        if parent.isEmpty { return nil }
        let tag = try nextTag()
        guard tag.isEnd else { return tag }
        guard tag.name == parent.name else { throw wrong("</\(tag.name)> stands where </\(parent.name)> is expected") }
        return nil
    }

    /// The text of an element without child elements; consumes its end tag.
    private mutating func content(of tag: Tag) throws(PropertyListError) -> String {
        if tag.isEmpty { return "" }
        var bytes: [UInt8] = []
        while position < text.count {
            switch text[position] {
            case UInt8(ascii: "<") where has("<![CDATA["):
                let start = position + 9
                try skip(past: "]]>")
                bytes += text[start..<position - 3]
            case UInt8(ascii: "<") where has("<!--"): try skip(past: "-->")
            case UInt8(ascii: "<"):
                let end = try nextTag()
                guard end.isEnd, end.name == tag.name else { throw wrong("</\(tag.name)> is expected") }
                return String(decoding: bytes, as: UTF8.self)
            case UInt8(ascii: "&"): bytes += try entity()
            case let byte:
                bytes.append(byte)
                position += 1
            }
        }
        throw wrong("the file ends within <\(tag.name)>")
    }

    private mutating func entity() throws(PropertyListError) -> [UInt8] {
        let start = position + 1
        guard let end = text[start...].prefix(12).firstIndex(of: UInt8(ascii: ";")) else {
            throw wrong("& begins no entity")
        }
        let name = String(decoding: text[start..<end], as: UTF8.self)
        position = end + 1
        switch name {
        case "amp": return [UInt8(ascii: "&")]
        case "lt": return [UInt8(ascii: "<")]
        case "gt": return [UInt8(ascii: ">")]
        case "quot": return [UInt8(ascii: "\"")]
        case "apos": return [UInt8(ascii: "'")]
        default:
            let code =
                name.hasPrefix("#x")
                ? UInt32(name.dropFirst(2), radix: 16) : name.hasPrefix("#") ? UInt32(name.dropFirst()) : nil
            guard let scalar = code.flatMap(Unicode.Scalar.init) else { throw wrong("&\(name); is no entity") }
            return Array(String(Character(scalar)).utf8)
        }
    }

    /// The next tag; skips comments, the declaration, the document type and white space.
    private mutating func nextTag() throws(PropertyListError) -> Tag {
        while true {
            while position < text.count, [0x20, 0x09, 0x0A, 0x0D].contains(text[position]) { position += 1 }
            guard position < text.count else { throw wrong("the file ends before </plist>") }
            guard text[position] == UInt8(ascii: "<") else { throw wrong("text stands where an element is expected") }
            if has("<?") {
                try skip(past: "?>")
            } else if has("<!--") {
                try skip(past: "-->")
            } else if has("<!DOCTYPE") {
                let start = position
                try skip(past: ">")
                guard !text[start..<position].contains(UInt8(ascii: "[")) else {
                    throw wrong("a document type of its own is not read")
                }
            } else {
                break
            }
        }
        let start = position + 1
        try skip(past: ">")
        var inside = String(decoding: text[start..<position - 1], as: UTF8.self)
        var tag = Tag(name: "")
        if inside.hasPrefix("/") {
            tag.isEnd = true
            inside.removeFirst()
        } else if inside.hasSuffix("/") {
            tag.isEmpty = true
            inside.removeLast()
        }
        tag.name = String(inside.prefix { !$0.isWhitespace })
        return tag
    }

    private func has(_ word: String) -> Bool { text[position...].starts(with: word.utf8) }

    private mutating func skip(past word: String) throws(PropertyListError) {
        let word = Array(word.utf8)
        while position + word.count <= text.count {
            defer { position += 1 }
            if text[position..<position + word.count].elementsEqual(word) {
                position += word.count - 1
                return
            }
        }
        throw wrong("\(String(decoding: word, as: UTF8.self)) is missing")
    }

    private func wrong(_ message: String) -> PropertyListError {
        let line = 1 + text[..<min(position, text.count)].count { $0 == UInt8(ascii: "\n") }
        return PropertyListError("line \(line): \(message)")
    }
}

/// Decodes base64 with white space anywhere; `nil` for other text.
func base64(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var bits: UInt32 = 0
    var count = 0
    var padding = 0
    for byte in text.utf8 where ![0x20, 0x09, 0x0A, 0x0D].contains(byte) {
        let value: UInt8
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): value = byte - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): value = byte - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): value = 62
        case UInt8(ascii: "/"): value = 63
        case UInt8(ascii: "="):
            padding += 1
            continue
        default: return nil
        }
        guard padding == 0 else { return nil }
        bits = bits << 6 | UInt32(value)
        count += 1
        if count % 4 == 0 { bytes += [UInt8(bits >> 16 & 0xFF), UInt8(bits >> 8 & 0xFF), UInt8(bits & 0xFF)] }
    }
    switch (count % 4, padding) {
    case (0, 0): break
    case (2, 2): bytes.append(UInt8(bits >> 4 & 0xFF))
    case (3, 1): bytes += [UInt8(bits >> 10 & 0xFF), UInt8(bits >> 2 & 0xFF)]
    default: return nil
    }
    return bytes
}

extension String {
    /// The text without white space at its ends.
    fileprivate var trimmed: String {
        let start = drop(while: \.isWhitespace)
        return String(start.prefix(start.count - start.reversed().prefix(while: \.isWhitespace).count))
    }
}
