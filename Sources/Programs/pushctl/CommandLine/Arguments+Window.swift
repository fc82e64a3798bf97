import PushModel
import PushReporting

extension Arguments {
    /// The window of `--since` and `--until`.
    func window() throws(Failure) -> ReportWindow {
        let since = try time("since")
        let until = try time("until")
        if let since, let until, until < since {
            throw usageFailure("--until \(until.rfc3339) is before --since \(since.rfc3339)")
        }
        return ReportWindow(since: since, until: until)
    }

    /// The zone in which a command shows times: this machine's for people, UTC for programs and where it is asked for.
    var zone: LocalZone {
        // By its name: what an output can be is another list in each command.
        let format = values.first { $0.key.name == "format" }?.value.last
        let isForPrograms = has(.json) || format.map { !["text", "html", "markdown"].contains($0) } ?? false
        return isForPrograms || has(.utc) ? .utc : LocalTime.zone
    }

    /// The time that an option says, by its name: what it bounds is another thing in each command.
    private func time(_ name: String) throws(Failure) -> WallTime? {
        guard let text = values.first(where: { $0.key.name == name })?.value.last else { return nil }
        guard let time = LocalTime.parse(text, now: LocalTime.now, isUTC: has(.utc)) else {
            throw usageFailure(
                "--\(name) \(text): a time is written as 2026-11-21T09:00:00Z, 2026-11-21, today, yesterday or -1h")
        }
        return time
    }
}
