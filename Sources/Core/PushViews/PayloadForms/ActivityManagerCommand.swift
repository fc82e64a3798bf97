import PushModel
import PushRouter

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
