import PushModel
import PushRouter
import PushSettings

extension Forwarder {
    /// Handles the result of a request. Entries that the endpoint did not take wait again in their place, unless
    /// sending is paused, so no later entry of the same user passes them.
    ///
    /// If the endpoint refuses a request because of some entries, the others leave again at once. Each such answer
    /// rejects at least one entry, so this repetition ends.
    mutating func conclude(
        _ number: Int, _ answer: EndpointAnswer, now: Moment, using random: inout some RandomNumberGenerator
    ) {
        guard let request = underway.removeValue(forKey: number) else {
            preconditionFailure("request \(number) is not under way")
        }
        // A request that left before the last wait or stop does not change the state.
        let isNews = request.pauses == pauses
        let batch = request.batch
        let verdict = Verdict(
            answer, attributes: batch.attributes.count, events: batch.events.count, settings: settings)
        switch verdict {
        case .settled(let attributes, let events):
            settle(batch.attributes, as: attributes)
            settle(batch.events, as: events)
            if isNews, state.failures > 0 { resume(failures: 0, now: now) }
        case .unknown(let reason):
            settlements += batch.entries.map { Settlement($0.entry.number, .unknown, reason: reason) }
            // The failure may persist: the next request may be lost as well.
            if isNews { backOff(reason, now: now, using: &random) }
        case .unsent: wait(batch.entries)
        case .failed(let reason):
            wait(batch.entries)
            if isNews { backOff(reason, now: now, using: &random) }
        case .slowDown(let until, let reason):
            wait(batch.entries)
            guard isNews else { return }
            if let until, until > now.wall {
                wait(until: until, reason, failures: state.failures, isAskedFor: true, now: now)
            } else {
                backOff(reason, now: now, using: &random)
            }
        case .refused(let reason):
            wait(batch.entries)
            stop(reason, now: now)
        }
    }

    /// Resumes the state of an earlier run: a wait outlives the run, a stop does not, because a restart is how people
    /// end it.
    mutating func restore(from past: SendingState, now: Moment) {
        guard past.phase == .waiting, let until = past.until, until > now.wall else {
            if past.phase != .sending || past.reason != nil { isStateUnreported = true }
            if past.phase == .waiting { state.failures = past.failures }
            return
        }
        // A wait without a failure is one that the endpoint asked for.
        wait(
            until: until, past.reason ?? "an earlier run failed", failures: past.failures,
            isAskedFor: past.failures == 0, now: now)
    }

    /// Resumes sending.
    mutating func resume(failures: Int, now: Moment) {
        phase = .sending
        guard state.phase != .sending || state.failures != failures || state.reason != refusal else { return }
        setState(SendingState(phase: .sending, reason: refusal, failures: failures, since: now.wall))
    }

    private mutating func settle(_ entries: [WaitingEntry], as fates: [Verdict.Fate]) {
        for (waiting, fate) in zip(entries, fates) {
            let number = waiting.entry.number
            switch fate {
            case .sent: settlements.append(Settlement(number, .sent))
            case .queued: wait([waiting])
            case .rejected(let reason):
                settlements.append(Settlement(number, .rejected, reason: reason))
            case .unknown(let reason):
                settlements.append(Settlement(number, .unknown, reason: reason))
            }
        }
    }

    private mutating func backOff(_ reason: String, now: Moment, using random: inout some RandomNumberGenerator) {
        let failures = state.failures + 1
        let wait = Backoff.wait(after: failures, using: &random)
        let until = WallTime(milliseconds: now.wall.milliseconds + wait.milliseconds)
        self.wait(until: until, reason, failures: failures, isAskedFor: false, now: now)
    }

    /// - Parameter until: by the wall clock, which outlives a run. Capped at an hour from now if the endpoint asked for it,
    ///   otherwise at a day, so that a change of the clock does not extend it.
    private mutating func wait(
        until: WallTime, _ reason: String, failures: Int, isAskedFor: Bool, now: Moment
    ) {
        let longest = isAskedFor ? Backoff.longestAskedFor : Backoff.longest
        let latest = WallTime(milliseconds: now.wall.milliseconds + longest.milliseconds)
        let until = min(until, latest)
        let span = Duration.milliseconds(until.milliseconds - now.wall.milliseconds)
        phase = .waiting(until: now.monotonic + span, isAskedFor: isAskedFor)
        pauses += 1
        setState(SendingState(phase: .waiting, reason: reason, failures: failures, until: until, since: now.wall))
    }

    private mutating func stop(_ reason: String, now: Moment) {
        guard phase != .stopped else { return }
        phase = .stopped
        pauses += 1
        setState(SendingState(phase: .stopped, reason: reason, failures: state.failures, since: now.wall))
    }

    private mutating func setState(_ state: SendingState) {
        self.state = state
        isStateUnreported = true
    }
}
