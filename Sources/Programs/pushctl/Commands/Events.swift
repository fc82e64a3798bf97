import PushViews
import Store

extension Command {
    static let events = Command(
        name: "events", summary: "count the analytics events by name and day",
        description: [
            """
            Prints the number of events that the tracker recorded: receipts, opens, influenced opens, sessions, \
            changes of tokens, and custom events, which are also counted by their own names. The last line is about custom events that \
            are no event yet, because they wait for a session of their app or for the endpoint. It reads the ledger in \
            the state directory, with or without a daemon. \(LocalTime.forms)
            """,
            """
            A custom event counts on the day of its own time: the time when it was saved (EventTime=saved) or flushed \
            (EventTime=flushed). --delays shows the delay of custom events between the two, and the delay of entries \
            that were sent at once, by the day on which they were saved. Entries that are sent at once have a delay \
            here, but no event. The format csv has a row for each day, platform, event and \
            name of a custom event: the counts add up.
            """,
        ],
        operands: .none,
        options: [
            .since.meaning("only events at this time or later"), .until.meaning("only events before this time"),
            .delays,
            .utc, .format.allowing(["text", "json", "csv"]), .json,
        ],
        examples: [
            Example(line: "pushctl events --since -1w", meaning: "the last seven days"),
            Example(line: "pushctl events --since -1w --delays", meaning: "the same, with the delays of custom events"),
        ]
    ) { arguments, session throws(Failure) in
        let format = arguments[.format] ?? (arguments.has(.json) ? "json" : "text")
        if arguments.has(.json), format != "json" {
            throw arguments.usageFailure("--json and --format \(format) exclude each other")
        }
        if format == "csv", arguments.has(.delays) {
            throw arguments.usageFailure("--format csv has no delays: leave out --delays, or use another format")
        }
        var counts = EventCounts(window: try arguments.window(), zone: arguments.zone)
        try session.reading { ledger throws(StoreError) in
            try ledger.snapshot { () throws(StoreError) in
                counts.rowsBegin = try ledger.rowsBegin(from: counts.window.since, to: counts.window.until)
                try ledger.events(from: counts.window.since, to: counts.window.until) { event in counts.add(event) }
                try ledger.unfinishedEntries { entry in counts.waiting.add(entry) }
                guard arguments.has(.delays) else { return }
                var delays = CustomEventDelays(zone: arguments.zone)
                try ledger.customEventDelays(from: counts.window.since, to: counts.window.until) {
                    delays.add($0.name, $0.state, savedAt: $0.savedAt, settledAt: $0.settledAt)
                }
                counts.delays = delays
            }
        }
        switch format {
        case "json": session.output.write(document: counts.json)
        case "csv": session.output.write(counts.csv.utf8)
        default: session.output.print(counts.text)
        }
        return .done
    }
}
