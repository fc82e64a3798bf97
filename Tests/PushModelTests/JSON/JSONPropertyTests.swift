import CJSON
import TestSupport
import Testing

@testable import PushModel

@Suite("For random documents")
struct JSONPropertyTests {
    @Test("a written document is scanned as the same values, with any white space and escapes")
    func roundTrip() throws {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<2000 {
            let value = RandomJSON.make(depth: 4, using: &generator)
            var writer = JSONWriter()
            value.write(to: &writer)
            var odd = ""
            value.writeOddly(to: &odd, using: &generator)
            let plain = try JSONDocument(scanning: writer.bytes).root
            let other = try JSONDocument(scanning: Array(odd.utf8)).root
            try #require(value.isRead(by: plain), "\(odd)")
            try #require(value.isRead(by: other), "\(odd)")
            try #require(plain.isEquivalent(to: other), "\(odd)")
        }
    }

    @Test("a document accepted after random damage is accepted by json-c too, with the same values")
    func damage() throws {
        var generator = SeededGenerator(seed: 2)
        var accepted = 0
        var whole: [UInt8] = []
        for round in 0..<20_000 {
            if round.isMultiple(of: 10) {
                var text = ""
                RandomJSON.make(depth: 3, using: &generator).writeOddly(to: &text, using: &generator)
                whole = Array(text.utf8)
            }
            let text = damaged(whole, using: &generator)
            do {
                let root = try JSONDocument(scanning: text).root
                accepted += 1
                try #require(isReadTheSameByJSONC(root), "\(String(decoding: text, as: UTF8.self))")
            } catch let error as JSONError {
                try #require((0...text.count).contains(error.offset))
            }
        }
        // Both branches are taken often enough.
        #expect((2_000...18_000).contains(accepted), "\(accepted)")
    }

    private func damaged(_ whole: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        let pieces: [[UInt8]] =
            [
                "\"", "\\", "\\u0000", "\\ud800", "{", "}", "[", "]", ",", ":", "0", "-", ".", "e9", "e400", "\0", " ",
                "null", "'", "/", "\u{FEFF}", "1", "a", "\"a\":1,",
            ].map { Array($0.utf8) } + [[0xC0], [0xED, 0xA0, 0x80], [0xF4, 0x90], [0xE2]]
        var text = whole
        for _ in 0...Int.random(in: 0...1, using: &generator) {
            let place = Int.random(in: 0...text.count, using: &generator)
            let end = min(text.count, place + Int.random(in: 0...3, using: &generator))
            switch Int.random(in: 0...3, using: &generator) {
            case 0: text.removeSubrange(place..<end)
            case 1: text.insert(contentsOf: pieces.randomElement(using: &generator) ?? [], at: place)
            case 2: text.insert(contentsOf: text[place..<end], at: place)
            default: if place < end { text[place] ^= 1 << UInt8.random(in: 0...7, using: &generator) }
            }
        }
        return text
    }
}

/// Parses the bytes of `node` with json-c in its strictest mode, and compares the trees.
private func isReadTheSameByJSONC(_ node: JSONNode) -> Bool {
    let tokener = json_tokener_new_ex(64)
    defer { json_tokener_free(tokener) }
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8)
    // The NUL ends a number at the end of the text.
    let text = (node.rawBytes + [0]).map(CChar.init(bitPattern:))
    let tree = json_tokener_parse_ex(tokener, text, Int32(text.count))
    defer { json_object_put(tree) }
    return json_tokener_get_error(tokener) == json_tokener_success && isTheSame(node, tree)
}

private func isTheSame(_ node: JSONNode, _ tree: OpaquePointer?) -> Bool {
    switch json_object_get_type(tree) {
    case json_type_object:
        return node.kind == .object && node.count == Int(json_object_object_length(tree))
            && node.members.allSatisfy { key, value in
                var member: OpaquePointer?
                return isSpoiltByJSONC(key)
                    || json_object_object_get_ex(tree, key, &member) != 0 && isTheSame(value, member)
            }
    case json_type_array:
        return node.kind == .array && node.count == json_object_array_length(tree)
            && node.elements.enumerated().allSatisfy { isTheSame($1, json_object_array_get_idx(tree, $0)) }
    case json_type_string:
        let bytes = UnsafeRawBufferPointer(
            start: json_object_get_string(tree), count: Int(json_object_get_string_len(tree)))
        return node.string.map { isSpoiltByJSONC($0) || $0.utf8.elementsEqual(bytes) } == true
    // json-c clamps an integer that it cannot hold; our `int64` is nil then, and only the text counts.
    case json_type_int: return node.kind == .number && node.int64.map { $0 == json_object_get_int64(tree) } ?? true
    case json_type_double: return node.double == json_object_get_double(tree)
    case json_type_boolean: return node.bool == (json_object_get_boolean(tree) != 0)
    default: return node.kind == .null
    }
}

/// json-c 0.16 writes U+FFFD for a character in a pair of escapes whose lower 16 bits look like a surrogate, because it
/// takes that for a lone surrogate: `\uDA36\uDC00`, which is U+9D800.
private func isSpoiltByJSONC(_ text: String) -> Bool {
    text.unicodeScalars.contains { $0.value > 0xFFFF && $0.value & 0xF800 == 0xD800 }
}
