import PushModel

extension CampaignReport {
    /// The report for programs: one JSON object on one line, with its line feed; times in UTC, days in the zone.
    public var json: [UInt8] {
        var writer = JSONWriter(reserving: 8192)
        writer.object {
            $0.member("window", window)
            $0.member("time_zone", zone.name)
            $0.member("rows_begin", rowsBegin?.rfc3339)
            $0.member("campaign", selection.campaign)
            $0.member("in_all", object: { total.write(to: &$0) })
            $0.member("campaigns", array: { writeCampaigns(to: &$0) })
            writeDays(to: &$0)
            writeGroups(to: &$0)
            writeParts(to: &$0)
            $0.member("unattributed", unattributed)
            $0.member("taps_without_instance", tapsWithoutInstance)
            writeInteractions(to: &$0)
            $0.member("opens_lost", lost: LostOpens.sum(lost.byDay))
            $0.member("opens_lost_without_campaign", lost: lost.counts(of: nil))
        }
        return writer.line()
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

    private func writeDays(to writer: inout JSONWriter) {
        writer.member(
            "by_day",
            array: { list in
                for (day, figures, unattributed, lost) in allDays {
                    list.object {
                        $0.member("day", day.description)
                        figures.write(to: &$0)
                        $0.member("unattributed", unattributed)
                        $0.member("opens_lost", lost: lost)
                    }
                }
            })
    }

    private func writeGroups(to writer: inout JSONWriter) {
        writer.key("by")
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

    private func writeParts(to writer: inout JSONWriter) {
        guard selection.idRule == .decode else { return }
        writer.member(
            "campaigns_decoded",
            array: { list in
                for (part, figures) in parts.sorted(by: { $0.key < $1.key }) {
                    list.object {
                        $0.member("campaign_part", part)
                        figures.write(to: &$0)
                    }
                }
            })
    }

    private func writeInteractions(to writer: inout JSONWriter) {
        writer.member(
            "interactions",
            object: { writer in
                for verdict in Interaction.Verdict.allCases { writer.member(verdict.rawValue, verdicts[verdict] ?? 0) }
            })
    }
}

extension CampaignFigures {
    /// Writes the figures as members.
    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("received", received)
        writer.member("direct_opens", directOpens)
        writer.member("influenced_opens", influencedOpens)
        writer.member("influenced_and_direct", influencedAndDirect)
        writer.member("total_opens", totalOpens)
        writer.member("body_clicks", bodyClicks)
        writer.member(
            "button_clicks",
            array: { list in
                for (button, clicks) in sortedButtons {
                    list.object {
                        $0.member("button_string", button.id)
                        $0.member("button_action_type", button.action)
                        $0.member("clicks", clicks)
                    }
                }
            })
        writer.member("unique_recipients", uniqueRecipients)
        writer.member(
            "rates",
            object: {
                $0.member("of", "received")
                $0.member("base", received)
                $0.member("direct_opens", rate(directOpens))
                $0.member("influenced_opens", rate(influencedOpens))
                $0.member("total_opens", rate(totalOpens))
            })
    }

    /// Returns a count divided by the received deliveries; `nil` when none was received. It exceeds 1 when opens are of
    /// earlier deliveries.
    private func rate(_ count: Int) -> Double? { received == 0 ? nil : Double(count) / Double(received) }
}

extension JSONWriter {
    fileprivate mutating func member(_ name: String, lost: LostOpens.Counts) {
        member(
            name,
            object: { writer in
                for reason in LostOpens.Reason.allCases { writer.member(reason.rawValue, lost[reason] ?? 0) }
            })
    }

    /// Writes a window as an object, in UTC.
    mutating func member(_ name: String, _ window: ReportWindow) {
        member(
            name,
            object: {
                $0.member("since", window.since?.rfc3339)
                $0.member("until", window.until?.rfc3339)
            })
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
