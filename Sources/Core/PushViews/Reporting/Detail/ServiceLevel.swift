public import PushModel

/// An objective for the share of due invocations that keep the deadline, and its error budget.
///
/// The terms and the alerts are those of Google's SRE workbook, chapter 5 "Alerting on SLOs", table 5-8
/// (https://sre.google/workbook/alerting-on-slos/).
public struct ServiceLevel: Hashable, Sendable {
    /// An alert with two windows: the long one shows that the misses matter, the short one that they continue.
    struct Alert: Hashable, Sendable {
        /// The urgency; the raw values are the names in JSON.
        enum Severity: String, Sendable { case page, ticket }

        /// The urgency.
        public let severity: Severity
        /// The window that shows that the misses matter.
        public let long: BurnRates.Window
        /// The window that shows that the misses continue.
        public let short: BurnRates.Window
        /// The burn rate that both windows must exceed.
        public let threshold: Double

        /// The window pairs of the workbook.
        public static let all = [
            Alert(severity: .page, long: .hour, short: .fiveMinutes, threshold: 14.4),
            Alert(severity: .page, long: .sixHours, short: .halfHour, threshold: 6),
            Alert(severity: .ticket, long: .threeDays, short: .sixHours, threshold: 1),
        ]
    }

    /// The share that must keep the deadline.
    public let objective: Percent
    /// The compliance in the window of the report.
    public let compliance: Compliance
    /// The burn rates; `nil` if they were not read.
    public let rates: BurnRates?

    /// Joins the fields.
    public init(objective: Percent, compliance: Compliance, rates: BurnRates? = nil) {
        self.objective = objective
        self.compliance = compliance
        self.rates = rates
    }

    /// Whether the objective is met.
    var isMet: Bool { compliance.meets(objective) }

    /// The share of the error budget that is left: 1 without misses, below 0 when overdrawn. `nil` without a budget:
    /// nothing was due, or the objective is 100 %.
    var budgetLeft: Double? {
        guard compliance.due > 0, let share = allowedShare else { return nil }
        return 1 - Double(compliance.missed) / (share * Double(compliance.due))
    }

    /// The rest of the error budget for people: `62.5 %`, or the factor by which it is overdrawn.
    var budgetText: String? {
        budgetLeft.map { left in
            left < 0
                ? "none: \(rounded(1 - left, decimals: 1)) times the budget is used"
                : "\(rounded(left * 100, decimals: 1)) %"
        }
    }

    /// Returns the burn rate of a window: at 1 the misses use up the budget exactly. `nil` when nothing was due in the
    /// window, or the objective is 100 %.
    func burnRate(_ window: BurnRates.Window) -> Double? {
        guard let compliance = rates?.compliance(window), compliance.due > 0, let share = allowedShare else {
            return nil
        }
        return Double(compliance.missed) / Double(compliance.due) / share
    }

    /// The alerts whose two windows both exceed the threshold. A window that was recorded for less than half raises no
    /// alert.
    var firing: [Alert] {
        let silent = unrecorded
        return Alert.all.filter { alert in
            [alert.long, alert.short].allSatisfy { !silent.contains($0) && (burnRate($0) ?? 0) > alert.threshold }
        }
    }

    /// The windows that had due invocations and were recorded for less than half.
    var unrecorded: [BurnRates.Window] {
        guard let rates else { return [] }
        return BurnRates.Window.allCases.filter { rates.compliance($0).due > 0 && rates.recordedShare($0) < 0.5 }
    }

    /// The notice about `unrecorded` for people; `nil` if it is empty.
    var unrecordedText: String? {
        let names = unrecorded.map(\.rawValue)
        guard !names.isEmpty else { return nil }
        return "Less than half of the last \(names.joined(separator: ", ")) was recorded: no alert uses that time"
    }

    private var allowedShare: Double? {
        let allowed = 100_000_000 - objective.millionths
        return allowed == 0 ? nil : Double(allowed) / 100_000_000
    }
}

/// The rates at which misses used up the error budget, over windows with a common end.
public struct BurnRates: Hashable, Sendable {
    /// One of the windows.
    public enum Window: String, Sendable, CaseIterable {
        case fiveMinutes = "5m"
        case halfHour = "30m"
        case hour = "1h"
        case sixHours = "6h"
        case threeDays = "3d"

        /// Its length, in milliseconds.
        var milliseconds: Int64 {
            switch self {
            case .fiveMinutes: 300_000
            case .halfHour: 1_800_000
            case .hour: 3_600_000
            case .sixHours: 21_600_000
            case .threeDays: 259_200_000
            }
        }
    }

    /// The exclusive end of all windows.
    public let end: WallTime
    /// The time of acceptance of the first row added with `add(_:)`; `nil` without rows.
    public private(set) var firstRow: WallTime?
    /// The recorded part of each window in milliseconds; a window without an entry is recorded in full.
    private var recorded: [Window: Int64] = [:]
    private var due: [Window: Int] = [:]
    private var missed: [Window: Int] = [:]

    /// Rates without rows.
    public init(end: WallTime) { self.end = end }

    /// Counts one row in each window in which it was accepted; ignores observers and rows that were not due.
    public mutating func add(_ row: ReportRow) {
        firstRow = min(firstRow ?? row.acceptedAt, row.acceptedAt)
        guard !row.invocation.isObserver, let outcome = row.invocation.result?.outcome, outcome.isDue else { return }
        let age = end.milliseconds - row.acceptedAt.milliseconds
        guard age > 0 else { return }
        for window in Window.allCases where age <= window.milliseconds {
            due[window, default: 0] += 1
            missed[window, default: 0] += outcome.isMissed ? 1 : 0
        }
    }

    /// The begins of the windows, the longest first. Compliance for ``add(_:from:)`` lies between two of them, or
    /// between the last one and the end.
    public var begins: [WallTime] {
        Window.allCases.reversed().map { WallTime(milliseconds: end.milliseconds - $0.milliseconds) }
    }

    /// Adds compliance counted from `begin` on to each window that contains it.
    public mutating func add(_ compliance: Compliance, from begin: WallTime) {
        for window in Window.allCases where end.milliseconds - begin.milliseconds <= window.milliseconds {
            due[window, default: 0] += compliance.due
            missed[window, default: 0] += compliance.missed
        }
    }

    /// Notes the recorded time: a window before the first record, or with large gaps, says little.
    /// - Parameters:
    ///   - begin: the time of acceptance of the first request of all.
    ///   - gaps: the gaps of the daemon; only those in which it accepts no requests count.
    public mutating func note(recordFrom begin: WallTime, without gaps: [DaemonGap]) {
        let absences = gaps.filter { [.down, .suspended, .leaderLost].contains($0.kind) }
            .sorted { $0.begin < $1.begin }
        for window in Window.allCases {
            var last = max(begin.milliseconds, end.milliseconds - window.milliseconds)
            var sum = max(0, end.milliseconds - last)
            for gap in absences {
                let (from, to) = (max(last, gap.begin.milliseconds), min(end.milliseconds, gap.end.milliseconds))
                guard from < to else { continue }
                sum -= to - from
                last = to
            }
            recorded[window] = sum
        }
    }

    /// Returns the recorded share of a window.
    func recordedShare(_ window: Window) -> Double {
        recorded[window].map { Double($0) / Double(window.milliseconds) } ?? 1
    }

    /// Returns the compliance in a window.
    public func compliance(_ window: Window) -> Compliance {
        Compliance(due: due[window] ?? 0, missed: missed[window] ?? 0)
    }
}
