public import PushModel

// Texts without a payload.
extension PayloadForm {
    /// Returns the name of a text that has no payload, with a remedy; `nil` if it has no name.
    ///
    /// - Parameters:
    ///   - line: its first line that is not blank.
    ///   - mayHavePayload: whether a later line may have a payload: only what never precedes one has a name then.
    ///   - readsCode: whether source code may have one, too.
    public static func nameOfOther(
        _ line: [UInt8], mayHavePayload: Bool = false, readsCode: Bool = false
    ) -> String? {
        let text = line.drop(while: \.isJSONWhiteSpace)
        let mayBeObject = mayHavePayload && PayloadStart(in: line)?.isTentative == true
        let isObject = mayBeObject || readsCode
        let early =
            nameOfConsole(text) ?? nameOfPrinted(text, mayHavePayload: mayHavePayload) ?? nameOfDocument(text)
            ?? (isObject ? nil : nameOfCode(text, in: line))
        return early ?? (mayHavePayload ? nil : note(text) ?? nameOfPart(text) ?? nameOfTable(text))
    }

    /// Returns the name of a line of a log that tells something about a push without its content; `nil` for any other.
    public static func nameOfNote(_ line: [UInt8]) -> String? { note(line[...]) }

    /// Whether a line is about VoIP pushes.
    public static func namesVoIP(_ line: [UInt8]) -> Bool {
        line.count < 1000 && String(decoding: line, as: UTF8.self).lowercased().has("voip")
    }

    /// Returns what an error in JSON comes from, if the text says it: a missing quotation mark, or quotation marks in a
    /// text without their escapes.
    public static func hint(at place: Int, in text: [UInt8]) -> String? {
        if hasTypographicMarks(text) {
            return
                "; quotation marks around keys and texts are typographic (\u{201C} \u{201D}), as a chat or a word processor makes them: write \" there"
        }
        return hintOfEscapes(at: place, in: text) ?? hintOfMark(at: place, in: text) ?? hintOfInnerObject(in: text)
            ?? openText(in: text).map { "; and the quotation mark before this text is not closed: \($0)" }
    }

    /// Whether a text is JSON but for typographic quotation marks (U+2018 to U+201F) around keys and texts.
    private static func hasTypographicMarks(_ text: [UInt8]) -> Bool {
        straightened(text).map { (try? JSONDocument(scanning: $0, limits: JSONLimits(depth: .max))) != nil } == true
    }

    /// Returns a text with straight quotation marks in place of typographic ones (U+2018 to U+201F) around keys and
    /// texts; `nil` if it has none.
    static func straightened(_ text: [UInt8]) -> [UInt8]? {
        guard text.has([0xE2, 0x80]) else { return nil }
        var straight: [UInt8] = []
        var place = 0
        while place < text.count {
            let isMark =
                place + 2 < text.count && text[place] == 0xE2 && text[place + 1] == 0x80
                && (0x98...0x9F).contains(text[place + 2])
            let next = isMark ? text[(place + 3)...].first { !$0.isJSONWhiteSpace } : nil
            let before = isMark ? straight.last { !$0.isJSONWhiteSpace } : nil
            let isAround = [before.map("{[,:".utf8.contains), next.map(":,}]".utf8.contains)].contains(true)
            straight.append(isMark && isAround ? UInt8(ascii: "\"") : text[place])
            place += isMark && isAround ? 3 : 1
        }
        return straight.count < text.count ? straight : nil
    }

    /// Returns the remedy for an object in a text without escapes, anywhere in the text.
    private static func hintOfInnerObject(in text: [UInt8]) -> String? {
        let mark = UInt8(ascii: "\"")
        let isInText = text.indices.contains { place in
            guard text[place] == UInt8(ascii: ":") else { return false }
            let value = text[(place + 1)...].drop(while: \.isJSONWhiteSpace)
            let inner = value.dropFirst().drop(while: \.isJSONWhiteSpace)
            let key = inner.dropFirst().drop(while: \.isJSONWhiteSpace)
            return value.first == mark && inner.first == UInt8(ascii: "{") && key.first == mark
        }
        return isInText ? remedyOfEscapes : nil
    }

    private static let remedyOfEscapes =
        "; an object in a text needs an escape before each of its quotation marks: {\\\"key\\\": ...}"

    private static func hintOfMark(at place: Int, in text: [UInt8]) -> String? {
        guard place < text.count else { return nil }
        let (mark, colon) = (UInt8(ascii: "\""), UInt8(ascii: ":"))
        if text[place] == UInt8(ascii: "{"), text[..<place].last(where: { !$0.isJSONWhiteSpace }) == text[place] {
            let isPlace = text[place...].has("}}".utf8)
            return isPlace
                ? "; {{ and }} mark a place of a template: put a text there" : "; one of the two brackets is too many"
        }
        if text[place] == UInt8(ascii: "\n") || text[place] == UInt8(ascii: "\r") {
            if text[place...].allSatisfy(\.isJSONWhiteSpace) { return "; the text is cut off here: copy it whole" }
            return "; or the quotation mark that ends the text is missing in this line"
        }
        let word = text[place...].prefix { $0.isDigit || $0 == UInt8(ascii: "_") || (97...122).contains($0 | 0x20) }
        guard !word.isEmpty else { return nil }
        if text[word.endIndex...].starts(with: [mark, colon]) {
            return "; the quotation mark before \(String(decoding: word, as: UTF8.self)) is missing"
        }
        // "title: "Hello": the text that ended there is a key and a colon.
        let before = text[..<place]
        guard before.last == mark, let open = before.dropLast().lastIndex(of: mark) else { return nil }
        let bracket = before[..<open].last { !$0.isJSONWhiteSpace }
        guard bracket == UInt8(ascii: "{") || bracket == UInt8(ascii: ",") else { return nil }
        let key = before[(open + 1)...].dropLast()
        guard let end = key.firstIndex(of: colon), key[end...].dropFirst().allSatisfy(\.isJSONWhiteSpace) else {
            return nil
        }
        let name = String(decoding: key[..<end], as: UTF8.self).showingControls()
        return "; the quotation mark behind \(name) is missing"
    }

    /// Returns the begin of the first text of an object that is open at the end of its line; `nil` if there is none.
    static func openText(in text: [UInt8]) -> String? {
        var place = 0
        var open: Int?
        while place < text.count {
            switch (text[place], open) {
            case (UInt8(ascii: "\\"), .some): place += 1
            case (UInt8(ascii: "/"), nil) where text[place...].starts(with: "//".utf8):
                place = text[place...].firstIndex(of: UInt8(ascii: "\n")) ?? text.count
            case (UInt8(ascii: "/"), nil) where text[place...].starts(with: "/*".utf8):
                place = text.indices[place...].first { text[$0...].starts(with: "*/".utf8) } ?? text.count
            case (UInt8(ascii: "\""), nil), (UInt8(ascii: "'"), nil), (UInt8(ascii: "`"), nil): open = place
            case (UInt8(ascii: "\n"), let begin?) where text[begin] != UInt8(ascii: "`"):
                return String(decoding: text[begin..<min(place, begin + 40)], as: UTF8.self).showingControls()
            case (let byte, let begin?) where byte == text[begin]: open = nil
            default: break
            }
            place += 1
        }
        return nil
    }

    private static func hintOfEscapes(at place: Int, in text: [UInt8]) -> String? {
        let before = text[..<min(place, text.count)].reversed().drop(while: \.isJSONWhiteSpace)
        // A line feed behind the first brace is no part of a text, either.
        let isInBrace = before.first == UInt8(ascii: "{") && place < text.count && text[place] < 0x20
        guard isInBrace || before.first == UInt8(ascii: "\"") else { return nil }
        let brace = isInBrace ? before[...] : before.dropFirst().drop(while: \.isJSONWhiteSpace)
        guard brace.first == UInt8(ascii: "{"),
            brace.dropFirst().drop(while: \.isJSONWhiteSpace).first == UInt8(ascii: "\"")
        else { return nil }
        return remedyOfEscapes
    }

    private static func nameOfConsole(_ text: ArraySlice<UInt8>) -> String? {
        if text.starts(with: "NotificationRecord(".utf8) {
            return """
                the record of a notification that Android shows (dumpsys notification), without the payload: a tag \
                that begins with FCM-Notification means that FCM's SDK showed it
                """
        }
        guard text.has("dasd".utf8), text.has("pushLaunch".utf8) else { return nil }
        return """
            a line of the log in which iOS decides whether a silent push launches the app (dasd), without the payload: \
            Must Not Proceed means that it does not, because of the limit of silent pushes, low power or Background App \
            Refresh
            """
    }

    /// An object in a notation that is not read, or a part of one.
    private static func nameOfPrinted(_ text: ArraySlice<UInt8>, mayHavePayload: Bool) -> String? {
        let objects = [
            ("#<", "an object that Ruby inspected", "its payload with to_json"),
            ("map[", "a map that Go printed", "it with json.Marshal"),
            ("&{", "a struct that Go printed", "it with json.Marshal"),
            ("Array (", "an array that PHP printed", "it with json_encode"),
            ("array(", "an array that PHP printed", "it with json_encode"),
            ("RemoteMessage(", "an object that Kotlin or Dart printed", "its data"),
            ("RemoteMessage{", "an object that Java printed", "getData()"),
            ("PushMetaInfo(", "a push of Xiaomi's MiPush that its SDK printed", "title, description and extra as JSON"),
            ("\u{25BF} ", "an object that Xcode's debugger or dump() printed", "it with NSLog or JSONSerialization"),
        ]
        for (mark, name, remedy) in objects where text.starts(with: mark.utf8) {
            // Others may follow a line with nothing but an object's number.
            if mark == "#<", mayHavePayload, !text.contains(UInt8(ascii: "{")) { return nil }
            return "\(name), not a push in a form that is read: print \(remedy)"
        }
        if text.has("{<<\"".utf8) {
            return
                "a term that Erlang printed, not a push in a form that is read: print it as JSON (json:encode, jsx:encode)"
        }
        guard text.first == UInt8(ascii: "\""), PrintedLiteral.begins(text, behind: UInt8(ascii: "[")) else {
            return nil
        }
        return "a part of an object in JSON, which begins with a key: put { before it and } behind it"
    }

    private static func nameOfDocument(_ text: ArraySlice<UInt8>) -> String? {
        let list =
            "plutil -convert json makes a property list JSON; a toast of Windows is no push of Android, iOS or a browser"
        let names = [
            ("<!DOCTYPE html", "a page in HTML, not a push"), ("<html", "a page in HTML, not a push"),
            ("<toast", "a notification of Windows (WNS) in XML, and no push of Android, iOS or a browser"),
            ("<tile", "a notification of Windows (WNS) in XML, and no push of Android, iOS or a browser"),
            ("diff --git", "the difference of two versions (diff), not a push: give one of them"),
            ("@@ -", "the difference of two versions (diff), not a push: give one of them"),
            ("<?xml", "a property list or another document in XML, not a push: \(list)"),
            ("<!DOCTYPE", "a property list or another document in XML, not a push: \(list)"),
            ("<plist", "a property list in XML, not a push: \(list)"),
            ("bplist", "a binary property list, not a push: \(list)"), ("HTTP/", "the answer of a server, not a push"),
            ("-----BEGIN", "a key or a certificate, not a push: keep it secret"),
        ]
        if let (_, name) = names.first(where: { text.starts(with: $0.0.utf8) }) { return name }
        if text.starts(with: "b'".utf8), text.has("HTTP/1.".utf8) { return "the answer of a server, not a push" }
        let isToken = text.starts(with: "eyJ".utf8) && text.count(where: { $0 == UInt8(ascii: ".") }) == 2
        return isToken ? "a token (JWT), not a push: keep it secret" : nil
    }

    private static func isGo(_ text: ArraySlice<UInt8>) -> Bool {
        text.has(" := ".utf8) || text.has("&messaging.".utf8)
    }

    /// Whether the text before a brace ends with a type of Go, whose struct or map it begins: `&messaging.Message{`.
    static func isTypeOfGo(_ before: ArraySlice<UInt8>) -> Bool {
        let begin = before.lastIndex { $0 <= 0x20 || $0 == UInt8(ascii: "(") }
        let type = before[(begin.map { $0 + 1 } ?? before.startIndex)...]
        return ["&", "map[", "[]string", "[]*"].contains { type.starts(with: $0.utf8) }
    }

    /// Whether source code has the address of FCM's API before v1. A web push goes to addresses that begin like it.
    static func sendsOverOldAPI(_ lines: [[UInt8]]) -> Bool {
        let addresses = [
            "fcm.googleapis.com/fcm/send", "gcm-http.googleapis.com/gcm/send", "android.googleapis.com/gcm/send",
        ]
        let ofWeb = ["endpoint", "webpush", "web-push", "WebPush", "subscription", "VAPID", "vapid"]
        return !lines.contains { line in ofWeb.contains { line.has($0.utf8) } }
            && lines.contains { line in
                let text = line.drop(while: \.isJSONWhiteSpace)
                return !["//", "#", "*", "/*"].contains { text.starts(with: $0.utf8) }
                    && addresses.contains { line.has("\($0)\"".utf8) || line.has("\($0)'".utf8) }
            }
    }

    /// The name of source code.
    public static let codeName = "source code, not a push: give the message that it sends or gets, as JSON"

    /// Whether a line is source code.
    public static func isCode(_ line: [UInt8]) -> Bool {
        nameOfCode(line.drop(while: \.isJSONWhiteSpace), in: line) != nil || isStatement(line)
    }

    /// Whether a line of source code makes JSON of an object, or has JSON in a text with escapes.
    public static func hasJSON(_ line: [UInt8]) -> Bool {
        ["stringify(", "jsonEncode(", "json_encode(", "json.dumps(", "{\\\""].contains { line.has($0.utf8) }
    }

    /// The index of the first line of source code in a text without a payload, if it begins the text or a third of the
    /// text is code.
    public static func firstOfCode(in lines: [[UInt8]]) -> Int? {
        let written = lines.indices.filter { index in
            let text = lines[index].drop(while: \.isJSONWhiteSpace)
            return !["#", "//", "*", "/*", "```"].contains { text.starts(with: $0.utf8) } && !text.isEmpty
        }
        let code = written.filter { isCode(lines[$0]) }
        return code.count * 3 >= written.count || code.first == written.first ? code.first : nil
    }

    /// Whether a line has the shape of a statement: a call, a chain of calls, a variable that gets the value of a call, a
    /// variable of PHP.
    private static func isStatement(_ line: [UInt8]) -> Bool {
        var text = line.drop(while: \.isJSONWhiteSpace)
        while text.last?.isJSONWhiteSpace == true { text = text.dropLast() }
        func isOfName(_ byte: UInt8) -> Bool {
            byte.isDigit || byte | 0x20 >= 97 && byte | 0x20 <= 122 || "_.:$<>[]?!&*".utf8.contains(byte)
        }
        guard !PayloadStart.isLog(line), let last = text.last else { return false }
        // note.alert = "Hi", and Rpush::Apns::Notification.new.
        let first = text.prefix { $0 > 0x20 }
        let isMember = text[first.endIndex...].starts(with: " = ".utf8) && first.contains(UInt8(ascii: "."))
        let isRubys = first.first.map { (65...90).contains($0) } == true && first.has("::".utf8)
        if (isMember || isRubys && first.contains(UInt8(ascii: "."))) && first.allSatisfy(isOfName) { return true }
        guard "(){}[];,".utf8.contains(last) else { return false }
        /// Whether a text begins with the name of a function and its bracket.
        func isCall(_ text: ArraySlice<UInt8>) -> Bool {
            var rest = text.drop(while: \.isJSONWhiteSpace)
            for word in ["await ", "new ", "try ", "try? "] where rest.starts(with: word.utf8) {
                rest = rest.dropFirst(word.utf8.count)
            }
            let name = rest.prefix { isOfName($0) || $0 == UInt8(ascii: "-") }
            return name.contains { $0 | 0x20 >= 97 && $0 | 0x20 <= 122 }
                && rest.dropFirst(name.count).first == UInt8(ascii: "(")
        }
        let isPHP = text.first == UInt8(ascii: "$") && text.dropFirst().first.map(isOfName) == true
        // Objective-C sends messages in brackets.
        let isSend = text.first == UInt8(ascii: "[") && last == UInt8(ascii: ";")
        if isPHP && text.contains(where: { "=(".utf8.contains($0) }) || isSend || isCall(text) { return true }
        guard let equals = text.firstIndex(of: UInt8(ascii: "=")) else { return false }
        let words = text[..<equals].split(separator: UInt8(ascii: " "))
        return (1...3).contains(words.count)
            && words.allSatisfy { $0.allSatisfy { isOfName($0) || $0 == UInt8(ascii: ",") } }
            && isCall(text[(equals + 1)...])
    }

    /// Source code. A sentence may begin with the same words, so most of them need a sign of code, too.
    private static func nameOfCode(_ text: ArraySlice<UInt8>, in line: [UInt8]) -> String? {
        let code = codeName
        if isGo(text) { return code }
        guard PayloadStart(in: line)?.isTentative != false else { return nil }
        if ["import ", "<?php", "#include", "@Override", "package ", "@implementation"].contains(where: {
            text.starts(with: $0.utf8)
        }) {
            return code
        }
        let words = [
            "from ", "const ", "let ", "var ", "val ", "func ", "def ", "public ", "private ", "async ", "await ",
            "using ", "class ", "function ", "admin.", "messaging.", "require(", "use ", "- (", "-(", "+ (",
            "@interface ",
            "@implementation ", "@property", "NSDictionary *", "NSString *", "[[", "if (", "foreach (", "for (",
            "protected ", "export ", "fun ", "switch (", "try {", "void ",
            "internal ", "override ", "static ",
        ]
        if [" += (".utf8, ") => {".utf8].contains(where: { text.has($0) }) { return code }
        let hasSign = text.contains { "=({;".utf8.contains($0) } || text.has(" import ".utf8)
        return hasSign && words.contains { text.starts(with: $0.utf8) } ? code : nil
    }

    /// A line of a log without the content of the push.
    private static func note(_ text: ArraySlice<UInt8>) -> String? {
        if text.has("c2dm.intent.RECEIVE".utf8), text.has("CANCELLED".utf8) {
            return """
                a line of the log that Android cancelled the broadcast of a push: the app is force-stopped, and runs \
                again when the user starts it; the extras are not printed
                """
        }
        let contentless = [
            ("RemoteMessage@", "getData()"), ("Instance of 'RemoteMessage'", "message.toMap()"),
            ("[object Object]", "JSON.stringify(message)"), ("<UNNotification", "request.content.userInfo"),
            ("Intent { ", "getExtras(), after extras.keySet()"),
        ]
        if let action = PayloadStart.action(in: text), action.hasPrefix("com.braze.push.intent.") {
            let meant = [
                "NOTIFICATION_OPENED": "the user tapped a push of Braze's, and the SDK handles the tap",
                "NOTIFICATION_RECEIVED": "Braze's SDK got a push of its own",
                "NOTIFICATION_DELETED": "the user dismissed a push of Braze's",
            ].first { action.hasSuffix($0.key) }
            return "a broadcast of Braze's SDK about a push\(meant.map { ": \($0.value)" } ?? ""), without the payload"
        }
        // Any app gets intents: only those of pushes are about one.
        if text.has("Intent { ".utf8) {
            let action = PayloadStart.action(in: text)?.lowercased() ?? "push"
            let ofPushes = ["c2dm", "gcm", "fcm", "messag", "push", "notif"]
            if !ofPushes.contains(where: action.has) { return nil }
        }
        return contentless.first { text.has($0.0.utf8) }.map { mark, remedy in
            "the message is printed without its content: have the app print \(remedy)"
        }
    }

    /// Returns the name of a text without a payload that a program printed with its calls, or that is source code, and
    /// the index of the line that says so; `nil` for any other text.
    public static func nameOfProgram(_ lines: [[UInt8]]) -> (line: Int, name: String)? {
        let trace = lines.firstIndex { $0.has("Traceback (most recent call last)".utf8) || isFrame($0[...]) }
        if let trace { return (trace, "an error of a program with its calls (a stack trace), not a push") }
        return firstOfCode(in: lines).map { ($0, codeName) }
    }

    /// Whether a line is a call in a stack trace: `at a.B.c(B.java:12)`.
    private static func isFrame(_ text: ArraySlice<UInt8>) -> Bool {
        guard let at = text.indices.first(where: { text[$0...].starts(with: "at ".utf8) }) else { return false }
        let before = text[..<at].last { !$0.isJSONWhiteSpace }
        return before.map { "]:|>)".utf8.contains($0) } != false && text[at...].contains(UInt8(ascii: "("))
            && [".java:", ".kt:", ".js:", ".ts:", ".py:", ".go:", "Native Method)", "<anonymous>)", "Unknown Source)"]
                .contains { text[at...].has($0.utf8) }
    }

    /// Whether the next line is the source code of a call in a stack trace of Python.
    public static func isFrameOfPython(_ line: [UInt8]) -> Bool {
        let isWhole = line.has("\", line ".utf8) && (line.has(", in ".utf8) || line.last?.isDigit == true)
        return line.has("File \"".utf8) && isWhole
    }

    /// A part of a file of a project.
    private static func nameOfPart(_ text: ArraySlice<UInt8>) -> String? {
        let parts = [
            ("<manifest", "an AndroidManifest.xml"), ("<application", "an AndroidManifest.xml"),
            ("<service", "an AndroidManifest.xml"), ("<receiver", "an AndroidManifest.xml"),
            ("<meta-data", "an AndroidManifest.xml"), ("<uses-permission", "an AndroidManifest.xml"),
            ("<activity", "an AndroidManifest.xml"), ("<intent-filter", "an AndroidManifest.xml"),
            ("<key>", "a property list such as Info.plist"), ("implementation ", "a build.gradle"),
            ("apply plugin", "a build.gradle"), ("dependencies {", "a build.gradle"), ("plugins {", "a build.gradle"),
            ("buildscript {", "a build.gradle"), ("pod '", "a Podfile"), ("target '", "a Podfile"),
        ]
        return parts.first { text.starts(with: $0.0.utf8) }.map { "a part of \($0.1), not a push" }
    }

    /// Returns the name of the first part of a file of a project among the lines of a text, and its index; `nil` without
    /// one. In a sentence such a part is no line of its own.
    public static func nameOfPart(in lines: [[UInt8]]) -> (line: Int, name: String)? {
        for (index, line) in lines.enumerated() {
            let text = line.drop { $0.isJSONWhiteSpace || $0 == UInt8(ascii: "`") }
            if text.first == UInt8(ascii: "<"), let name = nameOfPart(text) { return (index, name) }
        }
        return nil
    }

    private static func nameOfTable(_ text: ArraySlice<UInt8>) -> String? {
        let commas = text.count { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: ";") }
        // A sentence has spaces behind its commas.
        let isSentence = text.has(", ".utf8) || text.has("; ".utf8)
        let isTable =
            commas >= 2 && !isSentence && !text.contains { "{}[]()=".utf8.contains($0) }
            && !PayloadStart.isLog(Array(text))
        return isTable ? "a table (CSV), not a push: give one payload as JSON" : nil
    }
}

extension JSONError {
    /// The error in a text that is no JSON, with line and column.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - number: its first line in the file.
    ///   - file: the file's name.
    public func text(in text: [UInt8], from number: Int, of file: String) -> String {
        let before = text[..<min(offset, text.count)]
        let line = number + before.count { $0 == UInt8(ascii: "\n") }
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        // Columns count characters: the bytes that are no UTF-8 continuation bytes.
        let column = before[start...].count { $0 & 0xC0 != 0x80 } + 1
        let hint = PayloadForm.hint(at: offset, in: text) ?? ""
        let place = "at byte \(offset): "
        let reason = message.dropFirst(message.hasPrefix(place) ? place.count : 0)
        return "\(file):\(line):\(column): not JSON: \(reason)\(hint)"
    }
}

extension PayloadReader {
    /// The failure for a file without a payload.
    func nothing() -> Failure {
        let known = knownSentences
        for other in known.dropLast() { note("\(file.name):\(other.line): \(other.text)") }
        if let last = known.last { return file.fault("\(file.name):\(last.line): \(last.text)") }
        if let named { return named }
        if let found = PayloadForm.nameOfProgram(source.beginning) {
            let old =
                PayloadForm.sendsOverOldAPI(source.beginning)
                ? "; its address is that of FCM's API before v1, which \(PayloadEnvelope.switchedOff)" : ""
            return file.fault("\(file.name):\(found.line + 1): \(found.name)\(old)")
        }
        if let failure = failures.first { return failure }
        guard let firstOther = around.first else { return file.fault("\(file.name): there is no payload in it") }
        if let name = PayloadForm.nameOfOther(firstOther.line) ?? PayloadForm.nameOfYAML(source.beginning) {
            return file.fault("\(file.name):\(firstOther.number): \(name)")
        }
        if let name = around.name { return file.fault("\(file.name):\(name.number): \(name.text)") }
        if let found = PayloadForm.nameOfPart(in: source.beginning) {
            return file.fault("\(file.name):\(found.line + 1): \(found.name)")
        }
        let mayBeWeb = repairs && platform == nil && around.skipped == 1
        let hint = mayBeWeb ? "; if it is the text of a web push, --platform web explains it" : ""
        let first = firstOther.line.first { !$0.isJSONWhiteSpace } ?? 0
        let kind = PayloadStart.isLog(firstOther.line) ? "a log" : "text"
        if around.skipped > 1 || kind != "text" || PayloadStart.isTag(firstOther.line)
            || !"{[\"'`".utf8.contains(first) && !first.isDigit
        {
            return file.fault(
                "\(file.name): there is no payload in it: \(counted(around.skipped, "line")) of \(kind) without a push\(hint)"
            )
        }
        do {
            _ = try JSONDocument(scanning: firstOther.line, limits: limits)
            return file.fault("\(file.name): not an object: a payload is a JSON object")
        } catch {
            return file.fault(
                error.text(in: firstOther.line, from: firstOther.number, of: file.name) + hint)
        }
    }
}
