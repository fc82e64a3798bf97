import PushModel
import PushRouter

/// A curl command that sends a message: `curl -H 'apns-topic: APP' -d '{...}' https://api.push.apple.com/3/device/TOKEN`.
struct CurlCommand {
    private var body: [UInt8]?
    private var url: String?
    /// The headers of APNs.
    private var headers: [(name: String, value: String)] = []
    /// Whether an option asks for HTTP/1.
    private var isOfHTTP1 = false

    /// The app: the topic without the suffix of a push type.
    private var app: String? {
        headers.first { $0.name == APNsHeader.topic.rawValue && !$0.value.hasPrefix("$") }.map {
            APNsTopic($0.value)?.app ?? $0.value
        }
    }

    /// One-letter options with a value.
    private static let withValue = Set("AbcCdDeEFHKmoPQrtTuUwxXyYz".utf8)

    /// The text of the standard input, and the number of lines before it.
    private let (input, inputLine): ([UInt8]?, Int)

    /// - Parameters:
    ///   - words: the command.
    ///   - input: the text of the standard input, if a here-document has it.
    ///   - line: the number of lines before that text.
    init(_ words: [[UInt8]], input: [UInt8]? = nil, at line: Int = 0) throws(PayloadFormError) {
        (self.input, inputLine) = (input, line)
        var rest = words.dropFirst()
        while let word = rest.popFirst() {
            if word.starts(with: "--".utf8) {
                try take(String(decoding: word.dropFirst(2), as: UTF8.self), &rest)
            } else if word.first == UInt8(ascii: "-") {
                try takeLetters(word.dropFirst(), &rest)
            } else if url == nil || word.has("://".utf8) {
                url = String(decoding: word, as: UTF8.self)
            }
        }
    }

    func payload() throws(PayloadFormError) -> WrittenPayload {
        let host = url.flatMap(Self.host)
        if let name = host.flatMap(Self.nameOfOther) {
            throw PayloadFormError(
                "a request to the push service of \(name), whose payloads nothing here knows: give one of FCM, APNs, Huawei, Amazon or a browser"
            )
        }
        guard let body = body ?? input else {
            throw PayloadFormError("the curl command has no body, which -d, --data-raw, --data-binary or --json give")
        }
        if host?.hasSuffix(".braze.com") == true || host?.hasSuffix(".braze.eu") == true {
            throw PayloadFormError(
                """
                the body is a request to Braze, which makes the payload of it: send it to a test device, and take the \
                payload from the log of the device
                """)
        }
        let isApples = host?.hasSuffix("push.apple.com") == true
        var payload = WrittenPayload(json: body, platform: isApples ? .ios : nil, app: app, host: host)
        if body == input { payload.bodyLine = inputLine }
        if host?.hasSuffix(".huawei.com") == true { (payload.platform, payload.transport) = (.android, .hms) }
        if host == "api.amazon.com" { (payload.platform, payload.transport) = (.android, .adm) }
        if isApples, !headers.isEmpty {
            var writer = JSONWriter()
            let unknown = headers.filter { $0.value.hasPrefix("$") }
            payload.remarks += unknown.map {
                "\($0.name) is a variable, \($0.value.showingControls()): its value is not known, and it is left out"
            }
            writer.object { writer in
                for header in headers where !header.value.hasPrefix("$") { writer.member(header.name, header.value) }
            }
            payload.headers = writer.bytes
        }
        if isApples {
            if isOfHTTP1 { payload.remarks.append("the command speaks HTTP/1, and APNs HTTP/2 alone: use --http2") }
            let lacks = [APNsHeader.pushType, .topic].filter { header in
                !headers.contains { $0.name == header.rawValue }
            }
            payload.remarks += lacks.map {
                $0 == .topic
                    ? "the request has no apns-topic, the bundle id, which APNs needs with a token"
                    : "the request has no apns-push-type, which Apple asks for: alert for what is shown, else background"
            }
        }
        return payload
    }

    private mutating func take(_ option: String, _ rest: inout ArraySlice<[UInt8]>) throws(PayloadFormError) {
        switch option {
        case "data", "data-ascii", "data-binary", "json": try add(rest.popFirst(), mayBeFile: true)
        case "data-raw": try add(rest.popFirst(), mayBeFile: false)
        case "data-urlencode", "form":
            throw PayloadFormError("curl --\(option): neither FCM nor APNs takes a form; give the JSON with -d")
        case "header": take(header: rest.popFirst() ?? [])
        case "http1.0", "http1.1": isOfHTTP1 = true
        case "url": url = rest.popFirst().map { String(decoding: $0, as: UTF8.self) }
        // A word after another option is no URL, or contains no `://`.
        default: break
        }
    }

    /// Handles a word of one-letter options. The value of an option is the rest of the word, or the next word.
    private mutating func takeLetters(
        _ letters: ArraySlice<UInt8>, _ rest: inout ArraySlice<[UInt8]>
    ) throws(PayloadFormError) {
        isOfHTTP1 = isOfHTTP1 || letters.first == UInt8(ascii: "0")
        guard let place = letters.firstIndex(where: Self.withValue.contains) else { return }
        let behind = letters[(place + 1)...]
        let value = behind.isEmpty ? rest.popFirst() : Array(behind)
        switch letters[place] {
        case UInt8(ascii: "d"): try add(value, mayBeFile: true)
        case UInt8(ascii: "H"): take(header: value ?? [])
        default: break
        }
    }

    private mutating func add(_ value: [UInt8]?, mayBeFile: Bool) throws(PayloadFormError) {
        guard let value else { throw PayloadFormError("the curl command ends before its body") }
        guard !mayBeFile || value.first != UInt8(ascii: "@") else {
            let name = String(decoding: value.dropFirst(), as: UTF8.self)
            throw PayloadFormError(
                name == "-"
                    ? "the body of the curl command comes from another command: put it into a file, and give that file"
                    : "the body of the curl command is the file \(name): give that file")
        }
        // curl joins several bodies with `&`.
        if body == nil { body = [] } else { body?.append(UInt8(ascii: "&")) }
        body?.append(contentsOf: value)
    }

    private mutating func take(header: [UInt8]) {
        guard let colon = header.firstIndex(of: UInt8(ascii: ":")) else { return }
        let name = String(decoding: header[..<colon], as: UTF8.self).lowercased()
        guard APNsHeader(rawValue: name) != nil else { return }
        let value = header[(colon + 1)...].drop(while: \.isJSONWhiteSpace)
        headers.removeAll { $0.name == name }
        headers.append((name, String(decoding: value, as: UTF8.self)))
    }

    /// The push services of other makers, by the ends of their hosts.
    private static func nameOfOther(_ host: String) -> String? {
        let names = [
            "hihonor.com": "Honor", "honor.com": "Honor", "vivo.com.cn": "vivo", "rustore.ru": "RuStore",
            "xiaomi.com": "Xiaomi",
            "oppomobile.com": "OPPO", "heytapmobi.com": "OPPO", "meizu.com": "Meizu", "ntfy.sh": "ntfy",
            "pushover.net": "Pushover",
        ]
        return names.first { host == $0.key || host.hasSuffix(".\($0.key)") }?.value
    }

    /// Returns the host of a URL, without user, port and path.
    private static func host(of url: String) -> String? {
        var text = Array(url.utf8)[...]
        if let scheme = text.firstIndex(of: UInt8(ascii: ":")), text[scheme...].starts(with: "://".utf8) {
            text = text[(scheme + 3)...]
        }
        let authority = text.prefix { !"/?#".utf8.contains($0) }
        let behindUser = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[($0 + 1)...] } ?? authority
        let host = behindUser.prefix { $0 != UInt8(ascii: ":") }
        return host.isEmpty ? nil : String(decoding: host, as: UTF8.self)
    }
}

/// A command of Amazon's command line that publishes a message: `aws sns publish --message '{"APNS":"..."}'`.
struct SNSCommand {
    private let message: [UInt8]?

    init(_ words: [[UInt8]]) { message = ShellWords.value(of: "--message", in: words) }

    func payload() throws(PayloadFormError) -> WrittenPayload {
        guard let message else { throw PayloadFormError("the command has no message, which --message gives") }
        guard !message.starts(with: "file://".utf8) else {
            let name = String(decoding: message.dropFirst(7), as: UTF8.self)
            throw PayloadFormError("the message of the command is the file \(name): give that file")
        }
        guard (try? JSONDocument(scanning: message, limits: JSONLimits(depth: .max)))?.root.kind == .object else {
            throw PayloadFormError(
                """
                the message of the command is no JSON object: with --message-structure json it has a member for each \
                service, whose value is the payload as a text in JSON
                """)
        }
        return WrittenPayload(json: message)
    }
}

/// A command of web-push or of webpush-java that sends a push: `web-push send-notification --endpoint=URL --payload=TEXT`.
///
/// Source: web-push, README.md (Command Line); webpush-java, cli/commands/SendNotificationCommand.java.
struct WebPushCommand {
    private let body: [UInt8]?

    /// Whether a line begins such a command.
    static func begins(_ text: ArraySlice<UInt8>) -> Bool {
        let programs = ["web-push", "java", "npx", "send-notification"]
        return text.has("send-notification".utf8)
            && programs.contains { ShellWords.program(of: text).elementsEqual($0.utf8) }
    }

    init(_ words: [[UInt8]]) { body = ShellWords.value(of: "--payload", in: words) }

    func payload() throws(PayloadFormError) -> WrittenPayload {
        guard let body else { throw PayloadFormError("the command has no payload, which --payload gives") }
        let text = PayloadEnvelope.webPush(of: body, isSaid: true, limits: JSONLimits(depth: .max))
        return text ?? WrittenPayload(json: body, platform: .web)
    }
}

/// A command of Android's activity manager: `adb shell am broadcast -a ACTION --es KEY VALUE`.
///
/// Source: Android 14, `Intent.parseCommandArgs` and `ActivityManagerShellCommand`; adb's `commandline.cpp`, which
/// joins its words with spaces for the device's shell, without quoting them.
struct ActivityManagerCommand {
    private var action: String?
    private var app: String?
    private var keys: [String] = []
    private var values: [String: [UInt8]] = [:]

    /// The verbs that deliver an intent to an app.
    private static let verbs: Set<String> = [
        "broadcast", "start", "start-activity", "startservice", "start-service", "startforegroundservice",
        "start-foreground-service",
    ]
    /// Options of `adb` and `am` whose values are irrelevant here.
    private static let withValue: Set<String> = [
        "-s", "-t", "-H", "-P", "-L", "-e", "-d", "-i", "-c", "-f", "-R", "--user", "--receiver-permission",
        "--start-profiler", "--sampling", "--display", "--windowingMode", "--activityType", "--task",
    ]

    init(_ words: [[UInt8]]) throws(PayloadFormError) {
        var rest = try Self.behindVerb(words)[...]
        while let option = rest.popFirst() {
            guard option.utf8.first == UInt8(ascii: "-") else {
                try Self.check(operand: option, rest)
                break
            }
            try take(option, &rest)
        }
    }

    func payload() throws(PayloadFormError) -> WrittenPayload {
        if let action, action.hasPrefix("android.intent.action.") || action.has("INSTANCE_ID") || action.has(".iid.") {
            let meaning =
                action.hasPrefix("android.") ? "opens a screen or a link of an app" : "has the app ask for a new token"
            throw PayloadFormError(
                "the command \(meaning), and delivers no push: its action would be com.google.android.c2dm.intent.RECEIVE"
            )
        }
        guard !keys.isEmpty || action?.has("com.google.") == true || action?.has("com.amazon.") == true else {
            throw PayloadFormError("the command has no extras, such as --es KEY VALUE, so no push is in it")
        }
        var writer = JSONWriter()
        writer.object { writer in
            if let action { writer.member("action", action) }
            writer.member("extras", object: { object in keys.forEach { object.member($0, raw: values[$0] ?? []) } })
        }
        return WrittenPayload(json: writer.bytes, platform: .android, app: app)
    }

    /// Returns the words after `am broadcast`. After `adb shell` the device's shell splits them first.
    private static func behindVerb(_ words: [[UInt8]]) throws(PayloadFormError) -> [String] {
        var words = words[...]
        if words.first.map({ ShellWords.name($0[...]).elementsEqual("adb".utf8) }) == true {
            while let word = words.popFirst(), !word.elementsEqual("shell".utf8) {}
            while let word = words.first, word.first == UInt8(ascii: "-") { words = words.dropFirst() }
            words = try ShellWords.words(of: Array(words.joined(separator: " ".utf8)))[...]
        }
        let texts = words.map { String(decoding: $0, as: UTF8.self) }
        guard texts.first == "am", texts.count > 1, verbs.contains(texts[1]) else {
            throw PayloadFormError(
                "no command with extras: am broadcast, am startservice and am start have them, with --es KEY VALUE")
        }
        return Array(texts.dropFirst(2))
    }

    /// Throws for words after the operand: `am` reads no option there.
    private static func check(operand: String, _ rest: ArraySlice<String>) throws(PayloadFormError) {
        // The operand is a URI, a component or a package.
        guard rest.isEmpty, operand.utf8.contains(where: { ":/.".utf8.contains($0) }) else {
            throw PayloadFormError(
                """
                am reads nothing from "\(operand)" on: the device's shell splits a value with a space once more; quote \
                it twice, as in --es a "'x y'", or quote the whole command behind adb shell
                """)
        }
    }

    private mutating func take(_ option: String, _ rest: inout ArraySlice<String>) throws(PayloadFormError) {
        switch option {
        case "-a": action = try Self.next(option, &rest)
        case "-p": app = try Self.next(option, &rest)
        case "-n":
            let component = try Self.next(option, &rest)
            app = component.utf8.firstIndex(of: UInt8(ascii: "/")).map { String(component[..<$0]) }
        case "-e", "--es": try put(option, &rest) { .string($0) }
        case "--esn":
            let key = try Self.next(option, &rest)
            put(key, Array("null".utf8))
        case "--ez": try put(option, &rest, Self.boolean)
        case "--ei", "--el": try put(option, &rest) { Self.integer($0).map(Value.number) }
        case "--ef", "--ed": try put(option, &rest) { Self.real($0).map(Value.number) }
        case "--eia", "--eial", "--ela", "--elal": try put(option, &rest) { .list($0, Self.integer) }
        case "--efa", "--efal", "--eda", "--edal": try put(option, &rest) { .list($0, Self.real) }
        case "--esa", "--esal": try put(option, &rest) { .texts($0) }
        // To the app a URI or a component name is an object, not a string.
        case "--eu", "--ecn": try put(option, &rest) { .object(of: $0) }
        default: if Self.withValue.contains(option) { _ = try Self.next(option, &rest) }
        }
    }
}

extension ActivityManagerCommand {
    /// The value of an extra, as JSON.
    private struct Value {
        let json: [UInt8]

        private init(_ write: (inout JSONWriter) -> Void) {
            var writer = JSONWriter()
            write(&writer)
            json = writer.bytes
        }

        static func string(_ text: String) -> Value { Value { $0.string(text) } }
        static func number(_ text: String) -> Value { Value { $0.raw(Array(text.utf8)) } }
        static func object(of text: String) -> Value { Value { $0.object { $0.member("toString", text) } } }

        static func texts(_ text: String) -> Value {
            Value { $0.array { list in text.split(separator: ",").forEach { list.string(String($0)) } } }
        }

        static func list(_ text: String, _ number: (String) -> String?) -> Value? {
            let numbers = text.split(separator: ",").map { number(String($0)) }
            guard !numbers.contains(nil) else { return nil }
            return Value { $0.array { list in numbers.forEach { list.raw(Array(($0 ?? "").utf8)) } } }
        }
    }

    private static func next(_ option: String, _ rest: inout ArraySlice<String>) throws(PayloadFormError) -> String {
        guard let word = rest.popFirst() else { throw PayloadFormError("am: \(option) lacks its value") }
        return word
    }

    private mutating func put(
        _ option: String, _ rest: inout ArraySlice<String>, _ value: (String) -> Value?
    ) throws(PayloadFormError) {
        let key = try Self.next(option, &rest)
        let text = try Self.next("\(option) \(key)", &rest)
        guard let value = value(text) else {
            throw PayloadFormError("am refuses \(option) \(key) \(text): not the value that \(option) takes")
        }
        put(key, value.json)
    }

    /// Adds an extra; the last of several with the same key counts.
    private mutating func put(_ key: String, _ json: [UInt8]) {
        if values.updateValue(json, forKey: key) == nil { keys.append(key) }
    }

    private static func boolean(_ text: String) -> Value? {
        switch text {
        case "true", "t": .number("true")
        case "false", "f": .number("false")
        default: integer(text).map { .number($0 == "0" ? "false" : "true") }
        }
    }

    /// Parses an integer like `Long.decode`: decimal, or hexadecimal with `0x`.
    private static func integer(_ text: String) -> String? {
        let isHexadecimal = text.utf8.starts(with: "0x".utf8) || text.utf8.starts(with: "0X".utf8)
        return (isHexadecimal ? Int64(text.dropFirst(2), radix: 16) : Int64(text)).map(String.init)
    }

    private static func real(_ text: String) -> String? {
        Double(text).flatMap { $0.isFinite ? $0.description : nil }
    }
}

/// Splits one command into words like a shell: with quotes, backslashes and continuation lines. Expands nothing:
/// `$NAME` stays unchanged.
struct ShellWords: Sendable {
    private enum Quote: Sendable { case none, single, double, escapes }

    /// Returns the value of an option, `--name VALUE` or `--name=VALUE`, the last of several; `nil` if the words lack it.
    static func value(of option: String, in words: [[UInt8]]) -> [UInt8]? {
        var value: [UInt8]?
        for (index, word) in words.enumerated() {
            if word.elementsEqual(option.utf8) {
                value = words.dropFirst(index + 1).first
            } else if word.starts(with: "\(option)=".utf8) {
                value = Array(word.dropFirst(option.utf8.count + 1))
            }
        }
        return value
    }

    private var words: [[UInt8]] = []
    private var word: [UInt8]?
    private var quote = Quote.none
    private var isEscaped = false
    private var hasEnded = false
    /// The word that ends the text of the standard input (`<<EOF`), and that text.
    private var end: [UInt8]?
    private(set) var input: [UInt8]?
    /// The number of lines before that text.
    private(set) var inputLine = 0

    /// Returns the program in a line, without its directory and without a copied prompt before it.
    static func program(of text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isPrompt = text.starts(with: "$ ".utf8) || text.starts(with: "% ".utf8)
        return name(text.dropFirst(isPrompt ? 2 : 0).drop { $0.isJSONWhiteSpace }.prefix { !$0.isJSONWhiteSpace })
    }

    /// Returns the last part of a path.
    static func name(_ path: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        path.lastIndex(of: UInt8(ascii: "/")).map { path[($0 + 1)...] } ?? path
    }

    /// Returns the words of a text.
    static func words(of text: [UInt8]) throws(PayloadFormError) -> [[UInt8]] {
        var words = ShellWords()
        words.add(line: text)
        return try words.finished()
    }

    /// Whether the lines so far are the whole command.
    var isWhole: Bool { hasEnded }

    /// Returns the words, without a prompt.
    func finished() throws(PayloadFormError) -> [[UInt8]] {
        guard quote == .none else {
            let mark = quote == .double ? "\"" : "'"
            throw PayloadFormError("a quote \(mark) is not closed: copy the command whole")
        }
        // The word for the standard input stands for that text.
        let all = (words + (word.map { [$0] } ?? [])).map { $0.elementsEqual("@-".utf8) ? input ?? $0 : $0 }
        return all.first == Array("$".utf8) || all.first == Array("%".utf8) ? Array(all.dropFirst()) : all
    }

    /// Adds a line, without its line feed.
    mutating func add(line: [UInt8]) {
        var rest = line.last == UInt8(ascii: "\r") ? line.dropLast() : line[...]
        if end == nil { inputLine += 1 }
        if let end, quote == .none, !isEscaped {
            // The second prompt of a shell.
            if rest.first == UInt8(ascii: ">") { rest = rest.dropFirst(rest.dropFirst().first == 0x20 ? 2 : 1) }
            if rest.drop(while: \.isJSONWhiteSpace).elementsEqual(end) {
                hasEnded = true
            } else {
                if input == nil { input = [] } else { input?.append(UInt8(ascii: "\n")) }
                input?.append(contentsOf: rest)
            }
            return
        }
        while !hasEnded, let byte = rest.popFirst() { take(byte, &rest) }
        if isEscaped {
            // A continuation line follows: drops the backslash and the line feed.
            isEscaped = false
        } else if quote == .none {
            hasEnded = end == nil
        } else {
            word?.append(UInt8(ascii: "\n"))
        }
    }

    private mutating func take(_ byte: UInt8, _ rest: inout ArraySlice<UInt8>) {
        switch quote {
        case .single: if byte == UInt8(ascii: "'") { quote = .none } else { word?.append(byte) }
        case .double:
            if byte == UInt8(ascii: "\"") {
                quote = .none
            } else if byte == UInt8(ascii: "\\") {
                escape(&rest, keeps: { !"$`\"\\".utf8.contains($0) })
            } else {
                word?.append(byte)
            }
        case .escapes:
            if byte == UInt8(ascii: "'") {
                quote = .none
            } else if byte == UInt8(ascii: "\\"), let letter = rest.popFirst() {
                word?.append(contentsOf: Self.escaped(letter, &rest))
            } else {
                word?.append(byte)
            }
        case .none: takeUnquoted(byte, &rest)
        }
    }

    private mutating func takeUnquoted(_ byte: UInt8, _ rest: inout ArraySlice<UInt8>) {
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"):
            if let word { words.append(word) }
            word = nil
        case UInt8(ascii: "<") where rest.first == UInt8(ascii: "<"):
            let mark = rest.dropFirst().drop { $0.isJSONWhiteSpace || "-'\"".utf8.contains($0) }
            end = Array(mark.prefix { !$0.isJSONWhiteSpace && !"'\"".utf8.contains($0) })
            rest = mark.dropFirst(end?.count ?? 0).drop { "'\"".utf8.contains($0) }
        case UInt8(ascii: ";"), UInt8(ascii: "|"), UInt8(ascii: "&"), UInt8(ascii: ">"), UInt8(ascii: "<"):
            hasEnded = true
        case UInt8(ascii: "'"): begin(.single)
        case UInt8(ascii: "\""): begin(.double)
        case UInt8(ascii: "$") where rest.first == UInt8(ascii: "'"):
            rest = rest.dropFirst()
            begin(.escapes)
        case UInt8(ascii: "\\"): escape(&rest, keeps: { _ in false })
        default: begin(.none, with: byte)
        }
    }

    private mutating func begin(_ quote: Quote, with byte: UInt8? = nil) {
        self.quote = quote
        // Changes the word in place, because a copy of a long word would be slow.
        if word == nil { word = [] }
        if let byte { word?.append(byte) }
    }

    /// Takes the character after a backslash; at the end of a line, notes a continuation line.
    private mutating func escape(_ rest: inout ArraySlice<UInt8>, keeps: (UInt8) -> Bool) {
        guard let byte = rest.popFirst() else { return isEscaped = true }
        if byte == UInt8(ascii: "\n") { return }
        begin(quote)
        if keeps(byte) { word?.append(UInt8(ascii: "\\")) }
        word?.append(byte)
    }

    /// Returns the bytes of an escape in `$'...'`.
    private static func escaped(_ letter: UInt8, _ rest: inout ArraySlice<UInt8>) -> [UInt8] {
        switch letter {
        case UInt8(ascii: "n"): return [UInt8(ascii: "\n")]
        case UInt8(ascii: "t"): return [UInt8(ascii: "\t")]
        case UInt8(ascii: "r"): return [UInt8(ascii: "\r")]
        case UInt8(ascii: "u"), UInt8(ascii: "x"):
            let digits = rest.prefix(letter == UInt8(ascii: "u") ? 4 : 2)
            let number = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
            guard let number, let scalar = Unicode.Scalar(number) else { return [UInt8(ascii: "\\"), letter] }
            rest = rest.dropFirst(digits.count)
            return letter == UInt8(ascii: "u") ? Array(String(scalar).utf8) : [UInt8(number)]
        case UInt8(ascii: "\\"), UInt8(ascii: "'"), UInt8(ascii: "\""): return [letter]
        default: return [UInt8(ascii: "\\"), letter]
        }
    }
}
