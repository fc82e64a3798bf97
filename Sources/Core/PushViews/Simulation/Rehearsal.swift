import PushModel
import PushRouter

/// Simulates a tap on a delivered Braze push, and a later session: the router and the tracker decide both under virtual
/// time. Their only earlier request is the delivery.
struct Rehearsal {
    /// The tracker's verdict on a tap; `nil` if it gives none.
    let verdict: Interaction.Verdict?
    /// Whether the tap is lost, because the app has no Braze instance when it comes.
    let lacksInstance: Bool
    /// Whether a session one minute later counts as an influenced open of the push.
    let influencesSession: Bool

    /// - Returns: `nil` if the push is not Braze's, because the tracker counts no others; or if the router refuses the
    ///   delivery, which can still be explained.
    init?(_ deliver: DeliverRequest, _ decision: Decision, platform: Platform, table: RoutingTable) {
        guard decision.braze != nil else { return nil }
        do {
            try self.init(ofBraze: deliver, app: deliver.target.app ?? decision.app, platform: platform, table: table)
        } catch { return nil }
    }

    private init(
        ofBraze deliver: DeliverRequest, app: String?, platform: Platform, table: RoutingTable
    ) throws(ProtocolError) {
        let device = deliver.target.device ?? "device"
        let target = Target(
            platform: platform, app: app, device: device, externalID: deliver.target.externalID)
        let delivery = deliver.redirected(to: target, state: deliver.state)
        func records(after act: (SequenceNumber) -> Request.Action) throws(ProtocolError) -> [LedgerRecord] {
            let tracker = Tracker(stateID: UUID128(high: 0, low: 0), rules: table.tracking)
            var simulator = Simulator(table: table, tracker: tracker, keepsRecords: true)
            let document = deliver.payload.document
            let seq = try simulator.accept(Step(.deliver(delivery), document, at: WallTime(milliseconds: 0)))
            simulator.runToEnd()
            let time = max(simulator.latest?.milliseconds ?? 0, 60_000)
            _ = try simulator.accept(Step(act(seq), document, at: WallTime(milliseconds: time)))
            simulator.runToEnd()
            return simulator.records
        }
        let tapped = try records { seq in
            // The app that lacks its Braze instance for the push lacks it for a tap that comes next.
            let sdk: SDKState = deliver.sdk == .missing && platform.hasAPNsHeaders ? .missing : .ready
            return .interact(InteractRequest(target: target, kind: .opened, subject: .delivery(seq), sdk: sdk))
        }
        verdict = tapped.lazy.compactMap(\.verdict).first
        lacksInstance = tapped.contains { record in
            if case .invocation(let row) = record {
                row.result?.outcome == .sdkNotReady && row.callback == .didReceiveResponse
            } else {
                false
            }
        }
        let started = try records { _ in .session(SessionRequest(target: target, kind: .start)) }
        influencesSession = started.contains { if case .tracker(.influenced) = $0 { true } else { false } }
    }
}

extension LedgerRecord {
    fileprivate var verdict: Interaction.Verdict? {
        if case .tracker(.interaction(let row)) = self { row.verdict } else { nil }
    }
}
