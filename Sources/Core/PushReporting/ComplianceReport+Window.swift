import PushModel

extension ComplianceReport {
    /// The time that the figures cover, for people. An end that was not asked for is where the source begins or ends:
    /// `2026-11-23 05:03:32 to 05:04:11 +01:00 (all that the ledger holds)`.
    public func windowText(_ zone: LocalZone) -> String {
        let asked = zone.text(window)
        guard let covered else {
            return window == ReportWindow() ? "all that the \(source.word) holds, which is nothing" : asked
        }
        return switch (window.since, window.until) {
        case (nil, nil): "\(zone.text(covered)) (all that the \(source.word) holds)"
        case (_?, nil): "\(asked); the last accepted at \(zone.text(covered.upperBound))"
        case (nil, _?): "\(asked); the first accepted at \(zone.text(covered.lowerBound))"
        case (_?, _?): asked
        }
    }
}

extension LocalZone {
    /// From the first to the last of some times, which belong to it both. A day and an offset that both have are said once.
    func text(_ times: ClosedRange<WallTime>) -> String {
        let (first, last) = (text(times.lowerBound), text(times.upperBound))
        guard first != last else { return first }
        let (begin, end) = (first.split(separator: " "), last.split(separator: " "))
        guard begin[0] == end[0], begin[2] == end[2] else { return "\(first) to \(last)" }
        return "\(begin[0]) \(begin[1]) to \(end[1]) \(end[2])"
    }
}
