import PushModel

extension ComplianceReport {
    /// Returns the time that the figures cover, for people. Without a requested bound the source's own begin or end
    /// stands there: `2026-11-23 05:03:32 to 05:04:11 +01:00 (all that the ledger holds)`.
    func windowText(_ zone: LocalZone) -> String {
        let asked = zone.text(window)
        guard let covered else {
            return window == ReportWindow() ? "the \(source.word) is empty" : asked
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
    /// Returns the text of a closed range of times, with a common day and a common offset written once.
    func text(_ times: ClosedRange<WallTime>) -> String {
        let (first, last) = (text(times.lowerBound), text(times.upperBound))
        guard first != last else { return first }
        let (begin, end) = (first.split(separator: " "), last.split(separator: " "))
        guard begin[0] == end[0], begin[2] == end[2] else { return "\(first) to \(last)" }
        return "\(begin[0]) \(begin[1]) to \(end[1]) \(end[2])"
    }
}
