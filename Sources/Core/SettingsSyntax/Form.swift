import PushModel

/// Why a value is not of its form; reads on after `Key=value: `.
public struct ValueError: Error, Hashable {
    /// What is wrong, and what would be right.
    public let reason: String

    /// - Parameter reason: what is wrong, and what would be right.
    public init(_ reason: String) { self.reason = reason }
}

/// How the text after `=` becomes a value.
public struct Form<Value>: Sendable {
    /// Makes a value of the text, or says why it is none.
    public let parse: @Sendable (String) throws(ValueError) -> Value

    /// - Parameter parse: makes a value of the text.
    public init(parse: @escaping @Sendable (String) throws(ValueError) -> Value) { self.parse = parse }
}

extension Form {
    /// A value that may also be absent; an empty text, which resets the key, makes it so.
    public var optional: Form<Value?> { Form<Value?> { text throws(ValueError) in try parse(text) } }

    /// Values of this form with white space between them.
    public var list: Form<[Value]> {
        Form<[Value]> { text throws(ValueError) in
            var values: [Value] = []
            for word in Array(text.utf8)[...].split(whereSeparator: \.isWhitespace) {
                values.append(try parse(word.text))
            }
            return values
        }
    }
}

extension Form where Value: RawRepresentable<String> & Sendable {
    /// One of these words.
    public static func choice(of allowed: [Value]) -> Form {
        Form { text throws(ValueError) in
            if let value = allowed.first(where: { $0.rawValue == text }) { return value }
            let words = allowed.map(\.rawValue)
            throw ValueError("must be \(alternatives(words))" + suggestion(for: text, among: words) { $0 })
        }
    }
}

extension Form where Value: RawRepresentable<String> & CaseIterable & Sendable {
    /// One of the words of the type.
    public static var choice: Form { choice(of: Array(Value.allCases)) }
}

extension Form<Bool> {
    /// systemd's booleans.
    public static let boolean = Form { text throws(ValueError) in
        switch text.lowercased() {
        case "1", "yes", "y", "true", "t", "on": return true
        case "0", "no", "n", "false", "f", "off": return false
        default: throw ValueError("must be yes or no")
        }
    }
}

extension Form<Int> {
    /// A whole number in decimal digits; `reason` says why the range is what it is.
    public static func integer(_ range: ClosedRange<Int>, reason: String = "") -> Form {
        Form { text throws(ValueError) in
            guard !text.isEmpty, text.utf8.allSatisfy(\.isDigit) else { throw ValueError("must be a whole number") }
            // All digits and yet not an Int: it is beyond it, and so beyond the range.
            return try within(range, Int(text) ?? .max, reason: reason) { String($0) }
        }
    }

    /// A number of bytes; `K`, `M` and `G` count in steps of 1024, as everywhere in systemd.
    public static func byteSize(_ range: ClosedRange<Int>) -> Form {
        Form { text throws(ValueError) in
            let digits = text.utf8.prefix(while: \.isDigit)
            guard !digits.isEmpty, let shift = byteShifts[String(Substring(text.utf8.dropFirst(digits.count)))] else {
                throw ValueError("must be a size, such as 256K or 16M")
            }
            let (bytes, overflow) = (Int(Substring(digits)) ?? .max).multipliedReportingOverflow(by: 1 << shift)
            return try within(range, overflow ? .max : bytes, spelled: spelledSize)
        }
    }
}

extension Form<UInt32> {
    /// The permission bits of a file, in octal digits.
    public static let fileMode = Form { text throws(ValueError) in
        guard let mode = UInt32(text, radix: 8), mode <= 0o777, text.utf8.allSatisfy(\.isDigit) else {
            throw ValueError("must be permission bits in octal digits, such as 0660")
        }
        return mode
    }
}

/// `value`, if it is in `range`; else an error that says the range and, after it, the reason.
func within<Value: Comparable>(
    _ range: ClosedRange<Value>, _ value: Value, reason: String = "", spelled: (Value) -> String
) throws(ValueError) -> Value {
    guard range.contains(value) else {
        throw ValueError("must be from \(spelled(range.lowerBound)) to \(spelled(range.upperBound))\(reason)")
    }
    return value
}

/// `exec, journal or discard`.
public func alternatives(_ words: [String]) -> String {
    guard let last = words.last, words.count > 1 else { return words.first ?? "" }
    return words.dropLast().joined(separator: ", ") + " or " + last
}

private let byteShifts = ["": 0, "B": 0, "K": 10, "M": 20, "G": 30]

private func spelledSize(_ bytes: Int) -> String {
    for (suffix, shift) in [("G", 30), ("M", 20), ("K", 10)] where bytes >= 1 << shift && bytes % (1 << shift) == 0 {
        return "\(bytes >> shift)\(suffix)"
    }
    return String(bytes)
}
