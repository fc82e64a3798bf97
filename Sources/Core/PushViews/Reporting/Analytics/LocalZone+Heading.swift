import PushModel

extension LocalZone {
    /// Returns the heading of a column of days: `Day (UTC)`, `Day (CET, +01:00)`; with a change of the clocks between
    /// the days, `Day (CET, +02:00 to +01:00)`.
    func heading(_ word: String, _ days: [LocalDay]) -> String {
        guard name != LocalZone.utc.name, let first = days.min(), let last = days.max() else {
            return "\(word) (\(name))"
        }
        // Clocks change at night, so the offset at noon holds for the day.
        let offsets = [first, last].map { text(seconds: $0.number * 86_400 + 43_200).suffix(6) }
        return "\(word) (\(name), \(offsets[0])\(offsets[0] == offsets[1] ? "" : " to \(offsets[1])"))"
    }

    /// Returns the notice that pruning deleted events before `begin`.
    func prunedEvents(before begin: WallTime) -> String {
        "Before \(text(begin)) requests were deleted (Retention=, MaxSize=): the figures have receipts that the "
            + "tracker still knows, but no opens, clicks and interactions of that time."
    }
}
