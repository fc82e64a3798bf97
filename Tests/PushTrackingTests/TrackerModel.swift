import TestSupport

@testable import PushModel
@testable import PushRouter

/// The rules again, as literally as their text: the model keeps every input, and each decision searches all of them.
/// The model is slow and simple; the tracker must agree with it.
struct TrackerModel {
    struct Receipt {
        var delivery: TrackedDelivery
        var acceptedSecond: Int64
        var isForgotten = false
    }

    struct Open {
        var delivery: SequenceNumber
        var at: Int64
        var by: SequenceNumber
    }

    struct Session {
        var key: DeviceKey
        var platform: Platform
        var user: String?
        var number: SequenceNumber
        var startedAt: Int64
        var end: (at: Int64, by: SequenceNumber)?
        var acceptedSecond: Int64
        /// Its end was written, or another session follows.
        var isOver = false
    }

    struct Start {
        var owner: String
        var isAnonymous: Bool
        var app: String?
        var at: Int64
        var acceptedSecond: Int64
    }

    /// A wait, by the elapsed time.
    struct Wait {
        enum What {
            case decision(key: DeviceKey, user: String?, at: Int64, earlier: [Int64])
            case interaction(Interaction)
            case endOfSession
        }

        var what: What
        var cause: SequenceNumber
        var due: Int64
        /// The due time by the wall clock at its beginning, and the length of the wait.
        var wallDue: Int64
        var span: Int64

        var isInteraction: Bool { if case .interaction = what { true } else { false } }
    }

    let stateID: UUID128
    let rules: TrackerRules
    private var receipts: [Receipt] = []
    private var opens: [Open] = []
    private var closes: [(delivery: SequenceNumber, button: String)] = []
    private var influenced: [SequenceNumber] = []
    private var sessions: [Session] = []
    private var starts: [Start] = []
    private var waits: [Wait] = []
    /// The elapsed time; a clock that is set back does not reduce it.
    private var passed: Int64 = 0
    private var clock: Int64?

    private(set) var events: [AnalyticsEvent] = []
    private(set) var settled: [TrackerOutput.Settled] = []

    init(stateID: UUID128, rules: TrackerRules) {
        self.stateID = stateID
        self.rules = rules
    }

    mutating func clear() {
        events = []
        settled = []
    }

    // MARK: Inputs

    mutating func receive(_ delivery: TrackedDelivery, now: Int64) -> ReceiptResult {
        begin(now)
        var delivery = delivery
        delivery.receivedAt = min(delivery.receivedAt, WallTime(milliseconds: now))
        let same = receipts.filter {
            !$0.isForgotten && $0.delivery.device != nil && $0.delivery.device == delivery.device
                && $0.delivery.app == delivery.app
        }
        // T14: compares with the repeat of the highest number.
        let repeats = same.filter { delivery.messageID != nil && $0.delivery.messageID == delivery.messageID }
        if delivery.hasOwnID, let last = repeats.max(by: { $0.delivery.seq < $1.delivery.seq }), last.delivery.hasOwnID
        {
            return .repeated(of: last.delivery.seq)
        }
        let dropped = same.filter { delivery.uniqueID != nil && $0.delivery.uniqueID == delivery.uniqueID }
        if let last = dropped.max(by: { $0.delivery.seq < $1.delivery.seq }) {
            return .repeated(of: last.delivery.seq)
        }
        receipts.append(Receipt(delivery: delivery, acceptedSecond: floorSeconds(now)))
        emit(.received, delivery.seq, delivery.seq, delivery, delivery.externalID, delivery.receivedAt.milliseconds)
        let counts = delivery.campaignID != nil && !isOff(delivery.app)
        if rules.reportsForeground, delivery.platform == .ios, delivery.inForeground, delivery.isDisplayed, counts {
            emit(
                .iosForeground, delivery.seq, delivery.seq, delivery, delivery.externalID,
                delivery.receivedAt.milliseconds)
        }
        // T15: resolves the interactions that waited for it, in order.
        let waiting = waits.filter { $0.isInteraction && $0.due > passed }
        for wait in waiting.sorted(by: { $0.cause < $1.cause }) {
            guard case .interaction(let interaction) = wait.what, names(interaction.subject, delivery),
                let found = match(interaction)
            else { continue }
            waits.removeAll { $0.cause == wait.cause && $0.isInteraction }
            let startedBefore = interaction.act == .opened && interaction.device != nil
            var result = apply(interaction, found, startsSession: !startedBefore, now)
            // The row does not store this.
            result.wasDisplayed = true
            settled.append(.init(cause: wait.cause, result: result))
        }
        let living = receipts.indices.filter { !receipts[$0].isForgotten }
        for index in living.dropLast(rules.rememberMax) { receipts[index].isForgotten = true }
        return .received
    }

    mutating func interact(_ interaction: Interaction, now: Int64) -> InteractionResult {
        begin(now)
        var interaction = interaction
        interaction.at = min(interaction.at, WallTime(milliseconds: now))
        if let found = match(interaction) { return apply(interaction, found, startsSession: true, now) }
        if interaction.act == .opened, interaction.device != nil {
            _ = start(
                TrackerSource(
                    cause: interaction.cause, platform: interaction.platform, app: interaction.app,
                    device: interaction.device, externalID: interaction.externalID, at: interaction.at), now)
        }
        wait(.interaction(interaction), interaction.cause, rules.grace.milliseconds + 1, now)
        let otherwise = resultWithoutDelivery(interaction)
        return InteractionResult(verdict: nil, delivery: otherwise.delivery, otherwise: otherwise.verdict)
    }

    mutating func session(_ kind: SessionRequest.Kind, _ source: TrackerSource, now: Int64) -> SessionResult {
        begin(now)
        var source = source
        source.at = min(source.at, WallTime(milliseconds: now))
        if kind == .start { return start(source, now) }
        guard let device = source.device else { return .withoutDevice }
        guard let index = current(DeviceKey(app: source.app, device: device)), sessions[index].end == nil else {
            return .noSession
        }
        sessions[index].end = (source.at.milliseconds, source.cause)
        sessions[index].acceptedSecond = floorSeconds(now)
        wait(.endOfSession, source.cause, timeout(sessions[index].platform) + 1, now)
        return .ended
    }

    mutating func takeDue(now: Int64) {
        begin(now)
        let due = waits.filter { $0.due <= passed }
        waits.removeAll { $0.due <= passed }
        for wait in due.sorted(by: { ($0.due, $0.cause) < ($1.due, $1.cause) }) {
            switch wait.what {
            case .decision(let key, let user, let at, let earlier): decide(key, user, at, earlier, wait.cause)
            case .interaction(let interaction): giveUp(interaction)
            case .endOfSession:
                guard let index = sessions.firstIndex(where: { !$0.isOver && $0.end?.by == wait.cause }) else {
                    continue
                }
                finish(index, sessions[index].end?.at ?? 0, sessions[index].end?.by ?? wait.cause)
            }
        }
    }

    /// Restarts the daemon: each wait counts by the wall clock, but at most its original length.
    mutating func restart(now: Int64) {
        clock = now
        for index in waits.indices {
            waits[index].due = passed + min(waits[index].wallDue - now, waits[index].span)
        }
    }

    // MARK: T1 to T3, T8, T12, T15

    private func names(_ subject: Interaction.Subject, _ delivery: TrackedDelivery) -> Bool {
        switch subject {
        case .delivery(let seq): delivery.seq == seq
        case .message(let message): delivery.messageID == message
        case .payload(let digest):
            delivery.digest == digest && !(delivery.hasOwnID && delivery.messageID != nil)
        }
    }

    /// The remembered deliveries that an interaction names, on any device.
    private func candidates(_ subject: Interaction.Subject) -> [TrackedDelivery] {
        receipts.filter { !$0.isForgotten }.map(\.delivery).filter { names(subject, $0) }.sorted { $0.seq < $1.seq }
    }

    private func isMeant(_ delivery: TrackedDelivery, _ interaction: Interaction) -> Bool {
        (interaction.device == nil || interaction.device == delivery.device)
            && (interaction.app == nil || delivery.app == nil || interaction.app == delivery.app)
    }

    private func isOpened(_ seq: SequenceNumber) -> Bool { opens.contains { $0.delivery == seq } }

    private func match(_ interaction: Interaction) -> TrackedDelivery? {
        var found = candidates(interaction.subject)
        switch interaction.subject {
        case .delivery: found = found.filter { isMeant($0, interaction) }
        case .message:
            // Without a device the interaction names the latest on any device.
            if interaction.device == nil { found = Array(found.suffix(1)) }
            found = found.filter { isMeant($0, interaction) }
        case .payload:
            guard interaction.device != nil else { return nil }
            found = found.filter { isMeant($0, interaction) && $0.device != nil && !isOpened($0.seq) }
            // Behind an opened delivery only displayed ones are searched.
            found = found.filter { candidate in
                candidate.isDisplayed
                    || candidates(interaction.subject).last {
                        $0.device == candidate.device && $0.app == candidate.app
                    }?.seq == candidate.seq
            }
        }
        return found.last
    }

    private mutating func giveUp(_ interaction: Interaction) {
        settled.append(.init(cause: interaction.cause, result: resultWithoutDelivery(interaction)))
    }

    private func resultWithoutDelivery(_ interaction: Interaction) -> InteractionResult {
        let all = candidates(interaction.subject)
        if match(interaction) != nil {
            // The delivery came too late.
            return InteractionResult(verdict: .unmatched, delivery: nil)
        } else if case .payload = interaction.subject {
            let here = all.last { interaction.device != nil && isMeant($0, interaction) && isOpened($0.seq) }
            return InteractionResult(verdict: here == nil ? .unmatched : .duplicate, delivery: here?.seq)
        } else {
            return InteractionResult(verdict: all.isEmpty ? .unmatched : .elsewhere, delivery: all.last?.seq)
        }
    }

    private mutating func apply(
        _ interaction: Interaction, _ delivery: TrackedDelivery, startsSession: Bool, _ now: Int64
    ) -> InteractionResult {
        var action: ButtonAction?
        var id: String?
        switch interaction.act {
        case .dismissed:
            return InteractionResult(verdict: .dismissed, delivery: delivery.seq, wasDisplayed: delivery.isDisplayed)
        case .opened: break
        case .button(let button):
            id = button
            action = delivery.buttons.all.first { $0.id == button }?.action
            if action == nil {
                return InteractionResult(
                    verdict: .unknownAction, delivery: delivery.seq, wasDisplayed: delivery.isDisplayed)
            }
        }
        if action != .close, startsSession {
            _ = start(
                TrackerSource(
                    cause: interaction.cause, platform: interaction.platform,
                    app: interaction.app ?? delivery.app,
                    device: interaction.device ?? delivery.device,
                    externalID: interaction.externalID ?? delivery.externalID, at: interaction.at), now)
        }
        let isNew: Bool
        if action == .close, let id {
            isNew = !closes.contains { $0.delivery == delivery.seq && $0.button == id }
            closes.append((delivery.seq, id))
        } else {
            isNew = !isOpened(delivery.seq)
            if isNew {
                opens.append(Open(delivery: delivery.seq, at: interaction.at.milliseconds, by: interaction.cause))
            }
        }
        guard isNew else {
            return InteractionResult(verdict: .duplicate, delivery: delivery.seq, wasDisplayed: delivery.isDisplayed)
        }
        guard delivery.campaignID != nil else {
            return InteractionResult(verdict: .unattributed, delivery: delivery.seq, wasDisplayed: delivery.isDisplayed)
        }
        if !isOff(delivery.app) {
            emit(
                .open, interaction.cause, interaction.cause, delivery,
                interaction.externalID ?? delivery.externalID, interaction.at.milliseconds)
            events[events.count - 1].content = .init(
                .open, campaignID: delivery.campaignID, messageID: delivery.messageID,
                button: id.map { AnalyticsEvent.Button(id: $0, action: action) })
        }
        return InteractionResult(
            verdict: action == .close ? .closed : .opened, delivery: delivery.seq, wasDisplayed: delivery.isDisplayed)
    }

    // MARK: T4 to T6, T10

    private mutating func decide(
        _ key: DeviceKey, _ user: String?, _ start: Int64, _ earlier: [Int64], _ cause: SequenceNumber
    ) {
        var credited = receipts.filter { receipt in
            let delivery = receipt.delivery
            let age = start - delivery.receivedAt.milliseconds
            let wasOpened = opens.contains {
                $0.delivery == delivery.seq && ($0.by < cause || $0.at <= start + rules.grace.milliseconds)
            }
            return !receipt.isForgotten && delivery.device == key.device && delivery.app == key.app
                && delivery.externalID == user && delivery.isDisplayed && delivery.campaignID != nil
                && !influenced.contains(delivery.seq) && !wasOpened && age >= 0 && isWithinWindow(age, earlier)
        }.map(\.delivery)
        if rules.influencedCredit == .latest {
            credited.sort { ($0.receivedAt, $0.seq) < ($1.receivedAt, $1.seq) }
            credited = Array(credited.suffix(1))
        }
        for delivery in credited {
            influenced.append(delivery.seq)
            if !isOff(delivery.app) { emit(.influencedOpen, delivery.seq, cause, delivery, user, start) }
        }
    }

    /// T5 without a division: compares the sum of the intervals with twice their number.
    private func isWithinWindow(_ age: Int64, _ earlier: [Int64]) -> Bool {
        let isWithinFixed = age < rules.influencedWindow.milliseconds
        guard earlier.count >= 2, rules.windowRule != .fixed else { return isWithinFixed }
        let sum = zip(earlier.dropFirst(), earlier).reduce(0) { $0 + $1.0 - $1.1 }
        let isWithinHalf = age * 2 * Int64(earlier.count - 1) < sum
        return rules.windowRule == .max ? isWithinFixed || isWithinHalf : isWithinFixed && isWithinHalf
    }

    // MARK: T7, T8

    private func timeout(_ platform: Platform) -> Int64 {
        switch platform {
        case .android: rules.androidSessionTimeout.milliseconds
        case .ios: rules.appleSessionTimeout.milliseconds
        case .web: rules.webSessionTimeout.milliseconds
        }
    }

    private func current(_ key: DeviceKey) -> Int? {
        let horizon = floorSeconds(clock ?? 0) - rules.remember.components.seconds
        return sessions.lastIndex { $0.key == key && !$0.isOver && ($0.end != nil || $0.acceptedSecond >= horizon) }
    }

    private mutating func start(_ source: TrackerSource, _ now: Int64) -> SessionResult {
        guard let device = source.device else { return .withoutDevice }
        let key = DeviceKey(app: source.app, device: device)
        let at = source.at.milliseconds
        if let index = current(key) {
            if sessions[index].user == source.externalID {
                guard let end = sessions[index].end else { return .continued }
                if at >= sessions[index].startedAt, at - end.at <= timeout(sessions[index].platform) {
                    sessions[index].end = nil
                    sessions[index].acceptedSecond = floorSeconds(now)
                    waits.removeAll { if case .endOfSession = $0.what { $0.cause == end.by } else { false } }
                    return .continued
                }
            }
            finish(index, sessions[index].end?.at ?? at, sessions[index].end?.by ?? source.cause)
        }
        for index in sessions.indices where sessions[index].key == key { sessions[index].isOver = true }
        sessions.append(
            Session(
                key: key, platform: source.platform, user: source.externalID, number: source.cause, startedAt: at,
                acceptedSecond: floorSeconds(now)))
        emit(.sessionStart, source.cause, source.cause, source, at)

        let owner = source.externalID ?? device
        let isMine = { (start: Start) in
            start.owner == owner && start.isAnonymous == (source.externalID == nil) && start.app == source.app
        }
        let mine = starts.filter(isMine)
        let intervalMax = 2 * rules.remember.milliseconds
        if let lastSeen = mine.last?.acceptedSecond, lastSeen < floorSeconds(now) - intervalMax / 1000 {
            starts.removeAll(where: isMine)
        }
        if let latest = starts.filter(isMine).map(\.at).max() {
            if latest - at > intervalMax { return .started }
            if at - latest > intervalMax { starts.removeAll(where: isMine) }
        }
        let earlier = starts.filter(isMine).map(\.at).sorted().suffix(10).filter { $0 < at }
        starts.append(
            Start(
                owner: owner, isAnonymous: source.externalID == nil, app: source.app, at: at,
                acceptedSecond: floorSeconds(now)))
        let decision = Wait.What.decision(key: key, user: source.externalID, at: at, earlier: earlier)
        wait(decision, source.cause, rules.grace.milliseconds + 1, now)
        return .started
    }

    private mutating func finish(_ index: Int, _ at: Int64, _ cause: SequenceNumber) {
        let session = sessions[index]
        sessions[index].isOver = true
        let source = TrackerSource(
            cause: cause, platform: session.platform, app: session.key.app, device: session.key.device,
            externalID: session.user, at: WallTime(milliseconds: at))
        emit(.sessionEnd, session.number, cause, source, at)
        events[events.count - 1].content = .sessionEnd(.milliseconds(max(0, at - session.startedAt)))
    }

    // MARK: Time, memory, events

    private mutating func begin(_ now: Int64) {
        if let clock, now > clock { passed += now - clock }
        clock = now
        // Forgets the oldest first, and none before older ones.
        let horizon = floorSeconds(now) - rules.remember.components.seconds
        for index in receipts.indices where !receipts[index].isForgotten {
            guard receipts[index].acceptedSecond < horizon else { break }
            receipts[index].isForgotten = true
        }
    }

    private mutating func wait(_ what: Wait.What, _ cause: SequenceNumber, _ span: Int64, _ now: Int64) {
        waits.append(Wait(what: what, cause: cause, due: passed + span, wallDue: now + span, span: span))
    }

    private func isOff(_ app: String?) -> Bool { rules.appsWithoutCampaignEvents.contains { $0.matches(app ?? "") } }

    private mutating func emit(
        _ kind: AnalyticsEvent.Kind, _ number: SequenceNumber, _ cause: SequenceNumber, _ delivery: TrackedDelivery,
        _ user: String?, _ at: Int64
    ) {
        events.append(
            AnalyticsEvent(
                id: AnalyticsEvent.identifier(state: stateID, number: number, kind: kind),
                time: floorSeconds(at), seq: cause, delivery: delivery.seq, externalUserID: user,
                deviceID: delivery.device, appID: delivery.app, platform: delivery.platform,
                content: .init(kind, campaignID: delivery.campaignID, messageID: delivery.messageID)))
    }

    private mutating func emit(
        _ kind: AnalyticsEvent.Kind, _ number: SequenceNumber, _ cause: SequenceNumber, _ source: TrackerSource,
        _ at: Int64
    ) {
        events.append(
            AnalyticsEvent(
                id: AnalyticsEvent.identifier(state: stateID, number: number, kind: kind),
                time: floorSeconds(at), seq: cause, delivery: cause, externalUserID: source.externalID,
                deviceID: source.device, appID: source.app, platform: source.platform,
                content: .init(kind)))
    }

    private func floorSeconds(_ milliseconds: Int64) -> Int64 { WallTime(milliseconds: milliseconds).seconds }
}
