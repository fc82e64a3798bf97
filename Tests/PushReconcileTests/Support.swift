import TestSupport

@testable import PushModel
@testable import PushRouter
@testable import PushViews

/// An export of lines, read as one file.
func export(
    _ text: String, map: [ExportFigure: String] = [:], dayOrder: DayOrder? = nil,
    window: ReportWindow = ReportWindow(), zone: LocalZone = .utc, file: String = "braze.csv"
) throws(ExportError) -> CampaignExport {
    var export = CampaignExport(map: map, dayOrder: dayOrder, window: window, zone: zone)
    try read(text, into: &export, file: file)
    return export
}

/// Reads the lines of a text into a table.
func read(_ text: String, into table: inout some LineTable, file: String = "braze.csv") throws(ExportError) {
    table.begin(file)
    for (index, line) in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
        try table.add(Array(line), number: index + 1)
    }
    try table.end()
}

/// Feeds a ledger's side: pushes of devices of their own, and what people did with them.
struct Feed {
    var side: LedgerSide
    private var seq: Int64 = 0
    /// The events, which come after the rows.
    private var events: [AnalyticsEvent] = []
    private let detection = DetectionSettings()

    init(_ side: LedgerSide) { self.side = side }

    private mutating func next() -> SequenceNumber {
        seq += 1
        return SequenceNumber(seq)
    }

    private mutating func event(
        _ content: AnalyticsEvent.Content, _ delivery: SequenceNumber, _ platform: Platform, _ time: Int64
    ) {
        events.append(
            AnalyticsEvent(
                id: UUID128(high: 1, low: UInt64(events.count)), time: time, seq: next(), delivery: delivery,
                externalUserID: nil, deviceID: "d\(delivery)", appID: "shop", platform: platform, content: content))
    }

    /// A push that Braze's SDK got.
    mutating func push(_ campaign: String, _ platform: Platform = .android, at time: Int64 = 0) -> SequenceNumber {
        let delivery = next()
        event(.received(.init(campaignID: campaign, messageID: "m\(delivery)")), delivery, platform, time)
        return delivery
    }

    /// A tap on it.
    mutating func open(
        _ delivery: SequenceNumber, _ campaign: String, _ platform: Platform = .android, at time: Int64 = 60
    ) {
        event(.open(.init(campaignID: campaign, messageID: nil), button: nil), delivery, platform, time)
        event(.sessionStart, delivery, platform, time)
    }

    /// A session after it; an influenced open of it if it is counted, or not yet if that is undecided.
    mutating func session(
        _ delivery: SequenceNumber, _ campaign: String, _ platform: Platform = .android, at time: Int64,
        counts: Bool = true, isUndecided: Bool = false
    ) {
        event(.sessionStart, delivery, platform, time)
        if isUndecided, let cause = events.last?.seq {
            side.add(
                undecided: PendingStart(
                    cause: cause, key: DeviceKey(app: "shop", device: "d\(delivery)"), externalID: nil,
                    at: WallTime(milliseconds: time * 1000), window: 1, due: WallTime(milliseconds: 0)))
        }
        guard counts, !isUndecided else { return }
        event(.influencedOpen(.init(campaignID: campaign, messageID: nil)), delivery, platform, time)
    }

    /// A push or a tap that ended otherwise.
    @discardableResult
    mutating func row(
        _ outcome: Outcome, _ line: String, provider: String? = "braze", _ operation: Operation = .deliver,
        _ platform: Platform = .android, at time: Int64 = 0
    ) -> SequenceNumber? {
        let id = InvocationID(seq: next(), n: 0)
        let result = InvocationResult(
            outcome: outcome, reason: nil, reasonCode: nil, queue: .zero, exec: .zero, total: .zero, completion: nil,
            waitedFor: nil, decidedAt: WallTime(milliseconds: 0))
        let row = ReportRow(
            invocation: InvocationRecord(
                id: id, callback: .none, isObserver: false, provider: provider, route: nil, handler: nil,
                budget: .seconds(9), deadline: nil, started: false, result: result),
            mode: .device, platform: platform, app: "shop", device: nil, id: nil, messageID: nil,
            acceptedAt: WallTime(milliseconds: time * 1000))
        guard let tap = side.add(row, operation, line: Array(line.utf8), detection) else { return nil }
        side.add(tap, ofLine: Array(Self.appleLine.utf8), detection)
        return tap.delivery
    }

    /// A tap that counts nothing, or less than an open.
    mutating func interaction(_ verdict: Interaction.Verdict, _ campaign: String, at time: Int64 = 0) {
        let row = InteractionRow(
            cause: next(), delivery: nil, verdict: verdict, button: nil, buttonAction: nil,
            at: WallTime(milliseconds: time * 1000))
        side.add(row, campaign: campaign, on: .android)
    }

    /// The line of a delivery for Android.
    static func line(cid: String, mark: String = #""_ab":"true","#, notification: String = "") -> String {
        #"{"op":"deliver","platform":"android","app":"shop","payload":{\#(notification)"data":{\#(mark)"cid":"\#(cid)","t":"T","a":"A"}}}"#
    }

    /// The line of a delivery of the campaign spring for iOS.
    private static let appleLine =
        #"{"op":"deliver","platform":"ios","app":"shop","payload":{"aps":{"alert":"A"},"ab":{"c":"spring"}}}"#

    /// The line of a tap on a delivery without an instance.
    static func tap(message: String) -> String {
        #"{"op":"interact","kind":"opened","platform":"ios","sdk":"nil","message":\#(message)}"#
    }

    /// The side with all that it was fed.
    var complete: LedgerSide {
        var side = side
        for event in events.sorted(by: { $0.time < $1.time }) { side.add(event) }
        return side
    }
}
