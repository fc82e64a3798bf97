public import PushModel

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
