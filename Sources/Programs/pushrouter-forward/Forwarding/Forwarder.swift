import PushModel
import PushRouter
import PushSettings

/// Decides which requests go to `/users/track`, when, and what an answer means.
///
/// A value: events with a time go in, effects come out. The daemon owns the state of an entry and keeps it until it
/// confirms a settlement. A settlement whose reply is lost is repeated, so a crash of the daemon neither loses nor
/// doubles an entry. Before a request leaves, the daemon has its entries on disk as departed: only departed entries
/// become unknown when the forwarder is killed. The other entries return to the daemon as soon as the connection ends.
///
/// Two requests under way never have entries of the same user, and a user's entries leave in the order of their
/// numbers.
struct Forwarder: Sendable {
    /// The handling of new entries.
    enum Phase: Equatable {
        /// The forwarder sends new entries.
        case sending
        /// New entries wait until this time; `isAskedFor`: the endpoint asked for the wait.
        case waiting(until: Instant, isAskedFor: Bool)
        /// New entries wait for a person.
        case stopped
    }

    /// A request under way.
    struct Request: Sendable {
        var batch: Batch
        /// Whether it was sent; `false` while the daemon has not confirmed the departure of its entries.
        var isSent = false
        /// The value of `pauses` when the request left: a wait or a stop may have begun since.
        var pauses: Int
    }

    /// The settings for filling and pacing requests.
    var settings: ForwardingSettings
    /// The state of sending, for people.
    var state: SendingState
    /// The time of the next `clock` event; `nil`: none.
    private(set) var nextDue: Instant?

    var phase = Phase.sending
    /// Why the last reload was refused; `nil`: it was not.
    var refusal: String?
    /// In the order of their numbers.
    var waiting: [WaitingEntry] = []
    var underway: [Int: Request] = [:]
    /// The requests whose departure the daemon has not confirmed, in the order of the expected replies.
    private var departing = Queue<Int>()
    /// Settlements sent to the daemon and not confirmed, in the order of the expected replies.
    var unconfirmed: [[Settlement]] = []
    var isDraining = false

    private var isConnected = false
    private var isClaiming = false
    /// Whether the pending claim was sent before entries were given back. Its reply may have later entries than those,
    /// so they go back too.
    private var isClaimStale = false
    /// Whether the daemon knows, on this connection, which entries this run holds.
    private var hasReportedHeld = false
    /// Whether the daemon has reported the state of sending before this run.
    var knowsEarlierState = false
    private var hasFinished = false
    var pauses = 0
    private var requests = 0
    private var rate = RateWindow()
    /// Settlements to send to the daemon at the end of the turn.
    var settlements: [Settlement] = []
    var isStateUnreported = false

    /// - Parameters:
    ///   - settings: how requests are made up and paced.
    ///   - now: the time.
    init(settings: ForwardingSettings, now: Moment) {
        self.settings = settings
        state = SendingState(phase: .sending, since: now.wall)
    }

    /// The number of requests that were sent and have no answer yet.
    var requestsUnderway: Int { underway.values.count(where: \.isSent) }

    /// Handles an event.
    ///
    /// - Parameters:
    ///   - event: the event to handle.
    ///   - now: the time.
    ///   - random: the source of the jitter of a wait.
    /// - Returns: the effects to carry out.
    mutating func handle(
        _ event: ForwarderEvent, now: Moment, using random: inout some RandomNumberGenerator
    ) -> [ForwarderEffect] {
        var requests: [ForwarderEffect] = []
        switch event {
        case .connected: connect()
        case .disconnected: disconnect()
        case .claimed(let entries, let past): take(entries, past: past, now: now)
        case .departed(let numbers, let until): requests = depart(Set(numbers), until: until, now)
        case .settled:
            if !unconfirmed.isEmpty { unconfirmed.removeFirst() }
        case .answered(let request, let answer): conclude(request, answer, now: now, using: &random)
        case .clock: break
        case .reconfigured(let settings):
            reconfigure(settings, now: now)
        case .refused(let reason):
            refusal = "the last reload was refused, the previous settings and key stay in force: \(reason)"
            if phase == .sending { resume(failures: state.failures, now: now) }
        case .draining: isDraining = true
        }
        return requests + advance(now)
    }

    private mutating func connect() {
        isConnected = true
        hasReportedHeld = false
        // The first claim names the held entries: the daemon queues the others again.
        waiting = []
        // The forwarder repeats all unconfirmed settlements before it claims more entries.
        settlements = unconfirmed.flatMap(\.self) + settlements
        unconfirmed = []
        isStateUnreported = knowsEarlierState
    }

    private mutating func disconnect() {
        isConnected = false
        isClaiming = false
        isClaimStale = false
        waiting = []
        // The daemon may have recorded the departure. This settlement tells it that the entries did not leave.
        while let number = departing.popFirst() {
            let entries = underway.removeValue(forKey: number)?.batch.entries ?? []
            settlements += entries.map { Settlement($0.entry.number, .queued) }
        }
    }

    /// Ends a stop and a wait after failures. A wait that the same endpoint asked for continues.
    private mutating func reconfigure(_ settings: ForwardingSettings, now: Moment) {
        let isSameEndpoint = settings.endpoint == self.settings.endpoint
        self.settings = settings
        refusal = nil
        if case .waiting(_, isAskedFor: true) = phase, isSameEndpoint { return }
        resume(failures: 0, now: now)
    }

    private mutating func take(_ entries: [ClaimedEntry], past: SendingState?, now: Moment) {
        isClaiming = false
        if !knowsEarlierState {
            knowsEarlierState = true
            // Without an earlier report, this run reports that sending works.
            if let past { restore(from: past, now: now) } else { isStateUnreported = true }
        }
        forgetSettlements(of: Set(entries.map(\.number)))
        if isClaimStale {
            isClaimStale = false
            settlements += entries.map { Settlement($0.number, .queued, reason: state.reason) }
        } else {
            wait(entries.map { WaitingEntry($0, since: now.monotonic) })
        }
    }

    /// Adds entries to the waiting ones.
    mutating func wait(_ entries: [WaitingEntry]) {
        waiting = (waiting + entries).sorted { $0.entry.number < $1.entry.number }
    }

    /// Drops settlements of entries that the daemon hands over again: it has processed the earlier settlement and
    /// queued the entry. Repeating the settlement would release the entry while this run holds it.
    private mutating func forgetSettlements(of numbers: Set<EntryNumber>) {
        for place in unconfirmed.indices { unconfirmed[place].removeAll { numbers.contains($0.number) } }
        settlements.removeAll { numbers.contains($0.number) }
    }

    // MARK: The end of a turn

    private mutating func advance(_ now: Moment) -> [ForwarderEffect] {
        nextDue = nil
        endWait(now)
        if phase != .sending || isDraining { release() }
        let departures = departures(now)
        var effects = reportToDaemon()
        effects += departures
        if isDraining, !hasFinished, underway.isEmpty, settlements.isEmpty, unconfirmed.isEmpty {
            hasFinished = true
            effects.append(.finish)
        }
        return effects
    }

    private mutating func endWait(_ now: Moment) {
        guard case .waiting(let until, _) = phase, !isDraining else { return }
        if until <= now.monotonic {
            resume(failures: state.failures, now: now)
        } else {
            nextDue = until
        }
    }

    /// Gives back the waiting entries. While sending is paused the forwarder holds no entries, so its death leaves none
    /// unknown.
    private mutating func release() {
        if isClaiming { isClaimStale = true }
        settlements += waiting.map { Settlement($0.entry.number, .queued, reason: state.reason) }
        waiting = []
    }

    private mutating func departures(_ now: Moment) -> [ForwarderEffect] {
        var effects: [ForwarderEffect] = []
        // After a failure a single request tests the endpoint.
        let connections = state.failures > 0 ? 1 : settings.connections
        while isConnected, phase == .sending, !isDraining, underway.count < connections {
            let busy = underway.values.reduce(into: Set()) { $0.formUnion($1.batch.users) }
            let batch = Batch(from: waiting, busy: busy, settings: settings)
            guard let since = batch.since else { break }
            let due = batch.isFull ? now.monotonic : since + settings.flush
            let next = rate.nextDeparture(settings, announced: departing.count, now: now.monotonic)
            guard let departure = next.map({ max(due, $0) }), departure <= now.monotonic else {
                nextDue = next.map { max(due, $0) }
                break
            }
            effects.append(announce(batch))
        }
        return effects
    }

    private mutating func announce(_ batch: Batch) -> ForwarderEffect {
        let leaving = batch.entries.map(\.entry.number)
        let numbers = Set(leaving)
        waiting.removeAll { numbers.contains($0.entry.number) }
        requests += 1
        underway[requests] = Request(batch: batch, pauses: pauses)
        departing.append(requests)
        return .depart(leaving)
    }

    /// Sends the oldest announced request with the entries that the daemon granted: a person may have discarded others.
    private mutating func depart(_ granted: Set<EntryNumber>, until: Instant?, _ now: Moment) -> [ForwarderEffect] {
        guard let number = departing.popFirst(), var request = underway[number] else { return [] }
        request.batch.keep(granted)
        // Sending may have stopped since the announcement: then the entries wait again and are given back.
        guard phase == .sending, !isDraining, !request.batch.isEmpty else {
            underway[number] = nil
            wait(request.batch.entries)
            return []
        }
        rate.depart(at: now.monotonic)
        request.isSent = true
        request.pauses = pauses
        underway[number] = request
        return [.send(request: number, request.batch.content, until: until)]
    }

    private mutating func reportToDaemon() -> [ForwarderEffect] {
        guard isConnected else { return [] }
        var effects: [ForwarderEffect] = []
        while !settlements.isEmpty {
            let part = Array(settlements.prefix(Self.settlementsInRequest))
            settlements.removeFirst(part.count)
            unconfirmed.append(part)
            effects.append(.settle(part))
        }
        if isStateUnreported {
            isStateUnreported = false
            effects.append(.report(state))
        }
        let room = settings.heldMax - held.count
        if phase == .sending, !isDraining, !isClaiming, room > 0 {
            isClaiming = true
            effects.append(.claim(limit: min(room, Self.claimLimit), holding: hasReportedHeld ? nil : held))
            hasReportedHeld = true
        }
        return effects
    }

    /// The daemon's limits for one request; 100 settlements with their reasons fit in `RequestLengthMax=`.
    private static let claimLimit = 1000
    private static let settlementsInRequest = 100

    private var held: [EntryNumber] {
        (waiting + underway.values.flatMap(\.batch.entries)).map(\.entry.number).sorted()
    }
}

/// The rate limit for requests: at most `rateLimit` in any interval of `rateInterval` (a sliding window).
struct RateWindow {
    private var departures = Queue<Instant>()

    /// Returns when the next request may be announced: `now` if at once, `nil` if that depends on announced requests
    /// that have not left.
    ///
    /// - Parameter announced: how many were announced and have not left.
    mutating func nextDeparture(_ settings: ForwardingSettings, announced: Int, now: Instant) -> Instant? {
        while let first = departures.first, first + settings.rateInterval <= now { _ = departures.popFirst() }
        guard departures.count + announced >= settings.rateLimit else { return now }
        return departures.first.map { $0 + settings.rateInterval }
    }

    /// Records the departure of a request.
    mutating func depart(at now: Instant) { departures.append(now) }
}

/// The wait after failures in a row: a random part of a ceiling that doubles with each failure up to a day, so that
/// many forwarders that failed together do not retry together.
enum Backoff {
    /// The highest ceiling: a day.
    static let longest = Duration.seconds(86_400)
    /// The longest wait that an endpoint may ask for. The windows of its limits last an hour at most; after an hour the
    /// forwarder asks again.
    static let longestAskedFor = Duration.seconds(3600)

    /// - Parameter failures: how many in a row; at least one.
    static func wait(after failures: Int, using random: inout some RandomNumberGenerator) -> Duration {
        let doublings = min(failures - 1, 17)
        let ceiling = min(.seconds(1 << doublings), longest)
        return .milliseconds(Int64.random(in: 0...ceiling.milliseconds, using: &random))
    }
}

/// The reported reasons for the daemon's absence: reports each once, until the daemon answers again.
struct DaemonOutage: Sendable {
    private var reasons: Set<String> = []

    /// A daemon that is not known to be absent.
    init() {}

    /// Notes that the daemon is away, or refuses.
    ///
    /// - Returns: whether to report it.
    mutating func begin(_ reason: String) -> Bool { reasons.insert(reason).inserted }

    /// Notes that the daemon carried out a request. An accepted connection does not count.
    ///
    /// - Returns: whether to report it.
    mutating func end() -> Bool {
        defer { reasons = [] }
        return !reasons.isEmpty
    }
}

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

/// The events that a forwarder handles.
enum ForwarderEvent: Sendable {
    /// The daemon accepts requests.
    case connected
    /// The connection to the daemon ended, or the forwarder gave it up after a refusal. Pending replies will not come.
    case disconnected
    /// The reply to a claim, with the daemon's last report of how sending went.
    case claimed([ClaimedEntry], SendingState?)
    /// The reply to the oldest pending `depart`: the entries that may be sent, and until when. The time is on the clock
    /// that counts suspensions; `nil`: no limit.
    case departed([EntryNumber], until: Instant? = nil)
    /// The reply to the oldest pending `settle`.
    case settled
    /// The result of a request.
    case answered(request: Int, EndpointAnswer)
    /// The time `nextDue` has come.
    case clock
    /// The configuration or the key was read again, so the cause of a stop may be gone. A wait that the endpoint asked
    /// for continues.
    case reconfigured(ForwardingSettings)
    /// The configuration or the key was read again and refused: the reason.
    case refused(String)
    /// The forwarder is about to end: requests under way finish, the other entries go back.
    case draining
}

/// The effects of a forwarder, to be carried out in this order.
enum ForwarderEffect: Hashable, Sendable {
    /// Settle entries with the daemon.
    case settle([Settlement])
    /// Report the state of sending to the daemon.
    case report(SendingState)
    /// Claim entries from the daemon; the reply comes when the daemon has some.
    ///
    /// - Parameters:
    ///   - limit: how many at most.
    ///   - holding: with the first claim of a connection: the held entries. The daemon queues all other entries that it
    ///     counts for this run again: they were in a reply that was lost.
    case claim(limit: Int, holding: [EntryNumber]?)
    /// Announce entries to the daemon that are about to be sent; they leave after its confirmation.
    case depart([EntryNumber])
    /// Send a request, unless `until` has passed when its first byte is about to leave. After `until` another machine
    /// may send the same entries; then the request has failed without being sent.
    case send(request: Int, RequestContent, until: Instant?)
    /// The forwarder holds no entries: the program may end.
    case finish
}
