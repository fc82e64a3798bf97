import PushReporting
import Store

extension Command {
    static let events = Command(
        name: "events", summary: "count the analytics events by name and day",
        description: [
            """
            Prints how many events the tracker gave: receipts, opens, influenced opens, sessions and changes of tokens. It \
            reads the ledger in the state directory, with or without a daemon. \(LocalTime.forms)
            """
        ],
        operands: .none,
        options: [.eventsSince, .eventsUntil, .json],
        examples: [Example(line: "pushctl events --since -1w", meaning: "the last seven days")]
    ) { arguments, session throws(Failure) in
        var counts = EventCounts(window: try arguments.window(), zone: LocalTime.zone)
        try session.reading { ledger throws(StoreError) in
            try ledger.events(from: counts.window.since, to: counts.window.until) { event in counts.add(event) }
        }
        if arguments.has(.json) { session.output.write(counts.json) } else { session.output.print(counts.text) }
        return .done
    }
}
