import PushModel
import PushRouter

/// An object in the notation of a language, made JSON: the description of an `NSDictionary`, a dictionary of Swift,
/// Python, JavaScript, Ruby or PHP, and JSON itself.
///
/// One grammar reads all of them: members with `:`, `=` or `=>` between key and value, `,` or `;` behind them, texts in
/// either quotation mark, and words. A value without quotation marks that has a space does not fit; the maps of Java and
/// Dart have such values, and ``PrintedMap`` reads them.
struct PrintedLiteral {
    /// The JSON of the object.
    var json: [UInt8] { writer.bytes }
    /// The position behind the object in the text.
    var place: Int
    /// Whether the notation is Apple's: an `NSDictionary`, whose members end with semicolons, or keys of a Swift dictionary.
    var isApples: Bool { hasAppleKey || hasAssignment && (hasSemicolon || !hasComma) }
    private var (hasAppleKey, hasAssignment, hasSemicolon, hasComma) = (false, false, false, false)
    /// Whether keys are words behind a colon without a separator, as Clojure prints them.
    private(set) var isClojures = false

    let text: ArraySlice<UInt8>
    var writer: JSONWriter
    /// Whether a value, and not a key, was a text in quotation marks.
    private var hasQuotedValue = false
    /// Whether all keys were words before a colon, as in JavaScript and Dart.
    private var hasOnlyWordKeys = true
    private var hasWordKey = false
    /// Whether the value that is read belongs to a key of an `NSDictionary` that has texts: its description prints the
    /// text `1` like the number.
    private var isText = false

    /// Whether the object is source code: a value may be a variable or a call.
    let isCode: Bool
    /// Whether line feeds separate members, too.
    private let isTree: Bool
    /// The objects that variables of source code have, as JSON.
    let constants: [String: [UInt8]]
    /// Whether faults that have one repair are repaired.
    let repairs: Bool
    /// Whether the object is a call of Python, whose arguments are members.
    private let isCall: Bool
    /// Whether the object that is read is an initializer of Go or C#.
    var initializer: Initializer?
    /// The repairs, in order.
    private(set) var faults: [Fault] = []
    /// Whether a text in quotation marks goes on in another line.
    private(set) var hasBrokenText = false
    /// Whether the text ends behind a comma, so that members are missing.
    private(set) var isCutBehindComma = false
    private var isBehindComma = false
    /// The places of commas behind the last member.
    private(set) var extraCommas: [Int] = []
    /// The key of the value that is read.
    var key = ""
    /// The key of the object whose member is read.
    var container = ""
    /// Whether the member that is read is left out.
    var isLeftOut = false
    /// Whether a value is a placeholder such as `THE_APP_ID`.
    private var hasPlaceholder = false
    /// Whether a word before a colon has a text in quotation marks: Dart prints none.
    private var hasQuotedWordMember = false

    /// The limit of nesting.
    private static let depthMax = 64
    /// The names around a value whose value alone counts.
    private static let wrappers: Set<String> = [
        "AnyHashable", "Optional", "UIApplicationLaunchOptionsKey", "NSString", "NSNumber", "dict", "OrderedDict",
        "array", "RMap", "ObjectId", "Object", "RemoteMessage", "Map",
    ]

    /// Reads the object that begins with the first byte of a text; `nil` if it fits no notation.
    ///
    /// - Parameter repairs: whether a comma between lines, and brackets at the end, may be missing, and a value may be
    ///   anything.
    init?(
        _ text: ArraySlice<UInt8>, isCode: Bool = false, isTree: Bool = false, repairs: Bool = false,
        isStruct: Bool = false, constants: [String: [UInt8]] = [:]
    ) {
        (self.text, self.constants) = (text, constants)
        initializer = isStruct ? .fields : nil
        isCall = isCode && text.first == UInt8(ascii: "(")
        (self.isCode, self.isTree, self.repairs) = (isCode || repairs, isTree, repairs)
        place = text.startIndex
        writer = JSONWriter(reserving: text.count + 64)
        let isBuilder = isStruct && Self.builders.contains { text.starts(with: $0.utf8) }
        guard let first = text.first, isBuilder || "{[(".utf8.contains(first), value(depth: 0, allowsWord: false) else {
            return nil
        }
        // Dart prints a text like a word, and JavaScript in quotation marks, and white space behind the bracket.
        let isSpaced = text.dropFirst().first?.isJSONWhiteSpace == true
        guard !hasWordKey || !hasOnlyWordKeys || hasQuotedValue || self.isCode || isSpaced else { return nil }
        guard !hasPlaceholder || !hasOnlyWordKeys || hasQuotedWordMember || self.isCode else { return nil }
    }

    /// Whether a text begins like the members of a notation other than JSON's.
    ///
    /// - Parameters:
    ///   - text: the text behind the bracket and white space.
    ///   - bracket: the bracket.
    static func begins(_ text: ArraySlice<UInt8>, behind bracket: UInt8) -> Bool {
        // A typographic quotation mark is none of any language.
        let text = text.first == UInt8(ascii: "@") ? text.dropFirst() : text
        guard let first = text.first, !text.starts(with: [0xE2, 0x80]) else { return false }
        let isSwift = bracket == UInt8(ascii: "[")
        if first == UInt8(ascii: "\"") || first == UInt8(ascii: "'") {
            guard let close = quoteEnd(in: text) else { return false }
            let next = text[(close + 1)...].drop(while: \.isJSONWhiteSpace).first
            return next == UInt8(ascii: "=")
                || next == UInt8(ascii: ":") && (isSwift || first == UInt8(ascii: "'"))
        }
        if first == UInt8(ascii: ":") { return true }
        let key = text.prefix(while: isOfWord)
        guard !key.isEmpty else { return false }
        let behind = text[key.endIndex...]
        let mark = behind.first == UInt8(ascii: "'") || behind.first == UInt8(ascii: "\"")
        if mark, key.elementsEqual("u".utf8) || key.elementsEqual("b".utf8) {
            return begins(behind, behind: UInt8(ascii: "["))
        }
        if behind.first == UInt8(ascii: "(") { return wrappers.contains(String(decoding: key, as: UTF8.self)) }
        let next = behind.drop(while: \.isJSONWhiteSpace).first
        return next == UInt8(ascii: "=") || next == UInt8(ascii: ":") && !key.allSatisfy(\.isDigit)
    }

    /// Returns the index of the quotation mark that ends a text; `nil` if there is none.
    static func quoteEnd(in text: ArraySlice<UInt8>) -> Int? {
        guard let mark = text.first else { return nil }
        var place = text.startIndex + 1
        while place < text.endIndex {
            if text[place] == mark { return place }
            place += text[place] == UInt8(ascii: "\\") ? 2 : 1
        }
        return nil
    }

    private static func isOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "-"),
            UInt8(ascii: "+"), UInt8(ascii: "$"), UInt8(ascii: "/"), UInt8(ascii: "@"), 0x80...0xFF:
            true
        default: false
        }
    }
}

// The grammar. Each function takes the white space before what it reads, and returns false at what does not fit.
extension PrintedLiteral {
    var next: UInt8? { place < text.endIndex ? text[place] : nil }

    /// Skips white space, and the comments of source code.
    mutating func skipWhiteSpace() {
        while let next {
            if next.isJSONWhiteSpace || next == 0 {
                place += 1
            } else if repairs, text[place...].starts(with: "**".utf8), isBold {
                place += 2
            } else if text[place...].starts(with: "//".utf8) || isCode && next == UInt8(ascii: "#") || isArrow {
                place = text[place...].firstIndex(of: UInt8(ascii: "\n")) ?? text.endIndex
            } else if text[place...].starts(with: "/*".utf8) {
                let end = text[place...].indices.first { text[$0...].starts(with: "*/".utf8) }
                place = end.map { $0 + 2 } ?? text.endIndex
            } else {
                return
            }
        }
    }

    /// Whether two stars here are Markdown's, around a line that somebody made bold.
    private var isBold: Bool {
        let behind = text[(place + 2)...]
        let ends = behind.first.map { $0.isJSONWhiteSpace || "\"'{}".utf8.contains($0) } ?? true
        return ends && text[..<place].last != UInt8(ascii: "*")
    }

    mutating func take(_ byte: UInt8) -> Bool {
        skipWhiteSpace()
        guard next == byte else { return false }
        place += 1
        return true
    }

    mutating func takeWord() -> String? {
        skipWhiteSpace()
        let word = text[place...].prefix(while: Self.isOfWord)
        // A typographic quotation mark begins no word.
        guard !word.isEmpty, !word.starts(with: [0xE2, 0x80]) else { return nil }
        place = word.endIndex
        return String(decoding: word, as: UTF8.self)
    }

    mutating func value(depth: Int, allowsWord: Bool) -> Bool {
        skipWhiteSpace()
        guard depth < Self.depthMax, let first = next else { return false }
        switch first {
        case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`"):
            let begin = place
            guard var quoted = takeQuoted() else { return false }
            hasQuotedValue = true
            if first != UInt8(ascii: "`"), text[begin..<place].contains(UInt8(ascii: "\n")) {
                hasBrokenText = true
                note(.brokenText, at: begin)
                // A link has no line feeds: a mail program broke it.
                if repairs, quoted.has("://") { quoted = PrintedBytes.joined(quoted) }
            }
            // A line feed behind the text may tell that a comma is missing.
            let end = place
            if isCode { quoted += takePieces() } else { place = end }
            writer.string(quoted)
            return true
        case UInt8(ascii: "[") where text[(place + 1)...].drop(while: \.isJSONWhiteSpace).starts(with: "Function".utf8):
            // A function as React Native and Node print it.
            guard let close = text[place...].firstIndex(of: UInt8(ascii: "]")) else { return false }
            place = close + 1
            writer.string("function")
            return true
        case UInt8(ascii: "{"):
            place += 1
            // Elixir and Erlang write lists in braces.
            let isTuple = startsTuple
            let close = UInt8(ascii: "}")
            guard isTuple ? list(until: close, depth: depth) : members(until: close, depth: depth) else { return false }
            // A call on the object, such as Ruby's .to_json.
            if isCode, depth > 0, next == UInt8(ascii: ".") { _ = takeCode() }
            return true
        case UInt8(ascii: "["):
            place += 1
            return isCode && next == UInt8(ascii: "]") && startsSliceOfGo
                ? slice(depth: depth) : list(until: UInt8(ascii: "]"), depth: depth)
        case UInt8(ascii: "&") where isCode:
            // Go's pointer to a struct.
            place += 1
            return value(depth: depth + 1, allowsWord: false)
        case UInt8(ascii: "("):
            place += 1
            return list(until: UInt8(ascii: ")"), depth: depth)
        case UInt8(ascii: "<"):
            let open = text[place...].firstIndex(of: UInt8(ascii: ">")).map { $0 + 1 } ?? text.endIndex
            guard open < text.endIndex, "{[".utf8.contains(text[open]) else { return angled() }
            // The types of a map of Dart.
            place = open
            return value(depth: depth, allowsWord: false)
        case UInt8(ascii: "%") where text.dropFirst(place + 1 - text.startIndex).first == UInt8(ascii: "{"):
            // A map of Elixir.
            place += 1
            return value(depth: depth, allowsWord: false)
        case UInt8(ascii: "@"), UInt8(ascii: ":"):
            // @"text" is Objective-C's, and :word Ruby's.
            place += 1
            return value(depth: depth + 1, allowsWord: true)
        default: return word(depth: depth, allowsWord: allowsWord)
        }
    }

    /// The members of an object, or a list of values in `[` and `(`.
    mutating func list(until close: UInt8, depth: Int) -> Bool {
        let begin = place
        if take(UInt8(ascii: ":")), take(close) {
            writer.object { _ in }
            return true
        }
        place = begin
        // Swift and PHP write objects with the brackets of lists.
        if let firstKey = takeKey(), !firstKey.isEmpty, takeSeparator(isKeyWord: false) != nil {
            place = begin
            return members(until: close, depth: depth)
        }
        place = begin
        writer.beginArray()
        isBehindComma = false
        while !takeClose(close) {
            if takeEnd() { break }
            if peekEllipsis() {
                skipEllipsis()
                continue
            }
            guard value(depth: depth + 1, allowsWord: close == UInt8(ascii: ")")) else { return false }
            guard takeComma() || peek(close) || peekEllipsis() || isAtEnd else { return false }
        }
        writer.endArray()
        return true
    }

    /// Whether a text and a comma follow.
    private var startsTuple: Bool {
        let rest = text[place...].drop(while: \.isJSONWhiteSpace)
        guard rest.first == UInt8(ascii: "\""), let close = Self.quoteEnd(in: rest) else { return false }
        return text[(close + 1)...].drop(while: \.isJSONWhiteSpace).first == UInt8(ascii: ",")
    }

    private mutating func takeComma() -> Bool {
        let found = take(UInt8(ascii: ","))
        isBehindComma = found
        return found
    }

    /// Takes a bracket that closes; a comma before it is one too many in JSON.
    private mutating func takeClose(_ close: UInt8) -> Bool {
        guard take(close) else { return false }
        if isBehindComma, let comma = text[..<(place - 1)].lastIndex(of: UInt8(ascii: ",")) {
            note(.extraComma, at: comma)
            if extraCommas.count < 64 { extraCommas.append(comma) }
        }
        isBehindComma = false
        return true
    }

    /// Whether the text ends, or the block of Markdown that it is in, and its brackets may be missing.
    private var isAtEnd: Bool {
        guard repairs else { return false }
        let rest = text[place...].drop(while: \.isJSONWhiteSpace)
        return rest.isEmpty || rest.starts(with: "```".utf8)
    }

    private mutating func takeEnd() -> Bool {
        guard isAtEnd else { return false }
        note(.brackets, at: text[..<place].lastIndex { !$0.isJSONWhiteSpace })
        isCutBehindComma = isCutBehindComma || isBehindComma
        return true
    }

    mutating func note(_ kind: Fault.Kind, at place: Int? = nil) {
        if repairs || kind.isTold, faults.count < 64 {
            faults.append(Fault(kind: kind, place: place ?? self.place))
        }
    }

    /// Whether the comma between two members is missing: a line ends there, or a key in quotation marks follows.
    private mutating func isCommaMissing(behind end: Int) -> Bool {
        guard repairs, let next else { return false }
        let isQuoted = next == UInt8(ascii: "\"") || next == UInt8(ascii: "'")
        if text[end..<place].contains(UInt8(ascii: "\n")) {
            guard isQuoted || Self.isOfWord(next) else { return false }
            note(.comma, at: end)
            return true
        }
        guard isQuoted, let close = Self.quoteEnd(in: text[place...]),
            text[(close + 1)...].drop(while: \.isJSONWhiteSpace).first == UInt8(ascii: ":")
        else { return false }
        note(.commaInLine, at: end)
        return true
    }

    mutating func peek(_ byte: UInt8) -> Bool {
        skipWhiteSpace()
        return next == byte
    }

    private mutating func peekEllipsis() -> Bool {
        skipWhiteSpace()
        return ["...", "\u{2026}", "--\n"].contains { text[place...].starts(with: $0.utf8) }
    }

    /// Skips the marks of members that somebody left out, and what code spreads there: `...`, `...options,`.
    private mutating func skipEllipsis() {
        while peekEllipsis() {
            note(.leftOut)
            place += next == UInt8(ascii: "-") ? 2 : 3
            _ = takeCode()
            _ = take(UInt8(ascii: ","))
        }
    }

    /// Whether a word is a name in capitals that stands for a value, as in `THE_APP_ID`.
    private static func isPlaceholder(_ word: String) -> Bool {
        let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
        let isName = word.utf8.allSatisfy { capitals.contains($0) || $0.isDigit || $0 == UInt8(ascii: "_") }
        return isName && word.utf8.count > 3 && !["TRUE", "FALSE", "NONE", "NULL"].contains(word)
    }

    mutating func members(until close: UInt8, depth: Int) -> Bool {
        writer.beginObject()
        var keys: Set<String> = []
        let parent = key
        isBehindComma = false
        while true {
            skipEllipsis()
            if takeClose(close) || takeEnd() { break }
            let isWord = !peek(UInt8(ascii: "\"")) && !peek(UInt8(ascii: "'")) && !isPrefixedText
            let isHashable = text[place...].starts(with: Self.hashable)
            let isKeyword = next == UInt8(ascii: ":")
            let begin = place
            if initializer != nil, let isRead = takeEntry(depth: depth, keys: &keys) {
                guard isRead, takeComma() || peek(close) else { return false }
                continue
            }
            guard var key = takeKey() else { return false }
            if initializer == .fields { key = Self.fieldName(key) }
            // In JavaScript a name by itself is a member with the value of that variable.
            let isShorthand = isCode && isWord && !isKeyword && (peek(UInt8(ascii: ",")) || peek(close))
            let mark = UInt8(ascii: ":")
            self.key = key
            guard let separator = isShorthand ? mark : takeSeparator(isKeyWord: isWord) ?? (isKeyword ? mark : nil)
            else { return false }
            if isKeyword, text[..<place].last?.isJSONWhiteSpace == true { isClojures = true }
            guard keys.insert(key).inserted else { return false }
            let position = writer.position
            // C# leaves out what is around aps.
            let isBare = initializer == .fields && parent == "apns" && key == "aps"
            if isBare {
                writer.key("payload")
                writer.beginObject()
            }
            writer.key(key)
            let isTyped = isCall || initializer != nil
            isText = separator == UInt8(ascii: "=") && !isTyped && !Self.keysOfNumbers.contains(key)
            if isWord, peek(UInt8(ascii: "\"")) || peek(UInt8(ascii: "'")) || peek(UInt8(ascii: "`")) {
                hasQuotedWordMember = true
            }
            container = parent
            if isShorthand {
                variable(key, depth: depth + 1, at: begin)
            } else if isHashable, let plain = takePlainText(until: close) {
                writer.string(plain)
            } else {
                let allowsWord = separator == UInt8(ascii: "=") && !isTyped
                guard value(depth: depth + 1, allowsWord: allowsWord) else { return false }
            }
            if isBare { writer.endObject() }
            if isLeftOut { writer.cut(to: position) }
            isLeftOut = false
            if repairs { skipNote() }
            let end = place
            if separator == UInt8(ascii: "="), !isTyped {
                hasAssignment = true
                hasSemicolon = peek(UInt8(ascii: ";")) || hasSemicolon
                hasComma = peek(UInt8(ascii: ",")) || hasComma
            }
            guard
                takeComma() || take(UInt8(ascii: ";")) || peek(close) || peekEllipsis()
                    || isTree && text[end..<place].contains(UInt8(ascii: "\n")) || isAtEnd
                    || isCommaMissing(behind: end)
            else { return false }
        }
        writer.endObject()
        return true
    }

    /// Reads a text that Swift prints without quotation marks, because it is an `NSString`; `nil` for any other value.
    private mutating func takePlainText(until close: UInt8) -> String? {
        skipWhiteSpace()
        guard let first = next, !"{[(<\"'".utf8.contains(first) else { return nil }
        let rest = text[place...]
        // Checked first: the search below reads to the end of the text, and a text may have many such values.
        guard !Self.wrappers.contains(where: { rest.starts(with: "\($0)(".utf8) }) else { return nil }
        let separator = Array(", ".utf8) + Self.hashable
        let end =
            rest.indices.first { rest[$0] == separator[0] && rest[$0...].starts(with: separator) }
            ?? rest.lastIndex(of: close)
        guard let end else { return nil }
        let plain = String(decoding: rest[..<end], as: UTF8.self)
        let isOther = Self.isNumber(plain) || ["true", "false", "nil", "null"].contains(plain)
        guard !isOther else { return nil }
        place = end
        return plain
    }

    private static let hashable = Array("AnyHashable(".utf8)

    /// Reads what separates key and value: `:`, `=` or `=>`.
    private mutating func takeSeparator(isKeyWord: Bool) -> UInt8? {
        if take(UInt8(ascii: ":")) {
            if isKeyWord { hasWordKey = true } else { hasOnlyWordKeys = false }
            return UInt8(ascii: ":")
        }
        if repairs, !isKeyWord, let next, "{[".utf8.contains(next) {
            note(.colon(key))
            return UInt8(ascii: ":")
        }
        guard take(UInt8(ascii: "=")) else { return nil }
        hasOnlyWordKeys = false
        if next == UInt8(ascii: ">") {
            place += 1
            return UInt8(ascii: ">")
        }
        return UInt8(ascii: "=")
    }

    /// Whether Python's u'text' follows.
    private var isPrefixedText: Bool {
        ["u'", "u\"", "b'", "b\""].contains { text[place...].starts(with: $0.utf8) }
    }

    private mutating func takeKey(depth: Int = 0) -> String? {
        skipWhiteSpace()
        // Objective-C's @"key".
        if text[place...].starts(with: "@\"".utf8) { place += 1 }
        if next == UInt8(ascii: "\"") || next == UInt8(ascii: "'") { return takeQuoted() }
        if next == UInt8(ascii: ":") { place += 1 }
        if isPrefixedText {
            place += 1
            return takeQuoted()
        }
        guard let word = takeWord() else { return nil }
        guard next == UInt8(ascii: "(") else { return word }
        guard Self.wrappers.contains(word), depth < 4 else { return nil }
        place += 1
        // AnyHashable("aps"), UIApplicationLaunchOptionsKey(_rawValue: name).
        if word == "AnyHashable" || word == "UIApplicationLaunchOptionsKey" { hasAppleKey = true }
        hasOnlyWordKeys = false
        let begin = place
        if takeWord() == nil || !take(UInt8(ascii: ":")) { place = begin }
        guard let key = takeKey(depth: depth + 1), take(UInt8(ascii: ")")) else { return nil }
        return key
    }

    private mutating func word(depth: Int, allowsWord: Bool) -> Bool {
        let begin = place
        guard let word = takeWord() else { return repairs && mask() }
        // A class of firebase-admin for Python.
        if isCall, next == UInt8(ascii: "("), word.hasPrefix("messaging.") || Self.classesOfPython.contains(word) {
            place += 1
            return list(until: UInt8(ascii: ")"), depth: depth)
        }
        if isCode,
            let isRead = built(by: word, depth: depth) ?? structure(named: word, depth: depth)
                ?? encoded(by: word, depth: depth)
        {
            return isRead
        }
        switch next {
        case UInt8(ascii: "\""), UInt8(ascii: "'"):
            // Python's b'text' and u'text'.
            return word.utf8.count <= 2 && value(depth: depth + 1, allowsWord: false)
        case UInt8(ascii: "("):
            guard Self.wrappers.contains(word) else { return isCode && code(from: begin, depth: depth) }
            if word == "array" || word == "dict" || word == "OrderedDict" {
                place += 1
                return list(until: UInt8(ascii: ")"), depth: depth)
            }
            place += 1
            return value(depth: depth + 1, allowsWord: allowsWord) && take(UInt8(ascii: ")"))
        default:
            // Some write the bracket in the next line.
            if word == "array", peek(UInt8(ascii: "(")) {
                place += 1
                return list(until: UInt8(ascii: ")"), depth: depth)
            }
        }
        if isText, allowsWord {
            writer.string(word)
            return true
        }
        switch word {
        case "null", "nil", "None", "undefined", "NULL": writer.null()
        case "true", "True", "YES": writer.bool(true)
        case "false", "False", "NO": writer.bool(false)
        default:
            if Self.isNumber(word) {
                let number = product(of: word)
                if isCode, let mark = text[place...].first(where: { !$0.isJSONWhiteSpace }), "+-*/".utf8.contains(mark),
                    !text[place...].drop(while: \.isJSONWhiteSpace).starts(with: "//".utf8)
                {
                    return code(from: begin, depth: depth)
                }
                // Python's are seconds.
                if isCall, key == "ttl" { writer.string("\(number)s") } else { writer.raw(number.utf8) }
            } else if isCode, word.hasPrefix("$"), let next, ">[(".utf8.contains(next) {
                return code(from: begin, depth: depth)
            } else if word.hasPrefix("$"),
                Self.isTyped(key) || isCode && constants[String(word.dropFirst())] != nil
            {
                variable(word, depth: depth, at: begin)
            } else if allowsWord || word.hasPrefix("$") {
                // A variable of PHP stands for its value.
                writer.string(word)
            } else if Self.wrappers.contains(word), peek(UInt8(ascii: "{")) {
                return value(depth: depth + 1, allowsWord: false)
            } else if isCode {
                return code(from: begin, depth: depth)
            } else if Self.isPlaceholder(word) {
                hasPlaceholder = true
                writer.string(word)
            } else {
                return false
            }
        }
        return true
    }

    /// Whether a word is a number of JSON.
    private static func isNumber(_ word: String) -> Bool {
        guard let first = word.utf8.first, first.isDigit || first == UInt8(ascii: "-") else { return false }
        return (try? JSONDocument(scanning: Array(word.utf8)))?.root.kind == .number
    }

    mutating func takeQuoted() -> String? {
        guard let close = Self.quoteEnd(in: text[place...]) else { return nil }
        let inner = text[(place + 1)..<close]
        place = close + 1
        guard inner.contains(UInt8(ascii: "\\")) else { return String(decoding: inner, as: UTF8.self) }
        return PrintedBytes.unescaped(inner)
    }
}
