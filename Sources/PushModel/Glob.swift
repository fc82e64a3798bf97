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
        let scalars = Array(text.unicodeScalars)
        var position = 0
        var step = 0
        var retry: (step: Int, position: Int)?
        while position < scalars.count {
            if step < steps.count, steps[step] == .anyText {
                retry = (step, position)
                step += 1
            } else if step < steps.count, accepts(steps[step], scalars[position]) {
                step += 1
                position += 1
            } else if let last = retry {
                retry = (last.step, last.position + 1)
                step = last.step + 1
                position = last.position + 1
            } else {
                return false
            }
        }
        return steps[step...].allSatisfy { $0 == .anyText }
    }

    private func accepts(_ step: Step, _ scalar: Unicode.Scalar) -> Bool {
        switch step {
        case .anyText: false
        case .anyCharacter: true
        case .character(let expected): expected == scalar
        case .set(let ranges, let negated): ranges.contains { $0.contains(scalar) } != negated
        }
    }

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
