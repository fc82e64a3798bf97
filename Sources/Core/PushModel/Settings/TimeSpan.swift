extension Form<Duration> {
    /// Returns the form of a time span in the syntax of systemd.time(7), to the microsecond; `reason` explains the
    /// range in messages.
    public static func timeSpan(_ range: ClosedRange<Duration>, reason: String = "") -> Form {
        Form { text throws(ValueError) in
            try within(range, try parseTimeSpan(text), reason: reason, spelled: spelledTimeSpan)
        }
    }
}

extension Duration {
    /// Parses a time span of the configuration, `250ms`, `9s` or `1min 30s`; `nil` for other texts.
    public init?(timeSpan text: String) {
        guard let span = try? parseTimeSpan(text) else { return nil }
        self = span
    }
}

/// Returns `1min 30s` for 90 seconds: a text that `parseTimeSpan` reads, for messages.
public func spelledTimeSpan(_ span: Duration) -> String {
    var rest = span.microseconds
    var parts: [String] = []
    for (unit, length) in [("d", day), ("h", hour), ("min", minute), ("s", second), ("ms", 1000), ("us", 1)]
    where rest >= length {
        parts.append("\(rest / length)\(unit)")
        rest %= length
    }
    return parts.isEmpty ? "0" : parts.joined(separator: " ")
}

/// Parses a sum of numbers with units, `1min 30s`; a number without a unit counts seconds.
func parseTimeSpan(_ text: String) throws(ValueError) -> Duration {
    let malformed = ValueError("must be a time span, such as 250ms, 9s or 1min 30s")
    let endless = ValueError("is too long a time")
    if text == "infinity" { throw endless }

    var rest = Array(text.utf8)[...].trimmed
    guard !rest.isEmpty else { throw malformed }
    var total: Int64 = 0
    while !rest.isEmpty {
        let whole = rest.take(while: \.isDigit)
        var fraction: ArraySlice<UInt8> = []
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            fraction = rest.take(while: \.isDigit)
            guard !fraction.isEmpty else { throw malformed }
        }
        guard !whole.isEmpty || !fraction.isEmpty else { throw malformed }
        rest = rest.trimmed
        let unit = rest.take { !$0.isDigit && !$0.isWhitespace && $0 != UInt8(ascii: ".") }
        guard let length = timeUnits[unit.text] else { throw malformed }
        rest = rest.trimmed

        let (product, overflow) = (whole.isEmpty ? 0 : Int64(whole.text) ?? .max)
            .multipliedReportingOverflow(by: length)
        let (sum, carry) = total.addingReportingOverflow(product)
        let (full, excess) = sum.addingReportingOverflow(part(fraction, of: length))
        guard !overflow, !carry, !excess else { throw endless }
        total = full
    }
    return .microseconds(total)
}

/// Returns the decimal fraction of a unit, rounded down to microseconds at each digit as in systemd.
private func part(_ digits: ArraySlice<UInt8>, of unit: Int64) -> Int64 {
    var weight = unit
    var sum: Int64 = 0
    for digit in digits where weight > 0 {
        weight /= 10
        sum += Int64(digit - UInt8(ascii: "0")) * weight
    }
    return sum
}

private let second: Int64 = 1_000_000
private let minute = 60 * second
private let hour = 60 * minute
private let day = 24 * hour

/// Unit lengths in microseconds. A month is 30.44 days and a year 365.25, as in systemd.
private let timeUnits: [String: Int64] = [
    "us": 1, "usec": 1, "\u{B5}s": 1, "\u{3BC}s": 1,
    "ms": 1000, "msec": 1000,
    "": second, "s": second, "sec": second, "second": second, "seconds": second,
    "m": minute, "min": minute, "minute": minute, "minutes": minute,
    "h": hour, "hr": hour, "hour": hour, "hours": hour,
    "d": day, "day": day, "days": day,
    "w": 7 * day, "week": 7 * day, "weeks": 7 * day,
    "M": 2_629_800 * second, "month": 2_629_800 * second, "months": 2_629_800 * second,
    "y": 31_557_600 * second, "year": 31_557_600 * second, "years": 31_557_600 * second,
]

/// An address of `Listen=`: a numeric one with a port, or `unix:` and a path. The system decides whether it is numeric.
public enum SocketAddress: Hashable, Sendable, CustomStringConvertible {
    case tcp(String)
    case unix(String)

    /// - Throws: if the text is neither.
    public init(_ text: String) throws(ValueError) {
        if text.hasPrefix("unix:") {
            let path = String(text.dropFirst("unix:".count))
            guard path.hasPrefix("/") else { throw ValueError("must have an absolute path behind unix:") }
            self = .unix(path)
        } else {
            guard text.contains(":") else {
                throw ValueError("must be ADDRESS:PORT, such as 127.0.0.1:18443, or unix:/PATH")
            }
            self = .tcp(text)
        }
    }

    /// Whether the text is not a loopback address. The socket itself decides at the start.
    public var isOfOtherMachines: Bool {
        switch self {
        case .tcp(let text): !text.hasPrefix("127.") && !text.hasPrefix("[::1]:")
        case .unix: false
        }
    }

    public var description: String {
        switch self {
        case .tcp(let text): text
        case .unix(let path): "unix:\(path)"
        }
    }
}
