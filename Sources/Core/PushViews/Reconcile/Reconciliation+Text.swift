public import PushModel

extension Reconciliation {
    /// As many parts of a campaign, or campaigns without a sentence, and names, as the text has.
    private static let (rowsMax, namesMax) = (31, 10)

    /// The comparison for people.
    public func lines(_ style: TextStyle) -> [ReportLine] {
        var lines = style.wrapped(answer, indent: 0).map { ReportLine($0) } + [ReportLine("")]
        for (name, text) in facts {
            lines += style.wrapped(name.padded(to: 11) + text, indent: 11).map { ReportLine($0) }
        }
        for campaign in campaigns where !campaign.sentences.isEmpty { lines += self.lines(of: campaign, style) }
        let others = campaigns.filter(\.sentences.isEmpty)
        for (title, campaigns) in [
            ("No gap", others.filter { !$0.isBelowShare }),
            ("Too few seen for a statement about the rest", others.filter(\.isBelowShare)),
        ] where !campaigns.isEmpty {
            lines += [ReportLine(""), ReportLine(title, .heading)]
            for campaign in campaigns.prefix(Self.rowsMax) {
                let text = "  \(self.title(of: campaign).showingControls()): \(figures(of: campaign))"
                lines += style.wrapped(text, indent: 4).map { ReportLine($0) }
            }
            let left = campaigns.count - Self.rowsMax
            if left > 0 { lines.append(ReportLine("  \(counted(left, "campaign")) more: --format csv")) }
        }
        let unseen = onlyInExport.map { name in
            let sum = export.sum(of: name)
            let title = export.names[name].map { "\(name) (\($0))" } ?? name
            let opens = [(ExportFigure.direct, sum.direct, "direct"), (.total, sum.total, "in all")]
                .filter { !export.lacking.contains($0.0) }.map { ", \(grouped($0.1)) \($0.2)" }
            return "\(title): \(grouped(sum.sent)) sent\(opens.joined())"
        }
        for (title, names) in [("Only in the export", unseen), ("Only here", onlyHere)] where !names.isEmpty {
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
        let (sent, seen) = campaigns.reduce((0, 0)) { ($0.0 + $1.sent, $0.1 + $1.seen) }
        let gaps = campaigns.count { $0.sentences.contains { $0.code.isOfOpens } }
        let compared = campaigns.count { !$0.isBelowShare }
        guard !campaigns.isEmpty else {
            return """
                None of the \(counted(named, "campaign")) of the export is in the ledger by its id: --names has other ids \
                and names, --propose-names proposes them.
                """
        }
        let elsewhere = onlyInExport.reduce(0) { $0 + export.sum(of: $1).sent }
        let others =
            elsewhere == 0
            ? ""
            : " \(counted(elsewhere, "push", "pushes")) of \(counted(onlyInExport.count, "other")) never came here."
        return """
            \(grouped(campaigns.count)) of \(counted(named, "campaign")) of the export \(campaigns.count == 1 ? "is" : "are") \
            here; we saw \(grouped(seen)) of their \(grouped(sent)) pushes (\(share(seen, of: sent))). \
            \(compared == 0 ? "That is too little to compare opens" : "Opens differ in \(grouped(gaps)) of \(grouped(compared))").\
            \(others)
            """
    }

    /// Facts about the files and the time, each with its name.
    var facts: [(name: String, text: String)] {
        let form = export.form.map { $0 == .table ? "" : ": \($0.meaning)" } ?? ""
        var facts: [(name: String, text: String)] = export.files.map { ("Export", $0.name.showingControls() + form) }
        for file in export.files where !file.skipped.isEmpty {
            let lines = file.skipped.map { "\"\($0.showingControls())\"" }
            facts.append(("Skipped", "before the headings: " + lines.joined(separator: ", ")))
        }
        facts.append(("Rows", ([grouped(export.rows)] + export.leftOut).joined(separator: "; ")))
        let days = export.daysRead.map { "\($0.lowerBound) to \($0.upperBound)" } ?? "none in the export"
        let other = isZoneGiven ? "" : " of this machine; --timezone names the dashboard's"
        facts.append(("Days", "\(days), in the time zone \(zone.name)\(other)"))
        facts.append(("Window", zone.text(window) + (export.daysRead == nil ? "" : ", of which the days are compared")))
        if let rowsBegin { facts.append(("", zone.prunedEvents(before: rowsBegin))) }
        if taps.leftOut > 0 {
            facts.append(
                (
                    "",
                    "\(counted(taps.leftOut, "tap")) without a Braze instance beyond the first \(grouped(taps.kept)) "
                        + "are in no sentence: choose a shorter window with --since and --until."
                ))
        }
        let known = Self.distinct(
            export.files.flatMap { $0.columns?.known ?? [] }.map {
                "\($0.figure.rawValue) = \"\($0.heading.showingControls())\"\($0.isGuess ? " (guessed)" : "")"
            })
        if !known.isEmpty {
            facts.append(("Headings", known.joined(separator: ", ") + "; --map FIGURE=HEADING names another"))
        }
        if isWindowUntried {
            facts.append(
                ("", "More than \(grouped(SessionDelays.pushesMax)) pushes: no other InfluencedWindow= is tried."))
        }
        if !export.lacking.isEmpty {
            let words = export.lacking.map(\.rawValue).sorted().joined(separator: " and ")
            facts.append(("", "These files have no figures for \(words): they are not compared."))
        }
        let unknown = export.files.flatMap { $0.columns?.unknown ?? [] }.map { column in
            let values = column.values.map { $0.showingControls() }.joined(separator: ", ")
            return "\"\(column.heading.showingControls())\" (\(values))"
        }
        if !unknown.isEmpty { facts.append(("Not read", Self.distinct(unknown).joined(separator: ", "))) }
        if export.variations.count > 1 {
            facts.append(("", "Variations are added up: the ledger knows none."))
        }
        return facts + checks.map { ("Check", $0 + ".") }
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
        lines += style.wrapped("  " + figures(of: campaign), indent: 4).map { ReportLine($0) }
        lines += style.wrapped("  " + campaign.coverage, indent: 4).map { ReportLine($0, .faint) }
        for sentence in campaign.foremost {
            lines += style.wrapped("  \(sentence.sure): \(sentence.text)", indent: 4).map {
                ReportLine($0, sentence.isCertain ? .plain : .warning)
            }
            lines.append(ReportLine("    \(sentence.query)", .faint))
        }
        let more = campaign.sentences.count - Self.sentencesMax
        if more > 0 { lines.append(ReportLine("  \(counted(more, "sentence")) more: --format json")) }
        guard campaign.rows.count > 1 else { return lines }
        func count(_ title: String, _ count: @escaping (Row) -> Int?) -> Column<Row> {
            .numberInText(title, { count($0).map { grouped($0) } ?? "-" })
        }
        let table = TextTable(
            campaign.rows.prefix(Self.rowsMax),
            [
                .nameInText("  Day", { "  " + ($0.place.day?.description ?? "-") }),
                .nameInText("Platform", { $0.place.platform?.rawValue ?? "-" }), count("Sent") { $0.theirs.sent },
                count("Seen") { $0.ours.seen }, count("Direct") { export.known(.direct, of: $0.theirs) },
                count("Ours") { $0.ours.direct }, count("Total") { export.known(.total, of: $0.theirs) },
                count("Ours") { $0.ours.total },
            ], keys: 2)
        lines += table.lines(width: style.width)
        let left = campaign.rows.count - Self.rowsMax
        if left > 0 { lines.append(ReportLine("  \(counted(left, "row")) more: --format csv")) }
        return lines
    }

    /// The figures of both sides, in one line.
    private func figures(of campaign: Campaign) -> String {
        let (theirs, ours) = (campaign.theirs, campaign.ours)
        let bounces = theirs.bounces > 0 ? " | bounced \(grouped(theirs.bounces))" : ""
        func known(_ figure: ExportFigure) -> String { export.known(figure, of: theirs).map { grouped($0) } ?? "-" }
        return """
            sent \(grouped(theirs.sent))\(bounces) | seen here \(grouped(ours.seen)) | direct \(known(.direct)) / \
            ours \(grouped(ours.direct)) | total \(known(.total)) / ours \(grouped(ours.total))
            """
    }

    /// The name in the export, with the ids and the name that a person gave, where they differ.
    func title(of campaign: Campaign) -> String {
        let others = (campaign.ids + campaign.ids.compactMap { names.names[$0] } + [export.names[campaign.name]])
            .compactMap(\.self).filter { $0 != campaign.name }
        return campaign.name + (others.isEmpty ? "" : " (\(Self.distinct(others).joined(separator: ", ")))")
    }

    /// The comparison as CSV (RFC 4180): a row for each campaign, by platform and day if the export has them.
    public var csv: String {
        CSVReport.line([
            "campaign", "cid", "day", "platform", "sent", "bounces", "seen", "received", "direct", "direct_ours",
            "total",
            "total_ours",
        ])
            + (campaigns.map { ($0.name, $0.ids.joined(separator: " "), $0.rows) }
            + onlyInExport.map { ($0, "", unseenRows(of: $0)) })
            .flatMap { name, ids, rows in
                rows.map { row in
                    CSVReport.line(
                        [
                            CSVReport.text(name), CSVReport.text(ids), row.place.day?.description ?? "",
                            row.place.platform?.rawValue ?? "",
                        ] + row.counts(export).map { $0.value.map { String($0) } ?? "" })
                }
            }.joined()
    }

    /// The rows of a campaign that the ledger does not have.
    private func unseenRows(of name: String) -> [Row] {
        (export.campaigns[name] ?? [:]).map { Row(place: $0, theirs: $1, ours: LedgerSide.Figures()) }.sortedByPlace
    }

    /// The proposed pairs as the table that `--names` reads, with the reason of each.
    public var proposals: String {
        CSVReport.line(["cid", "api_id", "name", "why"])
            + proposed.map { pair in
                // An id of Braze's API is a UUID.
                let isID =
                    pair.name != nil
                    || pair.text.utf8.count == 36 && pair.text.utf8.count { $0 == UInt8(ascii: "-") } == 4
                let text = pair.text.showingControls()
                let name = pair.name?.showingControls() ?? (isID ? "" : text)
                return CSVReport.line([pair.id.showingControls(), isID ? text : "", name, pair.why])
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
    /// The figures by name, in the order of the columns; `nil` for one that the export cannot have.
    func counts(_ export: CampaignExport) -> [(name: String, value: Int?)] {
        [
            ("sent", theirs.sent), ("bounces", theirs.bounces), ("seen", ours.seen), ("received", ours.received),
            ("direct", export.known(.direct, of: theirs)), ("direct_ours", ours.direct),
            ("total", export.known(.total, of: theirs)), ("total_ours", ours.total),
        ]
    }
}

extension CampaignExport {
    /// The direct opens, or all opens; `nil` if these files cannot have them.
    func known(_ figure: ExportFigure, of figures: Figures) -> Int? {
        lacking.contains(figure) ? nil : figure == .direct ? figures.direct : figures.total
    }
}

extension Reconciliation.Campaign {
    /// How much of it was seen.
    var coverage: String {
        let places = parts.filter { parts.count > 1 && $0.unseen > 0 }.map { part in
            "; \(part.place.platform?.name ?? ""): \(grouped(part.sent - part.unseen)) of \(grouped(part.sent))"
        }
        let all = "We saw \(grouped(seen)) of \(grouped(sent)) (\(share(seen, of: sent))\(places.joined()))"
        if isBelowShare { return all + ": no statement about the rest." }
        return all + (unseen > 0 ? ": \(grouped(unseen)) that we did not see make each gap uncertain." : ".")
    }
}

extension [Reconciliation.Row] {
    /// By day, then by platform.
    var sortedByPlace: [Reconciliation.Row] {
        sorted {
            ($0.place.day?.number ?? 0, $0.place.platform?.rawValue ?? "")
                < ($1.place.day?.number ?? 0, $1.place.platform?.rawValue ?? "")
        }
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
