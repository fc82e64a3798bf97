import PushModel
import PushRouter

/// The members in the output of `toString` of a Bundle or of a Java map: `{a=1, b=2}`.
///
/// The output has no escapes, so parsing it is heuristic. A comma and white space separate members if a key and `=`
/// follow. They do not within matching braces and brackets, or before a repeated key, because keys of a map are unique.
/// A value such as `Sale, code=A1` is misread as two members.
struct PrintedMap {
    private(set) var members: [(key: ArraySlice<UInt8>, value: ArraySlice<UInt8>)] = []

    private static let open = Array("Bundle[{".utf8)
    /// The limit of nested Bundles in apps.
    private static let depthMax = 8

    /// Whether a text begins like a printed map.
    static func isMap(_ text: ArraySlice<UInt8>) -> Bool {
        text.first == UInt8(ascii: "{") && keyEnd(in: text, from: text.startIndex + 1) != nil
    }

    /// - Parameters:
    ///   - text: the text from `{` on.
    ///   - isBundle: whether `}]` is the end; if not, the last byte is.
    /// - Returns: `nil` if it has no end, or does not begin with a key.
    init?(_ text: ArraySlice<UInt8>, isBundle: Bool) {
        if !scan(text, isBundle: isBundle, counting: true), !scan(text, isBundle: isBundle, counting: false) {
            return nil
        }
    }

    /// Reads the members.
    ///
    /// - Parameter counting: whether to count brackets in values; it fails for a value with unmatched brackets.
    private mutating func scan(_ text: ArraySlice<UInt8>, isBundle: Bool, counting: Bool) -> Bool {
        members = []
        var place = text.startIndex + 1
        let last = isBundle ? Self.lastEnd(in: text) : text.lastIndex { !$0.isJSONWhiteSpace }
        guard let last, last >= place else { return false }
        if text[place] == UInt8(ascii: "}") { return isBundle || place == last }
        guard var equals = Self.keyEnd(in: text, from: place) else { return false }
        var key = text[place..<equals]
        var seen: Set<ArraySlice<UInt8>> = [key]
        var depth = 0
        place = equals + 1
        while place <= last {
            switch text[place] {
            case UInt8(ascii: "{") where counting, UInt8(ascii: "[") where counting: depth += 1
            case UInt8(ascii: "}") where depth == 0 && (counting && isBundle || place == last):
                let isEnd = !isBundle || text.dropFirst(place + 1 - text.startIndex).first == UInt8(ascii: "]")
                // A value may contain `}]`, too.
                guard isEnd, place == last || Self.separated(in: text, from: place + 2) == nil else { break }
                members.append((key, text[(equals + 1)..<place]))
                return true
            case UInt8(ascii: "}") where depth > 0, UInt8(ascii: "]") where depth > 0: depth -= 1
            case UInt8(ascii: ",") where depth == 0:
                guard let next = Self.separated(in: text, from: place), seen.insert(text[next]).inserted else {
                    break
                }
                members.append((key, text[(equals + 1)..<place]))
                (key, equals) = (text[next], next.upperBound)
                place = equals
            default: break
            }
            place += 1
        }
        return false
    }

    /// Returns the range of the key after a comma at `place` if the comma separates members.
    private static func separated(in text: ArraySlice<UInt8>, from place: Int) -> Range<Int>? {
        guard place < text.endIndex, text[place] == UInt8(ascii: ",") else { return nil }
        let rest = text[(place + 1)...].drop(while: \.isJSONWhiteSpace)
        guard rest.startIndex > place + 1, let end = keyEnd(in: text, from: rest.startIndex) else { return nil }
        return rest.startIndex..<end
    }

    /// Returns the position of the `=` after a key; `nil` if there is no key.
    private static func keyEnd(in text: ArraySlice<UInt8>, from start: Int) -> Int? {
        guard start < text.endIndex else { return nil }
        let end = text[start...].firstIndex { !isOfKey($0) } ?? text.endIndex
        return end > start && end < text.endIndex && text[end] == UInt8(ascii: "=") ? end : nil
    }

    private static func isOfKey(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "-"),
            UInt8(ascii: "$"), UInt8(ascii: "@"), UInt8(ascii: "#"), 0x80...0xFF:
            true
        default: false
        }
    }

    /// Returns the position of the last `}]`.
    private static func lastEnd(in text: ArraySlice<UInt8>) -> Int? {
        text.dropLast().indices.last { text[$0] == UInt8(ascii: "}") && text[$0 + 1] == UInt8(ascii: "]") }
    }

    /// Writes the members as strings. A Bundle in a value becomes the JSON text of an object: FCM delivers only
    /// strings, and Braze's SDK makes a Bundle of the string `extra`.
    func write(to writer: inout JSONWriter, depth: Int = 1) {
        writer.object { writer in
            for (key, value) in members {
                var text = value
                if depth < Self.depthMax, value.starts(with: Self.open),
                    let nested = PrintedMap(value.dropFirst(Self.open.count - 1), isBundle: true)
                {
                    var inner = JSONWriter()
                    nested.write(to: &inner, depth: depth + 1)
                    text = inner.bytes[...]
                }
                writer.member(String(decoding: key, as: UTF8.self), String(decoding: text, as: UTF8.self))
            }
        }
    }
}

/// A printed Bundle or map, read line by line: a value may contain line feeds.
struct PrintedText: Sendable {
    private let isBundle: Bool
    private var bytes: [UInt8] = []
    /// The text before the message in a log line; each further line of the message begins with it too.
    private var header: ArraySlice<UInt8>?
    private var depth = 0
    private var endsLikeAMap = false

    init(isBundle: Bool) { self.isBundle = isBundle }

    /// Whether its brackets are closed, or its last line ends like a map.
    var isWhole: Bool { depth <= 0 || endsLikeAMap }

    mutating func add(_ line: [UInt8]) -> Bool {
        var text = line[...]
        if bytes.isEmpty {
            if PayloadForm.isLog(line), let colon = line.indices.first(where: { line[$0...].starts(with: ": ".utf8) }) {
                header = line[...(colon + 1)]
            }
            let begin = isBundle ? line.indices.first { line[$0...].starts(with: "Bundle[".utf8) } : nil
            text = begin.map { line[($0 + 7)...] } ?? line.drop(while: \.isJSONWhiteSpace)
        } else {
            if let header {
                guard line.starts(with: header) else { return false }
                text = line.dropFirst(header.count)
            }
            bytes.append(UInt8(ascii: "\n"))
        }
        bytes += text
        for byte in text {
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            default: break
            }
        }
        let end = text.reversed().drop(while: \.isJSONWhiteSpace)
        endsLikeAMap = isBundle ? end.starts(with: "]}".utf8) : end.first == UInt8(ascii: "}")
        return true
    }

    func payload() throws(PayloadFormError) -> WrittenPayload {
        guard bytes.first == UInt8(ascii: "{") else {
            throw PayloadFormError(
                """
                the Bundle is printed without its content, for Android had not unpacked it: have the app call \
                extras.keySet() before it prints it, and take the line again
                """)
        }
        guard let map = PrintedMap(bytes[...], isBundle: isBundle) else {
            throw PayloadFormError(
                isBundle
                    ? """
                    the Bundle has no end }]: logcat cuts a line after about 4,000 bytes; have the app print it in parts, \
                    or a member by itself
                    """ : "the map has no end }: copy the line whole")
        }
        var writer = JSONWriter(reserving: bytes.count + 64)
        writer.object { writer in
            writer.key(isBundle ? "extras" : "data")
            map.write(to: &writer)
        }
        return WrittenPayload(json: writer.bytes, platform: .android)
    }
}
