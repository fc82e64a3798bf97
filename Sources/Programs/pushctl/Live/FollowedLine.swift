import PushModel
import PushViews
import Store

/// The output lines of `tail`.
enum FollowedLine {
    /// An outcome for programs, without a line feed: in the form of `test --trace`.
    static func json(_ row: LedgerRow, _ invocation: InvocationRecord, _ result: InvocationResult) -> [UInt8] {
        var writer = JSONWriter(reserving: 384)
        writer.object { writer in
            writer.member("type", "invocation")
            writer.member("seq", row.seq.value)
            writer.member("n", invocation.id.n)
            if let id = row.id { writer.member("id", id) }
            writer.member("at", result.decidedAt.milliseconds)
            writer.member("platform", row.platform.rawValue)
            writer.member("app", row.app)
            writer.member("device", row.device)
            writer.member("callback", invocation.callback.rawValue)
            writer.member("provider", invocation.provider)
            writer.member("route", invocation.route)
            writer.member("handler", invocation.handler)
            if invocation.isObserver { writer.member("observer", true) }
            writer.members(of: result, at: invocation.callback)
        }
        return writer.bytes
    }

    /// An event for programs, without a line feed: in the form of `test --trace`, with its cursor.
    static func json(_ event: AnalyticsEvent, names: [String: String], cursor: Int64) -> [UInt8] {
        var writer = JSONWriter(reserving: 384)
        writer.object { writer in
            writer.member("type", "analytics")
            writer.member("at", event.time * 1000)
            writer.members(of: event)
            if let name = event.push?.campaignID.flatMap({ names[$0] }) { writer.member(CSVReport.campaignName, name) }
            writer.member("cursor", cursor)
        }
        return writer.bytes
    }

    /// An outcome for people. Successes are plain, so that the others stand out.
    static func text(
        _ row: LedgerRow, _ invocation: InvocationRecord, _ result: InvocationResult, zone: LocalZone
    ) -> ReportLine {
        let parts: [String?] = [
            zone.text(result.decidedAt, milliseconds: true), "seq \(row.seq.value)", invocation.callback.rawValue,
            invocation.isObserver ? "observer" : nil, result.outcome.rawValue,
            invocation.handler.map { "handler \($0)" }, "\(result.total.milliseconds) ms", result.reason,
        ]
        return line(parts, result.outcome.isDone ? .plain : result.outcome.tone)
    }

    /// An event for people.
    static func text(_ event: AnalyticsEvent, names: [String: String], zone: LocalZone) -> ReportLine {
        let parts = [
            zone.text(WallTime(milliseconds: event.time * 1000)), "seq \(event.seq.value)", event.kind.rawValue,
            event.appID, event.externalUserID.map { "user \($0)" },
            event.push?.campaignID.map { "campaign \(names.title(ofCampaign: $0))" },
        ]
        return line(parts, .faint)
    }

    /// Joins the parts, and escapes control characters in them, so that input from outside cannot begin a line.
    private static func line(_ parts: [String?], _ tone: ReportLine.Tone) -> ReportLine {
        ReportLine(parts.compactMap { $0?.showingControls() }.joined(separator: "  "), tone)
    }
}
