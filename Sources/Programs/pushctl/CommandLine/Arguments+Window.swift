import PushModel
import PushViews

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

    /// The zone of the times that a command prints: this machine's for people, UTC for programs and with `--utc`.
    var zone: LocalZone {
        // By the option's name: the option of each command lists other formats.
        let format = values.first { $0.key.name == "format" }?.value.last
        let isForPrograms = has(.json) || format.map { !["text", "html", "markdown"].contains($0) } ?? false
        return isForPrograms || has(.utc) ? .utc : LocalTime.zone
    }

    /// The time in an option, by the option's name: the option of each command has another meaning.
    private func time(_ name: String) throws(Failure) -> WallTime? {
        guard let text = values.first(where: { $0.key.name == name })?.value.last else { return nil }
        guard let time = LocalTime.parse(text, now: LocalTime.now, isUTC: has(.utc)) else {
            throw usageFailure(
                "--\(name) \(text): a time is written as 2026-11-21T09:00:00Z, 2026-11-21, today, yesterday or -1h")
        }
        return time
    }
}
