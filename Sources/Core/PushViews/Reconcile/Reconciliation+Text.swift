public import PushModel

extension Reconciliation {
    /// As many parts of a campaign, and names, as the text has.
    private static let (rowsMax, namesMax) = (31, 10)

    /// The comparison for people.
    public func lines(_ style: TextStyle) -> [ReportLine] {
        var lines = style.wrapped(answer, indent: 0).map { ReportLine($0) } + [ReportLine("")]
        for (name, text) in facts {
            lines += style.wrapped(name.padded(to: 11) + text, indent: 11).map { ReportLine($0) }
        }
        for campaign in campaigns { lines += self.lines(of: campaign, style) }
        for (title, names) in [("Only in the export", onlyInExport), ("Only here", onlyHere)] where !names.isEmpty {
            lines.append(ReportLine(""))
            lines += style.wrapped("\(title): \(Self.list(names))").map { ReportLine($0) }
        }
        if !proposed.isEmpty {
            let text = "\(counted(proposed.count, "pair")) of them may be the same: --propose-names"
            lines += style.wrapped(text).map { ReportLine($0) }
        }
        return lines
    }

    /// The first sentence.
    var answer: String {
        let named = campaigns.count + onlyInExport.count
        let (sent, seen) = campaigns.reduce((0, 0)) { ($0.0 + $1.sent, $0.1 + $1.ours.seen) }
        let gaps = campaigns.count { $0.sentences.contains { !$0.code.isCertain } }
        let compared = campaigns.count { !$0.isBelowShare }
        guard !campaigns.isEmpty else {
            return """
                None of the \(counted(named, "campaign")) of the export is in the ledger by its id: --names has other ids \
                and names, --propose-names proposes them.
                """
        }
        return """
            \(grouped(campaigns.count)) of \(counted(named, "campaign")) of the export \(campaigns.count == 1 ? "is" : "are") \
            here; we saw \(grouped(seen)) of their \(grouped(sent)) pushes (\(share(seen, of: sent))). \
            \(compared == 0 ? "That is too little to compare opens" : "Opens differ in \(grouped(gaps)) of \(grouped(compared))").
            """
    }

    /// Facts about the files and the time, each with its name.
    var facts: [(name: String, text: String)] {
        var facts: [(name: String, text: String)] = export.files.map { ("Export", $0.name.showingControls()) }
        let left = [
            (export.otherChannels, "of other channels"), (export.otherDays, "of other days"),
            (export.problems.count, "broken"),
        ].filter { $0.0 > 0 }.map { "; \(counted($0.0, "row")) \($0.1)" }
        facts.append(("Rows", grouped(export.rows) + left.joined()))
        let days = export.daysRead.map { "\($0.lowerBound) to \($0.upperBound)" } ?? "none in the export"
        let other = isZoneGiven ? "" : " of this machine; --timezone names the dashboard's"
        facts.append(("Days", "\(days), in the time zone \(zone.name)\(other)"))
        facts.append(("Window", zone.text(window)))
        if let rowsBegin { facts.append(("", zone.prunedEvents(before: rowsBegin))) }
        let known = Self.distinct(
            export.files.flatMap { $0.columns?.known ?? [] }.map {
                "\($0.figure.rawValue) = \"\($0.heading.showingControls())\"\($0.isGuess ? " (guessed)" : "")"
            })
        facts.append(("Headings", known.joined(separator: ", ") + "; --map FIGURE=HEADING names another"))
        let unknown = export.files.flatMap { $0.columns?.unknown ?? [] }.map { column in
            let values = column.values.map { $0.showingControls() }.joined(separator: ", ")
            return "\"\(column.heading.showingControls())\" (\(values))"
        }
        if !unknown.isEmpty { facts.append(("Not read", Self.distinct(unknown).joined(separator: ", "))) }
        if export.variations.count > 1 {
            facts.append(("", "Variations are added up: the ledger knows none."))
        }
        return facts
    }

    private static func distinct(_ texts: [String]) -> [String] {
        var known: Set<String> = []
        return texts.filter { known.insert($0).inserted }
    }

    private static func list(_ names: [String]) -> String {
        let more = names.count > namesMax ? " and \(grouped(names.count - namesMax)) more" : ""
        return names.prefix(namesMax).map { $0.showingControls() }.joined(separator: ", ") + more
    }

    private func lines(of campaign: Campaign, _ style: TextStyle) -> [ReportLine] {
        var lines = [ReportLine(""), ReportLine(title(of: campaign).showingControls(), .heading)]
        lines += style.wrapped("  " + campaign.figures, indent: 4).map { ReportLine($0) }
        lines += style.wrapped("  " + campaign.coverage, indent: 4).map { ReportLine($0, .faint) }
        for sentence in campaign.foremost {
            lines += style.wrapped("  \(sentence.sure): \(sentence.text)", indent: 4).map {
                ReportLine($0, sentence.code.isCertain ? .plain : .warning)
            }
            lines.append(ReportLine("    \(sentence.query)", .faint))
        }
        let more = campaign.sentences.count - Self.sentencesMax
        if more > 0 { lines.append(ReportLine("  \(counted(more, "sentence")) more: --format json")) }
        guard campaign.rows.count > 1 else { return lines }
        var table = TextTable(
            [
                ("  Day", .left), ("Platform", .left), ("Sent", .right), ("Seen", .right), ("Direct", .right),
                ("Ours", .right), ("Total", .right), ("Ours", .right),
            ], keys: 2)
        for row in campaign.rows.prefix(Self.rowsMax) {
            table.add(
                ["  " + (row.place.day?.description ?? "-"), row.place.platform?.rawValue ?? "-"]
                    + [
                        row.theirs.sent, row.ours.seen, row.theirs.direct, row.ours.direct, row.theirs.total,
                        row.ours.total,
                    ].map { grouped($0) })
        }
        lines += table.lines(width: style.width)
        let left = campaign.rows.count - Self.rowsMax
        if left > 0 { lines.append(ReportLine("  \(counted(left, "row")) more: --format csv")) }
        return lines
    }

    /// The name in the export, with the ids and the name that a person gave, where they differ.
    func title(of campaign: Campaign) -> String {
        let others = (campaign.ids + campaign.ids.compactMap { names.names[$0] }).filter { $0 != campaign.name }
        return campaign.name + (others.isEmpty ? "" : " (\(Self.distinct(others).joined(separator: ", ")))")
    }

    /// The comparison as CSV (RFC 4180): a row for each campaign, by platform and day if the export has them.
    public var csv: String {
        CSVReport.line([
            "campaign", "cid", "day", "platform", "sent", "bounces", "seen", "received", "direct", "direct_ours",
            "total",
            "total_ours",
        ])
            + campaigns.flatMap { campaign in
                campaign.rows.map { row in
                    CSVReport.line(
                        [
                            CSVReport.text(campaign.name), CSVReport.text(campaign.ids.joined(separator: " ")),
                            row.place.day?.description ?? "", row.place.platform?.rawValue ?? "",
                        ] + row.counts.map { String($0.value) })
                }
            }.joined()
    }

    /// The proposed pairs as the table that `--names` reads, with the reason of each.
    public var proposals: String {
        CSVReport.line(["cid", "api_id", "name", "why"])
            + proposed.map { pair in
                // An id of Braze's API is a UUID.
                let isID = pair.text.utf8.count == 36 && pair.text.utf8.count { $0 == UInt8(ascii: "-") } == 4
                return CSVReport.line([
                    pair.id.showingControls(), isID ? pair.text : "", isID ? "" : pair.text.showingControls(), pair.why,
                ])
            }.joined()
    }

    /// A line for a person about the proposals.
    public var proposalNote: String {
        proposed.isEmpty
            ? "no campaign of the export is like one in the ledger"
            : "\(counted(proposed.count, "pair")) proposed: check each one before you give it to --names"
    }
}

extension Reconciliation.Row {
    /// The figures by name, in the order of the columns.
    var counts: [(name: String, value: Int)] {
        [
            ("sent", theirs.sent), ("bounces", theirs.bounces), ("seen", ours.seen), ("received", ours.received),
            ("direct", theirs.direct), ("direct_ours", ours.direct), ("total", theirs.total),
            ("total_ours", ours.total),
        ]
    }
}

extension Reconciliation.Campaign {
    /// The figures of both sides, in one line.
    var figures: String {
        let bounces = theirs.bounces > 0 ? " | bounced \(grouped(theirs.bounces))" : ""
        return """
            sent \(grouped(theirs.sent))\(bounces) | seen here \(grouped(ours.seen)) | direct \(grouped(theirs.direct)) / \
            ours \(grouped(ours.direct)) | total \(grouped(theirs.total)) / ours \(grouped(ours.total))
            """
    }

    /// How much of it was seen.
    var coverage: String {
        let seen = "We saw \(grouped(ours.seen)) of \(grouped(sent)) (\(share(ours.seen, of: sent)))"
        if isBelowShare { return seen + ": no statement about the rest." }
        return seen + (unseen > 0 ? ": \(grouped(unseen)) that we did not see make each gap uncertain." : ".")
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
