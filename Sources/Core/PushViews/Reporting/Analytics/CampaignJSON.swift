import PushModel

extension CampaignReport {
    /// The report for programs: one JSON object on one line, with its line feed; times in UTC, days in the zone.
    public var json: [UInt8] {
        var writer = JSONWriter(reserving: 8192)
        writer.object { $0.members(Self.members, of: self) }
        return writer.line()
    }

    private typealias Member = ReportMember<CampaignReport>

    private static let members: [ReportMember<CampaignReport>] = [
        Member("window", "since and until in UTC; the zone in which days begin") { $1.window($0.window) },
        Member("time_zone", "") { $1.string($0.zone.name) },
        Member(
            "rows_begin",
            """
            Retention= or MaxSize= deleted the requests of the window before this time, with their opens, clicks and \
            interactions; receipts stay while the tracker knows the push; null when the window has all requests
            """
        ) { $1.text($0.rowsBegin?.rfc3339) },
        Member("campaign", "the campaign of --campaign; null without it") { $1.text($0.selection.campaign) },
        Member(
            "in_all",
            """
            the figures in all, by campaign_id (with opens_lost and by_day for each, and its name in --names), and by day. Days have \
            opens_lost, too, and days of all campaigns have unattributed, also without any other count
            """
        ) { $1.object($0.total.write) },
        Member("campaigns", "") { $1.array($0.writeCampaigns) },
        Member("by_day", "") { report, writer in
            writer.list(report.allDays) { day, list in
                list.object {
                    $0.member("day", day.day.description)
                    day.figures.write(to: &$0)
                    $0.member("unattributed", day.unattributed)
                    $0.member("opens_lost", lost: day.lost)
                }
            }
        },
        Member("by", "null without --by; else field, and groups with their value, which may be null") {
            $0.writeGroups(to: &$1)
        },
        Member(
            "campaigns_decoded",
            "with CampaignIdRule=decode: by campaign_part, of ids that are the base64 of campaign_$_...",
            isPresent: { $0.selection.idRule == .decode }
        ) { report, writer in
            writer.list(report.partRows) { part, list in
                list.object {
                    $0.member("campaign_part", part.id)
                    part.figures.write(to: &$0)
                }
            }
        },
        Member("unattributed", "taps on deliveries without a campaign id", value: { $0.unattributed }),
        Member("taps_without_instance", "taps while the app had no Braze instance", value: { $0.tapsWithoutInstance }),
        Member(
            "interactions",
            """
            the number of interactions by verdict: opened, closed, duplicate, unattributed, dismissed, unknown_action \
            (the delivery has no such button), elsewhere (it went to another device or app), unmatched (no such push \
            came within Grace=). Only opened and closed change the figures of campaigns. The time of the clock \
            replaces a later time; an earlier time is kept
            """
        ) { report, writer in
            writer.object {
                for verdict in Interaction.Verdict.allCases {
                    $0.member(verdict.rawValue, report.verdicts[verdict] ?? 0)
                }
            }
        },
        Member(
            "opens_lost",
            """
            shown_by_system: Braze pushes with a notification block, which Android shows in the background by \
            itself; unmatched: taps on pushes that the tracker does not know, such as these
            """
        ) { $1.counts(LostOpens.sum($0.lost.byDay)) },
        Member(
            "opens_lost_without_campaign",
            "the lost opens without a campaign: of pushes without a campaign, and of unknown pushes"
        ) { $1.counts($0.lost.counts(of: nil)) },
    ]

    /// The members of ``json`` and their meanings; the figures have ``figuresDescribed``.
    public static var described: [(name: String, meaning: String)] {
        ReportMembers.described(members.map { ($0.name, $0.meaning) })
    }

    /// The members of the figures of a campaign, and their meanings.
    public static var figuresDescribed: [(name: String, meaning: String)] {
        CampaignFigures.members.map { ($0.name, $0.meaning) }
    }

    private func writeCampaigns(to list: inout JSONWriter) {
        for id in Set(campaigns.keys).union(lost.campaigns).sorted() {
            let campaign = campaigns[id] ?? Campaign()
            let lostByDay = lost.byDay(of: id)
            list.object {
                $0.member("campaign_id", id)
                if let name = names[id] { $0.member("name", name) }
                campaign.figures.write(to: &$0)
                $0.member("opens_lost", lost: LostOpens.sum(lostByDay))
                $0.member(
                    "by_day",
                    array: { list in
                        for day in Set(campaign.days.keys).union(lostByDay.keys).sorted() {
                            list.object {
                                $0.member("day", day.description)
                                (campaign.days[day] ?? CampaignFigures()).write(to: &$0)
                                $0.member("opens_lost", lost: lostByDay[day] ?? [:])
                            }
                        }
                    })
            }
        }
    }

    private func writeGroups(to writer: inout JSONWriter) {
        guard let field = selection.field else { return writer.null() }
        writer.object {
            $0.member("field", field.rawValue)
            $0.member(
                "groups",
                array: { list in
                    for (name, figures) in sortedGroups {
                        list.object {
                            $0.member(field.rawValue, name)
                            figures.write(to: &$0)
                        }
                    }
                })
        }
    }
}

extension CampaignFigures {
    fileprivate static let members: [ReportMember<CampaignFigures>] = [
        Member(
            "received", "deliveries with a campaign that reached a device; a repeated message does not count",
            value: { $0.received }),
        Member(
            "direct_opens",
            "deliveries opened by a tap on the body, or on a button that opens the app or a link; each once",
            value: { $0.directOpens }),
        Member(
            "influenced_opens",
            """
            deliveries that a session of that user on that device followed within the window, displayed and not opened \
            until then; each once
            """, value: { $0.influencedOpens }),
        Member(
            "influenced_and_direct",
            "influenced opens whose notification was tapped later: both events exist, and the total counts them as direct",
            value: { $0.influencedAndDirect }),
        Member(
            "total_opens", "direct_opens + influenced_opens - influenced_and_direct", value: { $0.totalOpens }),
        Member("body_clicks", "opens by a tap on the body", value: { $0.bodyClicks }),
        Member(
            "button_clicks",
            """
            a list of button_string (the button's id), button_action_type (uri, deep_link, none, close) and clicks. A \
            button that closes is not an open, and counts once for a delivery
            """
        ) { figures, writer in
            writer.list(figures.sortedButtons) { row, list in
                list.object {
                    $0.member("button_string", row.button.id)
                    $0.member("button_action_type", row.button.action)
                    $0.member("clicks", row.clicks)
                }
            }
        },
        Member(
            "unique_recipients", "users who received a push; without a user the device counts",
            value: { $0.uniqueRecipients }),
        Member(
            "rates",
            """
            direct_opens, influenced_opens and total_opens divided by base; "of" names the base (received). They are null when \
            base is 0, and above 1 when opens belong to pushes received before --since
            """
        ) { figures, writer in
            writer.object {
                $0.member("of", "received")
                $0.member("base", figures.received)
                $0.member("direct_opens", figures.rate(figures.directOpens))
                $0.member("influenced_opens", figures.rate(figures.influencedOpens))
                $0.member("total_opens", figures.rate(figures.totalOpens))
            }
        },
    ]

    private typealias Member = ReportMember<CampaignFigures>

    fileprivate func write(to writer: inout JSONWriter) { writer.members(Self.members, of: self) }

    /// Returns a count divided by the received deliveries; `nil` when none was received. It exceeds 1 when opens are of
    /// earlier deliveries.
    private func rate(_ count: Int) -> Double? { received == 0 ? nil : Double(count) / Double(received) }
}

extension JSONWriter {
    fileprivate mutating func member(_ name: String, lost: LostOpens.Counts) {
        key(name)
        counts(lost)
    }

    fileprivate mutating func counts(_ lost: LostOpens.Counts) {
        object { for reason in LostOpens.Reason.allCases { $0.member(reason.rawValue, lost[reason] ?? 0) } }
    }

    /// Writes a window as an object, in UTC.
    mutating func member(_ name: String, _ window: ReportWindow) {
        key(name)
        self.window(window)
    }

    fileprivate mutating func window(_ window: ReportWindow) {
        object {
            $0.member("since", window.since?.rfc3339)
            $0.member("until", window.until?.rfc3339)
        }
    }
}

extension CampaignReport {
    /// The figures as CSV (RFC 4180): one row for each campaign; with a field, one for each of its values in a campaign. A row
    /// without a campaign has the opens that belong to none.
    public var csv: String {
        let ids = Set(campaigns.keys).union(lost.campaigns).sorted().map(Optional.some)
        return CSVReport.line(
            ["campaign_id"] + (names.isEmpty ? [] : ["name"]) + (selection.field.map { [$0.rawValue] } ?? []) + [
                "received", "unique_recipients", "direct_opens", "influenced_opens", "influenced_and_direct",
                "total_opens", "body_clicks", "button_clicks",
            ] + (hasLosses ? ["unattributed"] + LostOpens.Reason.allCases.map { "opens_lost_\($0.rawValue)" } : []))
            + (ids + [nil]).map(csvRows).joined()
    }

    /// Whether the rows of the CSV have lost opens: these are known by campaign and by day alone.
    private var hasLosses: Bool { selection.field == nil || selection.field == .day }

    private func csvRows(of id: String?) -> String {
        let campaign = id.flatMap { campaigns[$0] } ?? Campaign()
        let (lostByDay, taps) = (lost.byDay(of: id), id == nil ? unattributedByDay : [:])
        func row(
            _ value: String?, _ figures: CampaignFigures, _ unattributed: Int = 0, _ lost: LostOpens.Counts = [:]
        ) -> String {
            let counts = [
                figures.received, figures.uniqueRecipients, figures.directOpens, figures.influencedOpens,
                figures.influencedAndDirect, figures.totalOpens, figures.bodyClicks, figures.buttonClicksInAll,
            ]
            let losses = hasLosses ? [unattributed] + LostOpens.Reason.allCases.map { lost[$0] ?? 0 } : []
            return CSVReport.line(
                [CSVReport.text(id)] + (names.isEmpty ? [] : [CSVReport.text(id.flatMap { names[$0] })])
                    + (selection.field == nil ? [] : [CSVReport.text(value)])
                    + (counts + losses).map { String($0) })
        }
        let days = Set(campaign.days.keys).union(lostByDay.keys).union(taps.keys).sorted()
        switch selection.field {
        case nil where id == nil && days.isEmpty: return ""
        case nil: return row(nil, campaign.figures, taps.values.reduce(0, +), LostOpens.sum(lostByDay))
        case .day:
            return days.map {
                row($0.description, campaign.days[$0] ?? CampaignFigures(), taps[$0] ?? 0, lostByDay[$0] ?? [:])
            }.joined()
        default:
            return campaign.groups.sorted { ($0.key ?? "") < ($1.key ?? "") }.map { row($0.key, $0.value) }.joined()
        }
    }
}
