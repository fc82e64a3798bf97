import PushModel

extension Reconciliation {
    private typealias Member = ReportMember<Reconciliation>

    /// The comparison for programs: one object, on one line with its line feed.
    public var json: [UInt8] {
        var writer = JSONWriter(reserving: 1 << 14)
        writer.object { $0.members(Self.members, of: self) }
        return writer.line()
    }

    /// The members of the JSON and their meanings.
    public static var described: [(name: String, meaning: String)] {
        members.map { ($0.name, $0.meaning) } + [CopyMember.described]
    }

    /// `packaging/reconcile.schema.json`, on one line.
    public static var schema: [UInt8] {
        ReportMembers.schema(
            of: "pushctl reconcile --format json",
            "The figures of an export beside those of the ledger. pushctl-reconcile(1) explains each member.",
            members.map { ($0.name, $0.type, $0.meaning) },
            optional: [(CopyMember.name, CopyMember.type, CopyMember.described.meaning)])
    }

    private static let counts = """
        sent: integer, bounces: integer, seen: integer, received: integer, direct: integer?, direct_ours: integer, \
        total: integer?, total_ours: integer
        """

    private static let members: [ReportMember<Reconciliation>] = [
        Member("window", "{since: string?, until: string?}", "the time that was read, in UTC") { value, writer in
            writer.object {
                $0.member("since", value.window.since?.rfc3339)
                $0.member("until", value.window.until?.rfc3339)
            }
        },
        Member("time_zone", "string", "the zone of the days") { $1.string($0.zone.name) },
        Member("rows_begin", "string?", "requests before it were deleted; null: none") {
            $1.text($0.rowsBegin?.rfc3339)
        },
        Member(
            "taps_left_out", "integer",
            "taps without a Braze instance that no sentence counts, because the window has more than \(grouped(LedgerSide.tapsMax))",
            value: { $0.taps.leftOut }),
        Member(
            "files",
            """
            [{name: string, skipped: [string], headings: [{figure: \(words(ExportFigure.self)), heading: string, guessed: boolean}], \
            unknown: [{heading: string, values: [string]}]}]
            """,
            """
            the files, with the lines before the headings, the heading of each figure, and headings that are not known with \
            their first values
            """
        ) { value, writer in
            writer.array { list in value.export.files.forEach { $0.write(to: &list) } }
        },
        Member(
            "rows",
            """
            {read: integer, other_channels: integer, other_days: integer, no_campaign: integer, repeated: integer, \
            broken: integer}
            """,
            "the rows or events of the files: read, and left out by reason"
        ) { value, writer in
            writer.object {
                $0.member("read", value.export.rows)
                $0.member("other_channels", value.export.otherChannels)
                $0.member("other_days", value.export.otherDays)
                $0.member("no_campaign", value.export.withoutCampaign)
                $0.member("repeated", value.export.repeatedEvents)
                $0.member("broken", value.export.problems.count)
            }
        },
        Member(
            "campaigns",
            """
            [{campaign: string, cids: [string], names: [string], \(counts), compared: boolean, \
            sentences: [{code: \(words(Sentence.Code.self)), sure: 'certain' | 'possible', least: integer, \
            most: integer, text: string, query: string}], \
            rows: [{day: string?, platform: string?, \(counts)}]}]
            """,
            """
            each campaign that both sides have: campaign, as the export names it; cids, its ids in payloads; the figures \
            of the export (sent, bounces, direct, total; null: its form has none) and of the ledger (seen, received, direct_ours, total_ours); \
            compared, whether enough was seen; sentences, each with a code, how sure it is, the least and the most that it \
            can be, and a query that opens the pushes; rows, the figures by day and platform
            """
        ) { value, writer in
            writer.array { list in value.campaigns.forEach { value.write($0, to: &list) } }
        },
        Member("only_in_export", "[string]", "campaigns that the export alone has") { value, writer in
            writer.array { list in value.onlyInExport.forEach { list.string($0) } }
        },
        Member("only_here", "[string]", "campaigns that the ledger alone has, by their ids in payloads") {
            value, writer in
            writer.array { list in value.onlyHere.forEach { list.string($0) } }
        },
    ]

    private func write(_ campaign: Campaign, to list: inout JSONWriter) {
        list.object { writer in
            writer.member("campaign", campaign.name)
            writer.member("cids", array: { list in campaign.ids.forEach { list.string($0) } })
            writer.member(
                "names", array: { list in campaign.ids.compactMap { names.names[$0] }.forEach { list.string($0) } })
            let whole = Row(place: .init(), theirs: campaign.theirs, ours: campaign.ours)
            for (name, count) in whole.counts(export) { writer.member(name, count) }
            writer.member("compared", !campaign.isBelowShare)
            writer.member("sentences", array: { list in campaign.sentences.forEach { $0.write(to: &list) } })
            writer.member(
                "rows",
                array: { list in
                    for row in campaign.rows {
                        list.object {
                            $0.member("day", row.place.day?.description)
                            $0.member("platform", row.place.platform?.rawValue)
                            for (name, count) in row.counts(export) { $0.member(name, count) }
                        }
                    }
                })
        }
    }

    // MARK: HTML

    /// The comparison as one self-contained page.
    public var html: String {
        let facts = self.facts.map { fact -> Markup in
            let name = fact.name.isEmpty ? "" : fact.name + ": "
            return "<p class=\"soft\">\(name)\(fact.text)</p>\n"
        }
        let lead: Markup = "<p class=\"answer\">\(answer)</p>\n\(zone.markup(maker))\(facts)"
        let sentences = campaigns.flatMap { campaign in campaign.sentences.map { (title(of: campaign), $0) } }
        let rows = campaigns.filter { $0.rows.count > 1 }.flatMap { one in one.rows.map { (one.name, $0) } }
        let others = onlyInExport.map { ($0, "the export") } + onlyHere.map { ($0, "the ledger") }
        return HTMLPage(
            title: "Export and ledger", lead: lead,
            sections: [
                HTML.section("campaigns", "By campaign", campaignTable),
                HTML.section(
                    "sentences", "Reasons",
                    HTML.table(
                        "What the ledger proves, or suggests", sentences,
                        [
                            .name("Campaign") { "\($0.0)" }, .name("How sure") { "\($0.1.sure)" },
                            .words("Reason") { "\($0.1.text)" }, .name("Query") { "<code>\($0.1.query)</code>" },
                        ])),
                HTML.section(
                    "rows", "By day and platform",
                    HTML.table(
                        "Figures by campaign, day and platform", rows,
                        [
                            .name("Campaign") { "\($0.0)" }, .name("Day") { "\($0.1.place.day?.description ?? "-")" },
                            .name("Platform") { "\($0.1.place.platform?.rawValue ?? "-")" },
                        ] + columns { $0.1 }), folded: true),
                HTML.section(
                    "others", "On one side alone",
                    HTML.table(
                        "Campaigns on one side alone", others,
                        [.name("Campaign") { "\($0.0)" }, .name("In") { "\($0.1)" }]
                    )),
            ]
        ).text
    }

    private var campaignTable: Markup {
        HTML.table(
            "Figures by campaign", campaigns,
            [.name("Campaign") { "\(title(of: $0))" }]
                + columns { Row(place: .init(), theirs: $0.theirs, ours: $0.ours) }
                + [.words("Coverage") { "\($0.coverage)" }])
    }

    private func columns<Value>(_ row: @escaping (Value) -> Row) -> [Column<Value>] {
        func count(_ title: String, _ value: @escaping (Row) -> Int?) -> Column<Value> {
            .number(title) { "\(value(row($0)).map { grouped($0) } ?? "-")" }
        }
        return [
            count("Sent", \.theirs.sent), count("Seen here", \.ours.seen),
            count("Direct") { export.known(.direct, of: $0.theirs) }, count("Ours", \.ours.direct),
            count("Total") { export.known(.total, of: $0.theirs) }, count("Ours", \.ours.total),
        ]
    }
}

extension CampaignExport.File {
    fileprivate func write(to list: inout JSONWriter) {
        list.object {
            $0.member("name", name)
            $0.member("skipped", array: { list in skipped.forEach { list.string($0) } })
            $0.member(
                "headings",
                array: { list in
                    for column in columns?.known ?? [] {
                        list.object {
                            $0.member("figure", column.figure.rawValue)
                            $0.member("heading", column.heading)
                            $0.member("guessed", column.isGuess)
                        }
                    }
                })
            $0.member(
                "unknown",
                array: { list in
                    for column in columns?.unknown ?? [] {
                        list.object {
                            $0.member("heading", column.heading)
                            $0.member("values", array: { list in column.values.forEach { list.string($0) } })
                        }
                    }
                })
        }
    }
}

extension Sentence {
    fileprivate func write(to list: inout JSONWriter) {
        list.object {
            $0.member("code", code.rawValue)
            $0.member("sure", sure)
            $0.member("least", bounds.lowerBound)
            $0.member("most", bounds.upperBound)
            $0.member("text", text)
            $0.member("query", query)
        }
    }
}
