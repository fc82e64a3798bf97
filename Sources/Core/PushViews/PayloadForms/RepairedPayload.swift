public import PushModel
import PushRouter

/// A payload in a text with faults that people make when they copy and mask it, and that have one repair each.
public struct RepairedPayload: Sendable {
    /// The payload.
    public let json: [UInt8]
    /// The platform, if only one has such payloads.
    public let platform: Platform?
    /// The text behind it.
    public let rest: ArraySlice<UInt8>
    /// The assumptions, each with its line in the text, from 0 on.
    public let remarks: [(line: Int, text: String)]

    /// The payload with what its notation says.
    public var payload: WrittenPayload {
        var result = WrittenPayload(json: json, platform: platform)
        result.remarks = remarks.map { "line \($0.line + 1): \($0.text)" }
        return result
    }

    /// The number of remarks of a kind; a last one tells how many more there are.
    private static let remarksMax = 3

    /// Repairs the object that begins a text; `nil` if it has another fault, or is about no push.
    ///
    /// - Parameters:
    ///   - text: the text; its first byte other than white space is a bracket.
    ///   - isCode: whether it is source code, in which a word is a value.
    public init?(_ text: [UInt8], isCode: Bool = false) {
        if !isCode, let found = Self.closed(text) {
            (json, platform, rest, remarks) = (found.json, nil, found.rest, [found.remark])
            return
        }
        if !isCode, let straight = PayloadForm.straightened(text) {
            guard let found = RepairedPayload(straight, isCode: true) else { return nil }
            (json, platform, rest) = (found.json, found.platform, found.rest)
            let line = zip(text, straight).prefix { $0 == $1 }.count { $0.0 == UInt8(ascii: "\n") }
            let remark =
                "quotation marks are typographic (\u{201C} \u{201D}), as a chat or a word processor makes them: write \" there"
            remarks = [(line, remark)] + found.remarks
            return
        }
        let begin = text.drop(while: \.isJSONWhiteSpace)
        guard let literal = PrintedLiteral(begin, isCode: isCode, repairs: true),
            let root = try? JSONDocument(scanning: literal.json, limits: JSONLimits(depth: .max)).root,
            Self.isKnown(root, isCut: literal.isCutBehindComma)
        else { return nil }
        // A bracket closed the object too early: members follow it.
        guard text[literal.place...].first(where: { !$0.isJSONWhiteSpace }) != UInt8(ascii: ",") else { return nil }
        json = literal.json
        platform = literal.isApples ? .ios : nil
        rest = text[literal.place...]
        remarks = Self.remarks(literal.faults, in: text, isCode: isCode)
    }

    /// Whether an object that begins a text has a fault, as far as the notations of languages do not allow it.
    public static func isNeeded(for text: [UInt8]) -> Bool {
        guard let literal = PrintedLiteral(text.drop(while: \.isJSONWhiteSpace)) else { return true }
        return literal.hasBrokenText || literal.isJSONButForCommas
    }

    /// The objects of a message that a bracket left open may hold others in.
    private static let parts = ["data", "notification", "android", "apns", "aps", "alert", "payload"]

    /// Returns a message whose one fault is that an object in it is not closed before a member of the message; `nil` if
    /// it has another.
    private static func closed(_ text: [UInt8]) -> (
        json: [UInt8], remark: (line: Int, text: String), rest: ArraySlice<UInt8>
    )? {
        guard text.count <= closedMax, text.first(where: { !$0.isJSONWhiteSpace }) == UInt8(ascii: "{"),
            let open = PrintedLiteral(text[...], repairs: true), open.hasOneOpenBracket,
            let root = try? JSONDocument(scanning: open.json, limits: JSONLimits(depth: .max)).root
        else { return nil }
        let outer = root["message"] ?? root
        let members = ["notification", "data", "android", "apns", "webpush", "token", "to", "topic", "priority"]
        var candidates: [(place: Int, part: String, member: String)] = []
        for part in parts {
            for member in members where member != part && outer[member] == nil && outer[part]?[member] != nil {
                let key = Array("\"\(member)\"".utf8)
                candidates += text.indices.filter { text[$0...].starts(with: key) }.map { ($0, part, member) }
            }
        }
        // The first member that would lie in the object is the one behind the missing bracket.
        for (place, part, member) in candidates.sorted(by: { $0.place < $1.place }).prefix(triesMax) {
            guard let comma = text[..<place].lastIndex(where: { !$0.isJSONWhiteSpace }),
                text[comma] == UInt8(ascii: ",")
            else { continue }
            let whole = text[..<comma] + [UInt8(ascii: "}")] + text[comma..<open.place]
            guard let document = try? JSONDocument(scanning: Array(whole), limits: JSONLimits(depth: .max)) else {
                continue
            }
            let line = text[..<comma].count { $0 == UInt8(ascii: "\n") }
            let remark = """
                the closing bracket of \(part) is missing at the end of this line: read as if it were there; \
                \(member) would lie in \(part) otherwise
                """
            return (Array(document.root.compactBytes), (line, remark), text[open.place...])
        }
        return nil
    }

    private static let (closedMax, triesMax) = (64 << 10, 16)

    /// Whether an object is a payload, or one that has a name. Of one whose end is missing only the name is known.
    public static func isKnown(_ root: JSONNode, isCut: Bool = false) -> Bool {
        if root.kind == .array, let first = root.elements.first { return isKnown(first, isCut: isCut) }
        guard root.kind == .object else { return false }
        if PayloadEnvelope.nameOfOther(root) != nil { return true }
        guard !isCut else { return false }
        if WrittenPayload(json: root.compactBytes).isAboutPush(isTentative: true) { return true }
        if root.hasAny("google.message_id", "gcm.message_id", "google.delivered_priority") { return true }
        if root["userInteraction"]?.kind == .bool, root.hasAny("message", "title", "data") { return true }
        if root.hasAny("GCM", "APNS", "APNS_SANDBOX") || root["apns"]?.hasAny("payload") == true { return true }
        if PayloadEnvelope.isPartsOnly(root) { return true }
        if let part = root["data"] ?? root["payload"], root.count == 1, part.count > 0 {
            return part.hasTextsOnly || part.isApplePayload
        }
        let hasData = root["data"]?.kind == .object || root["extras"]?.kind == .object
        return hasData
            && root.hasAny("messageId", "message_id", "from", "sentTime", "priority", "collapseKey", "apns", "android")
    }

    private static func remarks(
        _ faults: [PrintedLiteral.Fault], in text: [UInt8], isCode: Bool
    ) -> [(line: Int, text: String)] {
        func line(_ place: Int) -> Int { text[..<place].count { $0 == UInt8(ascii: "\n") } }
        var remarks: [(line: Int, text: String)] = []
        var values = 0
        var brackets: (count: Int, place: Int) = (0, 0)
        for fault in faults {
            switch fault.kind {
            case .comma:
                remarks.append(
                    (line(fault.place), "the comma at the end of this line is missing: read as if it were there"))
            case .commaInLine:
                remarks.append((line(fault.place), "a comma between two members is missing: read as if it were there"))
            case .extraComma:
                let first = text.first { !$0.isJSONWhiteSpace && !"{[".utf8.contains($0) }
                guard !isCode, first == UInt8(ascii: "\"") else { continue }
                remarks.append(
                    (
                        line(fault.place),
                        "the comma behind the last member is one too many, and JSON has none: remove it"
                    ))
            case .colon(let key):
                let name = key.showingControls()
                remarks.append((line(fault.place), "the colon behind \(name) is missing: read as if it were there"))
            case .note(let text):
                guard !isCode else { continue }
                let shown = String(text.prefix(40)).showingControls()
                remarks.append((line(fault.place), "\(shown) behind a value is no JSON: left out"))
            case .brackets: brackets = (brackets.count + 1, fault.place)
            case .value(let value):
                values += isCode ? 0 : 1
                guard !isCode, values <= remarksMax else { continue }
                let shown = String(value.prefix(40)).showingControls()
                remarks.append((line(fault.place), "\(shown) is no value of JSON: read as a text"))
            case .variable, .leftOut: remarks.append((line(fault.place), fault.kind.remark ?? ""))
            case .brokenText:
                remarks.append(
                    (
                        line(fault.place),
                        "a text goes on in the next line, where JSON has \\n: read as one text, and a link without the line feeds"
                    ))
            }
        }
        // Several commas of a line are told once.
        remarks = remarks.enumerated().filter { index, remark in
            !remarks[..<index].contains { $0.line == remark.line && $0.text == remark.text }
        }.map(\.element)
        if values > remarksMax {
            remarks.append(
                (0, counted(values - remarksMax, "more value is read as a text", "more values are read as texts")))
        }
        if brackets.count > 0 {
            let closing = counted(brackets.count, "closing bracket is", "closing brackets are")
            remarks.append((line(brackets.place), "\(closing) missing at the end: read as if the text were whole"))
        }
        return remarks
    }
}

extension PrintedLiteral {
    /// A fault that was repaired.
    struct Fault {
        enum Kind: Hashable {
            case comma, commaInLine, extraComma, colon(String), brackets, value(String), brokenText
            /// A note in brackets behind a value.
            case note(String)
            /// Marks that stand for members.
            case leftOut
            /// The value of a key is a variable: its name.
            case variable(key: String, String)

            /// Whether it is told of any object, and not of a repaired one alone.
            var isTold: Bool { remark != nil }

            /// The sentence about a variable, or about marks for members; `nil` for a fault.
            var remark: String? {
                if self == .leftOut { return "... stands for members that are left out: they are not known" }
                guard case .variable(let key, let name) = self else { return nil }
                let isObject = key == "data" || key == "notification"
                return "\(key) is a variable, \(String(name.prefix(40)).showingControls()): "
                    + (isObject ? "its members are not known" : "its value is not known, and it is left out")
            }
        }
        let kind: Kind
        /// Its position in the text.
        let place: Int
    }

    /// Whether its one fault is one bracket that is missing at the end.
    var hasOneOpenBracket: Bool {
        faults.count == 1 && faults.allSatisfy { if case .brackets = $0.kind { true } else { false } }
            && !isCutBehindComma
    }

    /// Whether it is JSON but for commas behind the last members.
    var isJSONButForCommas: Bool {
        guard !extraCommas.isEmpty else { return false }
        var plain = Array(text[..<place])
        for comma in extraCommas { plain[comma - text.startIndex] = UInt8(ascii: " ") }
        return (try? JSONDocument(scanning: plain, limits: JSONLimits(depth: .max))) != nil
    }
}
