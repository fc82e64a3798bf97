import PushModel
import PushRouter

/// The members in the output of `toString` of a Bundle, of a Java map, `{a=1, b=2}`, or of a Dart map, `{a: 1, b: 2}`.
///
/// The output has no escapes, so parsing it is heuristic. A comma and white space separate members if a key and `=` (in
/// Dart `: `) follow. They do not within matching braces and brackets, or before a repeated key, because keys of a map are unique.
/// A value such as `Sale, code=A1` is misread as two members.
struct PrintedMap {
    private(set) var members: [(key: ArraySlice<UInt8>, value: ArraySlice<UInt8>)] = []

    /// The mark between key and value: `=`, or `:` with a space behind it.
    private let mark: UInt8
    /// The byte between members: a comma, or a line feed where the members stand one a line.
    private var separator = UInt8(ascii: ",")

    private static let open = Array("Bundle[{".utf8)
    /// The limit of nested Bundles in apps.
    private static let depthMax = 8

    /// Whether a text begins like a printed map.
    static func isMap(_ text: ArraySlice<UInt8>) -> Bool {
        guard let end = keyEnd(in: text, from: text.startIndex + 1, mark: UInt8(ascii: "=")) else { return false }
        // Ruby and PHP write =>.
        return text.first == UInt8(ascii: "{") && text.dropFirst(end + 1 - text.startIndex).first != UInt8(ascii: ">")
    }

    /// - Parameters:
    ///   - text: the text from `{` on.
    ///   - isBundle: whether `}]` is the end; if not, the last byte is.
    ///   - mark: the mark between key and value.
    /// - Returns: `nil` if it has no end, or does not begin with a key.
    init?(_ text: ArraySlice<UInt8>, isBundle: Bool, mark: UInt8 = UInt8(ascii: "=")) {
        self.mark = mark
        if !scan(text, isBundle: isBundle, counting: true) {
            // The text is cut behind a map or an object in it. Brackets in quotation marks are of a text.
            var isQuoted = false
            let depth = text.reduce(into: 0) { depth, byte in
                if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
                if !isQuoted { depth += byte == UInt8(ascii: "{") ? 1 : byte == UInt8(ascii: "}") ? -1 : 0 }
            }
            let isCut = depth > 0 && text.has("={".utf8)
            guard isBundle || !isCut, scan(text, isBundle: isBundle, counting: false) else { return nil }
        }
        if !isBundle, members.count == 1, members[0].value.contains(UInt8(ascii: "\n")) {
            let whole = members
            separator = UInt8(ascii: "\n")
            let isRead = scan(text, isBundle: false, counting: true)
            if !isRead || members.count < 4 && !hasReservedKey { members = whole }
        }
    }

    /// Reads the members.
    ///
    /// - Parameter counting: whether to count brackets in values; it fails for a value with unmatched brackets.
    private mutating func scan(_ text: ArraySlice<UInt8>, isBundle: Bool, counting: Bool) -> Bool {
        members = []
        var place = text.startIndex + 1
        let last = isBundle ? Self.lastEnd(in: text) : text.lastIndex { $0 == UInt8(ascii: "}") }
        guard let last, last >= place else { return false }
        if text[place] == UInt8(ascii: "}") { return isBundle || place == last }
        guard var equals = Self.keyEnd(in: text, from: place, mark: mark) else { return false }
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
                guard isEnd, place == last || separated(in: text, from: place + 2) == nil else { break }
                members.append((key, value(text, behind: equals, to: place)))
                return true
            case UInt8(ascii: "}") where depth > 0, UInt8(ascii: "]") where depth > 0: depth -= 1
            case separator where depth == 0:
                guard let next = separated(in: text, from: place), seen.insert(text[next]).inserted else {
                    break
                }
                members.append((key, value(text, behind: equals, to: place)))
                (key, equals) = (text[next], next.upperBound)
                place = equals
            default: break
            }
            place += 1
        }
        return false
    }

    /// Returns the range of the key after a comma at `place` if the comma separates members.
    private func separated(in text: ArraySlice<UInt8>, from place: Int) -> Range<Int>? {
        guard place < text.endIndex, text[place] == separator else { return nil }
        let rest = text[(place + 1)...].drop(while: \.isJSONWhiteSpace)
        let isSpaced = rest.startIndex > place + 1 || separator == UInt8(ascii: "\n")
        guard isSpaced, let end = Self.keyEnd(in: text, from: rest.startIndex, mark: mark)
        else { return nil }
        return rest.startIndex..<end
    }

    /// Returns the value between the mark and a position.
    private func value(_ text: ArraySlice<UInt8>, behind markAt: Int, to end: Int) -> ArraySlice<UInt8> {
        let value = text[min(markAt + (mark == UInt8(ascii: ":") ? 2 : 1), end)..<end]
        guard separator == UInt8(ascii: "\n"), let last = value.lastIndex(where: { !$0.isJSONWhiteSpace }) else {
            return value
        }
        return value[...last]
    }

    /// Returns the position of the mark after a key; `nil` if there is no key.
    private static func keyEnd(in text: ArraySlice<UInt8>, from start: Int, mark: UInt8) -> Int? {
        guard start < text.endIndex else { return nil }
        let end = text[start...].firstIndex { !isOfKey($0) } ?? text.endIndex
        guard end > start, end < text.endIndex, text[end] == mark else { return nil }
        let isFollowed = end + 1 < text.endIndex && " ,}".utf8.contains(text[end + 1])
        return mark == UInt8(ascii: "=") || isFollowed ? end : nil
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

    /// Returns the object of a printed Bundle that is a text; `nil` if it is none.
    static func bundle(in text: ArraySlice<UInt8>) -> JSONNode? {
        guard text.starts(with: open), let map = PrintedMap(text.dropFirst(open.count - 1), isBundle: true) else {
            return nil
        }
        var writer = JSONWriter()
        map.write(to: &writer)
        return try? JSONDocument(scanning: writer.bytes).root
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

    /// Writes the members of a map with maps in it: a map is an object, `null` is null, and below `aps` and its like a
    /// number is a number, because only the values of FCM's data are all strings.
    ///
    /// - Parameter keepsTypes: whether numbers, `true` and `false` keep their types.
    func writeNested(to writer: inout JSONWriter, keepsTypes: Bool = false, depth: Int = 1) {
        writer.object { writer in
            for (key, value) in members {
                writer.key(String(decoding: key, as: UTF8.self))
                let keepsTypes = keepsTypes || key.elementsEqual("aps".utf8)
                let text = String(decoding: value, as: UTF8.self)
                if depth < Self.depthMax, value.first == UInt8(ascii: "{"),
                    let nested = PrintedMap(value, isBundle: false, mark: mark)
                {
                    nested.writeNested(to: &writer, keepsTypes: keepsTypes, depth: depth + 1)
                } else if text == "null" {
                    writer.null()
                } else if keepsTypes, let scalar = try? JSONDocument(scanning: Array(value)).root,
                    scalar.kind == .number || scalar.kind == .bool
                {
                    writer.raw(value)
                } else {
                    writer.string(text)
                }
            }
        }
    }

    /// Whether a key has a map as its value.
    func hasMap(_ key: String) -> Bool {
        members.contains {
            $0.key.elementsEqual(key.utf8) && $0.value.first == UInt8(ascii: "{") && $0.value.count > 2
                && $0.value.dropFirst().first != UInt8(ascii: "\"")
        }
    }

    /// Whether a value is in quotation marks, in which Dart and Java print none.
    var hasQuotedValue: Bool {
        members.contains {
            $0.value.count > 1 && $0.value.first == UInt8(ascii: "\"") && $0.value.last == UInt8(ascii: "\"")
        }
    }

    /// Whether a key is one that FCM keeps for itself: such members are the extras of an intent, for FCM refuses a send
    /// whose data has them.
    var hasReservedKey: Bool {
        members.contains { member in
            ["google.", "gcm."].contains { member.key.starts(with: $0.utf8) } || member.key.elementsEqual("from".utf8)
        }
    }
}

/// A printed payload, read line by line: a value may contain line feeds.
struct PrintedText: Sendable {
    private let start: PayloadStart
    /// The objects that variables of source code have.
    private let constants: [String: [UInt8]]
    private var bytes: [UInt8] = []
    private var hasBegun = false
    /// The text before the message in a log line; each further line of the message begins with it too.
    private var header: ArraySlice<UInt8>?
    /// The word in brackets at the begin of the first line; further lines may repeat it.
    private var tag: ArraySlice<UInt8>?
    private var depth = 0
    private var endsLikeAMap = false
    /// The quotation mark that is open, in the forms that have quotation marks.
    private var quote: UInt8?
    private var isEscaped = false

    init(_ start: PayloadStart, _ constants: [String: [UInt8]]) { (self.start, self.constants) = (start, constants) }

    /// Whether the text says that PushKit had the payload.
    private var isOfPushKit = false
    /// Whether the text before it sends a web push.
    private var isOfWebPush = false
    /// The action of the intent that the text before a Bundle prints.
    private var action: String?
    private var isBundle: Bool { start.form == .bundle }
    /// Whether brackets in quotation marks do not count.
    private var hasQuotes: Bool { start.form == .literal || start.form == .json || start.form == .list }

    /// Whether its brackets are closed, or its last line ends like a map.
    var isWhole: Bool {
        (depth <= 0 || endsLikeAMap) && bytes.contains { !$0.isJSONWhiteSpace }
            && (!isBuilder || depth < 0 || endsLikeAStatement)
    }

    /// Whether it is a chain of calls, which may go on in the next line.
    private var isBuilder: Bool { start.isStruct && bytes.first != UInt8(ascii: "{") }
    private var endsLikeAStatement: Bool {
        let end = bytes.reversed().drop(while: \.isJSONWhiteSpace)
        return end.first == UInt8(ascii: ";") || end.starts(with: ")(dliub.".utf8)
    }

    mutating func add(_ line: [UInt8]) -> Bool {
        var text = line[...]
        if !hasBegun {
            hasBegun = true
            noteSource(line[..<start.offset])
            action = PayloadStart.action(in: line[..<start.offset])
            isOfWebPush = PayloadStart.sendsWebPush(line[..<start.offset])
            if let end = PayloadStart.tagEnd(in: line[...]) {
                tag = line[..<end]
            } else if PayloadStart.isLog(line),
                let colon = line.indices.first(where: { line[$0...].starts(with: ": ".utf8) })
            {
                header = line[...(colon + 1)]
            }
            text = line[start.offset...]
            if let missing = start.missing {
                bytes = [missing]
                count(missing)
            }
        } else if start.form == .encoded, line.drop(while: \.isJSONWhiteSpace).starts(with: "//".utf8) {
            // A comment between the pieces of a text that code puts together.
            return true
        } else if start.isTree, line.allSatisfy(\.isJSONWhiteSpace) {
            return false
        } else {
            if let header {
                if line.starts(with: header) {
                    text = line.dropFirst(header.count)
                } else if PayloadStart.isLog(line) || !hasQuotes && PayloadStart(in: line)?.isBehindText == false {
                    return false
                } else {
                    // Android Studio indents the further lines of a message.
                    text = line.drop(while: \.isJSONWhiteSpace)
                }
            }
            if let tag, line.starts(with: tag) { text = line.dropFirst(tag.count) }
            bytes.append(UInt8(ascii: "\n"))
        }
        bytes += text
        text.forEach { count($0) }
        if depth <= 0, let end = text.lastIndex(where: { "}])".utf8.contains($0) }) { noteSource(text[end...]) }
        let end = text.reversed().drop(while: \.isJSONWhiteSpace)
        endsLikeAMap = isBundle ? end.starts(with: "]}".utf8) : !hasQuotes && end.first == UInt8(ascii: "}")
        return true
    }

    /// Looks for PushKit's names in the text around the payload; in a value they say nothing.
    private mutating func noteSource(_ text: ArraySlice<UInt8>) {
        isOfPushKit =
            isOfPushKit
            || ["PKPushType", "PushKit", "VoipPush", "didReceiveIncomingPush"].contains { text.has($0.utf8) }
    }

    private mutating func count(_ byte: UInt8) {
        if let open = quote {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == open {
                quote = nil
            }
            return
        }
        switch byte {
        case UInt8(ascii: "\"") where hasQuotes: quote = byte
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
        case UInt8(ascii: "(") where hasQuotes: depth += 1
        case UInt8(ascii: ")") where hasQuotes: depth -= 1
        default: break
        }
    }

    func repaired() -> RepairedPayload? { hasQuotes ? RepairedPayload(bytes, isCode: start.isCode) : nil }

    func payload() throws(PayloadFormError) -> WrittenPayload {
        switch start.form {
        case .bundle, .map: try printedMap()
        case .encoded: try encoded()
        case .json, .list, .literal, .activityManager, .curl, .sns, .webPush: try literal()
        }
    }

    private func encoded() throws(PayloadFormError) -> WrittenPayload {
        guard let json = PrintedBytes.json(in: bytes[...]) else {
            throw PayloadFormError("this begins like \(PayloadForm.encoded.name), and is not: copy it whole")
        }
        return WrittenPayload(json: json)
    }

    /// The Bundle without the white space between its last two brackets, and without a bracket before it.
    private var bundle: [UInt8] {
        var text = bytes.drop(while: { $0.isJSONWhiteSpace || $0 == UInt8(ascii: "[") })
        let end = text.lastIndex { !$0.isJSONWhiteSpace }
        if let end, text[end] == UInt8(ascii: "]"), let brace = text[..<end].lastIndex(where: { !$0.isJSONWhiteSpace }),
            text[brace] == UInt8(ascii: "}")
        {
            text = text[...brace] + [UInt8(ascii: "]")]
        }
        return Array(text)
    }

    private func printedMap() throws(PayloadFormError) -> WrittenPayload {
        let bytes = isBundle ? bundle : bytes
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
        return payload(of: map)
    }

    private func payload(of map: PrintedMap) -> WrittenPayload {
        var writer = JSONWriter(reserving: bytes.count + 64)
        let parts = start.form == .map ? ["notification", "aps"] : ["data", "notification", "aps", "message"]
        if !isBundle, parts.contains(where: map.hasMap) {
            map.writeNested(to: &writer)
            return WrittenPayload(json: writer.bytes, platform: map.hasMap("aps") ? .ios : nil)
        }
        writer.object { writer in
            // Any other action is no one of FCM's service.
            let isOfActivity = action?.hasPrefix("android.intent.action.") == true && map.hasReservedKey
            if isBundle, let action, isOfActivity || action.hasPrefix("com.google.") { writer.member("action", action) }
            writer.key(isBundle || map.hasReservedKey ? "extras" : "data")
            map.write(to: &writer)
        }
        return WrittenPayload(json: writer.bytes, platform: .android)
    }

    /// The object in the notation of a language, with the brackets that are missing.
    private var object: PrintedLiteral? {
        let found = PrintedLiteral(
            bytes[...], isCode: start.isCode, isTree: start.isTree, isStruct: start.isStruct, constants: constants)
        guard found == nil, let missing = start.missing else { return found }
        let close = missing == UInt8(ascii: "[") ? UInt8(ascii: "]") : UInt8(ascii: "}")
        return PrintedLiteral((bytes + [close])[...], isTree: start.isTree)
    }

    private func literal() throws(PayloadFormError) -> WrittenPayload {
        if let literal = self.object {
            var payload = literal.payload
            if isOfPushKit { payload.headers = PayloadEnvelope.voip }
            if isOfWebPush { payload.platform = .web }
            return payload
        }
        // A text of C# on many lines, whose quotation marks are doubled.
        if let json = PrintedBytes.json(in: bytes[...]) { return WrittenPayload(json: json) }
        guard let map = PrintedMap(bytes[...], isBundle: false, mark: UInt8(ascii: ":")), !map.hasQuotedValue else {
            let remedy =
                PayloadForm.openText(in: bytes).map { "the quotation mark before this text is not closed: \($0)" }
                ?? "copy it whole"
            throw PayloadFormError("this begins like \(start.form.name), and cannot be read to its end: \(remedy)")
        }
        return payload(of: map)
    }
}

extension PrintedLiteral {
    /// The object as a payload. Of a push for iOS people print what `aps` has by itself, too.
    var payload: WrittenPayload {
        let root =
            isApples || isClojures ? try? JSONDocument(scanning: json, limits: JSONLimits(depth: .max)).root : nil
        guard let root, root.isInnerAPS else {
            var result = WrittenPayload(json: json, platform: isApples ? .ios : nil)
            result.remarks = Array(faults.compactMap(\.kind.remark).prefix(8))
            return result
        }
        var writer = JSONWriter(reserving: json.count + 16)
        writer.object { $0.member("aps", raw: root.compactBytes) }
        return WrittenPayload(json: writer.bytes, platform: .ios, name: "what aps of a push for iOS has, by itself")
    }
}

extension JSONNode {
    /// Whether an object has an alert, and nothing but keys of `aps`.
    fileprivate var isInnerAPS: Bool {
        kind == .object && hasAny("alert") && members.allSatisfy { APSKey(rawValue: $0.key) != nil }
    }
}

/// A fault in a payload of a form other than JSON.
public struct PayloadFormError: Error, Hashable, Sendable {
    /// The fault and its remedy.
    public let message: String

    init(_ message: String) { self.message = message }
}

/// A payload in a form other than JSON, read line by line until it is complete.
///
/// The time to read it is proportional to its length.
public struct PayloadText: Sendable {
    private enum Content: Sendable {
        case printed(PrintedText)
        case command(ShellWords)
    }

    /// The begin of it.
    public let start: PayloadStart
    /// The form.
    public var form: PayloadForm { start.form }
    private var content: Content
    private var size = 0

    /// Far more than the length of any request.
    private static let sizeMax = 4 << 20

    /// Makes a payload text from its first line; `nil` for JSON that begins the line.
    ///
    /// - Parameter constants: the objects that variables of source code have, as JSON, by name.
    public init?(
        _ start: PayloadStart, line: [UInt8], constants: [String: [UInt8]] = [:]
    ) throws(PayloadFormError) {
        self.start = start
        switch start.form {
        case .json, .list:
            guard start.isBehindText else { return nil }
            content = .printed(PrintedText(start, constants))
        case .bundle, .map, .literal, .encoded: content = .printed(PrintedText(start, constants))
        case .activityManager, .curl, .sns, .webPush: content = .command(ShellWords())
        }
        _ = try add(line)
    }

    /// Whether the payload is complete.
    public var isWhole: Bool {
        switch content {
        case .printed(let text): text.isWhole
        case .command(let words): words.isWhole
        }
    }

    /// Adds a line to a payload that is not complete.
    ///
    /// - Returns: false for a line that does not belong to it.
    public mutating func add(_ line: [UInt8]) throws(PayloadFormError) -> Bool {
        size += line.count
        guard size <= Self.sizeMax else {
            throw PayloadFormError("\(form.name): longer than 4 MiB, without an end")
        }
        switch content {
        case .printed(var text):
            content = .command(ShellWords())
            defer { content = .printed(text) }
            return text.add(line)
        case .command(var words):
            content = .command(ShellWords())
            defer { content = .command(words) }
            words.add(line: line)
            return true
        }
    }

    /// Returns the payload with its faults repaired; `nil` if it has none, or has others.
    public func repaired() -> RepairedPayload? {
        if case .printed(let text) = content { text.repaired() } else { nil }
    }

    /// Returns the payload as JSON.
    public func payload() throws(PayloadFormError) -> WrittenPayload {
        switch content {
        case .printed(let text): return try text.payload()
        case .command(let words):
            let list = try words.finished()
            switch form {
            case .curl: return try CurlCommand(list, input: words.input, at: words.inputLine).payload()
            case .sns: return try SNSCommand(list).payload()
            case .webPush: return try WebPushCommand(list).payload()
            default: return try ActivityManagerCommand(list).payload()
            }
        }
    }
}
