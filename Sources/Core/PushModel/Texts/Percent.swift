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
