import PushModel
import PushReporting
import Store

/// The lines of what is followed.
enum FollowedLine {
    /// An outcome for programs, without its line feed: as `simulate` has it.
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
            writer.members(of: result)
        }
        return writer.bytes
    }

    /// An event for programs, without its line feed: as `simulate` has it, with its cursor.
    static func json(_ event: AnalyticsEvent, cursor: Int64) -> [UInt8] {
        var writer = JSONWriter(reserving: 384)
        writer.object { writer in
            writer.member("type", "analytics")
            writer.members(of: event)
            writer.member("cursor", cursor)
        }
        return writer.bytes
    }

    /// An outcome for people, with its line feed.
    static func text(
        _ row: LedgerRow, _ invocation: InvocationRecord, _ result: InvocationResult, zone: LocalZone
    ) -> String {
        let parts: [String?] = [
            zone.text(result.decidedAt, milliseconds: true), "seq \(row.seq.value)", invocation.callback.rawValue,
            invocation.isObserver ? "observer" : nil, result.outcome.rawValue,
            invocation.handler.map { "handler \($0)" }, "\(result.total.milliseconds) ms", result.reason,
        ]
        return line(parts)
    }

    /// An event for people, with its line feed.
    static func text(_ event: AnalyticsEvent, zone: LocalZone) -> String {
        line([
            zone.text(WallTime(milliseconds: event.time * 1000)), "seq \(event.seq.value)", event.kind.rawValue,
            event.appID, event.externalUserID.map { "user \($0)" }, event.push?.campaignID.map { "campaign \($0)" },
        ])
    }

    /// What came from outside begins no line.
    private static func line(_ parts: [String?]) -> String {
        parts.compactMap { $0?.showingControls() }.joined(separator: "  ") + "\n"
    }
}
