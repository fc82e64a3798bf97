public import PushModel
import PushRouter

// Lines that people paste: logs and their prefixes, quotations, marks of Markdown, sentences.
extension PayloadStart {
    /// Returns the index behind a word in brackets that begins a line of a log, `[Message] `, or behind brackets without
    /// one, `[   ] Synced`; `nil` if there are none.
    static func tagEnd(in text: ArraySlice<UInt8>) -> Int? {
        guard text.first == UInt8(ascii: "["), let close = text.firstIndex(of: UInt8(ascii: "]")) else { return nil }
        let word = text[(text.startIndex + 1)..<close]
        let letters: (UInt8) -> Bool = { $0 | 0x20 >= UInt8(ascii: "a") && $0 | 0x20 <= UInt8(ascii: "z") }
        let isWord = word.allSatisfy { letters($0) || $0.isDigit || " .:_-/+@#".utf8.contains($0) }
        let isJSON = ["true", "false", "null"].contains { word.elementsEqual($0.utf8) }
        let behind = text[(close + 1)...].drop(while: \.isJSONWhiteSpace)
        let isEmpty = !word.isEmpty && word.allSatisfy(\.isJSONWhiteSpace) && behind.first.map(letters) == true
        // A date, which is no number of JSON.
        let isDate = word.first?.isDigit == true && word.contains(UInt8(ascii: ":")) && isWord && !behind.isEmpty
        return isEmpty || isDate || word.contains(where: letters) && isWord && !isJSON ? close + 1 : nil
    }

    /// Whether a line is quoted as mail, Markdown and the second lines of a shell are.
    public static func isQuoted(_ line: [UInt8]) -> Bool {
        line.drop(while: \.isJSONWhiteSpace).first == UInt8(ascii: ">")
    }

    /// Returns a line without the marks of a quotation before it: `> `.
    public static func unquoted(_ line: [UInt8]) -> [UInt8] {
        guard isQuoted(line) else { return line }
        var text = line.drop(while: \.isJSONWhiteSpace)
        while text.first == UInt8(ascii: ">") {
            text = text.dropFirst()
            if text.first == UInt8(ascii: " ") { text = text.dropFirst() }
        }
        return Array(text)
    }

    /// Returns the first line of a payload without what stands around it: the marks of a quotation, backticks and stars
    /// of Markdown, the word before a bracket as React Native prints it, the marks of Python's bytes.
    public static func unwrapped(_ line: [UInt8]) -> [UInt8] {
        let line = unquoted(line)
        guard !isFence(line) else { return line }
        var text = line.drop(while: \.isJSONWhiteSpace)
        func end() -> Int? { text.lastIndex { !$0.isJSONWhiteSpace } }
        if text.starts(with: "```".utf8) {
            let rest = text.dropFirst(3)
            let language = rest.prefix { $0 | 0x20 >= 97 && $0 | 0x20 <= 122 }
            text =
                rest[language.endIndex...].first.map { " {[".utf8.contains($0) } == true
                ? rest[language.endIndex...] : rest
            if let end = end(), text[...end].reversed().starts(with: "```".utf8) { text = text[...(end - 3)] }
        } else if text.first == UInt8(ascii: "`") {
            text = text.dropFirst()
            if let end = end(), text[end] == UInt8(ascii: "`") { text = text[..<end] }
        } else if text.starts(with: "**{".utf8) || text.starts(with: "**[".utf8) {
            text = text.dropFirst(2)
            if let end = end(), text[...end].reversed().starts(with: "**".utf8) { text = text[...(end - 2)] }
        } else if text.starts(with: "Object {".utf8) {
            text = text.dropFirst(7)
        } else if text.starts(with: "b'{".utf8), let end = end(), text[end] == UInt8(ascii: "'") {
            text = text[..<end].dropFirst(2)
        } else {
            return line
        }
        return Array(text)
    }

    /// Whether a line is the begin or the end of a code block in Markdown, as a ticket or a chat has it.
    public static func isFence(_ line: [UInt8]) -> Bool {
        let text = line.drop(while: \.isJSONWhiteSpace)
        guard text.starts(with: "```".utf8) || text.starts(with: "~~~".utf8) else { return false }
        // A block in one line has more than a language.
        return !text.dropFirst(3).contains { "{[:`".utf8.contains($0) }
    }

    /// Whether a line is from a log of Android or Xcode, judged by the text before the message, or from
    /// `dumpsys activity`.
    public static func isLog(_ line: [UInt8]) -> Bool {
        let text = line.drop(while: \.isJSONWhiteSpace)
        if ["* ", "Intent { "].contains(where: { text.starts(with: $0.utf8) }) { return true }
        let marks = line.prefix(11).map { $0.isDigit ? UInt8(ascii: "0") : $0 }
        let starts =
            ["00-00 00:00", "0000-00-00 ", "0000-00-00T", "[0000-00-00", "---------"] + "VDIWEF".map { "\($0)/" }
        return starts.contains { marks.starts(with: $0.utf8) }
    }
}

extension PayloadForm {
    /// Returns the name of lines that are YAML: keys without quotation marks, one a line, of which one has members.
    public static func nameOfYAML(_ lines: [[UInt8]]) -> String? {
        let written = lines.filter { !$0.allSatisfy(\.isJSONWhiteSpace) }
        func value(_ line: [UInt8]) -> ArraySlice<UInt8>? {
            let text = line.drop { $0.isJSONWhiteSpace || $0 == UInt8(ascii: "-") }
            let key = text.prefix { $0.isDigit || $0 | 0x20 >= 97 && $0 | 0x20 <= 122 || "_-.".utf8.contains($0) }
            let rest = text[key.endIndex...]
            return !key.isEmpty && rest.first == UInt8(ascii: ":") ? rest.dropFirst() : nil
        }
        // A text of several lines, which are indented, and places of templates.
        var isInText = false
        let keys = written.filter { line in
            let text = line.drop(while: \.isJSONWhiteSpace)
            let isOfTemplate = ["{{", "{%", "#"].contains { text.starts(with: $0.utf8) }
            if isInText, line.first == UInt8(ascii: " "), value(line) == nil { return false }
            isInText = [">-", ">", "|", "|-"].contains { line.reversed().starts(with: $0.utf8.reversed()) }
            return !isOfTemplate
        }
        let isYAML =
            keys.count > 1 && !written.contains(where: PayloadStart.isLog)
            && keys.allSatisfy { value($0).map { $0.first ?? 0x20 == 0x20 } == true }
            && keys.contains { value($0)?.allSatisfy(\.isJSONWhiteSpace) == true }
        guard isYAML else { return nil }
        // Source: home-assistant, companion.home-assistant, docs/notifications/critical.md (as a report names it).
        if written.contains(where: { $0.has(": notify.".utf8) }) {
            return """
                a call of Home Assistant's notify in YAML, not a push: its server makes the push of it; ttl and priority \
                belong into data, beside message and title
                """
        }
        return "YAML, and no form that is read: give the push as JSON"
    }
}

extension Platform {
    /// Returns the platform that the text around a payload of FCM speaks of, if it is not the one that is assumed;
    /// `nil` for none, and for several.
    public static func named(in lines: [[UInt8]]) -> Platform? {
        let prose = lines.filter { line in !line.contains { "{}[]".utf8.contains($0) } && !line.has("\":".utf8) }
        let found = allCases.filter { platform in
            platform.wordsOfPeople.contains { word in prose.contains { $0.has(word.utf8) } }
                || platform.hasAPNsHeaders && lines.contains(where: isOfXcode)
        }
        return found.count == 1 && found.first != Transport.fcm.platform ? found.first : nil
    }

    private var wordsOfPeople: [String] {
        switch self {
        case .ios: ["iOS", "iPhone", "iPad", "APNs", "AppDelegate", "UNUserNotification", "Xcode", "didReceiveRemote"]
        case .android: ["Android", "android", "logcat", "APK", "Pixel", "Samsung", "Galaxy", "Xiaomi", "Huawei"]
        case .web:
            [
                "service worker", "Service Worker", "service-worker", "serviceworker", "messaging-sw.js", "Chrome",
                "Firefox", "Safari", "self.addEventListener", "VAPID",
            ]
        }
    }

    /// Whether a line has the process of a log as Xcode prints it: `Name[810:359970]`.
    private static func isOfXcode(_ line: [UInt8]) -> Bool {
        line.indices.contains { place in
            guard line[place] == UInt8(ascii: "["), place > 0, (97...122).contains(line[place - 1] | 0x20) else {
                return false
            }
            let process = line[(place + 1)...].prefix(while: \.isDigit)
            let rest = line[process.endIndex...]
            let thread = rest.dropFirst().prefix(while: \.isDigit)
            return !process.isEmpty && rest.first == UInt8(ascii: ":") && !thread.isEmpty
                && line[thread.endIndex...].first == UInt8(ascii: "]")
        }
    }

    /// The name, and the option that chooses it.
    var pointer: String { "\(name): --platform \(rawValue)" }
}

extension Transport {
    /// The name, and the option that chooses it.
    var pointer: String {
        "\(self == .adm ? "Amazon Device Messaging" : "Huawei's push kit"): --transport \(rawValue)"
    }

    /// Returns the service beside FCM that the text around a payload speaks of; `nil` for none.
    static func named(in lines: [[UInt8]]) -> Transport? {
        func has(_ words: String...) -> Bool { words.contains { word in lines.contains { $0.has(word.utf8) } } }
        if has("ADM message", "using ADM", "Using ADM", "Amazon Device Messaging", "Kindle", "Fire tablet") {
            return .adm
        }
        return has("HMS Push", "Huawei", "HmsMessageService") ? .hms : nil
    }
}

extension PayloadStart {
    /// Whether source code sends a web push: web-push for Node, pywebpush, Minishlink's for PHP.
    ///
    /// - Parameter name: a variable that the call has to name; `nil`: any.
    static func sendsWebPush(_ text: some Collection<UInt8>, _ name: String? = nil) -> Bool {
        let calls = [
            "webpush.sendNotification(", "webPush.sendNotification(", "webpush(", "->sendOneNotification(",
            "->queueNotification(", "WebPush.payload_send(",
        ]
        guard calls.contains(where: { text.has($0.utf8) }) else { return false }
        guard let name else { return true }
        let words = text.split { !($0.isDigit || (97...122).contains($0 | 0x20) || $0 == UInt8(ascii: "_")) }
        return words.contains { $0.elementsEqual(name.utf8) }
    }

    /// The action of the intent that a text prints: `Intent { act=NAME `; `nil` without one.
    static func action(in text: ArraySlice<UInt8>) -> String? {
        guard text.has("Intent { act=".utf8),
            let place = text.indices.first(where: { text[$0...].starts(with: "act=".utf8) })
        else { return nil }
        let name = text[(place + 4)...].prefix { !$0.isJSONWhiteSpace && $0 != UInt8(ascii: ",") }
        return name.contains(UInt8(ascii: ".")) ? String(decoding: name, as: UTF8.self) : nil
    }

    /// Whether a line begins with a word in brackets, which is no list of JSON: `[Braze] text`, `[HTTP/1.1 200 OK`.
    public static func isTag(_ line: [UInt8]) -> Bool {
        let text = line.drop(while: \.isJSONWhiteSpace)
        let word = text.dropFirst().prefix { (97...122).contains($0 | 0x20) }
        return text.first == UInt8(ascii: "[") && !word.isEmpty
            && !["true", "false", "null"].contains { word.elementsEqual($0.utf8) }
    }

    /// Whether a line is a member of an object with its key in quotation marks, without the bracket before it.
    public static func isMemberOfJSON(_ line: [UInt8]) -> Bool {
        let text = line.drop(while: \.isJSONWhiteSpace)
        return text.first.map { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "'") } == true
            && PrintedLiteral.begins(text, behind: UInt8(ascii: "["))
    }

    /// Returns the object whose members a text has, if only the brackets around them and commas behind them are missing.
    static func object(ofMembers text: [UInt8]) -> [UInt8]? {
        let open = [UInt8(ascii: "{")] + text
        let end = open.lastIndex { !$0.isJSONWhiteSpace && $0 != UInt8(ascii: ",") } ?? 0
        let closed = open[...end] + [UInt8(ascii: "}")]
        for whole in [open, Array(closed)] {
            let document = try? JSONDocument(scanning: whole, limits: JSONLimits(depth: .max))
            guard let root = document?.root else { continue }
            // A line out of aps.
            guard root.members.allSatisfy({ APSKey(rawValue: $0.key) != nil && $0.key != "category" }) else {
                return Array(root.compactBytes)
            }
            return Array("{\"aps\":".utf8) + root.compactBytes + [UInt8(ascii: "}")]
        }
        if let found = RepairedPayload(Array(closed), isCode: true) {
            return found.remarks.isEmpty && found.rest.isEmpty ? found.json : nil
        }
        let other = PayloadForm.object(in: Array(closed))
        return other?.rest.isEmpty == true ? other?.payload.json : nil
    }

    /// Whether a line begins a member of a message in source code, without the bracket before it.
    public static func isMemberOfCode(_ line: [UInt8]) -> Bool {
        let text = line.drop(while: \.isJSONWhiteSpace)
        let parts = ["apns", "android", "webpush", "web", "notification", "data", "message"]
        return parts.contains { text.starts(with: "\($0): {".utf8) }
    }

    /// Whether a line is a key with its value, as a program prints each by itself: `tap: "background"`.
    public static func isPrintedMember(_ line: [UInt8]) -> Bool {
        let text = line.drop(while: \.isJSONWhiteSpace)
        let key = text.prefix {
            $0 | 0x20 >= UInt8(ascii: "a") && $0 | 0x20 <= UInt8(ascii: "z") || "_.0123456789".utf8.contains($0)
        }
        let value = text[key.endIndex...]
        guard !key.isEmpty, value.starts(with: ": ".utf8), let first = value.dropFirst(2).first else { return false }
        return first == UInt8(ascii: "\"") || first.isDigit
    }

    /// Whether a line begins with a word, or with a mark of Markdown, and so with no value of JSON.
    public static func isWord(_ line: [UInt8]) -> Bool {
        let first = line.first { !$0.isJSONWhiteSpace } ?? 0
        return first | 0x20 >= UInt8(ascii: "a") && first | 0x20 <= UInt8(ascii: "z") || "`>*#".utf8.contains(first)
    }

    /// Returns the object whose members a program printed, one a line; `nil` if it is about no push.
    public static func object(ofPrinted lines: [[UInt8]]) -> [UInt8]? {
        let members = lines.filter { !$0.allSatisfy(\.isJSONWhiteSpace) }.map { line in
            guard isPrintedMember(line), let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return line }
            let key = line[..<colon].drop(while: \.isJSONWhiteSpace)
            let end = line.lastIndex { !$0.isJSONWhiteSpace && $0 != UInt8(ascii: ",") } ?? colon
            return [UInt8(ascii: "\"")] + key + [UInt8(ascii: "\"")] + line[colon...end]
        }
        let text = [UInt8(ascii: "{")] + members.joined(separator: Array(",\n".utf8)) + Array("\n}".utf8)
        guard let found = RepairedPayload(text), found.rest.isEmpty else { return nil }
        return found.json
    }

    /// Whether a line begins with a word or a mark of Markdown, and has no part of an object.
    public static func isWords(_ line: [UInt8]) -> Bool {
        isWord(line) && !line.contains { "{}".utf8.contains($0) } && !line.has("\":".utf8)
    }

    /// Whether a line may be a member of an object without the bracket before it.
    public static func isMember(_ line: [UInt8]) -> Bool {
        isMemberOfJSON(line) || isMemberOfCode(line) || isPrintedMember(line) || extra(in: line)?.isReserved == true
            || isMemberOfDictionary(line)
    }

    /// Whether a line is the begin of a member of an `NSDictionary` that is printed: `aps =     {`, `"a" = 1;`.
    private static func isMemberOfDictionary(_ line: [UInt8]) -> Bool {
        let text = line.drop(while: \.isJSONWhiteSpace)
        let key = text.prefix { $0.isDigit || (97...122).contains($0 | 0x20) || "_.-\"".utf8.contains($0) }
        let rest = text[key.endIndex...]
        return !key.isEmpty && rest.first == UInt8(ascii: " ")
            && rest.drop(while: \.isJSONWhiteSpace).first == UInt8(ascii: "=")
            && rest.last { !$0.isJSONWhiteSpace }.map { "{(;".utf8.contains($0) } == true
    }

    /// Returns the object whose members stand in lines without the brackets around them, and what is told of it; `nil`
    /// if it is none, or about no push.
    ///
    /// - Parameter isFirst: whether nothing precedes the lines: behind other text only a push that is known counts.
    public static func object(
        ofLines lines: [[UInt8]], isFirst: Bool
    ) -> (json: [UInt8], name: String, lines: Int)? {
        guard let found = object(ofLines: lines) else { return nil }
        let root = isFirst ? nil : try? JSONDocument(scanning: found.json, limits: JSONLimits(depth: .max)).root
        return isFirst || root.map({ RepairedPayload.isKnown($0) || $0["extras"] != nil }) == true ? found : nil
    }

    private static func object(ofLines lines: [[UInt8]]) -> (json: [UInt8], name: String, lines: Int)? {
        guard let line = lines.first else { return nil }
        if isMemberOfJSON(line) {
            let part = Array(lines.prefix { !isFence($0) }.joined(separator: [UInt8(ascii: "\n")]))
            let name = "a part of an object: read with the brackets around it"
            if let json = object(ofMembers: part), let root = try? JSONDocument(scanning: json).root,
                RepairedPayload.isKnown(root) || root.isApplePayload
                    || root.members.allSatisfy({ ![.object, .array].contains($0.value.kind) })
            {
                return (json, name, lines.count)
            }
            let open = [UInt8(ascii: "{")] + part
            guard let found = RepairedPayload(open) else { return nil }
            let count = open[..<found.rest.startIndex].count { $0 == UInt8(ascii: "\n") } + 1
            return (found.json, ([name] + found.remarks.map(\.text)).joined(separator: "; "), count)
        }
        if isMemberOfCode(line) {
            let text = [UInt8(ascii: "{")] + lines.joined(separator: [UInt8(ascii: "\n")])
            let end = text.lastIndex { !$0.isJSONWhiteSpace && $0 != UInt8(ascii: ",") } ?? 0
            let found = RepairedPayload(text[...end] + [UInt8(ascii: "}")], isCode: true)
            guard let found, found.rest.isEmpty else { return nil }
            return (found.json, "a part of a message in source code: read with { before it", lines.count)
        }
        if isMemberOfDictionary(line) {
            let own = lines.prefix { !isFence($0) }
            let text = [UInt8(ascii: "{")] + own.joined(separator: [UInt8(ascii: "\n")]) + [UInt8(ascii: "}")]
            let root = PrintedLiteral(text[...]).flatMap { literal in
                literal.place == text.endIndex ? try? JSONDocument(scanning: literal.json).root : nil
            }
            if let root, root.isApplePayload {
                let name = "members of an NSDictionary: read with the brackets around them"
                return (Array(root.compactBytes), name, own.count)
            }
        }
        var keys: Set<String> = []
        var extras: [(key: String, value: String, isReserved: Bool)] = []
        for line in lines {
            // Another push begins with a key that this one has.
            guard let next = extra(in: line), next.key != "aps", keys.insert(next.key).inserted else { break }
            extras.append(next)
        }
        let isApples = lines.contains { $0.drop(while: \.isJSONWhiteSpace).starts(with: "aps".utf8) }
        if extras.count > 1, !isApples, extras.contains(where: \.isReserved) {
            var writer = JSONWriter()
            writer.object { writer in
                writer.member("extras", object: { object in extras.forEach { object.member($0.key, $0.value) } })
            }
            return (writer.bytes, "read as the extras of an intent, one a line", extras.count)
        }
        return object(ofPrinted: lines).map { ($0, "read as the members of an object, one a line", lines.count) }
    }

    /// An extra of an intent that a line prints: `Key: from Value: 17`, as Firebase's sample does, or `from = 17`.
    ///
    /// Source: quickstart-android, messaging/MainActivity.java.
    private static func extra(in line: [UInt8]) -> (key: String, value: String, isReserved: Bool)? {
        let text = line.drop(while: \.isJSONWhiteSpace)
        func place(of mark: String, from begin: Int) -> Int? {
            text[begin...].indices.first { text[$0...].starts(with: mark.utf8) }
        }
        var (key, value): (ArraySlice<UInt8>, ArraySlice<UInt8>)
        var isWithColon = false
        if let begin = place(of: "Key: ", from: text.startIndex), let end = place(of: " Value: ", from: begin + 5) {
            (key, value) = (text[(begin + 5)..<end], text[(end + 8)...])
        } else if text.starts(with: "key = ".utf8), let end = place(of: ", value = ", from: text.startIndex + 6) {
            (key, value) = (text[(text.startIndex + 6)..<end], text[(end + 10)...])
        } else {
            key = text.prefix { $0.isDigit || (97...122).contains($0 | 0x20) || "_.-".utf8.contains($0) }
            var rest = text[key.endIndex...]
            // With the type behind the value.
            if let type = place(of: " (java.lang.", from: rest.startIndex) {
                rest = rest[..<type]
                let hasMark = [" = ", " : ", ": ", "="].contains { rest.starts(with: $0.utf8) }
                if !hasMark { rest = Array("=".utf8) + rest.drop(while: \.isJSONWhiteSpace) }
            }
            guard let mark = [" = ", " : ", ": ", "="].first(where: { rest.starts(with: $0.utf8) }) else { return nil }
            value = rest.dropFirst(mark.utf8.count)
            isWithColon = mark == ": "
        }
        while let last = value.last, last.isJSONWhiteSpace || ",;".utf8.contains(last) { value = value.dropLast() }
        if value.count > 1, value.first == UInt8(ascii: "\""), value.last == value.first {
            value = value.dropFirst().dropLast()
        }
        while key.last == UInt8(ascii: ",") { key = key.dropLast() }
        guard !key.isEmpty, !value.isEmpty else { return nil }
        let names = [
            "google.message_id", "google.sent_time", "google.ttl", "google.delivered_priority", "google.c.", "gcm.",
        ]
        // With a colon it may be a member of another notation.
        let isBrazes = key.elementsEqual("_ab".utf8) && !isWithColon
        let isReserved = isBrazes || names.contains { key.starts(with: $0.utf8) }
        return (String(decoding: key, as: UTF8.self), String(decoding: value, as: UTF8.self), isReserved)
    }
}

/// The text that stands before each line of an object: the prefix of a log, the frame of a logger, a number, the marks of
/// a comment or a difference. Numbers and the width of white space may differ from line to line.
public struct LinePrefix: Sendable {
    /// Its bytes, with one zero for a number and the white space before it, and one space for other white space.
    private let pattern: [UInt8]

    /// The limits of lines of one object, and of its bytes.
    private static let (linesMax, lengthMax) = (1000, 400)
    private static let (number, space) = (UInt8(ascii: "0"), UInt8(ascii: " "))
    private static let marks = Array("|:+/>*#-]".utf8)

    /// Finds the prefix of a line that leaves a bracket open, and of the next one; `nil` if there is none.
    ///
    /// - Parameter isFirst: whether the text begins with the line, which may be a comment of source code then.
    public init?(of line: [UInt8], _ next: [UInt8], isFirst: Bool) {
        let (own, other) = (Self.pattern(of: line), Self.pattern(of: next))
        var length = zip(own, other).prefix { $0.byte == $1.byte }.count
        while length > 0, !Self.marks.contains(own[length - 1].byte), own[length - 1].byte != Self.space { length -= 1 }
        guard length > 0 else { return nil }
        let text = line[..<own[length - 1].end].drop(while: \.isJSONWhiteSpace)
        let isComment = ["//", "#", "*"].contains { text.starts(with: $0.utf8) }
        guard text.contains(where: { $0.isDigit || $0 >= 0x80 || Self.marks.contains($0) }),
            !text.contains(where: { "\"{}='".utf8.contains($0) }), Self.openBrackets(in: text) == 0,
            isFirst || !isComment
        else { return nil }
        pattern = own[..<length].map(\.byte)
    }

    /// Whether a line leaves a bracket open, and does not begin with one.
    public static func isOpen(_ line: [UInt8]) -> Bool {
        let text = line.drop(while: \.isJSONWhiteSpace)
        guard let first = text.first, !"{[(\"'".utf8.contains(first) else { return false }
        return openBrackets(in: text) > 0
    }

    private static func openBrackets(in text: ArraySlice<UInt8>) -> Int {
        var isQuoted = false
        return text.reduce(into: 0) { count, byte in
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            if !isQuoted { count += "{[".utf8.contains(byte) ? 1 : "}]".utf8.contains(byte) ? -1 : 0 }
        }
    }

    private static func pattern(of line: [UInt8]) -> [(byte: UInt8, end: Int)] {
        var result: [(byte: UInt8, end: Int)] = []
        var place = 0
        while place < min(line.count, lengthMax) {
            let blank = line[place...].prefix(while: \.isJSONWhiteSpace)
            let digits = line[blank.endIndex...].prefix(while: \.isDigit)
            let byte = digits.isEmpty ? blank.isEmpty ? line[place] : space : number
            place = digits.isEmpty && blank.isEmpty ? place + 1 : digits.endIndex
            result.append((byte, place))
        }
        return result
    }

    /// Returns the index behind the prefix in a line; `nil` if the line lacks it. A blank line may lack its last space.
    private func end(in line: [UInt8]) -> Int? {
        var rest = line[...]
        for (index, byte) in pattern.enumerated() {
            let before = rest.count
            switch byte {
            case Self.number:
                rest = rest.drop(while: \.isJSONWhiteSpace)
                let digits = rest.prefix(while: \.isDigit)
                guard !digits.isEmpty else { return nil }
                rest = rest[digits.endIndex...]
            case Self.space:
                rest = rest.drop(while: \.isJSONWhiteSpace)
                guard rest.count < before || rest.isEmpty && index == pattern.count - 1 else { return nil }
            default:
                guard rest.first == byte else { return nil }
                rest = rest.dropFirst()
            }
        }
        return rest.startIndex
    }

    /// Whether a line has the prefix.
    public func isOf(_ line: [UInt8]) -> Bool { end(in: line) != nil }

    /// Returns the lines of an object without it; `nil` if the object has no end, and other lines follow.
    ///
    /// - Parameters:
    ///   - lines: the lines from the first one of the object on.
    ///   - isAll: whether there are no others.
    public func taken(off lines: ArraySlice<[UInt8]>, isAll: Bool) -> [[UInt8]]? {
        var inner: [[UInt8]] = []
        for line in lines.prefix(Self.linesMax) {
            guard let end = end(in: line) else { break }
            inner.append(Array(line[end...]))
        }
        func first(_ line: [UInt8]) -> UInt8? { line.first { !$0.isJSONWhiteSpace } }
        let isClosed = inner.dropFirst().contains { first($0).map { "}])".utf8.contains($0) } == true }
        guard let begin = inner.first, let whole = lines.first, isClosed || isAll && inner.count == lines.count else {
            return nil
        }
        let begins = first(begin).map { "{[".utf8.contains($0) } == true
        return [begins ? begin : whole] + inner.dropFirst() + lines.dropFirst(inner.count)
    }
}

/// The facts that the lines around a payload say.
struct TextAround {
    /// The first line without a payload, and its number.
    private(set) var first: (line: [UInt8], number: Int)?
    /// The number of lines without a payload.
    var skipped = 0
    /// Whether the last of them begins a call of source code.
    private(set) var isInCall = false
    /// Whether the last of them names a call of a stack trace, whose source code follows.
    private(set) var isInFrame = false
    /// The name of the first line that has one, such as a note of Android about the push.
    private(set) var name: (text: String, number: Int)?
    /// Whether a line says that the payload is a VoIP push.
    private(set) var namesVoIP = false
    /// The values that source code has given variables: a later object may name them.
    var constants = CodeConstants()
    /// The headers of a request to APNs, each in a line, with the text of the value.
    private var headers: [(name: APNsHeader, value: String)] = []

    /// The headers as an object; `nil` if there are none.
    var headersOfAPNs: [UInt8]? {
        guard !headers.isEmpty else { return nil }
        var writer = JSONWriter()
        writer.object { object in headers.forEach { object.member($0.name.rawValue, $0.value) } }
        return writer.bytes
    }

    /// Notes a line without a payload.
    mutating func leaveOut(_ line: [UInt8], _ number: Int, readsCode: Bool) {
        skipped += 1
        if readsCode { constants.read(line) }
        let last = line.last { !$0.isJSONWhiteSpace }
        isInCall = last == UInt8(ascii: "(") || isInCall && last == UInt8(ascii: ",")
        isInFrame = PayloadForm.isFrameOfPython(line)
        if first == nil { first = (line, number) }
        if name == nil { name = PayloadForm.nameOfNote(line).map { ($0, number) } }
        namesVoIP = namesVoIP || PayloadForm.namesVoIP(line)
        let text = line.drop(while: \.isJSONWhiteSpace)
        let word = text.prefix { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "=") && !$0.isJSONWhiteSpace }
        let rest = text[word.endIndex...].drop(while: \.isJSONWhiteSpace)
        var value = rest.dropFirst().drop(while: \.isJSONWhiteSpace)
        while let last = value.last, last.isJSONWhiteSpace || "\\\"',;".utf8.contains(last) { value = value.dropLast() }
        while let first = value.first, "\"'".utf8.contains(first) { value = value.dropFirst() }
        // A sentence about a header is none.
        let isValue = value.allSatisfy { !$0.isJSONWhiteSpace && !"<>()$".utf8.contains($0) } && !value.isEmpty
        if let mark = rest.first, ":=".utf8.contains(mark), isValue, value.count < 256,
            let header = APNsHeader(rawValue: String(decoding: word, as: UTF8.self).lowercased()),
            !headers.contains(where: { $0.name == header })
        {
            headers.append((header, String(decoding: value, as: UTF8.self)))
        }
    }
}
