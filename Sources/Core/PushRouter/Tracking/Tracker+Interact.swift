public import PushModel

extension Tracker {
    /// Records a person's act on a Braze notification.
    ///
    /// A tap on another provider's notification that opens the app is a session start (T8): `session(.start, ...)`.
    ///
    /// - Parameters:
    ///   - interaction: the interaction.
    ///   - now: the clock.
    ///   - output: receives the events and records.
    /// - Returns: the result; the interaction may be held.
    public mutating func interact(
        _ interaction: Interaction, now: WallTime, into output: inout TrackerOutput
    ) -> InteractionResult {
        begin(now, into: &output)
        var interaction = interaction
        interaction.at = min(interaction.at, now)
        let match = match(interaction)
        if case .found(let slot) = match {
            return apply(interaction, to: slot, startsSession: true, now: now, into: &output)
        }
        // The interaction may precede its delivery (T15). A tap opens the app whatever the notification, so its session
        // starts now (T8).
        if interaction.startsSessionAlone { startSession(TrackerSource(interaction), now: now, into: &output) }
        guard !held.isFull(for: interaction) else {
            let result = verdict(withoutDelivery: match)
            record(interaction, result, nil, into: &output)
            return result
        }
        let due = clock.own(now).saturatingAdd(rules.waitMilliseconds)
        let waiting = HeldInteraction(interaction, due: clock.wall(due))
        hold(waiting, due: due)
        output.records.append(.held(waiting))
        while let surplus = held.surplus { giveUp(surplus, into: &output) }
        let inVain = verdict(withoutDelivery: match)
        return InteractionResult(verdict: nil, delivery: inVain.delivery, otherwise: inVain.verdict)
    }

    /// Returns the remembered delivery that an interaction names; it may be opened already.
    public func delivery(for subject: Interaction.Subject, app: String?, device: String?) -> KnownDelivery? {
        let slot: UInt32
        switch match(subject, app: app, device: device) {
        case .found(let found), .opened(let found): slot = found
        case .elsewhere, .unknown: return nil
        }
        let entry = deliveries[slot]
        let place = devices[entry.device]
        return KnownDelivery(
            seq: SequenceNumber(entry.seq), platform: entry.platform, app: texts[place.app],
            device: place.name, externalID: texts[entry.user], messageID: deliveries.messageID(of: slot))
    }

    // MARK: Held interactions

    /// Whether a held interaction counts nothing unless another delivery comes within the grace: the named delivery is
    /// already opened or went elsewhere, or an equivalent interaction is held.
    func isHeldInVain(_ interaction: Interaction) -> Bool {
        switch match(interaction) {
        case .opened, .elsewhere: return true
        case .found: return false
        case .unknown: break
        }
        // The digest identifies only a campaign if the platform does not hand back the payload (T15). Without a device,
        // two equivalent interactions may then be those of two people.
        if case .payload = interaction.subject, !interaction.platform.handsBackPayload, interaction.device == nil {
            return false
        }
        return held.hasAnother(like: interaction)
    }

    mutating func hold(_ waiting: HeldInteraction, due: Int64) {
        held.add(waiting.interaction, due: due)
        timers.insert(
            TrackerTimer(due: due, cause: waiting.interaction.cause, purpose: .heldInteraction, slot: noSlot))
    }

    /// Applies the held interactions that wait for this delivery.
    mutating func settleHeld(
        by delivery: SequenceNumber, _ messageID: String?, _ digest: UInt64?, on device: String?, now: WallTime,
        into output: inout TrackerOutput
    ) {
        var subjects: [Interaction.Subject] = [.delivery(delivery)]
        if let messageID { subjects.append(.message(messageID)) }
        if let digest { subjects.append(.payload(digest)) }
        for cause in held.causes(of: subjects, on: device) {
            // An interaction past its grace is too late, even if its timer has not fired yet.
            guard let (waiting, due) = held[cause], clock.own(now) < due, case .found(let slot) = match(waiting)
            else { continue }
            release(cause, into: &output)
            _ = apply(
                waiting, to: slot, startsSession: !waiting.startsSessionAlone, now: now, into: &output)
        }
    }

    /// Gives up a held interaction, after its grace or beyond the limits.
    mutating func giveUp(_ cause: SequenceNumber, into output: inout TrackerOutput) {
        guard let waiting = held[cause]?.interaction else { return }
        release(cause, into: &output)
        record(waiting, verdict(withoutDelivery: match(waiting)), nil, into: &output)
    }

    /// Returns the verdict on an interaction without a matching delivery.
    private func verdict(withoutDelivery match: Match) -> InteractionResult {
        switch match {
        case .found, .unknown: InteractionResult(verdict: .unmatched, delivery: nil)
        case .opened(let slot): InteractionResult(verdict: .duplicate, delivery: number(slot))
        case .elsewhere(let slot): InteractionResult(verdict: .elsewhere, delivery: number(slot))
        }
    }

    private mutating func release(_ cause: SequenceNumber, into output: inout TrackerOutput) {
        guard held.remove(cause) != nil else { return }
        output.records.append(.settled(cause))
        noteStaleTimer()
    }

    // MARK: Matching

    private enum Match {
        case found(UInt32)
        /// All deliveries with that payload are opened.
        case opened(UInt32)
        /// The delivery went to another device or app.
        case elsewhere(UInt32)
        case unknown
    }

    private func match(_ interaction: Interaction) -> Match {
        match(interaction.subject, app: interaction.app, device: interaction.device)
    }

    private func match(_ subject: Interaction.Subject, app: String?, device: String?) -> Match {
        switch subject {
        case .delivery(let seq):
            guard let slot = deliveries.find(seq) else { return .unknown }
            return isMeant(slot, app: app, device: device) ? .found(slot) : .elsewhere(slot)
        case .message(let message):
            if let device {
                var found: UInt32?
                forEachApp(on: device, app) { place in
                    found = later(found, deliveries.find(.message, message, device: place))
                }
                if let found { return .found(found) }
            }
            guard let slot = deliveries.find(.messageAnywhere, message, device: noSlot) else { return .unknown }
            return isMeant(slot, app: app, device: device) ? .found(slot) : .elsewhere(slot)
        case .payload(let digest):
            guard let device else { return .unknown }
            return match(digest, app: app, device: device)
        }
    }

    /// Returns the delivery with a digest on a device.
    private func match(_ digest: UInt64, app: String?, device: String) -> Match {
        var found: UInt32?
        var latest: UInt32?
        forEachApp(on: device, app) { place in
            guard let slot = deliveries.find(digest: digest, device: place) else { return }
            latest = later(latest, slot)
            found = later(found, unopened(digest, latest: slot, device: place))
        }
        return found.map(Match.found) ?? latest.map(Match.opened) ?? .unknown
    }

    /// Returns the latest unopened delivery with this digest.
    private func unopened(_ digest: UInt64, latest: UInt32, device: UInt32) -> UInt32? {
        if !deliveries[latest].flags.contains(.opened) { return latest }
        var found: UInt32?
        for slot in devices[device].unopened.all where !deliveries[slot].flags.contains(.opened) {
            if deliveries.digest(of: slot) == digest { found = later(found, slot) }
        }
        return found
    }

    /// Calls `body` with the apps of a device that an interaction may concern: the named app and the unnamed one, or
    /// all.
    private func forEachApp(on device: String, _ app: String?, _ body: (UInt32) -> Void) {
        let wanted = texts.find(app)
        var next = devices.first(device) ?? noSlot
        while next != noSlot {
            let found = devices[next].app
            if app == nil || found == SharedTexts.none || found == wanted { body(next) }
            next = devices[next].nextApp
        }
    }

    /// Whether a delivery matches the device and the app, as far as they are named.
    private func isMeant(_ slot: UInt32, app: String?, device: String?) -> Bool {
        let place = devices[deliveries[slot].device]
        guard device == nil || place.isNamed(device) else { return false }
        return app == nil || place.app == SharedTexts.none || texts.find(app) == place.app
    }

    private func later(_ one: UInt32?, _ other: UInt32?) -> UInt32? {
        guard let one, let other else { return one ?? other }
        return deliveries[one].seq > deliveries[other].seq ? one : other
    }

    private func number(_ slot: UInt32) -> SequenceNumber { SequenceNumber(deliveries[slot].seq) }

    // MARK: Opens and clicks

    private mutating func apply(
        _ interaction: Interaction, to slot: UInt32, startsSession: Bool, now: WallTime,
        into output: inout TrackerOutput
    ) -> InteractionResult {
        let verdict: Interaction.Verdict
        var button: ButtonAction?
        switch interaction.act {
        case .dismissed: verdict = .dismissed
        case .opened:
            if startsSession { self.startsSession(interaction, slot, now: now, into: &output) }
            verdict = open(slot, interaction, button: nil, into: &output)
        case .button(let id):
            button = ButtonList.action(of: id, in: deliveries.buttons(of: slot))
            switch button {
            case nil: verdict = .unknownAction
            case .close: verdict = close(slot, interaction, button: id, into: &output)
            case .uri, .deepLink, ButtonAction.none?:
                if startsSession { self.startsSession(interaction, slot, now: now, into: &output) }
                verdict = open(slot, interaction, button: button, into: &output)
            }
        }
        let result = InteractionResult(
            verdict: verdict, delivery: number(slot), wasDisplayed: deliveries[slot].flags.contains(.displayed))
        record(interaction, result, button, into: &output)
        return result
    }

    /// Starts a session: the tap opened the app (T8).
    private mutating func startsSession(
        _ interaction: Interaction, _ slot: UInt32, now: WallTime, into output: inout TrackerOutput
    ) {
        var source = TrackerSource(interaction)
        let entry = deliveries[slot]
        source.device = source.device ?? devices[entry.device].name
        source.app = source.app ?? texts[devices[entry.device].app]
        source.externalID = source.externalID ?? texts[entry.user]
        startSession(source, now: now, into: &output)
    }

    /// Opens a delivery, which counts once (T1 to T3).
    private mutating func open(
        _ slot: UInt32, _ interaction: Interaction, button: ButtonAction?, into output: inout TrackerOutput
    ) -> Interaction.Verdict {
        let entry = deliveries[slot]
        guard !entry.flags.contains(.opened) else { return .duplicate }
        markOpened(slot, .init(at: interaction.at, by: interaction.cause))
        output.records.append(.opened(number(slot), at: interaction.at, by: interaction.cause))
        guard entry.campaign != SharedTexts.none else { return .unattributed }
        emitOpen(slot, interaction, button, into: &output)
        return .opened
    }

    mutating func markOpened(_ slot: UInt32, _ opening: TrackedRow.Opening) {
        let entry = deliveries[slot]
        deliveries[slot].flags.insert(.opened)
        if entry.flags.contains(.listed), devices[entry.device].pendingStarts > 0 {
            // A pending start before it still needs the time of the open (T6).
            openings[number(slot)] = opening
        } else {
            unlist(slot)
        }
    }

    /// Counts a close button: each distinct one counts once, and opens nothing (T1, T2).
    private mutating func close(
        _ slot: UInt32, _ interaction: Interaction, button: String, into output: inout TrackerOutput
    ) -> Interaction.Verdict {
        guard closed[number(slot), default: []].insert(button).inserted else { return .duplicate }
        guard deliveries[slot].campaign != SharedTexts.none else { return .unattributed }
        emitOpen(slot, interaction, .close, into: &output)
        return .closed
    }

    private func emitOpen(
        _ slot: UInt32, _ interaction: Interaction, _ button: ButtonAction?, into output: inout TrackerOutput
    ) {
        let user = interaction.externalID ?? texts[deliveries[slot].user]
        var pressed: AnalyticsEvent.Button?
        if case .button(let id) = interaction.act { pressed = AnalyticsEvent.Button(id: id, action: button) }
        let open = event(
            .open(push(slot), button: pressed), number: interaction.cause, cause: interaction.cause, about: slot,
            user: user, at: interaction.at)
        if rules.emitsCampaignEvents(for: open.appID) { output.events.append(open) }
    }

    private func record(
        _ interaction: Interaction, _ result: InteractionResult, _ action: ButtonAction?,
        into output: inout TrackerOutput
    ) {
        guard let verdict = result.verdict else { return }
        var button: String?
        if case .button(let id) = interaction.act { button = id }
        let row = InteractionRow(
            cause: interaction.cause, delivery: result.delivery, verdict: verdict, button: button,
            buttonAction: action, at: interaction.at)
        output.records.append(.interaction(row))
    }
}

/// The tracker's facts about a delivery that an interaction names; they fill in the interaction's missing fields.
public struct KnownDelivery: Hashable, Sendable {
    /// The number.
    public var seq: SequenceNumber
    /// The platform.
    public var platform: Platform
    /// The app.
    public var app: String?
    /// The device.
    public var device: String?
    /// The user at the time of the delivery.
    public var externalID: String?
    /// The message id: the payload's own, or the request's in place of it.
    public var messageID: String?
}

extension TrackerSource {
    /// Takes the user and the device of an interaction.
    init(_ interaction: Interaction) {
        self.init(
            cause: interaction.cause, platform: interaction.platform, app: interaction.app, device: interaction.device,
            externalID: interaction.externalID, at: interaction.at)
    }
}

extension Interaction {
    /// Whether it opens the app regardless of the delivery, on a known device.
    fileprivate var startsSessionAlone: Bool { act == .opened && device != nil }
}
