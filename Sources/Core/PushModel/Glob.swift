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
