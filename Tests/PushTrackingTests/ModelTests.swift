import TestSupport
import Testing

@testable import PushModel
@testable import PushRouter

@Suite("The tracker and the model of its rules")
struct ModelTests {
    @Test("agree on random histories, with restarts in between")
    func agreement() {
        for seed in Search.seeds(400) {
            var history = RandomHistory(seed: seed)
            if let difference = history.run(steps: 120) {
                Issue.record("seed \(seed): \(difference)")
                return
            }
        }
    }
}

extension Tracker {
    /// The first number that the rows have otherwise, and so what a restart would change; `nil` if there is none.
    fileprivate func difference(from rows: TrackerRows) -> String? {
        var texts: Set<String> = []
        for (_, received) in rows.deliveries {
            texts.formUnion([received.externalUserID, received.appID, received.push?.campaignID].compactMap(\.self))
        }
        for row in rows.sessions { texts.formUnion([row.externalID, row.key.app].compactMap(\.self)) }
        for row in rows.starts { texts.formUnion([row.key.owner, row.key.app].compactMap(\.self)) }
        for row in rows.pendingStarts { texts.formUnion([row.externalID, row.key.app].compactMap(\.self)) }
        let keys = rows.deliveries.map { DeviceKey(app: $0.received.appID, device: $0.received.deviceID ?? "-") }
        let numbers = [
            ("deliveries", count, rows.deliveries.count), ("sessions", sessionCount, rows.sessions.count),
            ("starts", history.count, rows.starts.count), ("held", held.count, rows.held.count),
            ("pending", pendingStarts.count, rows.pendingStarts.count), ("texts", self.texts.count, texts.count),
            (
                "devices", devices.count,
                Set(keys + rows.sessions.map(\.key) + rows.pendingStarts.map(\.key)).count
            ),
        ]
        return numbers.first { $0.1 != $0.2 }.map { "\($0.0): \($0.1), and \($0.2) in the rows" }
    }
}

/// Random requests and times, to the tracker and to the model.
private struct RandomHistory {
    private static let stateID = UUID128(high: 1, low: 2)
    private var random: SeededGenerator
    private var rules = TrackerRules()
    private var tracker: Tracker
    private var model: TrackerModel
    private var rows = TrackerRows()
    private var now: Int64 = 1_700_000_000_000
    private var seq: Int64 = 0
    private var log: [String] = []
    private let logLength = 40

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        tracker = Tracker(stateID: Self.stateID)
        model = TrackerModel(stateID: Self.stateID, rules: rules)
        rules.windowRule = TrackerRules.WindowRule.allCases.randomElement(using: &random) ?? .max
        rules.influencedCredit = Bool.random(using: &random) ? .all : .latest
        rules.reportsForeground = Bool.random(using: &random)
        rules.appsWithoutCampaignEvents = Int.random(in: 0..<4, using: &random) == 0 ? [Glob("n*")] : []
        // Odd spans, so that a clock that is set back never restores something just forgotten.
        rules.remember = .seconds(pick([5417, 3 * 86_411, 365 * 86_400]))
        rules.rememberMax = Bool.random(using: &random) ? 5 : 1000
        tracker = Tracker(stateID: Self.stateID, rules: rules)
        model = TrackerModel(stateID: Self.stateID, rules: rules)
    }

    /// The first difference; `nil` if there is none.
    mutating func run(steps: Int) -> String? {
        for _ in 0..<steps {
            passTime()
            var output = TrackerOutput()
            let (said, expected) = step(into: &output)
            rows.write(output.events, output.records)
            defer { model.clear() }
            let (events, modelEvents) = (sorted(output.events), sorted(model.events))
            if said != expected || events != modelEvents || sorted(output.settled) != sorted(model.settled) {
                return """
                    \(log.suffix(logLength).joined(separator: "\n"))
                    tracker: \(said) \(events) \(output.settled)
                    model:   \(expected) \(modelEvents) \(model.settled)
                    rules: \(rules)
                    """
            }
            if let violation = rows.violations.first { return log.joined(separator: "\n") + "\n" + violation }
            if let difference = tracker.difference(from: rows) {
                return log.joined(separator: "\n") + "\n" + difference
            }
            guard Int.random(in: 0..<40, using: &random) == 0 else { continue }
            log.append("restart")
            tracker = rows.restored(stateID: Self.stateID, rules: rules, now: WallTime(milliseconds: now))
            if let difference = tracker.difference(from: rows) {
                return log.joined(separator: "\n") + "\nrestored: " + difference
            }
            model.restart(now: now)
        }
        return nil
    }

    private mutating func passTime() {
        let spans: [Int64] = [
            0, 0, 1, 1000, 4999, 5000, 5001, 9999, 10_000, 10_001, 60_000, 1_799_999, 1_800_000, 3_600_000, 40_000_000,
            400_000_000,
        ]
        let count = Int.random(in: 0..<4, using: &random) == 0 ? spans.count : 8
        now += spans[Int.random(in: 0..<count, using: &random)]
        if Int.random(in: 0..<50, using: &random) == 0 {
            now -= pick(rules.remember > .seconds(30 * 86_400) ? [1, 6000, 3_600_000, 90_000_000] : [1, 1000, 6000])
        }
    }

    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &random)]
    }

    /// Mostly now, sometimes a time before, or in the future.
    private mutating func time() -> WallTime {
        let back: [Int64] = [
            0, 0, 0, 0, 0, 1, 1000, 4999, 5000, 5001, 10_001, 1_799_999, 1_800_000, 90_000_000, -60_000,
        ]
        return WallTime(milliseconds: now - pick(back))
    }

    private mutating func step(into output: inout TrackerOutput) -> (String, String) {
        let wall = WallTime(milliseconds: now)
        let choice = Int.random(in: 0..<10, using: &random)
        if choice < 3 {
            let delivery = delivery()
            log.append("\(now) receive \(delivery)")
            return (
                "\(tracker.receive(delivery, now: wall, into: &output))", "\(model.receive(delivery, now: now))"
            )
        } else if choice < 6 {
            let interaction = interaction()
            log.append("\(now) \(interaction)")
            return (
                "\(tracker.interact(interaction, now: wall, into: &output))",
                "\(model.interact(interaction, now: now))"
            )
        } else if choice < 8 {
            seq += 1
            let kind: SessionRequest.Kind = Int.random(in: 0..<3, using: &random) == 0 ? .end : .start
            let source = TrackerSource(
                cause: SequenceNumber(seq), platform: platform(), app: pick(["shop", "shop", "news", nil]),
                device: pick(["phone", "phone", "tablet", nil]), externalID: pick(["u1", "u1", "u2", nil]), at: time())
            log.append("\(now) \(kind) \(source)")
            return (
                "\(tracker.session(kind, source, now: wall, into: &output))",
                "\(model.session(kind, source, now: now))"
            )
        }
        log.append("\(now) clock")
        tracker.takeDue(now: wall, into: &output)
        model.takeDue(now: now)
        return ("", "")
    }

    private mutating func platform() -> Platform { pick([.android, .android, .ios, .web]) }

    private mutating func delivery() -> TrackedDelivery {
        seq += 1
        return TrackedDelivery(
            seq: SequenceNumber(seq), platform: platform(), app: pick(["shop", "shop", "news", nil]),
            device: pick(["phone", "phone", "tablet", nil]), externalID: pick(["u1", "u1", "u2", nil]),
            messageID: pick([nil, "m1", "m2", "m3", "m4", "m5", "m6"]), hasOwnID: Bool.random(using: &random),
            uniqueID: pick([nil, nil, "x1", "x2"]), campaignID: pick(["summer", "winter", nil]),
            isDisplayed: pick([true, true, true, false]), inForeground: Bool.random(using: &random),
            digest: pick([1, 2, nil]),
            buttons: pick([[], [.init(id: "yes", action: .uri), .init(id: "no", action: .close)]]),
            receivedAt: time())
    }

    private mutating func interaction() -> Interaction {
        seq += 1
        // May also be a number that is still to come.
        let number = SequenceNumber(Int64.random(in: max(1, seq - 20)...seq + 1, using: &random))
        return Interaction(
            cause: SequenceNumber(seq),
            subject: pick([
                .delivery(number), .delivery(number), .message("m1"), .message("m2"), .message("m3"), .message("m7"),
                .payload(1), .payload(2),
            ]),
            act: pick([.opened, .opened, .dismissed, .button("yes"), .button("no"), .button("maybe")]),
            platform: platform(), app: pick([nil, "shop", "shop", "news"]),
            device: pick([nil, "phone", "phone", "tablet"]),
            externalID: pick([nil, "u1", "u2"]), at: time())
    }

    private func sorted(_ events: [AnalyticsEvent]) -> [String] { events.map { "\($0)" }.sorted() }

    private func sorted(_ settled: [TrackerOutput.Settled]) -> [String] { settled.map { "\($0)" }.sorted() }
}
