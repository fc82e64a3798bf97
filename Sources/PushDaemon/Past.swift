import PushModel
import PushProtocol
import PushRouting
import PushSettings
import PushTracking
import Store

/// What the ledger says of the daemon's earlier runs.
struct Past {
    var stateID: UUID128
    var lastNumber: SequenceNumber
    var tracker: Tracker
    var devices: [KnownDevice]
    var unfinished: [UnfinishedRequest] = []

    init(directory: String, settings: Settings) throws(StoreError) {
        let reader = try LedgerReader(directory: directory)
        stateID = reader.stateIdentity
        lastNumber = try reader.highestSequenceNumber()
        devices = try reader.knownDevices()
        let remember = settings.tracker.remember
        var rules = TrackerRules()
        rules.remember = remember
        rules.rememberMax = settings.tracker.rememberMax
        var tracker = Tracker(stateID: stateID, rules: rules)
        let horizon = WallTime(milliseconds: Moment.now().wall.milliseconds - remember.milliseconds)
        try reader.trackedDeliveries(since: horizon) { tracker.restore($0) }
        self.tracker = tracker
        for (accepted, invocation) in try reader.pendingInvocations() {
            if unfinished.last?.accepted.seq == accepted.seq {
                unfinished[unfinished.count - 1].invocations.append(invocation)
            } else {
                // Limits may have been higher when it was accepted: they do not hold for what is on disk.
                let request = try? Request(line: accepted.body, limits: JSONLimits(depth: .max))
                unfinished.append(
                    UnfinishedRequest(accepted: accepted, invocations: [invocation], request: request))
            }
        }
    }
}
