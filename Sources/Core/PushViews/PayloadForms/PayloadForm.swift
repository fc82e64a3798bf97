import PushModel
import PushRouter

/// A form of a payload in a file. inject.sock takes JSON; `pushctl` and the page convert the other forms to JSON.
public enum PayloadForm: Hashable, Sendable, CaseIterable {
    /// JSON objects: one on each line, or one over several lines.
    case json
    /// An array of objects.
    case list
    /// The output of `Bundle.toString`, alone or in a line of a log.
    case bundle
    /// The output of `Map.toString` of Java or Kotlin: `{a=1, b=2}`.
    case map
    /// An object in the notation of a language: `NSDictionary`, Swift, Dart, Python, JavaScript, Ruby, PHP.
    case literal
    /// JSON in another notation: a text with escapes, base64, or the hexadecimal digits of an `NSData`.
    case encoded
    /// A command that delivers an intent to an app.
    case activityManager
    /// A command that sends a message to FCM or APNs.
    case curl
    /// A command that publishes a message over Amazon SNS.
    case sns
    /// A command that sends a web push.
    case webPush

    /// The name, for people.
    public var name: String {
        switch self {
        case .json: "payloads in JSON"
        case .list: "an array of payloads"
        case .bundle: "the extras of a Bundle, as Android prints it (logcat)"
        case .map: "a map, as Java and Kotlin print it"
        case .literal:
            "an object in the notation of a language (NSDictionary, Swift, Dart, Python, JavaScript, Ruby, PHP, Go, C#)"
        case .encoded: "JSON in a text with escapes, in base64 or in the hexadecimal digits of an NSData"
        case .activityManager: "the extras of an \"am broadcast\" command (also am start; with or without adb shell)"
        case .curl: "the body of a curl command"
        case .sns: "the message of an \"aws sns publish\" command"
        case .webPush: "the payload of a \"web-push send-notification\" command"
        }
    }

    /// The forms other than JSON, for the help text.
    public static var namesOfOthers: String {
        allCases.filter { $0 != .json && $0 != .list }.map(\.name).joined(separator: "; ")
    }
}

extension PayloadForm {
    /// Returns the object that begins a text, as JSON, its form and the text behind it; `nil` if it has no form.
    ///
    /// - Parameter text: the text; its first byte other than white space is a bracket.
    public static func object(
        in text: [UInt8]
    ) -> (payload: WrittenPayload, form: PayloadForm, rest: ArraySlice<UInt8>)? {
        let begin = text.drop(while: \.isJSONWhiteSpace)
        guard let literal = PrintedLiteral(begin) else { return nil }
        let isJSON =
            (try? JSONDocument(scanning: Array(begin[..<literal.place]), limits: JSONLimits(depth: .max))) != nil
        let payload = isJSON ? WrittenPayload(json: literal.json) : literal.payload
        return (payload, isJSON ? .json : .literal, text[literal.place...])
    }
}

/// The begin of a payload in a line.
public struct PayloadStart: Hashable, Sendable {
    /// The form of the payload.
    public let form: PayloadForm
    /// Whether text precedes the payload in the line.
    public let isBehindText: Bool
    /// The index of its first byte.
    let offset: Int
    /// Whether it is an object in source code, whose values may be variables.
    public var isCode = false
    /// Whether only its keys can tell that it is a push: the text before it does not.
    public var isTentative = false
    /// Whether it is an argument of a call that sends nothing: it shows a notification, or starts an SDK.
    public var isOfOtherCall = false
    /// Whether it is an argument of a call in source code, whose name tells less than the keys.
    public var isArgumentOfCode = false
    /// Whether a word of a person or a log is before it, which says nothing about it.
    public private(set) var isBehindLabel = false
    /// Whether it is the initializer of a struct of Go or an object of C#.
    public private(set) var isStruct = false
    /// The variable of source code whose value it is.
    public private(set) var constant: String?
    /// Whether the variable has the JSON of the object, as a text.
    public private(set) var isEncoded = false
    /// The member of an object in source code whose value it is: `p['notification'] = {`.
    private(set) var part: Part?
    /// The bracket that is missing before it: it is a part of an object.
    var missing: UInt8?
    /// Whether line feeds separate its members, as in the tree of a browser's console.
    var isTree: Bool { missing == UInt8(ascii: "{") }

    /// Finds the begin of a payload in a line that is not blank; `nil` if there is none. A line that begins with `{` or
    /// `[` always has one, which may be faulty JSON.
    public init?(in line: [UInt8]) {
        let first = line.firstIndex { !$0.isJSONWhiteSpace } ?? line.endIndex
        let text = line[first...]
        if let form = Self.form(at: first, in: line) {
            self.init(form: form, isBehindText: false, offset: first)
            return
        }
        let command = ShellWords.program(of: text)
        if command.elementsEqual("curl".utf8) {
            self.init(form: .curl, isBehindText: false, offset: first)
        } else if command.elementsEqual("aws".utf8), text.has(" sns ".utf8), text.has(" publish".utf8) {
            self.init(form: .sns, isBehindText: false, offset: first)
        } else if WebPushCommand.begins(text) {
            self.init(form: .webPush, isBehindText: false, offset: first)
        } else if let bracket = Self.missingBracket(before: text) {
            self.init(form: .literal, isBehindText: false, offset: first)
            missing = bracket
        } else if ["adb", "am"].contains(where: { command.elementsEqual($0.utf8) }) {
            self.init(form: .activityManager, isBehindText: false, offset: first)
        } else if let place = line.indices.first(where: { line[$0...].starts(with: "Bundle[".utf8) }) {
            self.init(form: .bundle, isBehindText: place > first, offset: place + 7)
        } else if text.reversed().drop(while: \.isJSONWhiteSpace).starts(with: "eldnuB".utf8) {
            // Somebody broke the line.
            self.init(form: .bundle, isBehindText: true, offset: line.endIndex)
        } else if let place = PrintedBytes.begin(in: text) {
            self.init(form: .encoded, isBehindText: place > first, offset: place)
        } else {
            self.init(behindTextIn: line)
        }
    }

    /// JSON from the begin of a line on, which may be faulty.
    public static let json = PayloadStart(form: .json, isBehindText: false, offset: 0)

    /// The same begin, behind a line with the begin of a call.
    public var inCall: PayloadStart {
        guard form == .json || form == .literal, !isBehindText else { return self }
        var result = PayloadStart(form: form, isBehindText: true, offset: offset)
        (result.isCode, result.isArgumentOfCode) = (true, true)
        return result
    }

    private init(form: PayloadForm, isBehindText: Bool, offset: Int) {
        (self.form, self.isBehindText, self.offset) = (form, isBehindText, offset)
    }

    /// Finds an object behind other text, if the text or a key of the object says that it is about a push, or if it is
    /// a value in source code.
    private init?(behindTextIn line: [UInt8]) {
        let text = line.drop(while: \.isJSONWhiteSpace)
        if text.starts(with: "//".utf8) { return nil }
        // The types of a map of Dart begin the line.
        if text.first == UInt8(ascii: "<"), let open = text.firstIndex(of: UInt8(ascii: ">")).map({ $0 + 1 }),
            line.dropFirst(open).first == UInt8(ascii: "{")
        {
            self.init(form: .literal, isBehindText: true, offset: open)
            (isCode, isTentative) = (true, true)
            return
        }
        if let call = Self.callOfPython(in: line) {
            self.init(form: .literal, isBehindText: true, offset: call)
            isCode = true
            return
        }
        if let builder = Self.builder(in: line) {
            self.init(form: .literal, isBehindText: true, offset: builder)
            (isCode, isTentative, isStruct) = (true, true, true)
            constant = Self.constant(in: line[..<builder])
            return
        }
        if let array = Self.arrayOfPHP(in: line) {
            self.init(form: .literal, isBehindText: true, offset: array)
            (isCode, isTentative) = (true, true)
            constant = Self.constant(in: line[..<(array - "array".utf8.count)])
            return
        }
        var rest = line[...]
        var answer: (form: PayloadForm, place: Int)?
        for _ in 0..<Self.candidatesMax {
            guard let place = rest.firstIndex(where: { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "[") }) else {
                break
            }
            rest = line[(place + 1)...]
            // An intent is printed without its extras.
            let isOpen = rest.allSatisfy(\.isJSONWhiteSpace)
            // Swift and PHP write objects with the brackets of lists: an open one may be either.
            guard var form = Self.form(at: place, in: line), form != .list || isOpen,
                !line[..<place].reversed().starts(with: " tnetnI".utf8)
            else { continue }
            if form == .list { form = .literal }
            let before = line[..<place]
            // The body of a function of JavaScript.
            if before.reversed().drop(while: \.isJSONWhiteSpace).starts(with: ">= )".utf8) { continue }
            // Braces with nothing in them, in a call or before others.
            let behind = rest.drop(while: \.isJSONWhiteSpace)
            let isEmpty = behind.first == UInt8(ascii: "}")
            let isOfFunction = before.last { !$0.isJSONWhiteSpace } == UInt8(ascii: ")")
            if isEmpty, isOfFunction || Self.isArgument(before) || behind.dropFirst().contains(UInt8(ascii: "{")) {
                continue
            }
            if Self.isBody(before, isOpen: isOpen) || Self.isParameters(before, rest) { continue }
            // An NSError of Apple's, and the place of a template or of a link.
            let word = before.reversed().prefix { !$0.isJSONWhiteSpace && !"\"',()`".utf8.contains($0) }
            if word.starts(with: "=ofnIresU".utf8) || Array(word).has("//:".utf8) { continue }
            if line[place...].starts(with: "{{".utf8) {
                rest = rest.dropFirst()
                continue
            }
            if Self.isStruct(before) {
                self.init(form: .literal, isBehindText: true, offset: place)
                (isCode, isTentative, isStruct) = (true, true, true)
                return
            }
            if PayloadForm.isTypeOfGo(before) { continue }
            let words = String(decoding: Self.name(in: before).suffix(Self.wordsMax), as: UTF8.self).lowercased()
            let isOther =
                Self.isPart(before)
                || Self.isArgument(before) && (Self.otherCalls.contains { words.has($0) } || Self.isSetter(before))
            let isMade =
                Self.isLaterOfNew(before) || (isOpen || before.contains(UInt8(ascii: "("))) && Self.makesObject(before)
            let isAboutPush = !isOther && Self.wordsBefore.contains { words.has($0) } && !isMade
            let keys = form == .encoded ? Self.escapedKeys : Self.keys
            let hasKey = !isOther && !isOpen && keys.contains { line[place...].has($0.utf8) }
            let isCode = Self.isCode(before) || Self.isArgument(before) || isMade
            let isLabel = isOpen && Self.isLabel(before)
            // A body of FCM v1 in any line.
            let hasMessage =
                line[place...].starts(with: "{\"message\":".utf8)
                && ["token", "topic", "condition"].contains { line[place...].has("\"\($0)\":".utf8) }
            guard isAboutPush || hasKey || isCode || isOther || isLabel || hasMessage else {
                if answer == nil, ["error", "response", "result", "log"].contains(where: { words.has($0) }) {
                    answer = (form, place)
                }
                // The words inside of an object are not about the objects in it, but the keys of theirs.
                guard line[place] == UInt8(ascii: "{") else { continue }
                guard let next = Self.placeOfPayload(in: line, behind: place) else { break }
                rest = line[next...]
                continue
            }
            self.init(form: form, isBehindText: true, offset: place)
            (self.isCode, isTentative, isOfOtherCall) = (isCode || isOther, !isAboutPush && !hasKey, isOther)
            (constant, part) = (Self.constant(in: before), Part(in: before))
            isEncoded = before.last == UInt8(ascii: "(")
            isArgumentOfCode =
                (form == .literal || isOpen) && Self.isArgument(before)
                || Self.isMember(before) && line.last { !$0.isJSONWhiteSpace } == UInt8(ascii: ";")
                || Self.isNamedArgument(before)
            isBehindLabel = isLabel && isTentative && !isCode
            return
        }
        // The answer of a service may be in the line of an error.
        guard let answer else { return nil }
        self.init(form: answer.form, isBehindText: true, offset: answer.place)
        isTentative = true
    }

    /// Returns the name that code gives to the object behind it, in an argument of a call (`custom=`) and in a
    /// declaration with a type: what else the line has is not about it. For any other text returns the text.
    private static func name(in before: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        func word(at end: Int) -> ArraySlice<UInt8> {
            let letters = before[..<end].reversed().prefix {
                $0.isDigit || $0 == UInt8(ascii: "_") || (97...122).contains($0 | 0x20)
            }
            return before[(end - letters.count)..<end]
        }
        let isInCall = before.count { $0 == UInt8(ascii: "(") } > before.count { $0 == UInt8(ascii: ")") }
        if isInCall, before.last == UInt8(ascii: "=") {
            let name = word(at: before.endIndex - 1)
            if !name.isEmpty { return name }
        }
        let text = before.drop(while: \.isJSONWhiteSpace)
        let isTyped = ["const ", "let ", "var ", "val "].contains { text.starts(with: $0.utf8) }
        guard isTyped, text.contains(UInt8(ascii: "=")), let colon = text.firstIndex(of: UInt8(ascii: ":")) else {
            return before
        }
        return word(at: colon)
    }

    /// Whether the text before a bracket ends with a word that may say what the object is: `second: {`, `sending {`.
    private static func isLabel(_ before: ArraySlice<UInt8>) -> Bool {
        guard let end = before.lastIndex(where: { !$0.isJSONWhiteSpace && $0 != UInt8(ascii: ":") }),
            before[end].isDigit || (97...122).contains(before[end] | 0x20),
            !before.contains(where: { "\"';={}".utf8.contains($0) })
        else { return false }
        let words = before.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
        let ofCode = ["class", "struct", "enum", "interface", "extension", "func", "function", "namespace", "object"]
        return !words.contains(where: ofCode.contains) && !["try", "else", "do", "finally"].contains(words.last)
    }

    /// Calls that take an object and send no push, in small letters.
    private static let otherCalls = [
        "localnotification", "displaynotification", "shownotification", "schedulenotification", "triggernotification",
        "notificationchannel", "createchannel", "notificationhandler", ".configure(", ".init(", "initializeapp(",
    ]

    /// Returns the place behind the object that a bracket begins, or of an object in it whose key is a payload's;
    /// `nil` if there is neither.
    private static func placeOfPayload(in line: [UInt8], behind open: Int) -> Int? {
        var depth = 0
        var isQuoted = false
        var place = open
        while place < line.endIndex {
            switch line[place] {
            case UInt8(ascii: "\\") where isQuoted: place += 1
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: "{") where !isQuoted:
                let before = line[open..<place].reversed().drop { " :\"'=".utf8.contains($0) }
                if ["daolyap", "ofnIresu", "egasseMetomer", "sartxe"].contains(where: { before.starts(with: $0.utf8) })
                {
                    return place
                }
                depth += 1
            case UInt8(ascii: "}") where !isQuoted:
                depth -= 1
                if depth == 0 { return place + 1 }
            default: break
            }
            place += 1
        }
        return nil
    }

    /// Returns the bracket that is missing before a part of an object; `nil` if the text begins like none.
    ///
    /// A member of a Swift dictionary, or a line of the tree that a browser's console prints.
    private static func missingBracket(before text: ArraySlice<UInt8>) -> UInt8? {
        if text.starts(with: "AnyHashable(".utf8) { return UInt8(ascii: "[") }
        return text.starts(with: "aps: {".utf8) ? UInt8(ascii: "{") : nil
    }

    /// The limit of brackets that are tried in a line, and of the text that is searched for a word before each.
    private static let (candidatesMax, wordsMax) = (16, 512)
    /// Words of log lines about pushes.
    private static let wordsBefore = [
        "push", "messag", "notif", "payload", "userinfo", "user info", "fcm", "gcm", "apns", "remote", "extras",
        "launchoptions", "bundle",
    ]
    /// Keys that only pushes have.
    private static let keys = [
        "aps\"", "'aps'", "aps =", "aps:", "_ab", "google.message_id", "google.delivered_priority", "gcm.message_id",
        "gcm.notification.", "gcm.n.e", "google.c.", "\"notification\":", "notification: {",
    ]

    private static let escapedKeys = ["to", "registration_ids", "notification", "aps", "message"].flatMap {
        ["\\\"\($0)\\\":", "\"\"\($0)\"\":"]
    }

    /// Returns the form of an object or array at a place; `nil` if there is no bracket.
    private static func form(at place: Int, in line: [UInt8]) -> PayloadForm? {
        guard place < line.endIndex else { return nil }
        let rest = line[(place + 1)...].drop(while: \.isJSONWhiteSpace)
        switch line[place] {
        case UInt8(ascii: "["):
            let end = tagEnd(in: line[place...])
            // Text follows a tag such as [PushType:FCM], and none a dictionary.
            let behind = end.flatMap { line[$0...].drop(while: \.isJSONWhiteSpace).first }
            if behind == UInt8(ascii: "-") { return nil }
            // A member that var_dump and print_r of PHP print.
            let close = line[place...].firstIndex(of: UInt8(ascii: "]")).map { line[($0 + 1)...] }
            if close?.drop(while: \.isJSONWhiteSpace).starts(with: "=>".utf8) == true { return nil }
            if let behind, behind | 0x20 >= UInt8(ascii: "a"), behind | 0x20 <= UInt8(ascii: "z") { return nil }
            // An error that Node printed: [AxiosError: text] { code: 'a' }.
            let type = rest.prefix { (97...122).contains($0 | 0x20) }
            if type.reversed().starts(with: "rorrE".utf8), rest[type.endIndex...].first == UInt8(ascii: ":") {
                return nil
            }
            if PrintedLiteral.begins(rest, behind: line[place]) { return .literal }
            // The prompt of a console: [1] pry(main)>.
            let number = line[(place + 1)...].prefix(while: \.isDigit)
            if !number.isEmpty, line[number.endIndex...].starts(with: "] ".utf8),
                line[(number.endIndex + 2)...].first.map({ (97...122).contains($0 | 0x20) }) == true
            {
                return nil
            }
            // Objective-C sends messages in brackets, and C# has attributes in them.
            let isSend =
                rest.first == UInt8(ascii: "[") && rest.dropFirst().first.map { (65...90).contains($0) } == true
            let word = rest.prefix { $0.isDigit || (97...122).contains($0 | 0x20) }
            if isSend || !word.isEmpty && rest[word.endIndex...].first == UInt8(ascii: "(") { return nil }
            let inner = rest.first == UInt8(ascii: "{") ? rest.dropFirst().drop(while: \.isJSONWhiteSpace) : []
            if PrintedLiteral.begins(inner, behind: UInt8(ascii: "{")) { return .literal }
            return end == nil && !isTag(Array(line[place...])) ? .list : nil
        case UInt8(ascii: "{"):
            // A place of a template, in a line by itself: {{ message }}.
            let letter = rest.dropFirst().first(where: { !$0.isJSONWhiteSpace }) ?? 0
            let isPlace = line[(place + 1)...].first == UInt8(ascii: "{") && (97...122).contains(letter | 0x20)
            if isPlace, line.count < wordsMax, line[..<place].allSatisfy(\.isJSONWhiteSpace) { return nil }
            // UserHandle{0} of dumpsys, and a word in braces in a sentence.
            let inner = rest.prefix { $0.isDigit || (97...122).contains($0 | 0x20) }
            let before = line[..<place].last { !$0.isJSONWhiteSpace }
            let isInSentence = before.map { $0.isDigit || (97...122).contains($0 | 0x20) } == true
            if rest[inner.endIndex...].first == UInt8(ascii: "}"),
                inner.first?.isDigit == true && inner.allSatisfy(\.isDigit) || !inner.isEmpty && isInSentence
            {
                return nil
            }
            if PrintedBytes.isEscaped(rest) || rest.has("bytes = 0x7b".utf8) { return .encoded }
            if PrintedMap.isMap(line[place...]) { return .map }
            return PrintedLiteral.begins(rest, behind: line[place]) ? .literal : .json
        default: return nil
        }
    }
}
