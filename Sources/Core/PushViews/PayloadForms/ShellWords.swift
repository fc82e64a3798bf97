import PushModel
import PushRouter

/// Splits one command into words like a shell: with quotes, backslashes and continuation lines. Expands nothing:
/// `$NAME` stays unchanged.
struct ShellWords: Sendable {
    private enum Quote: Sendable { case none, single, double, escapes }

    private var words: [[UInt8]] = []
    private var word: [UInt8]?
    private var quote = Quote.none
    private var isEscaped = false
    private var hasEnded = false

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
        let all = words + (word.map { [$0] } ?? [])
        return all.first == Array("$".utf8) || all.first == Array("%".utf8) ? Array(all.dropFirst()) : all
    }

    /// Adds a line, without its line feed.
    mutating func add(line: [UInt8]) {
        var rest = line.last == UInt8(ascii: "\r") ? line.dropLast() : line[...]
        while !hasEnded, let byte = rest.popFirst() { take(byte, &rest) }
        if isEscaped {
            // A continuation line follows: drops the backslash and the line feed.
            isEscaped = false
        } else if quote == .none {
            hasEnded = true
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
