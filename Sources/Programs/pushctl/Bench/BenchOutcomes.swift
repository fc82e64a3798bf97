import LedgerReports
import PushModel
import PushViews
import Store

/// Reads the outcomes of a load generator's requests, which it finds by their ids.
struct BenchOutcomes {
    /// How often the daemon is asked whether a request is in flight, every 200 ms.
    private static let tries = 75

    private let plan: BenchPlan
    private let signals: Follower

    init(_ plan: BenchPlan, _ signals: Follower) {
        self.plan = plan
        self.signals = signals
    }

    /// Waits until no request is in flight, if the daemon can be asked, and reads the ledger. On failure the figures
    /// have the reason.
    func read(into figures: inout LoadFigures, _ session: Session) {
        guard let numbers = figures.numbers else { return }
        guard let prefix = plan.idPrefix else {
            figures.outcomesProblem = "the ledger does not distinguish requests without ids from other requests"
            return
        }
        do throws(Failure) {
            waitForOutcomes(session)
            figures.outcomes = try rows(numbers, prefix, session)
        } catch {
            figures.outcomesProblem = error.message.split(separator: "\n").first.map(String.init) ?? error.message
        }
    }

    private func waitForOutcomes(_ session: Session) {
        for _ in 0..<Self.tries {
            guard let status = (try? session.control(.status))?["status"],
                let inFlight = status["requests_in_flight"]?.int64, inFlight > 0, signals.wait()
            else { return }
        }
    }

    private func rows(
        _ numbers: ClosedRange<SequenceNumber>, _ prefix: String, _ session: Session
    ) throws(Failure) -> ComplianceReport {
        let ledger = try session.ledger()
        var report = ComplianceReport(mode: .device, budget: .zero)
        let before = SequenceNumber(numbers.lowerBound.value - 1)
        try ledger.eachRow(after: before, through: numbers.upperBound) { row in
            guard row.id?.hasPrefix(prefix) == true, let row = ReportRow(row) else { return }
            report.add(unordered: row)
        }
        return report
    }
}
