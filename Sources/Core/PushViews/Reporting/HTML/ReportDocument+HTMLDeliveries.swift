import PushModel

extension ReportDocument {
    /// The invocations that missed the deadline, each with its reason and the invocations ahead of it.
    func misses(_ stories: StoryLinks) -> String {
        let rows = detail.misses.rows
        guard !rows.isEmpty else { return "<p>No invocation missed its deadline.</p>\n" }
        let cut = detail.misses.count - rows.count
        let note =
            cut == 0
            ? "" : "<p>The \(grouped(rows.count)) slowest; \(grouped(cut)) more are in the \(report.source.word).</p>\n"
        var table = HTMLTable(
            "Missed deadlines; pushctl show SEQ prints the full record",
            [
                .name("Seq"), .words("Why"), .name("Handler"), .name("Outcome"), .number("Total ms"),
                .number("Exec ms"), .number("Queue ms"), .name("Accepted"), .words("Who was ahead"),
                .name("Provider"), .name("App"),
            ])
        for row in rows {
            guard let result = row.invocation.result else { continue }
            let id = StoryLinks.Place.miss.anchor(row.invocation.id)
            table.add(
                id: id,
                [
                    "<a href=\"#\(id)\">\(row.invocation.id.shortName)</a>",
                    markup(result.reason ?? result.reasonCode?.rawValue ?? "-"),
                    markup(row.invocation.handler ?? "-"), result.outcome.rawValue,
                    groupedMilliseconds(result.total.microseconds), groupedMilliseconds(result.exec.microseconds),
                    groupedMilliseconds(result.queue.microseconds), zone.text(row.acceptedAt, milliseconds: true),
                    stories.ahead(of: result), markup(row.invocation.provider ?? "-"), markup(row.app ?? "-"),
                ])
        }
        return note + table.text
    }

    /// The slowest invocations, in time or missed.
    func slowest(_ stories: StoryLinks) -> String {
        var table = HTMLTable(
            "The \(Slowest.capacity) slowest at most; pushctl show SEQ prints the full record",
            [
                .name("Seq"), .name("Callback"), .name("Provider"), .name("Handler"), .name("Outcome"),
                .number("Queue ms"), .number("Exec ms"), .number("Total ms"), .words("Who was ahead"),
            ])
        for row in report.slowest.rows {
            guard let result = row.result else { continue }
            table.add(
                id: StoryLinks.Place.slow.anchor(row.id),
                [
                    stories.link(row.id, from: .slow), row.callback.rawValue, markup(row.provider ?? "-"),
                    markup(row.handler ?? "-"), result.outcome.rawValue,
                    groupedMilliseconds(result.queue.microseconds), groupedMilliseconds(result.exec.microseconds),
                    groupedMilliseconds(result.total.microseconds), stories.ahead(of: result),
                ])
        }
        return table.text
    }

    /// The invocations that waited longest, and those ahead of them.
    func waits(_ stories: StoryLinks) -> String {
        var table = HTMLTable(
            "The longest waits behind others in a lane; pushctl show SEQ prints the full record",
            [
                .name("Seq"), .name("Callback"), .name("Provider"), .name("Handler"), .name("Outcome"),
                .number("Waited ms"), .words("Who was ahead"),
            ])
        for row in report.longestWaits.rows {
            guard let result = row.result, result.waitedFor != nil else { continue }
            table.add(
                id: StoryLinks.Place.wait.anchor(row.id),
                [
                    stories.link(row.id, from: .wait), row.callback.rawValue, markup(row.provider ?? "-"),
                    markup(row.handler ?? "-"), result.outcome.rawValue,
                    groupedMilliseconds(result.queue.microseconds), stories.ahead(of: result),
                ])
        }
        return table.text
    }
}
