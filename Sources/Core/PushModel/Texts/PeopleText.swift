/// A Linux signal for people: its number, its name, and its usual cause for a program in a service.
///
/// - Parameter number: the signal number of `wait` and `kill`.
public func signalText(_ number: Int) -> String {
    let names = [
        1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE",
        9: "SIGKILL", 10: "SIGUSR1", 11: "SIGSEGV", 12: "SIGUSR2", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM",
        24: "SIGXCPU", 25: "SIGXFSZ", 31: "SIGSYS",
    ]
    let hints = [
        5: "often MemoryDenyWriteExecute=", 9: "often out of memory: MemoryMax=",
        31: "often SystemCallFilter=",
    ]
    guard let name = names[number] else { return "signal \(number)" }
    return "signal \(number) (\(name)" + (hints[number].map { ": \($0)" } ?? "") + ")"
}

/// Returns the text of a program or a server as one line of bounded length, for a sentence. A run of white space and
/// control characters becomes one space; a format character, which can turn or hide text, becomes U+FFFD; a long text
/// keeps its beginning and its end.
///
/// - Parameter bytes: the text, in UTF-8; U+FFFD replaces anything else.
/// - Returns: `nil` if nothing is left.
public func excerpt(of bytes: [UInt8]) -> String? {
    let (head, tail) = (100, 200)
    // A character has at most 4 bytes: reads no more of a long text than these.
    let isLong = bytes.count > 4 * (head + tail)
    let first = plainLine(isLong ? bytes.prefix(4 * head) : bytes[...])
    guard isLong || first.count > head + tail else { return first.isEmpty ? nil : first }
    let last = isLong ? plainLine(bytes.suffix(4 * tail)) : first
    return "\(first.prefix(head)) ... \(last.suffix(tail))"
}

private func plainLine(_ bytes: ArraySlice<UInt8>) -> String {
    var line = String.UnicodeScalarView()
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .spaceSeparator:
            if let last = line.last, last != " " { line.append(" ") }
        case .format: line.append("\u{FFFD}")
        default: line.append(scalar)
        }
    }
    if line.last == " " { line.removeLast() }
    return String(line)
}

/// A count with its noun, for people: `1 entry`, `2 entries`. Every text with a count calls this function.
///
/// - Parameters:
///   - count: the number.
///   - noun: the noun in the singular.
///   - plural: the noun in the plural; `nil`: the noun with an `s`.
public func counted(_ count: some BinaryInteger, _ noun: String, _ plural: String? = nil) -> String {
    "\(count) \(count == 1 ? noun : plural ?? noun + "s")"
}

/// A percentage from 0 to 100 with up to six decimals, stored exactly as an integer.
public struct Percent: Hashable, Sendable, CustomStringConvertible {
    /// Millionths of a percent.
    public let millionths: Int64

    /// Reads `99`, `99.9`, `99.95`, with or without a `%` at the end; `nil` for anything else.
    public init?(_ text: String) {
        let digits = text.hasSuffix("%") ? text.dropLast() : text[...]
        let parts = digits.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = Self.number(parts[0]), whole <= 100 else { return nil }
        var millionths = whole * 1_000_000
        if parts.count == 2 {
            guard parts[1].utf8.count <= 6, let fraction = Self.number(parts[1]) else { return nil }
            millionths += (parts[1].utf8.count..<6).reduce(fraction) { scaled, _ in scaled * 10 }
        }
        guard millionths <= 100_000_000 else { return nil }
        self.millionths = millionths
    }

    /// The shortest decimal form, without a sign: `99.95`.
    public var description: String {
        var fraction = String(millionths % 1_000_000 + 1_000_000).dropFirst()
        while fraction.last == "0" { fraction.removeLast() }
        return String(millionths / 1_000_000) + (fraction.isEmpty ? "" : "." + fraction)
    }

    private static func number(_ digits: Substring) -> Int64? {
        digits.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int64(digits) : nil
    }
}

/// One line for a terminal.
public struct ReportLine: Hashable, Sendable {
    /// The tone of a line; it selects the terminal's colour.
    public enum Tone: Sendable { case plain, heading, good, bad, warning, faint }

    /// The line, without colour and without its line feed.
    public let text: String
    /// The tone.
    public let tone: Tone

    /// Joins the two.
    public init(_ text: String, _ tone: Tone = .plain) {
        self.text = text
        self.tone = tone
    }
}

extension Outcome {
    /// The tone for a person: good if the work is done, bad if somebody has to act.
    public var tone: ReportLine.Tone { isDone ? .good : isDeadLetter ? .bad : .warning }
}

extension String {
    /// The text escaped for an element or a quoted attribute of XML and HTML; U+FFFD replaces characters that XML does
    /// not allow.
    public var escapedForMarkup: String {
        unicodeScalars.reduce(into: "") { escaped, scalar in
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            case _ where scalar.value & 0xFFFE == 0xFFFE: escaped += "\u{FFFD}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
    }
}

/// The candidate that a misspelt or shortened `word` most likely means, or `nil` if none is near.
public func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
    let near = candidates.compactMap { candidate -> (name: String, distance: Int)? in
        let tolerance = max(1, candidate.utf8.count / 3)
        guard abs(candidate.utf8.count - word.utf8.count) <= tolerance else { return nil }
        let distance = editDistance(Array(word.lowercased().utf8), Array(candidate.lowercased().utf8))
        return distance <= tolerance ? (candidate, distance) : nil
    }
    // Sorts equally near candidates by name, so that the same mistake always gets the same answer.
    if let best = near.min(by: { ($0.distance, $0.name) < ($1.distance, $1.name) }) { return best.name }
    let longer = candidates.filter { $0.lowercased().hasPrefix(word.lowercased()) }
    return word.isEmpty || word.utf8.count < 3 && longer.count > 1 ? nil : longer.min()
}

/// Returns `; did you mean Budget=?`, or an empty text if no candidate is near.
public func suggestion(
    for word: String, among candidates: some Sequence<String>, as spelled: (String) -> String = { $0 }
) -> String {
    nearest(to: word, among: candidates).map { "; did you mean \(spelled($0))?" } ?? ""
}

/// The optimal string alignment distance: the number of bytes to insert, remove, replace or exchange with their
/// neighbour to turn one text into the other.
private func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var beforeLast: [Int] = []
    var previous = Array(0...right.count)
    for (row, byte) in left.enumerated() {
        var current = [row + 1]
        for column in right.indices {
            let replaced = previous[column] + (byte == right[column] ? 0 : 1)
            var distance = min(replaced, previous[column + 1] + 1, current[column] + 1)
            if row > 0, column > 0, byte == right[column - 1], left[row - 1] == right[column] {
                distance = min(distance, beforeLast[column - 1] + 1)
            }
            current.append(distance)
        }
        (beforeLast, previous) = (previous, current)
    }
    return previous[right.count]
}
