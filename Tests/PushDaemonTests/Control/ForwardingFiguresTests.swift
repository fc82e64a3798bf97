import Testing

@testable import PushDaemon
@testable import PushModel

@Suite("The daemon's figures of a forwarder")
struct ForwardingFiguresTests {
    @Test("count each pause once by its reason, not the report that a restarted forwarder repeats, nor sending")
    func pauses() {
        var (figures, last) = (ForwardingFigures(), SendingState?.none)
        func report(_ phase: SendingState.Phase, failures: Int = 0, until: Int64? = nil) {
            let until = until.map(WallTime.init(milliseconds:))
            let report = SendingReport(
                instance: UUID128(high: 0, low: 1), phase: phase, failures: failures, until: until)
            figures.note(report, after: last)
            last = SendingState(
                phase: phase, failures: failures, until: until, since: WallTime(milliseconds: 1))
        }
        report(.sending)
        report(.waiting, failures: 1, until: 10)
        report(.waiting, failures: 1, until: 10)
        report(.waiting, failures: 2, until: 20)
        report(.sending)
        report(.waiting, until: 30)
        report(.stopped)
        report(.stopped)
        #expect(figures.pauses == [.failed: 2, .slowDown: 1, .refused: 1])
    }
}
