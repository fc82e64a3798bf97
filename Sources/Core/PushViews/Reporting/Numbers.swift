import PushModel

/// Returns `value` divided by ten to the power of `scale`, without trailing zeros: `decimal(9_000_100, scale: 3)` is
/// `9000.1`.
func decimal(_ value: Int64, scale: Int) -> String {
    let digits = String(value.magnitude)
    let padded = String(repeating: "0", count: max(0, scale + 1 - digits.count)) + digits
    let whole = padded.dropLast(scale)
    var fraction = padded.suffix(scale)
    while fraction.last == "0" { fraction.removeLast() }
    return (value < 0 ? "-" : "") + whole + (fraction.isEmpty ? "" : "." + fraction)
}

/// Returns a duration in milliseconds with up to three decimals: `9000.1`.
func milliseconds(_ span: Duration) -> String { decimal(span.microseconds, scale: 3) }

extension String {
    /// The word of a format for programs in the form for people: `original priority`.
    var replacingUnderscores: String { String(map { $0 == "_" ? " " : $0 }) }

    /// The text as the heading of a column: `Original priority`.
    var capitalizingFirst: String {
        let first = prefix { $0 != " " }
        let isName =
            first.dropLast().contains { ".:_`".contains($0) } || first.dropFirst().contains(where: \.isUppercase)
        return isName ? String(self) : prefix(1).uppercased() + dropFirst()
    }
}

/// Returns a count for people: `1,204`.
func grouped(_ count: some BinaryInteger) -> String {
    let digits = String(count)
    var text = ""
    for (index, digit) in digits.enumerated() {
        if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
        text.append(digit)
    }
    return text
}

/// Returns microseconds as milliseconds for people, rounded to one decimal: `9,000.1`; `-` for `nil`.
func groupedMilliseconds(_ microseconds: Int64?) -> String {
    guard let microseconds else { return "-" }
    let tenths = (microseconds + 50) / 100
    return "\(grouped(tenths / 10)).\(tenths % 10)"
}

/// Returns a duration for people in the fitting unit: `9 s`, `4.5 s`, `250 ms`.
func span(_ duration: Duration) -> String {
    let microseconds = duration.microseconds
    return microseconds >= 1_000_000
        ? "\(decimal(microseconds, scale: 6)) s" : "\(decimal(microseconds, scale: 3)) ms"
}

/// Returns a duration for people, rounded to a tenth of a second, or below one second to a millisecond: `8.2 s`.
func roundedSpan(_ duration: Duration) -> String {
    let microseconds = duration.microseconds
    return microseconds >= 1_000_000
        ? "\(decimal((microseconds + 50_000) / 100_000, scale: 1)) s" : "\((microseconds + 500) / 1000) ms"
}

/// Returns a duration of any length for people, in its two largest units: `2 d 3 h`, `5 min 7 s`, `8.2 s`, `40 ms`.
public func spanInWords(_ duration: Duration) -> String {
    let seconds = duration.microseconds / 1_000_000
    let units: [(name: String, seconds: Int64)] = [("d", 86_400), ("h", 3600), ("min", 60), ("s", 1)]
    guard let first = units.dropLast().firstIndex(where: { seconds >= $0.seconds }) else {
        return roundedSpan(duration)
    }
    let (large, small) = (units[first], units[first + 1])
    let rest = seconds % large.seconds / small.seconds
    return "\(grouped(seconds / large.seconds)) \(large.name)" + (rest > 0 ? " \(rest) \(small.name)" : "")
}

/// Returns a share for people, rounded to a tenth of a percent: `12.5 %`; `-` for a base of 0.
func share(_ count: Int, of base: Int) -> String {
    guard base > 0 else { return "-" }
    let tenths = (Int128(count) * 2000 + Int128(base)) / (Int128(base) * 2)
    return "\(tenths / 10).\(tenths % 10) %"
}

/// Returns a number for people, rounded, without trailing zeros: `14.4`. It caps the magnitude at 10^12.
func rounded(_ value: Double, decimals: Int) -> String {
    let scale = (0..<decimals).reduce(1.0) { scale, _ in scale * 10 }
    let bounded = min(max(value, -1e12), 1e12)
    return decimal(Int64((bounded * scale).rounded()), scale: decimals)
}
