public import PushModel

/// An objective for the share of the due that keeps the deadline, and what is left of it.
///
/// Words and alerts are those of Google's SRE workbook, chapter 5 "Alerting on SLOs", table 5-8
/// (https://sre.google/workbook/alerting-on-slos/).
public struct ServiceLevel: Hashable, Sendable {
    /// An alert that needs two windows: the long one shows that it matters, the short one that it goes on.
    public struct Alert: Hashable, Sendable {
        /// How urgent it is; the raw values are the names in JSON.
        public enum Severity: String, Sendable { case page, ticket }

        /// How urgent it is.
        public let severity: Severity
        /// The window that shows that it matters.
        public let long: BurnRates.Window
        /// The window that shows that it goes on.
        public let short: BurnRates.Window
        /// The rate that both must exceed.
        public let threshold: Double

        /// The pairs of the workbook.
        public static let all = [
            Alert(severity: .page, long: .hour, short: .fiveMinutes, threshold: 14.4),
            Alert(severity: .page, long: .sixHours, short: .halfHour, threshold: 6),
            Alert(severity: .ticket, long: .threeDays, short: .sixHours, threshold: 1),
        ]
    }

    /// The share that must keep the deadline.
    public let objective: Percent
    /// How the deadline was kept in the window of the report.
    public let compliance: Compliance
    /// The rates; `nil` where they were not read.
    public let rates: BurnRates?

    /// Joins the parts.
    public init(objective: Percent, compliance: Compliance, rates: BurnRates? = nil) {
        self.objective = objective
        self.compliance = compliance
        self.rates = rates
    }

    /// Whether the objective is met.
    public var isMet: Bool { compliance.meets(objective) }

    /// The share of the error budget that is left, 1 when nothing was missed and below 0 when it is overdrawn; `nil` when
    /// there is none, because nothing was due or the objective is 100 %.
    public var budgetLeft: Double? {
        guard compliance.due > 0, let share = allowedShare else { return nil }
        return 1 - Double(compliance.missed) / (share * Double(compliance.due))
    }

    /// What is left of the error budget, for people: `62.5 %`, or how far it is overdrawn.
    var budgetText: String? {
        budgetLeft.map { left in
            left < 0
                ? "none: \(rounded(1 - left, decimals: 1)) times the budget is used"
                : "\(rounded(left * 100, decimals: 1)) %"
        }
    }

    /// How many times as fast as allowed misses came in a window: 1 uses up the budget exactly. `nil` when nothing was due
    /// in it, or the objective is 100 %.
    public func burnRate(_ window: BurnRates.Window) -> Double? {
        guard let compliance = rates?.compliance(window), compliance.due > 0, let share = allowedShare else {
            return nil
        }
        return Double(compliance.missed) / Double(compliance.due) / share
    }

    /// The alerts whose two windows both exceed the threshold. A window of which less than half was recorded raises none.
    public var firing: [Alert] {
        let silent = unrecorded
        return Alert.all.filter { alert in
            [alert.long, alert.short].allSatisfy { !silent.contains($0) && (burnRate($0) ?? 0) > alert.threshold }
        }
    }

    /// The windows with something due of which less than half was recorded.
    var unrecorded: [BurnRates.Window] {
        guard let rates else { return [] }
        return BurnRates.Window.allCases.filter { rates.compliance($0).due > 0 && rates.recordedShare($0) < 0.5 }
    }

    /// What is said of them, for people; `nil` without any.
    var unrecordedText: String? {
        let names = unrecorded.map(\.rawValue)
        guard !names.isEmpty else { return nil }
        return "Less than half of the last \(names.joined(separator: ", ")) was recorded: no alert goes by that"
    }

    private var allowedShare: Double? {
        let allowed = 100_000_000 - objective.millionths
        return allowed == 0 ? nil : Double(allowed) / 100_000_000
    }
}
