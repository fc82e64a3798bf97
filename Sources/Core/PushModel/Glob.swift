/// A shell pattern: `*` any text, `?` any one character, `[a-z]` and `[!a-z]` one of a set, `\` takes the next
/// character as it is. It matches the whole text; an unclosed `[` stands for itself.
public struct Glob: Hashable, Sendable, CustomStringConvertible {
    private enum Step: Hashable, Sendable {
        case anyText
        case anyCharacter
        case character(Unicode.Scalar)
        case set([ClosedRange<Unicode.Scalar>], negated: Bool)
    }

    /// The pattern as it was written.
    public let description: String
    private let steps: [Step]

    /// - Parameter pattern: the pattern; any text is one.
    public init(_ pattern: String) {
        description = pattern
        steps = Self.compile(Array(pattern.unicodeScalars))
    }

    /// Whether the whole of `text` matches; linear in its length for each `*`.
    public func matches(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { matches($0) }
    }

    /// Whether the whole of a text in UTF-8, which must be well formed, matches; linear in its length for each `*`.
    public func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var position = 0
        var step = 0
        var retry: (step: Int, position: Int)?
        while position < text.count {
            if step < steps.count, steps[step] == .anyText {
                step += 1
                // Nothing more is asked.
                if step == steps.count { return true }
                retry = (step, position)
            } else if step < steps.count, let length = length(of: steps[step], at: position, in: text) {
                step += 1
                position += length
            } else if let last = retry {
                let next = last.position + characterLength(text[last.position])
                retry = (last.step, next)
                step = last.step
                position = next
            } else {
                return false
            }
        }
        return steps[step...].allSatisfy { $0 == .anyText }
    }

    /// How many bytes a step takes of a text; `nil` when what is there is not what it wants.
    private func length(of step: Step, at position: Int, in text: UnsafeBufferPointer<UInt8>) -> Int? {
        let length = characterLength(text[position])
        switch step {
        case .anyText: return nil
        case .anyCharacter: return length
        case .character(let expected):
            return expected == scalar(at: position, length, in: text) ? length : nil
        case .set(let ranges, let negated):
            let scalar = scalar(at: position, length, in: text)
            return ranges.contains { $0.contains(scalar) } != negated ? length : nil
        }
    }

    private func scalar(at position: Int, _ length: Int, in text: UnsafeBufferPointer<UInt8>) -> Unicode.Scalar {
        var value = UInt32(text[position])
        if length > 1 {
            // As many bits as the first byte has beside its mark, then six of each byte.
            value &= 0x7F &>> UInt32(length)
            for byte in text[position + 1..<position + length] { value = value &<< 6 | UInt32(byte & 0x3F) }
        }
        return Unicode.Scalar(value) ?? "\u{FFFD}"
    }

    /// How many bytes the character has that begins with this one.
    private func characterLength(_ first: UInt8) -> Int { first < 0xC0 ? 1 : (~first).leadingZeroBitCount }

    private static func compile(_ pattern: [Unicode.Scalar]) -> [Step] {
        var steps: [Step] = []
        var index = 0
        while index < pattern.count {
            switch pattern[index] {
            case "*": if steps.last != .anyText { steps.append(.anyText) }
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
        return steps
    }

    /// The set that opens at `start`, and the index of its closing bracket.
    private static func compileSet(_ pattern: [Unicode.Scalar], from start: Int) -> (Step, end: Int)? {
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
