@testable import PushModel
@testable import PushViews

/// A row with some fields set, and the others as in an ordinary delivery to a handler.
func row(
    _ seq: Int64, n: Int = 0, _ outcome: Outcome?, callback: Callback = .onMessageReceived,
    provider: String? = "onesignal", route: String? = "20-onesignal", handler: String? = "crm",
    queue: Duration = .zero, exec: Duration = .zero, total: Duration? = nil, budget: Duration = .seconds(9),
    completion: Completion? = nil, reason: String? = nil, code: ReasonCode? = nil,
    mode: DispatchMode = .device,
    platform: Platform = .android, id: String? = nil, messageID: String? = nil, isObserver: Bool = false,
    waitedFor: Predecessor? = nil, transport: Transport? = nil, sent: MessagePriority? = nil,
    delivered: MessagePriority? = nil
) -> ReportRow {
    let result = outcome.map {
        InvocationResult(
            outcome: $0, reason: reason, reasonCode: code, queue: queue, exec: exec, total: total ?? queue + exec,
            completion: completion, waitedFor: waitedFor, decidedAt: WallTime(milliseconds: 0))
    }
    return ReportRow(
        invocation: InvocationRecord(
            id: InvocationID(seq: SequenceNumber(seq), n: n), callback: callback, isObserver: isObserver,
            provider: provider, route: route, handler: handler, budget: budget, deadline: nil, started: exec > .zero,
            result: result),
        mode: mode, platform: platform, app: "com.example.app", device: "d1", id: id, messageID: messageID,
        acceptedAt: WallTime(milliseconds: 1_795_230_480_000 + seq), transport: transport, originalPriority: sent,
        deliveredPriority: delivered)
}

/// The copy of an observing route.
func observerRow(
    _ seq: Int64, n: Int = 1, _ outcome: Outcome?, route: String = "90-audit", exec: Duration = .zero
) -> ReportRow {
    row(seq, n: n, outcome, route: route, handler: "audit", exec: exec, isObserver: true)
}

/// A row of the tracker: no route, no handler.
func trackerRow(_ seq: Int64, n: Int = 0, queue: Duration = .zero) -> ReportRow {
    row(seq, n: n, .handedToTracker, provider: "braze", route: nil, handler: nil, queue: queue)
}

/// The report of the rows.
func report(_ rows: [ReportRow], window: ReportWindow = ReportWindow(), mode: DispatchMode = .device)
    -> ComplianceReport
{
    var report = ComplianceReport(window: window, mode: mode, budget: .seconds(9))
    for row in rows { report.add(row) }
    return report
}

/// The report's text on a terminal of any width.
/// - Parameter rows: the rows of the report, for the figures beside it.
func shown(_ report: ComplianceReport, of rows: [ReportRow] = [], objective: Percent? = nil) -> String {
    var detail = ReportDetail()
    for row in rows { detail.add(row) }
    let document = ReportDocument(
        report: report, detail: detail,
        serviceLevel: objective.map { ServiceLevel(objective: $0, compliance: report.compliance) })
    return document.lines(TextStyle()).reduce(into: "") { $0 += $1.text + "\n" }
}

/// A generator with the same numbers on every run (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
