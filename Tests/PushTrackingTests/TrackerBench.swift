import TestSupport

@testable import PushModel
@testable import PushRouter

/// A test bench for a tracker: times in seconds from its beginning, consecutive numbers, and the effects as text.
///
///     var bench = TrackerBench()
///     let push = bench.receive(at: .zero)
///     bench.start(at: .seconds(60)) == ["start 2"]
///     bench.clock(at: .seconds(66)) == ["influenced 1 by 2"]
struct TrackerBench {
    static let stateID = UUID128(high: 0x0123_4567_89AB_CDEF, low: 0x1111_2222_3333_4444)
    private static let epoch: Int64 = 1_700_000_000_000

    private(set) var tracker: Tracker
    private(set) var rows = TrackerRows()
    private(set) var events: [AnalyticsEvent] = []
    private var seq: Int64 = 0

    init(_ change: (inout TrackerRules) -> Void = { _ in }) {
        var rules = TrackerRules()
        change(&rules)
        tracker = Tracker(stateID: Self.stateID, rules: rules)
    }

    /// Whether entries are forgotten by age.
    var forgetsByAge: Bool {
        get { tracker.forgetsByAge }
        set { tracker.forgetsByAge = newValue }
    }

    static func time(_ span: Duration) -> WallTime { WallTime(milliseconds: epoch + span.milliseconds) }

    /// Receives a delivery to the user `u1` of the app `shop` on `phone`; `clock` is the clock if it is not `at`.
    @discardableResult
    mutating func receive(
        _ message: String? = nil, at: Duration, clock: Duration? = nil, device: String? = "phone",
        app: String? = "shop", user: String? = "u1", campaign: String? = "summer", platform: Platform = .android,
        hasOwnID: Bool = true, unique: String? = nil, digest: UInt64? = nil, isDisplayed: Bool = true,
        inForeground: Bool = false, buttons: [TrackedDelivery.Button] = []
    ) -> SequenceNumber {
        seq += 1
        let delivery = TrackedDelivery(
            seq: SequenceNumber(seq), platform: platform, app: app, device: device, externalID: user,
            messageID: message, hasOwnID: hasOwnID, uniqueID: unique, campaignID: campaign,
            isDisplayed: isDisplayed, inForeground: inForeground, digest: digest, buttons: ButtonList(buttons),
            receivedAt: Self.time(at))
        _ = take { $0.receive(delivery, now: Self.time(clock ?? at), into: &$1) }
        return SequenceNumber(seq)
    }

    /// The effects of a delivery, without its own receipt.
    mutating func receiveText(
        _ message: String? = nil, at: Duration, device: String? = "phone", app: String? = "shop",
        hasOwnID: Bool = true, unique: String? = nil, digest: UInt64? = nil, platform: Platform = .android
    ) -> [String] {
        let before = events.count
        var text: [String] = []
        seq += 1
        let delivery = TrackedDelivery(
            seq: SequenceNumber(seq), platform: platform, app: app, device: device, externalID: "u1",
            messageID: message, hasOwnID: hasOwnID, uniqueID: unique, campaignID: "summer", digest: digest,
            receivedAt: Self.time(at))
        let settled = take {
            switch $0.receive(delivery, now: Self.time(at), into: &$1) {
            case .received: break
            case .repeated(let other): text.append("repeat of \(other)")
            }
        }
        return text + events[before...].map(\.text) + settled
    }

    @discardableResult
    mutating func interact(
        _ act: Interaction.Act, _ subject: Interaction.Subject, at: Duration, clock: Duration? = nil,
        device: String? = "phone", app: String? = "shop", user: String? = "u1"
    ) -> [String] {
        seq += 1
        let interaction = Interaction(
            cause: SequenceNumber(seq), subject: subject, act: act, platform: .android, app: app, device: device,
            externalID: user, at: Self.time(at))
        let before = events.count
        var verdict = ""
        let settled = take {
            let result = $0.interact(interaction, now: Self.time(clock ?? at), into: &$1)
            verdict = result.text
        }
        return [verdict] + events[before...].map(\.text) + settled
    }

    /// A tap on the body.
    @discardableResult
    mutating func tap(
        _ seq: SequenceNumber, at: Duration, clock: Duration? = nil, user: String? = "u1"
    ) -> [String] {
        interact(.opened, .delivery(seq), at: at, clock: clock, user: user)
    }

    @discardableResult
    mutating func start(
        at: Duration, clock: Duration? = nil, user: String? = "u1", device: String? = "phone", app: String? = "shop",
        platform: Platform = .android
    ) -> [String] {
        session(.start, at: at, clock: clock, user: user, device: device, app: app, platform: platform)
    }

    @discardableResult
    mutating func end(
        at: Duration, clock: Duration? = nil, user: String? = "u1", device: String? = "phone", app: String? = "shop"
    ) -> [String] {
        session(.end, at: at, clock: clock, user: user, device: device, app: app, platform: .android)
    }

    private mutating func session(
        _ kind: SessionRequest.Kind, at: Duration, clock: Duration?, user: String?, device: String?, app: String?,
        platform: Platform
    ) -> [String] {
        seq += 1
        let source = TrackerSource(
            cause: SequenceNumber(seq), platform: platform, app: app, device: device, externalID: user,
            at: Self.time(at))
        let before = events.count
        var result: SessionResult?
        let settled = take { result = $0.session(kind, source, now: Self.time(clock ?? at), into: &$1) }
        return (result.map { ["\($0)"] } ?? []) + events[before...].map(\.text) + settled
    }

    @discardableResult
    mutating func clock(at: Duration) -> [String] {
        let before = events.count
        let settled = take { $0.takeDue(now: Self.time(at), into: &$1) }
        return events[before...].map(\.text) + settled
    }

    @discardableResult
    mutating func token(_ kind: TokenRequest.Kind, _ token: String?, at: Duration) -> [String] {
        seq += 1
        let source = TrackerSource(
            cause: SequenceNumber(seq), platform: .android, app: "shop", device: "phone", externalID: "u1",
            at: Self.time(at))
        let before = events.count
        _ = take { $0.token(kind, token, source, now: Self.time(at), into: &$1) }
        return events[before...].map(\.text)
    }

    /// Kills and restarts the daemon: only the rows survive.
    mutating func restart(at: Duration) {
        tracker = rows.restored(stateID: Self.stateID, rules: tracker.rules, now: Self.time(at))
    }

    /// The time of the tracker's next clock event, from the bench's beginning.
    var nextDue: Duration? { tracker.nextDue.map { .milliseconds($0.milliseconds - Self.epoch) } }

    private mutating func take(_ body: (inout Tracker, inout TrackerOutput) -> Void) -> [String] {
        var output = TrackerOutput()
        body(&tracker, &output)
        rows.write(output.events, output.records)
        events += output.events
        return output.settled.map { "\($0.cause) is \($0.result.text)" }
    }
}

extension TrackerOutput {
    /// A held interaction, and its result.
    struct Settled: Hashable {
        var cause: SequenceNumber
        var result: InteractionResult
    }

    /// The results of held interactions, from the records.
    var settled: [Settled] {
        let held = Set(records.compactMap { if case .settled(let cause) = $0 { cause } else { nil } })
        return records.compactMap { record in
            guard case .interaction(let row) = record, held.contains(row.cause) else { return nil }
            return Settled(cause: row.cause, result: InteractionResult(verdict: row.verdict, delivery: row.delivery))
        }
    }
}

extension AnalyticsEvent {
    /// The event as a short text.
    var text: String {
        switch content {
        case .received: "received \(delivery)"
        case .open(_, let button):
            "open \(delivery)" + (button.map { " by \($0.id): \($0.action?.rawValue ?? "?")" } ?? "")
        case .influencedOpen: "influenced \(delivery) by \(seq)"
        case .iosForeground: "foreground \(delivery)"
        case .sessionStart: "session \(seq) of \(externalUserID ?? "nobody")"
        case .sessionEnd(let duration): "end of \(externalUserID ?? "nobody") after \(duration.milliseconds) ms"
        case .tokenStateChange(let change, let token): "token \(change.rawValue) \(token ?? "-")"
        case .uninstall: "uninstall"
        case .customEvent: "custom event"
        }
    }
}

extension InteractionResult {
    var text: String {
        guard let verdict else { return "held" }
        return verdict.rawValue + (delivery.map { " \($0)" } ?? "")
    }
}
