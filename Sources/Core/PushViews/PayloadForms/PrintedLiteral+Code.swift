import PushModel
import PushRouter

// Source code in an object: expressions in place of values, and the initializers of Go and C#.
extension PrintedLiteral {
    /// An initializer in braces.
    enum Initializer {
        /// Of the fields of a struct or a class, whose names are those of the keys in another case.
        case fields
        /// Of a map.
        case entries
    }

    static let keysOfNumbers: Set<String> = Set(APSKey.allCases.filter(\.isNumber).map(\.rawValue)).union([
        "critical", "volume", "foreground", "launched",
    ])

    /// Keys that take one of some words, or a value that is no text.
    private static let keysOfOthers: Set<String> = [
        "priority", "content_available", "contentAvailable", "mutable_content", "mutableContent", "time_to_live",
        "timeToLive", "ttl", "dry_run", "delay_while_idle", "notification_count", "notificationCount", "visibility",
        "sticky", "local_only", "localOnly", "default_sound", "defaultSound", "notification_priority",
        "interruption-level", APNsHeader.priority.rawValue, APNsHeader.pushType.rawValue,
        APNsHeader.expiration.rawValue,
    ]

    /// Keys of lists of tokens.
    private static let keysOfLists: Set<String> = ["registration_ids", "registrationIds", "tokens"]

    /// Words that such a key takes, in the notation of source code, too.
    private static let words: Set<String> = [
        "high", "normal", "min", "low", "default", "max", "none", "public", "private", "secret", "passive", "active",
        "time-sensitive", "critical",
    ]

    /// Whether the value of a key is no text that may be anything.
    static func isTyped(_ key: String) -> Bool {
        keysOfOthers.contains(key) || keysOfNumbers.contains(key) || keysOfLists.contains(key)
            || ["data", "notification"].contains(key)
    }

    /// The classes of firebase-admin for Python, without the module's name.
    static let classesOfPython: Set<String> = [
        "Notification", "AndroidConfig", "AndroidNotification", "AndroidFCMOptions", "APNSConfig", "APNSPayload",
        "APNSFCMOptions", "Aps", "ApsAlert", "CriticalSound", "WebpushConfig", "WebpushNotification",
        "WebpushNotificationAction", "WebpushFCMOptions", "FCMOptions",
    ]

    static let keysOfTexts: Set<String> = ["title", "subtitle", "body", "alert"]

    static let keysOfObjects: Set<String> = [
        "content-state", "attributes", "aps", "apns", "android", "webpush", "headers", "fcm_options", "fcmOptions",
    ]

    /// Reads source code up to the end of a value: a comma, a closing bracket or a line feed that no bracket encloses.
    mutating func takeCode() -> String {
        let begin = place
        var depth = 0
        while let next {
            switch next {
            case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`"):
                guard let close = Self.quoteEnd(in: text[place...]) else { return "" }
                place = close
            case UInt8(ascii: "/") where text[place...].starts(with: "//".utf8) && depth == 0:
                return String(decoding: text[begin..<place], as: UTF8.self)
            case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"):
                if depth == 0 { return String(decoding: text[begin..<place], as: UTF8.self) }
                depth -= 1
            case UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\n"):
                if depth == 0 { return String(decoding: text[begin..<place], as: UTF8.self) }
            default: break
            }
            place += 1
        }
        return String(decoding: text[begin..<place], as: UTF8.self)
    }

    /// Whether an arrow follows with which somebody wrote a note: `<-- the id of the user`.
    var isArrow: Bool {
        repairs && (text[place...].starts(with: "<-".utf8) || text[place...].starts(with: "\u{2190}".utf8))
    }

    /// Skips a note in brackets that somebody wrote behind a value: `5 (int)`.
    mutating func skipNote() {
        let rest = text[place...].drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        let line = rest.prefix { $0 != UInt8(ascii: "\n") }
        guard rest.first == UInt8(ascii: "("), let close = line.firstIndex(of: UInt8(ascii: ")")) else { return }
        let behind = text[(close + 1)...].first { $0 != UInt8(ascii: " ") }
        guard behind.map({ ",\n\r}]".utf8.contains($0) }) != false else { return }
        note(.note(String(decoding: rest[...close], as: UTF8.self)))
        place = close + 1
    }

    /// Takes marks that hide a value, such as `***`, as its text. Returns whether there were any.
    mutating func mask() -> Bool {
        let begin = place
        let marks = takeCode()
        let bytes = marks.utf8.filter { !$0.isJSONWhiteSpace }
        guard !bytes.isEmpty, bytes.allSatisfy({ "*?#-_.".utf8.contains($0) }) else { return false }
        note(.value(marks), at: begin)
        writer.string(marks)
        return true
    }

    /// Takes source code for the text of a value that it stands for.
    mutating func code(from begin: Int, depth: Int) -> Bool {
        place = begin
        let code = takeCode()
        let end = code.utf8.lastIndex { !$0.isJSONWhiteSpace }
        guard let end else { return false }
        variable(String(code[...end]), depth: depth, at: begin)
        return true
    }

    /// Returns the number that source code has: `86_400`, `int(1)`, `NSNumber(value: 1)`, `1**`; `nil` for any other code.
    private static func number(in code: String) -> Int64? {
        var text = code[...]
        let calls = ["int(", "Int(", "Number(", "parseInt(", "NSNumber(value:", "value:", "Integer.valueOf("]
        if let call = calls.first(where: { text.hasPrefix($0) }) {
            text = text.dropFirst(call.count).prefix { $0 != ")" }
        }
        while let last = text.last, "\"'* ".contains(last) { text = text.dropLast() }
        return Int64(text.drop { "\"'* ".contains($0) }.filter { $0 != "_" })
    }

    /// Writes a value for source code that stands for it, of the type that the key has: the data of a message is an
    /// object.
    mutating func variable(_ code: String, depth: Int, at begin: Int) {
        let name = code.hasPrefix("$") ? String(code.dropFirst()) : code
        if let value = constants[name], !Self.keysOfTexts.contains(key) || value.first == UInt8(ascii: "\"") {
            return writer.raw(value)
        }
        // A member of an object that is known.
        let path = name.split(separator: ".", maxSplits: 1)
        if path.count == 2, let value = constants[String(path[0])],
            let member = (try? JSONDocument(scanning: value))?.root[String(path[1])]
        {
            return writer.raw(member.compactBytes)
        }
        // The app's own data has texts alone.
        guard container != "data" else {
            note(.value(code), at: begin)
            return writer.string(code)
        }
        let isPart = depth <= 2 && !code.has("stringify")
        let isData = key == "data" && isPart
        if Self.keysOfOthers.contains(key) || Self.keysOfNumbers.contains(key) {
            // A case of an enumeration: Priority.HIGH, messaging.PriorityHigh.
            var word = name.split(separator: ".").last.map { $0.lowercased() } ?? ""
            for type in ["priority", "visibility"] where word.hasPrefix(type) { word.removeFirst(type.count) }
            if Self.keysOfOthers.contains(key), Self.words.contains(word) {
                note(.value(code), at: begin)
                return writer.string(word)
            }
            if let number = Self.number(in: code) {
                note(.value(code), at: begin)
                return writer.int(number)
            }
            // A push for a Live Activity needs its times.
            if [APSKey.timestamp, .staleDate, .dismissalDate].contains(where: { $0.rawValue == key }) {
                note(.value(code), at: begin)
                return writer.int(1)
            }
            note(.variable(key: key, code), at: begin)
            isLeftOut = true
            return writer.null()
        }
        let isUnknown = isData || key == "notification" && isPart
        note(isUnknown ? .variable(key: key, code) : .value(code), at: begin)
        if key == "notification", isPart {
            writer.object { object in ["title", "body"].forEach { object.member($0, "<\(code).\($0)>") } }
        } else if Self.keysOfLists.contains(key) {
            writer.array { $0.string("<\(code)>") }
        } else if isData || Self.keysOfObjects.contains(key) || key == "payload" && depth > 1 {
            writer.object { _ in }
        } else {
            // The text that a person would read is not known.
            writer.string(Self.keysOfTexts.contains(key) ? "<\(code)>" : code)
        }
    }

    /// Reads the initializer behind the name of a type: `messaging.Message{`, `map[string]string{`, `new Message() {`;
    /// `nil`, at the same place, for any other word.
    mutating func structure(named word: String, depth: Int) -> Bool? {
        let begin = place
        var found: Initializer?
        if word == "map", next == UInt8(ascii: "["), let close = text[place...].firstIndex(of: UInt8(ascii: "]")) {
            place = close + 1
            _ = takeWord()
            if text[place...].starts(with: "{}".utf8) { place += 2 }
            found = .entries
        } else if word == "new", let name = takeWord() ?? (peek(UInt8(ascii: "(")) ? "" : nil) {
            let isMap = name.has("Dictionary") || name.isEmpty && ["data", "headers", "customData"].contains(key)
            found = isMap ? .entries : .fields
            if next == UInt8(ascii: "<"), let close = text[place...].prefix(80).firstIndex(of: UInt8(ascii: ">")) {
                place = close + 1
            }
            if text[place...].starts(with: "()".utf8) { place += 2 }
        } else if word.hasPrefix("messaging.") {
            found = .fields
        }
        guard let found, peek(UInt8(ascii: "{")) else {
            place = begin
            return nil
        }
        let outer = initializer
        initializer = found
        defer { initializer = outer }
        return value(depth: depth + 1, allowsWord: false)
    }

    /// Reads the pieces that code puts behind a text with `+` or `.`: a text is joined, another value is `<name>`.
    mutating func takePieces() -> String {
        var result = ""
        while true {
            let begin = place
            skipWhiteSpace()
            guard let mark = next, mark == UInt8(ascii: "+") || mark == UInt8(ascii: ".") else {
                place = begin
                return result
            }
            place += 1
            // The call of a method on the text.
            if mark == UInt8(ascii: "."), let next, (97...122).contains(next | 0x20) {
                place -= 1
                return result + takeCode()
            }
            skipWhiteSpace()
            if let next, "\"'`".utf8.contains(next), let text = takeQuoted() {
                result += text
                continue
            }
            let piece = takePiece()
            guard !piece.isEmpty else {
                place = begin
                return result
            }
            result += "<\(piece)>"
        }
    }

    /// Reads an expression up to an operator that joins texts, or the end of the value.
    private mutating func takePiece() -> String {
        let begin = place
        var depth = 0
        while let next {
            let isBehindSpace = place > begin && text[place - 1] == UInt8(ascii: " ")
            if depth == 0, next == UInt8(ascii: "+") || next == UInt8(ascii: ".") && isBehindSpace { break }
            if depth == 0, ",;)]}\n".utf8.contains(next) { break }
            depth += "([{".utf8.contains(next) ? 1 : ")]}".utf8.contains(next) ? -1 : 0
            place += 1
        }
        var piece = text[begin..<place]
        while piece.last?.isJSONWhiteSpace == true { piece = piece.dropLast() }
        return String(decoding: piece, as: UTF8.self)
    }

    /// Reads the factors behind a number: `60 * 60`. Returns the product as text.
    mutating func product(of first: String) -> String {
        guard var result = Int64(first) else { return first }
        let begin = place
        while peek(UInt8(ascii: "*")) {
            place += 1
            guard let factor = takeWord().flatMap({ Int64($0) }) else { break }
            let (product, isTooLarge) = result.multipliedReportingOverflow(by: factor)
            guard !isTooLarge else { break }
            result = product
        }
        if result == Int64(first) { place = begin }
        return String(result)
    }

    /// Functions that make JSON of their argument.
    static let encoders: Set<String> = [
        "JSON.stringify", "json_encode", "json.dumps", "jsonEncode", "json.encode", "JSON.generate",
    ]

    /// Reads the object or the variable that a function makes JSON of, as a text; `nil`, at the same place, for any other
    /// word.
    mutating func encoded(by word: String, depth: Int) -> Bool? {
        guard Self.encoders.contains(word), peek(UInt8(ascii: "(")) else { return nil }
        let (begin, outer) = (place, writer)
        place += 1
        writer = JSONWriter()
        skipWhiteSpace()
        var isRead = false
        if let next, "{[a".utf8.contains(next) {
            isRead = value(depth: depth + 1, allowsWord: false)
        } else {
            let name = text[place...].prefix { $0.isDigit || (97...122).contains($0 | 0x20) || "_$".utf8.contains($0) }
            place = name.endIndex
            let known = constants[String(decoding: name.drop { $0 == UInt8(ascii: "$") }, as: UTF8.self)]
            if let known { writer.raw(known) }
            isRead = known != nil
        }
        let inner = writer.bytes
        writer = outer
        // Options of the function follow.
        if isRead, take(UInt8(ascii: ",")) {
            repeat { _ = takeCode() } while take(UInt8(ascii: ","))
        }
        guard isRead, take(UInt8(ascii: ")")) else {
            place = begin
            return nil
        }
        writer.string(String(decoding: inner, as: UTF8.self))
        return true
    }

    /// A value in angle brackets: `<null>`, or the description of an object.
    mutating func angled() -> Bool {
        guard let close = text[place...].firstIndex(of: UInt8(ascii: ">")) else { return false }
        let inner = String(decoding: text[(place + 1)..<close], as: UTF8.self)
        place = close + 1
        if inner == "null" { writer.null() } else { writer.string("<\(inner)>") }
        return true
    }

    /// Whether a slice of Go follows, behind its first bracket: `]string{`.
    var startsSliceOfGo: Bool {
        let type = text[place...].dropFirst().prefix {
            $0 == UInt8(ascii: "*") || (97...122).contains($0 | 0x20) || $0 == UInt8(ascii: ".")
        }
        return !type.isEmpty && text[type.endIndex...].first == UInt8(ascii: "{")
    }

    /// Reads a slice of Go behind its first bracket.
    mutating func slice(depth: Int) -> Bool {
        place = (text[place...].firstIndex(of: UInt8(ascii: "{")) ?? place) + 1
        return list(until: UInt8(ascii: "}"), depth: depth)
    }

    /// Reads an entry of a map in C#: `{ "key", value }` or `["key"] = value`; `nil` if none begins here.
    mutating func takeEntry(depth: Int, keys: inout Set<String>) -> Bool? {
        skipWhiteSpace()
        let open = next
        guard open == UInt8(ascii: "{") || open == UInt8(ascii: "[") else { return nil }
        place += 1
        skipWhiteSpace()
        guard next == UInt8(ascii: "\""), let key = takeQuoted(), keys.insert(key).inserted else { return false }
        let isPair = open == UInt8(ascii: "{")
        guard isPair ? take(UInt8(ascii: ",")) : take(UInt8(ascii: "]")) && take(UInt8(ascii: "=")) else {
            return false
        }
        writer.key(key)
        return value(depth: depth + 1, allowsWord: false) && (!isPair || take(UInt8(ascii: "}")))
    }

    /// The key of a field: that of firebase-admin for Node. `Title` is title, `APNS` apns, and `ImageURL` imageUrl.
    static func fieldName(_ name: String) -> String {
        let capitals = name.prefix { $0.isUppercase }
        if capitals.count == name.count { return name.lowercased() }
        let first = capitals.count > 1 ? capitals.count - 1 : 1
        var result = name.prefix(first).lowercased() + name.dropFirst(first)
        for ending in ["URL", "ID"] where result.hasSuffix(ending) {
            result = result.dropLast(ending.count) + ending.capitalized
        }
        return result
    }
}

// Chains of calls that build a message.
extension PrintedLiteral {
    /// The begins of such chains: firebase-admin and Huawei for Java and Kotlin, kreait/firebase-php.
    static let builders = [
        "Message.builder()", "MulticastMessage.builder()", "CloudMessage::withTarget(", "CloudMessage::new(",
        "CloudMessage::new()", "CloudMessage::fromArray(", "Notification::create(",
    ]

    /// Reads a chain of calls behind its first name, or a notification of its texts; `nil`, at the same place, for any
    /// other word. The members have the names of firebase-admin for Node.
    ///
    /// Source: firebase-admin-java, Message, AndroidConfig, ApnsConfig, Aps; kreait/firebase-php, CloudMessage.
    mutating func built(by word: String, depth: Int) -> Bool? {
        let begin = place
        // Java and Kotlin call the class.
        let word = word == "new" && text[place...].starts(with: " Notification(".utf8) ? takeWord() ?? word : word
        var isKnown = word.hasSuffix(".builder") && next == UInt8(ascii: "(")
        if text[place...].starts(with: "::".utf8) {
            place += 2
            let call = takeWord()
            if word == "CloudMessage", call == "fromArray", take(UInt8(ascii: "(")) {
                return value(depth: depth + 1, allowsWord: false) && take(UInt8(ascii: ")"))
            }
            isKnown = word == "CloudMessage" || word == "Notification" && call == "create"
        }
        let isNotification = word == "Notification"
        guard isKnown || isNotification, peek(UInt8(ascii: "(")) else {
            place = begin
            return nil
        }
        let around = initializer
        initializer = .fields
        defer { initializer = around }
        var members: [(path: [String], json: [UInt8])] = []
        guard let first = arguments(depth: depth, key: "") else { return false }
        if isNotification {
            members = zip(["title", "body", "imageUrl"], first).filter { !$1.elementsEqual("null".utf8) }
                .map { ([$0], $1) }
        } else if first.count == 2, let kind = Self.text(first[0]) {
            members.append(([kind], first[1]))
        }
        while takeArrow() {
            guard let name = takeWord() else { return false }
            guard let values = arguments(depth: depth, key: Self.memberName(name)) else { return false }
            if name == "build" { break }
            members += Self.members(of: name, values)
        }
        writer.members(at: members)
        return true
    }

    private mutating func takeArrow() -> Bool {
        let begin = place
        if take(UInt8(ascii: ".")) { return true }
        if take(UInt8(ascii: "-")), take(UInt8(ascii: ">")) { return true }
        place = begin
        return false
    }

    /// Reads the arguments of a call as JSON, each by itself; `nil` if they do not fit.
    private mutating func arguments(depth: Int, key: String) -> [[UInt8]]? {
        guard take(UInt8(ascii: "(")) else { return nil }
        var values: [[UInt8]] = []
        while !take(UInt8(ascii: ")")) {
            let outer = writer
            writer = JSONWriter()
            // The name of a header or of a member of the data is an argument.
            self.key = values.count == 1 ? Self.text(values[0]) ?? key : key
            skipArgumentName()
            let isRead = map(depth: depth) ?? value(depth: depth + 1, allowsWord: false)
            values.append(isLeftOut ? [] : writer.bytes)
            isLeftOut = false
            writer = outer
            guard isRead, takeArgumentEnd() else { return nil }
        }
        return values
    }

    /// Skips the name of an argument of PHP: `title: 'T'`.
    private mutating func skipArgumentName() {
        let begin = place
        if takeWord() == nil || next != UInt8(ascii: ":") || text[place...].starts(with: "::".utf8) {
            place = begin
        } else {
            place += 1
        }
    }

    /// Reads a map of Java or Kotlin with its keys and values: `Map.of("a", "b")`, `mapOf("a" to "b")`; `nil`, at the
    /// same place, for any other value.
    private mutating func map(depth: Int) -> Bool? {
        let begin = place
        let names = ["Map.of", "ImmutableMap.of", "mapOf", "hashMapOf", "mutableMapOf"]
        guard let name = takeWord(), names.contains(name), take(UInt8(ascii: "(")) else {
            place = begin
            return nil
        }
        writer.beginObject()
        while !take(UInt8(ascii: ")")) {
            skipWhiteSpace()
            guard next == UInt8(ascii: "\""), let key = takeQuoted() else { return false }
            guard take(UInt8(ascii: ",")) || takeWord() == "to" else { return false }
            writer.key(key)
            guard value(depth: depth + 1, allowsWord: false), takeArgumentEnd() else { return false }
        }
        writer.endObject()
        return true
    }

    private mutating func takeArgumentEnd() -> Bool { take(UInt8(ascii: ",")) || peek(UInt8(ascii: ")")) }

    /// The member that a call sets: setApnsConfig is apns, withData data.
    private static func memberName(_ call: String) -> String {
        let names = [
            "setAndroidConfig": "android", "setApnsConfig": "apns", "setWebpushConfig": "webpush",
            "setWebPushConfig": "webpush", "withAndroidConfig": "android", "withApnsConfig": "apns",
            "withWebPushConfig": "webpush", "putAllData": "data", "toToken": "token", "toTopic": "topic",
            "toCondition": "condition", "addToken": "token", "addAllTokens": "token",
        ]
        if let name = names[call] { return name }
        let bare = ["set", "with"].first { call.hasPrefix($0) }.map { call.dropFirst($0.count) } ?? call[...]
        return bare.prefix(1).lowercased() + bare.dropFirst()
    }

    /// The members that a call sets, each with its path.
    private static func members(of call: String, _ values: [[UInt8]]) -> [(path: [String], json: [UInt8])] {
        guard let value = values.last, !value.isEmpty else { return [] }
        let parts = ["putData": "data", "putHeader": "headers", "putCustomData": "payload", "addData": "data"]
        if let part = parts[call], values.count == 2, let key = text(values[0]) { return [([part, key], value)] }
        switch call {
        case "setAps": return [(["payload", "aps"], value)]
        case "setPriority" where value.contains(UInt8(ascii: "_")): return []
        case _ where call.hasPrefix("add") && memberName(call) == call: return []
        default: return [([memberName(call)], value)]
        }
    }

    private static func text(_ json: [UInt8]) -> String? { (try? JSONDocument(scanning: json))?.root.string }
}

extension JSONWriter {
    /// Writes an object whose members have paths; the last one with a path counts.
    fileprivate mutating func members(at members: [(path: [String], json: [UInt8])]) {
        var names: [String] = []
        for member in members where !names.contains(member.path[0]) { names.append(member.path[0]) }
        object { writer in
            for name in names {
                let own = members.filter { $0.path[0] == name }
                let inner = own.filter { $0.path.count > 1 }.map { (Array($0.path.dropFirst()), $0.json) }
                writer.key(name)
                if inner.isEmpty { writer.raw(own.last?.json ?? []) } else { writer.members(at: inner) }
            }
        }
    }
}

extension String {
    /// The first letter of a word in capitals, and the others in small ones.
    fileprivate var capitalized: String { prefix(1) + dropFirst().lowercased() }
}
