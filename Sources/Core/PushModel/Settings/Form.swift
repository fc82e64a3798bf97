/// The error of a value that does not have its form, as the rest of a message that begins with `Key=value: `.
public struct ValueError: Error, Hashable {
    /// The fault and the expected form.
    public let reason: String

    /// - Parameter reason: the fault and the expected form.
    public init(_ reason: String) { self.reason = reason }
}

/// A parser for the text after `=`.
public struct Form<Value>: Sendable {
    /// Parses the text, or throws the reason why it cannot.
    public let parse: @Sendable (String) throws(ValueError) -> Value

    /// - Parameter parse: parses the text.
    public init(parse: @escaping @Sendable (String) throws(ValueError) -> Value) { self.parse = parse }
}

extension Form {
    /// An optional value; an empty text resets the key to `nil`.
    public var optional: Form<Value?> { Form<Value?> { text throws(ValueError) in try parse(text) } }

    /// Values of this form, separated by white space.
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
    /// Returns the form of one of these words.
    public static func choice(of allowed: [Value]) -> Form {
        Form { text throws(ValueError) in
            if let value = allowed.first(where: { $0.rawValue == text }) { return value }
            let words = allowed.map(\.rawValue)
            throw ValueError("must be \(alternatives(words))" + suggestion(for: text, among: words) { $0 })
        }
    }
}

extension Form where Value: RawRepresentable<String> & CaseIterable & Sendable {
    /// The form of one of the type's words.
    public static var choice: Form { choice(of: Array(Value.allCases)) }
}

extension Form<Bool> {
    /// The booleans of systemd.
    public static let boolean = Form { text throws(ValueError) in
        switch text.lowercased() {
        case "1", "yes", "y", "true", "t", "on": return true
        case "0", "no", "n", "false", "f", "off": return false
        default: throw ValueError("must be yes or no")
        }
    }
}

extension Form<Int> {
    /// Returns the form of an integer in decimal digits; `reason` explains the range in messages.
    public static func integer(_ range: ClosedRange<Int>, reason: String = "") -> Form {
        Form { text throws(ValueError) in
            guard !text.isEmpty, text.utf8.allSatisfy(\.isDigit) else { throw ValueError("must be a whole number") }
            // Digits that are not an `Int` exceed it, and so exceed the range.
            return try within(range, Int(text) ?? .max, reason: reason) { String($0) }
        }
    }

    /// Returns the form of a number of bytes; `K`, `M` and `G` are powers of 1024, as in systemd.
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

/// Returns `value` if it is in `range`; throws an error with the range and the reason otherwise.
func within<Value: Comparable>(
    _ range: ClosedRange<Value>, _ value: Value, reason: String = "", spelled: (Value) -> String
) throws(ValueError) -> Value {
    guard range.contains(value) else {
        throw ValueError("must be from \(spelled(range.lowerBound)) to \(spelled(range.upperBound))\(reason)")
    }
    return value
}

/// Returns `exec, journal or discard`.
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

extension Form<String> {
    /// An absolute path.
    public static let absolutePath = Form { text throws(ValueError) in
        guard text.utf8.first == UInt8(ascii: "/") else { throw ValueError("must be an absolute path") }
        return text
    }

    /// The absolute path of a file or directory that has a secret. Its key is declared with `showsValue: false`, because people write
    /// the secret itself there.
    public static let secretFile = Form { text throws(ValueError) in
        do { return try absolutePath.parse(text) } catch {
            throw ValueError("must be the absolute path of the place of the secret, never the secret itself")
        }
    }

    /// Returns whether a host is this machine by name or address: requests to it may go without TLS.
    ///
    /// - Parameter host: a host from ``hostAndPort(_:)``.
    public static func isLoopback(host: String) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return ["localhost", "[::1]"].contains(host)
            || parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// Parses the host, in lower case, and the port with its colon, if given.
    ///
    /// - Parameter authority: the text between `//` and the path.
    public static func hostAndPort(
        _ authority: ArraySlice<UInt8>
    ) throws(ValueError) -> (host: String, port: String) {
        var rest = authority
        let host: ArraySlice<UInt8>
        if rest.first == UInt8(ascii: "[") {
            host = rest.take { $0 != UInt8(ascii: "]") } + [UInt8(ascii: "]")]
            guard rest.popFirst() != nil, host.count > 4, host.dropFirst().dropLast().allSatisfy(\.isAddressByte) else {
                throw ValueError("must have an IPv6 address between [ and ]")
            }
        } else {
            host = rest.take { $0 != UInt8(ascii: ":") }
            guard !host.isEmpty, host.count <= 253, host.allSatisfy(\.isHostByte) else {
                throw ValueError("must have a host of letters, digits, and - . after ://")
            }
        }
        guard !rest.isEmpty else { return (host.text.lowercased(), "") }
        let digits = rest.dropFirst()
        guard rest.first == UInt8(ascii: ":"), !digits.isEmpty, digits.allSatisfy(\.isDigit),
            let port = Int(digits.text), (1...65_535).contains(port)
        else { throw ValueError("must have a port from 1 to 65535 after the host's colon") }
        return (host.text.lowercased(), ":\(port)")
    }
}

extension UInt8 {
    fileprivate var isHostByte: Bool {
        isLetter || isDigit || self == UInt8(ascii: "-") || self == UInt8(ascii: ".")
    }

    /// A byte of an IPv6 address.
    fileprivate var isAddressByte: Bool {
        isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self | 0x20) || self == UInt8(ascii: ":")
            || self == UInt8(ascii: ".")
    }
}

extension Form<String> {
    /// A connection URI of PostgreSQL.
    public static let databaseURI = Form { text throws(ValueError) in
        guard text.hasPrefix("postgresql://") || text.hasPrefix("postgres://") else {
            throw ValueError("must be a connection URI, such as postgresql://push@db.example/push")
        }
        return text
    }

    /// The name of a machine that shares a log.
    public static let nodeName = Form { text throws(ValueError) in
        let others = Array(".-_".utf8)
        guard 1...32 ~= text.utf8.count, text.utf8.allSatisfy({ $0.isLetter || $0.isDigit || others.contains($0) })
        else {
            throw ValueError("must be a name of at most 32 letters, digits, '.', '-' and '_'")
        }
        return text
    }
}
