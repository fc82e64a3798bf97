/// A shell pattern: `*` any text, `?` any one character, `[a-z]` and `[!a-z]` one of a set, `\` takes the next
/// character as it is. It matches the whole text; an unclosed `[` stands for itself.
public struct Glob: Hashable, Sendable, CustomStringConvertible {
    /// The pattern as it was written.
    public let description: String
    /// The part before the first star; the whole pattern if it has no star.
    private let head: GlobPart
    /// The parts between stars.
    private let middle: [GlobSearch]
    /// The part behind the last star; `nil` if there is no star.
    private let tail: GlobPart?

    /// - Parameter pattern: the pattern; every text is valid.
    public init(_ pattern: String) {
        description = pattern
        let parts = Self.compile(Array(pattern.unicodeScalars))
        head = parts[0]
        middle = parts.dropFirst().dropLast().filter { !$0.steps.isEmpty }.map(GlobSearch.init)
        tail = parts.count > 1 ? parts.last : nil
    }

    /// Whether the pattern matches every text, as `*` does.
    public var matchesAll: Bool { head.steps.isEmpty && middle.isEmpty && tail?.steps.isEmpty == true }

    /// Whether the whole of `text` matches. Takes time linear in its length; a part of several 64-byte words between two
    /// stars multiplies the time by their number.
    public func matches(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { matches($0) }
    }

    /// Whether the whole of a text in UTF-8, which must be well formed, matches. Takes as long as for a `String`.
    public func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var wordCount = 0
        return matches(text, wordCount: &wordCount)
    }

    /// - Parameter wordCount: counts the words of bits that a search works on.
    func matches(_ text: UnsafeBufferPointer<UInt8>, wordCount: inout Int) -> Bool {
        guard var place = head.end(at: 0, in: text) else { return false }
        guard let tail else { return place == text.count }
        for part in middle {
            guard let end = part.firstEnd(in: text, from: place, wordCount: &wordCount) else { return false }
            place = end
        }
        return tail.isAtEnd(of: text, from: place)
    }

    /// Splits the pattern at its stars: returns one part more than there are stars.
    private static func compile(_ pattern: [Unicode.Scalar]) -> [GlobPart] {
        var parts: [GlobPart] = []
        var steps: [GlobStep] = []
        var index = 0
        while index < pattern.count {
            switch pattern[index] {
            case "*":
                parts.append(GlobPart(steps: steps))
                steps = []
            case "?": steps.append(.anyCharacter)
            case "\\" where index + 1 < pattern.count:
                index += 1
                steps.append(.character(pattern[index]))
            case "[":
                if let (set, end) = compileSet(pattern, from: index) {
                    steps.append(set)
                    index = end
                } else {
                    steps.append(.character("["))
                }
            default: steps.append(.character(pattern[index]))
            }
            index += 1
        }
        return parts + [GlobPart(steps: steps)]
    }

    /// Reads the set that opens at `start`; returns it with the index of its closing bracket.
    private static func compileSet(_ pattern: [Unicode.Scalar], from start: Int) -> (GlobStep, end: Int)? {
        var index = start + 1
        let negated = index < pattern.count && (pattern[index] == "!" || pattern[index] == "^")
        if negated { index += 1 }
        let first = index
        var ranges: [ClosedRange<Unicode.Scalar>] = []
        while index < pattern.count {
            if pattern[index] == "]", index > first { return (.set(ranges, negated: negated), index) }
            if index + 2 < pattern.count, pattern[index + 1] == "-", pattern[index + 2] != "]" {
                if pattern[index] <= pattern[index + 2] { ranges.append(pattern[index]...pattern[index + 2]) }
                index += 3
            } else {
                ranges.append(pattern[index]...pattern[index])
                index += 1
            }
        }
        return nil
    }
}

/// The condition of a pattern on one character.
enum GlobStep: Hashable, Sendable {
    case anyCharacter
    case character(Unicode.Scalar)
    case set([ClosedRange<Unicode.Scalar>], negated: Bool)

    func matches(_ scalar: Unicode.Scalar) -> Bool {
        switch self {
        case .anyCharacter: true
        case .character(let expected): expected == scalar
        case .set(let ranges, let negated): ranges.contains { $0.contains(scalar) } != negated
        }
    }
}

/// A part of a pattern without stars: a sequence of conditions on one character each.
struct GlobPart: Hashable, Sendable {
    let steps: [GlobStep]

    /// The end of the part if it matches at `start`; otherwise `nil`.
    func end(at start: Int, in text: UnsafeBufferPointer<UInt8>) -> Int? {
        var place = start
        for step in steps {
            guard place < text.count else { return nil }
            let length = text.characterLength(at: place)
            guard step.matches(text.scalar(at: place, length)) else { return nil }
            place += length
        }
        return place
    }

    /// Whether it matches the end of a text, not before `start`.
    func isAtEnd(of text: UnsafeBufferPointer<UInt8>, from start: Int) -> Bool {
        var place = text.count
        for _ in steps {
            guard place > start else { return false }
            place -= 1
            while place > start, text[place].isContinuation { place -= 1 }
        }
        return end(at: place, in: text) == text.count
    }
}

/// Searches for a part of a pattern in a text. Reads each byte of the text once: the state has one bit for each byte of
/// the part, set while the bytes just read match the part up to that byte (shift-and: Baeza-Yates and Gonnet, "A new
/// approach to text searching", 1992).
struct GlobSearch: Hashable, Sendable {
    /// The number of 64-bit words of the state.
    private let words: Int
    /// For each byte value, the bits of the places in the part that it matches.
    private let places: [UInt64]
    /// The places of `?` and sets, which match whole characters: their bits stay set during the continuation bytes of a
    /// character.
    private let spans: [UInt64]
    /// The sets, which are tested for characters of more than one byte.
    private let sets: [(place: Int, step: GlobStep)]
    private let last: Int
    /// The first byte of the part; `nil` if the part can begin with several.
    private let firstByte: UInt8?
    private let part: GlobPart

    init(_ part: GlobPart) {
        self.part = part
        var count = 0
        for step in part.steps {
            if case .character(let scalar) = step { count += UTF8.width(scalar) } else { count += 1 }
        }
        let words = (count + 63) / 64
        self.words = words
        last = count - 1
        var places = [UInt64](repeating: 0, count: 256 * words)
        var spans = [UInt64](repeating: 0, count: words)
        var sets: [(place: Int, step: GlobStep)] = []
        func note(_ byte: Int, _ place: Int) { places[byte * words + place / 64] |= 1 << UInt64(place % 64) }
        var place = 0
        for step in part.steps {
            switch step {
            case .character(let scalar):
                for byte in String(scalar).utf8 {
                    note(Int(byte), place)
                    place += 1
                }
                continue
            case .anyCharacter: for byte in 0..<256 where !UInt8(byte).isContinuation { note(byte, place) }
            case .set:
                for byte in 0..<128 where step.matches(Unicode.Scalar(UInt8(byte))) { note(byte, place) }
                sets.append((place, step))
            }
            spans[place / 64] |= 1 << UInt64(place % 64)
            place += 1
        }
        firstByte = if case .character(let scalar) = part.steps.first { String(scalar).utf8.first } else { nil }
        self.places = places
        self.spans = spans
        self.sets = sets
    }

    /// The end of the first match that begins at `start` or later.
    ///
    /// - Parameter wordCount: counts the words of bits that the search works on.
    func firstEnd(in text: UnsafeBufferPointer<UInt8>, from start: Int, wordCount: inout Int) -> Int? {
        words == 1
            ? firstEndOfShort(in: text, from: start, wordCount: &wordCount)
            : firstEndOfLong(in: text, from: start, wordCount: &wordCount)
    }

    private func firstEndOfShort(
        in text: UnsafeBufferPointer<UInt8>, from start: Int, wordCount: inout Int
    ) -> Int? {
        let goal: UInt64 = 1 << UInt64(last)
        let span = spans[0]
        return places.withUnsafeBufferPointer { places in
            var state: UInt64 = 0
            var place = start
            while place < text.count {
                if state == 0, let firstByte {
                    guard let next = text.firstIndex(of: firstByte, from: place) else { return nil }
                    place = next
                }
                let byte = text[place]
                wordCount &+= 1
                var fitting = places[Int(byte)]
                if byte >= 0xC0, !sets.isEmpty { fitting |= setsFitting(at: place, in: text, word: 0) }
                let kept = byte.isContinuation ? state & span : 0
                state = (state &<< 1 | 1) & fitting | kept
                place += 1
                if state & goal != 0 { return text.endOfCharacter(from: place) }
            }
            return nil
        }
    }

    private func firstEndOfLong(
        in text: UnsafeBufferPointer<UInt8>, from start: Int, wordCount: inout Int
    ) -> Int? {
        var state = [UInt64](repeating: 0, count: words)
        for place in start..<max(start, text.count) {
            let byte = text[place]
            wordCount &+= words
            var carry: UInt64 = 1
            for word in 0..<words {
                var fitting = places[Int(byte) * words + word]
                if byte >= 0xC0, !sets.isEmpty { fitting |= setsFitting(at: place, in: text, word: word) }
                let before = state[word]
                let kept = byte.isContinuation ? before & spans[word] : 0
                state[word] = (before &<< 1 | carry) & fitting | kept
                carry = before &>> 63
            }
            if state[last / 64] & 1 << UInt64(last % 64) != 0 { return text.endOfCharacter(from: place + 1) }
        }
        return nil
    }

    /// The bits of the sets that contain the character of several bytes which begins at `place`.
    private func setsFitting(at place: Int, in text: UnsafeBufferPointer<UInt8>, word: Int) -> UInt64 {
        let scalar = text.scalar(at: place, text.characterLength(at: place))
        var fitting: UInt64 = 0
        for set in sets where set.place / 64 == word && set.step.matches(scalar) {
            fitting |= 1 << UInt64(set.place % 64)
        }
        return fitting
    }

    static func == (left: GlobSearch, right: GlobSearch) -> Bool { left.part == right.part }

    func hash(into hasher: inout Hasher) { hasher.combine(part) }
}

extension UInt8 {
    /// Whether it is a continuation byte of UTF-8.
    fileprivate var isContinuation: Bool { self & 0xC0 == 0x80 }
}

extension UnsafeBufferPointer<UInt8> {
    /// The number of bytes of the character that begins at `place`.
    fileprivate func characterLength(at place: Int) -> Int {
        self[place] < 0xC0 ? 1 : (~self[place]).leadingZeroBitCount
    }

    /// The end of the character whose bytes before `start` are read.
    fileprivate func endOfCharacter(from start: Int) -> Int {
        var place = start
        while place < count, self[place].isContinuation { place += 1 }
        return place
    }

    fileprivate func scalar(at place: Int, _ length: Int) -> Unicode.Scalar {
        var value = UInt32(self[place])
        if length > 1 {
            // The bits of the first byte that follow its length mark, then six bits of each further byte.
            value &= 0x7F &>> UInt32(length)
            for byte in self[place + 1..<place + length] { value = value &<< 6 | UInt32(byte & 0x3F) }
        }
        return Unicode.Scalar(value) ?? "\u{FFFD}"
    }
}
