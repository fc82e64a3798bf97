public import PushModel

/// The numbers of due and missed invocations.
public struct Compliance: Hashable, Sendable, CustomStringConvertible {
    /// The number of invocations that had to end within the deadline.
    public let due: Int
    /// The number of these that missed it.
    public let missed: Int

    /// Joins the fields.
    public init(due: Int, missed: Int) {
        precondition(0 <= missed && missed <= due, "\(missed) missed of \(due) due")
        self.due = due
        self.missed = missed
    }

    /// The share that kept the deadline, 0 to 1; `nil` when nothing was due.
    public var fraction: Double? { due == 0 ? nil : Double(due - missed) / Double(due) }

    /// Returns whether the objective is met, in exact arithmetic; `true` when nothing was due.
    public func meets(_ objective: Percent) -> Bool {
        Int128(due - missed) * 100_000_000 >= Int128(due) * Int128(objective.millionths)
    }

    /// The share for people: `99.1 %`, `nothing was due`. It is rounded down, with enough decimals to show a single
    /// miss: one miss in 100,000 is `99.999 %`, and `100 %` means no miss.
    public var description: String {
        guard due > 0 else { return "nothing was due" }
        guard missed > 0 else { return "100 %" }
        var decimals = 1
        var scale: Int128 = 10
        while Int128(missed) * 100 * scale < Int128(due) {
            decimals += 1
            scale *= 10
        }
        let shown = Int128(due - missed) * 100 * scale / Int128(due)
        let fraction = String(shown % scale)
        return "\(shown / scale).\(String(repeating: "0", count: decimals - fraction.count))\(fraction) %"
    }
}
