import TestSupport

@testable import PushModel
@testable import PushRouter

/// The rows that the store would hold: each written record in its table.
struct MemoryLedger {
    private(set) var requests: [SequenceNumber: (accepted: AcceptedRequest, request: Request)] = [:]
    private(set) var rows: [InvocationID: InvocationRecord] = [:]
    /// The attempts that have a row, in order.
    private(set) var attempts: [AttemptRecord] = []
    private(set) var deadLetters: Set<InvocationID> = []
    private(set) var events: [AnalyticsEvent] = []
    /// The rows of the tracker.
    private(set) var tracker = TrackerRows()
    private var records: [TrackerRecord] = []
    /// The number of events that the tracker's rows have.
    private var tracked = 0
    private var trackerViolations = 0
    /// Entries of custom data, profiles, and the sending state.
    private(set) var customData = CustomDataRows()
    private(set) var devices: [SequenceNumber: KnownDevice] = [:]
    private(set) var fanOuts: [SequenceNumber: FanOut] = [:]
    /// Records that a store would refuse.
    private(set) var violations: [String] = []

    /// Writes a record.
    /// - Parameter request: the request that is being submitted, if any: the store reads it from its line.
    mutating func write(_ record: LedgerRecord, of request: Request?) {
        switch record {
        case .request(let accepted):
            // A request that the router itself makes is stored as its line alone.
            let own = request.flatMap { $0.operation == accepted.operation ? $0 : nil }
            guard let request = own ?? (try? Request(acceptedLine: accepted.body)),
                requests.updateValue((accepted, request), forKey: accepted.seq) == nil
            else {
                return violations.append("request \(accepted.seq) is not new")
            }
        case .invocation(let row):
            if requests[row.id.seq] == nil { violations.append("\(row.id.name) comes before its request") }
            if rows.updateValue(row, forKey: row.id) != nil { violations.append("\(row.id.name) is not new") }
        case .update(let row):
            guard let before = rows.updateValue(row, forKey: row.id) else {
                return violations.append("\(row.id.name) is updated before it is there")
            }
            if before == row { violations.append("the update of \(row.id.name) changes nothing") }
            if before.result != nil { violations.append("\(row.id.name) is updated after its end") }
        case .event(let event):
            if events.contains(where: { $0.id == event.id }) { violations.append("event \(event.id) comes twice") }
            events.append(event)
        case .attempt(let attempt):
            guard let row = rows[attempt.id] else {
                return violations.append("an attempt at \(attempt.id.name), which is not there")
            }
            if row.result != nil { violations.append("an attempt at \(attempt.id.name) ends after it did") }
            attempts.append(attempt)
        case .output(let id, _):
            if !attempts.contains(where: { $0.id == id }) { violations.append("an output of no attempt at \(id.name)") }
        case .deadLetter(let letter):
            guard requests[letter.id.seq]?.accepted.mode == .relay,
                rows[letter.id]?.result?.outcome.isDeadLetter == true, deadLetters.insert(letter.id).inserted
            else { return violations.append("\(letter.id.name) is no dead letter, or is one already") }
        case .noDeadLetters(let seq): deadLetters = deadLetters.filter { $0.seq != seq }
        case .gap, .lifeSign, .producer, .configuration, .audit, .order:
            violations.append("the router knows of no such record")
        case .tracker(let record): records.append(record)
        case .customData(let record):
            customData.write(record)
            if let violation = customData.violations.last { violations.append(violation) }
        case .device(let device):
            for other in devices.values where (other.number == device.number) != (other.key == device.key) {
                violations.append("\(device) stands beside \(other)")
            }
            var device = device
            device.detail.topics = devices[device.number]?.detail.topics ?? []
            devices[device.number] = device
        case .subscriptions(let change):
            for number in change.devices {
                guard var topics = devices[number]?.detail.topics else {
                    violations.append("device \(number) has a subscription and is not known")
                    continue
                }
                let isSubscribed = topics.contains { $0.topic == change.topic }
                if isSubscribed == (change.since != nil) { violations.append("\(change) changes nothing") }
                topics.removeAll { $0.topic == change.topic }
                if let since = change.since { topics.append(Subscription(topic: change.topic, since: since)) }
                devices[number]?.detail.topics = topics
            }
        case .fanOut(let fanOut):
            if requests[fanOut.seq]?.accepted.operation != .publish { violations.append("\(fanOut.seq) is no publish") }
            if fanOut.devices.count != fanOut.members || fanOuts.updateValue(fanOut, forKey: fanOut.seq) != nil {
                violations.append("\(fanOut) is not new, or lacks devices")
            }
        case .fanOutProgress(let seq, let progress):
            if (fanOuts[seq]?.progress.done ?? .max) >= progress.done || (fanOuts[seq]?.members ?? 0) < progress.done {
                violations.append("\(progress) does not follow \(String(describing: fanOuts[seq]?.progress))")
            }
            fanOuts[seq]?.progress = progress
        case .forgottenDevice(let number):
            if devices.removeValue(forKey: number) == nil {
                violations.append("device \(number) is forgotten but not known")
            }
        }
    }

    /// Writes the tracker's records of one turn.
    mutating func endTurn() {
        tracker.write(Array(events[tracked...]), records)
        tracked = events.count
        records = []
        violations += tracker.violations.dropFirst(trackerViolations)
        trackerViolations = tracker.violations.count
    }

    /// Requests with an invocation that has no result, in order.
    var unfinished: [UnfinishedRequest] {
        let open = Dictionary(grouping: rows.values.filter { $0.result == nil }) { $0.id.seq }
        return open.keys.sorted().compactMap { seq in
            guard let open = open[seq]?.sorted(by: { $0.id < $1.id }), let (accepted, request) = requests[seq] else {
                return nil
            }
            var unfinished = UnfinishedRequest(accepted: accepted, invocations: open, request: request)
            for attempt in attempts where open.contains(where: { $0.id == attempt.id }) {
                unfinished.attempts[attempt.id.n, default: AttemptHistory()].note(attempt)
            }
            return unfinished
        }
    }
}

extension InvocationID {
    /// `41.0`
    var name: String { "\(seq).\(n)" }
}
