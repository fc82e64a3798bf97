import PushModel
import PushRouter

// Source code around an object, and what it says of the object.
extension PayloadStart {
    /// Returns the place of the bracket behind the name of a message of firebase-admin for Python; `nil` without one.
    static func callOfPython(in line: [UInt8]) -> Int? {
        guard line.has("Message(".utf8) else { return nil }
        for name in ["messaging.Message(", "messaging.MulticastMessage(", "Message(", "MulticastMessage("] {
            guard let place = line.indices.first(where: { line[$0...].starts(with: name.utf8) }) else { continue }
            let open = place + name.utf8.count - 1
            // Without the module's name the arguments tell.
            let isPlain = place == 0 || " =([".utf8.contains(line[place - 1])
            let isMessage = ["title='", "title=\"", "body='", "body=\""].contains { argument in
                line[open...].has("notification=Notification(\(argument)".utf8)
            }
            if name.hasPrefix("messaging.") || isPlain && isMessage { return open }
        }
        return nil
    }

    /// Returns the place of a chain of calls that builds a message in Java, Kotlin or PHP; `nil` without one.
    static func builder(in line: [UInt8]) -> Int? {
        guard line.has("Message".utf8) || line.has("Notification::".utf8) else { return nil }
        for name in PrintedLiteral.builders {
            let place = line.indices.first { line[$0...].starts(with: name.utf8) }
            guard let place else { continue }
            let before = place == 0 ? UInt8(ascii: " ") : line[place - 1]
            let isAssigned = line[..<place].last { !$0.isJSONWhiteSpace } == UInt8(ascii: "=")
            if name.hasPrefix("Notification"), !isAssigned { continue }
            if !before.isDigit, !(97...122).contains(before | 0x20), before != UInt8(ascii: ".") { return place }
        }
        return nil
    }

    /// Returns the place of the bracket of an array of PHP that is a value; `nil` without one.
    static func arrayOfPHP(in line: [UInt8]) -> Int? {
        guard line.has("array(".utf8) else { return nil }
        for name in [", array(", "= array(", "=array(", "(array(", "return array("] {
            let place = line.indices.first { line[$0...].starts(with: name.utf8) }
            if let place { return place + name.utf8.count - 1 }
        }
        return nil
    }

    /// Whether the text before a bracket is source code that takes the object for a value.
    static func isCode(_ before: ArraySlice<UInt8>) -> Bool {
        // Elixir writes %{ for a map, and Objective-C @{.
        let end = before.reversed().drop { $0.isJSONWhiteSpace || $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "@") }
        // A map of Elixir's begins the line.
        if end.first == nil, before.contains(UInt8(ascii: "%")) { return true }
        if end.first == UInt8(ascii: "(") { return true }
        let isAssignment = end.first == UInt8(ascii: "=") && !end.dropFirst().starts(with: "=".utf8)
        return isAssignment || end.starts(with: "nruter".utf8)
    }

    /// Whether the text before a bracket is the key of a part of a message, in a line of source code: the rest of the
    /// message is around it.
    static func isPart(_ before: ArraySlice<UInt8>) -> Bool {
        let parts = ["notification", "android", "apns", "webpush"]
        let name = String(decoding: before.filter { !" \t\"':=>".utf8.contains($0) }, as: UTF8.self)
        return before.first?.isJSONWhiteSpace == true && (before.has(":".utf8) || before.has("=>".utf8))
            && parts.contains(name)
    }

    /// Whether a brace behind a text begins the body of a class, a function or a statement.
    static func isBody(_ before: ArraySlice<UInt8>, isOpen: Bool) -> Bool {
        if ["try ", "else ", "do "].contains(where: { before.drop(while: \.isJSONWhiteSpace).elementsEqual($0.utf8) }) {
            return true
        }
        guard isOpen, let last = before.last(where: { !$0.isJSONWhiteSpace }) else { return false }
        guard last == UInt8(ascii: ")") || last.isDigit || (97...122).contains(last | 0x20) || last == UInt8(ascii: ">")
        else { return false }
        let words = before.split { !($0.isDigit || (97...122).contains($0 | 0x20) || $0 == UInt8(ascii: "@")) }.prefix(
            3)
        return words.contains { word in bodies.contains { word.elementsEqual($0.utf8) } }
            || before.drop(while: \.isJSONWhiteSpace).starts(with: "- (".utf8)
    }

    /// Whether the brace behind a text has parameters of a function: behind its end the body begins.
    static func isParameters(_ before: ArraySlice<UInt8>, _ rest: ArraySlice<UInt8>) -> Bool {
        guard before.last.map({ "( ,".utf8.contains($0) }) == true, before.contains(UInt8(ascii: "(")),
            let close = rest.firstIndex(of: UInt8(ascii: "}"))
        else { return false }
        let behind = rest[(close + 1)...].drop(while: \.isJSONWhiteSpace)
        // An object of an argument has keys in quotation marks.
        guard behind.first == UInt8(ascii: ")"), !rest[..<close].has("\":".utf8), !rest[..<close].has("':".utf8) else {
            return false
        }
        let body = behind.dropFirst().drop(while: \.isJSONWhiteSpace)
        return ["{", "async", "=>", "throws"].contains { body.starts(with: $0.utf8) }
    }

    static let bodies = [
        "class", "struct", "interface", "extension", "protocol", "public", "private", "protected", "internal",
        "override", "static", "fun", "func", "function", "def", "void", "if", "else", "for", "while", "switch", "catch",
        "try", "do",
    ]

    /// Whether the text before a brace ends with the type of a message of firebase-admin for Go or C#.
    static func isStruct(_ before: ArraySlice<UInt8>) -> Bool {
        var text = before
        while text.last?.isJSONWhiteSpace == true { text = text.dropLast() }
        if text.reversed().starts(with: ")(".utf8) { text = text.dropLast(2) }
        let type = text.reversed().prefix { $0 == UInt8(ascii: ".") || (97...122).contains($0 | 0x20) }
        let name = String(decoding: type.prefix { $0 != UInt8(ascii: ".") }.reversed(), as: UTF8.self)
        guard name == "Message" || name == "MulticastMessage" else { return false }
        text = text.dropLast(type.count)
        let isNew = text.reversed().starts(with: " wen".utf8)
        if isNew { text = text.dropLast(4) } else if !type.contains(UInt8(ascii: ".")) { return false }
        let last = text.last { !$0.isJSONWhiteSpace } ?? 0
        return "=(,>&{[:".utf8.contains(last)
            || text.reversed().drop(while: \.isJSONWhiteSpace).starts(with: "nruter".utf8)
    }

    /// Whether a line ends with the type of such a message, or with PHP's `array`: its bracket begins the next line.
    public static func opensStruct(_ line: [UInt8]) -> Bool {
        line.has("new ".utf8) && isStruct(line[...])
            || line.reversed().drop(while: \.isJSONWhiteSpace).starts(with: "yarra =".utf8)
    }

    /// Whether a line ends with the class of an object of C# that it makes: `new Options`, `new Options()`.
    static func makesObject(_ line: ArraySlice<UInt8>) -> Bool {
        var text = line
        while text.last?.isJSONWhiteSpace == true { text = text.dropLast() }
        if text.reversed().starts(with: ")(".utf8) { text = text.dropLast(2) }
        let name = text.reversed().prefix {
            $0.isDigit || (97...122).contains($0 | 0x20) || "._<>,[]".utf8.contains($0)
        }
        let begin = line.drop(while: \.isJSONWhiteSpace)
        // A sentence may end with such words.
        let isCode =
            line.contains { "=(".utf8.contains($0) } || ["new ", "return "].contains { begin.starts(with: $0.utf8) }
        return isCode && !name.isEmpty && text.dropLast(name.count).reversed().starts(with: " wen".utf8)
    }

    /// Returns the name of the variable whose value source code gives behind a text: `const data: Data = `, `$data = `,
    /// `data = `; `nil` for any other text, and for a member of an object (`note.payload = `).
    static func constant(in before: ArraySlice<UInt8>) -> String? {
        var text = before.drop(while: \.isJSONWhiteSpace)
        for call in PrintedLiteral.encoders where text.reversed().starts(with: "\(call)(".utf8.reversed()) {
            text = text.dropLast(call.utf8.count + 1)
        }
        guard text.reversed().drop(while: \.isJSONWhiteSpace).first == UInt8(ascii: "=") else { return nil }
        for word in ["const ", "let ", "var ", "val ", "final "] where text.starts(with: word.utf8) {
            text = text.dropFirst(word.utf8.count)
        }
        let name = text.prefix { $0.isDigit || (97...122).contains($0 | 0x20) || "_$".utf8.contains($0) }
        let next = text[name.endIndex...].first { !$0.isJSONWhiteSpace }
        guard !name.isEmpty, next == UInt8(ascii: ":") || next == UInt8(ascii: "=") else { return nil }
        return String(decoding: name.drop { $0 == UInt8(ascii: "$") }, as: UTF8.self)
    }

    /// Whether the text before a bracket is a call, of which the object is an argument.
    static func isArgument(_ before: ArraySlice<UInt8>) -> Bool {
        let last = before.last { !$0.isJSONWhiteSpace }
        return last == UInt8(ascii: "(") || last == UInt8(ascii: ",") && before.contains(UInt8(ascii: "("))
    }

    /// Whether the text before a bracket is one of several arguments of a call that have names: `f(title="A", data=`.
    static func isNamedArgument(_ before: ArraySlice<UInt8>) -> Bool {
        guard before.last == UInt8(ascii: "="), let open = before.firstIndex(of: UInt8(ascii: "(")) else {
            return false
        }
        // Kotlin prints an object of a class like a call of it.
        let name = before[..<open].reversed().prefix {
            $0.isDigit || (97...122).contains($0 | 0x20) || $0 == UInt8(ascii: "_")
        }
        let isClass = name.last.map { (65...90).contains($0) } != false
        return before.contains(UInt8(ascii: ",")) && !isClass && !isLog(Array(before))
    }

    /// Returns the name and the JSON of the text, the number or the truth value that a line of source code gives a
    /// variable; `nil` for any other line.
    public static func text(in line: [UInt8]) -> (name: String, json: [UInt8])? {
        guard let equals = line.firstIndex(of: UInt8(ascii: "=")), let name = constant(in: line[...equals]) else {
            return nil
        }
        var value = line[(equals + 1)...].drop(while: \.isJSONWhiteSpace)
        while let last = value.last, last.isJSONWhiteSpace || last == UInt8(ascii: ";") { value = value.dropLast() }
        let word = String(decoding: value, as: UTF8.self)
        if word == "true" || word == "false" || Int64(word) != nil {
            // Another line may change a variable.
            let text = line.drop(while: \.isJSONWhiteSpace)
            let isFixed =
                ["const ", "final ", "val "].contains { text.starts(with: $0.utf8) } || name == name.uppercased()
            return isFixed && name != "data" && name != "notification" ? (name, Array(word.utf8)) : nil
        }
        guard value.count > 1, let mark = value.first, mark == value.last, "\"'".utf8.contains(mark),
            !value.dropFirst().dropLast().contains(where: { $0 == mark || "\\$".utf8.contains($0) })
        else { return nil }
        var writer = JSONWriter()
        writer.string(String(decoding: value.dropFirst().dropLast(), as: UTF8.self))
        return (name, writer.bytes)
    }

    /// Whether later lines of source code put a variable into a message as one of its parts: `data=extra`.
    public static func isPart(_ name: String, of lines: [[UInt8]]) -> Bool {
        let parts = ["notification", "data", "android", "apns", "webpush"]
        return lines.contains { line in
            guard line.has(name.utf8) else { return false }
            let text = line.filter { !$0.isJSONWhiteSpace && !"\"'$".utf8.contains($0) }
            let isShorthand =
                parts.contains(name)
                && ["{\(name),", ",\(name),", ",\(name)}", "{\(name)}"].contains {
                    text.has($0.utf8) || text.elementsEqual("\(name),".utf8)
                }
            return isShorthand
                || parts.contains { part in [":", "=", "=>"].contains { text.has("\(part)\($0)\(name)".utf8) } }
        }
    }

    /// Whether the text before a bracket gives a member of an object a value: `note.payload = `.
    static func isMember(_ before: ArraySlice<UInt8>) -> Bool {
        let text = before.drop(while: \.isJSONWhiteSpace)
        let name = text.prefix { $0.isDigit || (97...122).contains($0 | 0x20) || "_$.".utf8.contains($0) }
        return name.contains(UInt8(ascii: ".")) && text[name.endIndex...].elementsEqual(" = ".utf8)
    }

    /// Whether the text before a bracket makes an object of a class, of which the bracket is not the first argument: the
    /// others have a part of the push.
    static func isLaterOfNew(_ before: ArraySlice<UInt8>) -> Bool {
        before.last { !$0.isJSONWhiteSpace } == UInt8(ascii: ",") && before.has(" new ".utf8) && isArgument(before)
    }

    /// Whether the text before a bracket is the call of a method that sets a part of a message: `->withData(`.
    static func isSetter(_ before: ArraySlice<UInt8>) -> Bool {
        let name = before.reversed().drop(while: \.isJSONWhiteSpace).dropFirst().prefix {
            $0 | 0x20 >= UInt8(ascii: "a") && $0 | 0x20 <= UInt8(ascii: "z")
        }
        let behindDot = before.dropLast(name.count + 1).last
        guard behindDot == UInt8(ascii: ".") || behindDot == UInt8(ascii: ">") else { return false }
        let word = String(decoding: name.reversed(), as: UTF8.self)
        return ["with", "set", "put", "add"].contains { prefix in
            word.hasPrefix(prefix) && word.dropFirst(prefix.count).first?.isUppercase == true
        }
    }
}

extension PayloadStart {
    /// A part of a message, as a member of an object in source code.
    struct Part: Hashable, Sendable {
        /// The name of the object; empty for an argument of a call.
        let object: String
        /// The key of the part.
        let key: String

        /// Reads `p["notification"] = ` and `p.notification = ` before a bracket; `nil` for any other text. Clients of
        /// HTTP, events and states have a member `data`, so a dot is not before other keys.
        init?(in before: ArraySlice<UInt8>) {
            let text = before.filter { !$0.isJSONWhiteSpace && !"\"'$@".utf8.contains($0) }
            // An argument by its name: `notification={`, `push(notification: %{`.
            let isArgument =
                text.elementsEqual("notification:%".utf8)
                || text.elementsEqual("notification=".utf8) && before.has("notification=".utf8)
                || ["(notification:", "(notification:%", "(notification="].contains {
                    text.reversed().starts(with: $0.utf8.reversed())
                }
            guard !isArgument else {
                (object, key) = ("", "notification")
                return
            }
            let name = text.prefix { $0.isDigit || (97...122).contains($0 | 0x20) || $0 == UInt8(ascii: "_") }
            let rest = text[name.endIndex...]
            let key = ["notification", "data", "aps", "android", "apns", "webpush"].first { part in
                ["[\(part)]=", "[:\(part)]="].contains { rest.elementsEqual($0.utf8) }
                    || part == "notification" && rest.elementsEqual(".notification=".utf8)
            }
            guard let key, !name.isEmpty else { return nil }
            (object, self.key) = (String(decoding: name, as: UTF8.self), key)
        }

        /// Whether an object may be this part: one that is known by itself is none.
        func takes(_ root: JSONNode) -> Bool {
            guard root.kind == .object else { return false }
            switch key {
            case "notification":
                return root.hasAny("title", "body", "title_loc_key", "body_loc_key", "image", "titleLocKey")
                    && !root.hasAny("notification", "data", "request", "aps")
            case "data":
                return !root.hasAny("notification", "data", "message", "to", "aps", "registration_ids", "extras")
            case "aps": return root.members.contains { APSKey(rawValue: $0.key) != nil }
            default:
                return root.hasAny("notification", "data", "headers", "payload", "priority", "ttl", "fcm_options")
            }
        }
    }

    /// Returns an object with the parts that the next lines of source code give it, and the number of these lines; `nil`
    /// if it is none, or has all its parts.
    func joined(
        _ payload: WrittenPayload, with lines: [[UInt8]], constants: [String: [UInt8]]
    ) -> (WrittenPayload?, Int) {
        guard let root = try? JSONDocument(scanning: payload.json).root, root.kind == .object,
            part?.takes(root) != false, let object = part?.object ?? constant
        else { return (nil, 0) }
        var members =
            part.map { [($0.key, payload.json)] } ?? root.members.map { ($0.key, Array($0.value.compactBytes)) }
        var (index, taken) = (0, 0)
        while index < lines.count, index < Self.statementsMax {
            let line = lines[index]
            if line.allSatisfy(\.isJSONWhiteSpace) || Self.setsWord(line, of: object) {
                index += 1
                continue
            }
            guard let start = PayloadStart(in: line), let next = start.part, next.object == object,
                !members.contains(where: { $0.0 == next.key }), !line.has(" for ".utf8)
            else { break }
            let text = lines[index...].prefix(Self.statementsMax).joined(separator: [UInt8(ascii: "\n")])
            guard let literal = PrintedLiteral(Array(text)[start.offset...], isCode: true, constants: constants),
                let value = try? JSONDocument(scanning: literal.json).root, next.takes(value)
            else { break }
            members.append((next.key, literal.json))
            index += Array(text)[..<literal.place].count { $0 == UInt8(ascii: "\n") } + 1
            taken = index
        }
        guard part != nil || taken > 0 else { return (nil, 0) }
        var writer = JSONWriter()
        writer.object { writer in for (key, json) in members { writer.member(key, raw: json) } }
        return (payload.with(json: writer.bytes), taken)
    }

    /// Whether a line gives a member of an object a value without brackets: `m["token"] = token`.
    private static func setsWord(_ line: [UInt8], of object: String) -> Bool {
        let text = line.drop { $0.isJSONWhiteSpace || $0 == UInt8(ascii: "$") }
        guard text.starts(with: object.utf8), text.contains(UInt8(ascii: "=")) else { return false }
        let mark = text.dropFirst(object.utf8.count).first
        return (mark == UInt8(ascii: "[") || mark == UInt8(ascii: "."))
            && !text.contains { "{(;".utf8.contains($0) } && !text.has("==".utf8)
    }

    /// The limit of lines that are looked at for parts.
    private static var statementsMax: Int { 100 }
}

/// The objects, texts and fixed numbers that source code has given variables.
public struct CodeConstants: Sendable {
    /// The values as JSON, by the names of the variables.
    public private(set) var values: [String: [UInt8]] = [:]

    /// The variable that the line that is read next gives its value.
    private var fresh: String?

    /// The limits of variables, and of the bytes of a value.
    private static let (countMax, lengthMax) = (64, 4 << 10)

    /// Has no value yet.
    public init() {}

    /// Notes the value of a variable, or the text of its JSON.
    public mutating func add(_ name: String, _ json: [UInt8], isText: Bool = false) {
        guard values.count < Self.countMax, json.count <= Self.lengthMax else { return }
        var writer = JSONWriter()
        if isText { writer.string(String(decoding: json, as: UTF8.self)) } else { writer.raw(json) }
        values[name] = writer.bytes
        fresh = name
    }

    /// Reads a line: it may give a variable a text, change an object, or begin a function with names of its own.
    public mutating func read(_ line: [UInt8]) {
        if !values.isEmpty {
            let beginsFunction = ["function ", "def ", "func ", "fun ", ") => {"].contains { line.has($0.utf8) }
            values = values.filter { name, _ in
                name == fresh
                    || !beginsFunction
                        && !["\(name).", "\(name)[", "\(name) =", "...\(name)"].contains { line.has($0.utf8) }
            }
        }
        if let text = PayloadStart.text(in: line) { add(text.name, text.json) }
        fresh = nil
    }
}
