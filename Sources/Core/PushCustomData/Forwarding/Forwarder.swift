public import PushModel

/// Decides what is sent to `/users/track`, when, and what an answer means.
///
/// A value: events with a time go in, effects come out. The truth about an entry is the daemon's: what it hands over stays
/// there until a settlement is confirmed, so a settlement whose reply is lost is repeated, and a crash of the daemon neither
/// loses nor doubles anything. Before a request leaves, the daemon has its entries on disk as departed: only those are of
/// unknown outcome when the forwarder is killed. What has not departed is the daemon's again as soon as the connection ends.
///
/// Two requests under way never have entries of the same user, and a user's entries leave in the order of their numbers.
public struct Forwarder: Sendable {
    /// What is done with new entries.
    enum Phase: Equatable {
        /// They are sent.
        case sending
        /// They wait for this time; whether the endpoint asked for it.
        case waiting(until: Instant, isAskedFor: Bool)
        /// They wait for a person.
        case stopped
    }

    /// A request that was made up.
    struct Request: Sendable {
        var batch: Batch
        /// Whether it was sent; if not, the daemon has not confirmed yet that its entries depart.
        var isSent = false
        /// How many waits and stops there had been when it left: the next one may have come since.
        var pauses: Int
    }

    /// How requests are made up and paced.
    public internal(set) var settings: ForwardingSettings
    /// How sending goes, for people.
    public internal(set) var state: SendingState
    /// When `clock` is due, if ever.
    public private(set) var nextDue: Instant?

    var phase = Phase.sending
    /// In the order of their numbers.
    var waiting: [WaitingEntry] = []
    var underway: [Int: Request] = [:]
    /// The requests whose departure the daemon has not confirmed yet, in the order in which the replies will come.
    private var departing = Queue<Int>()
    /// Told and not confirmed, in the order in which the replies will come.
    var unconfirmed: [[Settlement]] = []
    var isDraining = false

    private var isConnected = false
    private var isClaiming = false
    /// Whether the claim that waits for its reply was sent before entries were given back: what it brings may be later than
    /// those, so it goes back too.
    private var isClaimStale = false
    /// Whether the daemon knows, on this connection, what is held.
    private var hasSaidWhatIsHeld = false
    /// Whether the daemon has told how sending went before this run.
    var knowsThePast = false
    private var hasFinished = false
    var pauses = 0
    private var requests = 0
    private var rate = RateWindow()
    /// What is to be told to the daemon at the end of the turn.
    var settlements: [Settlement] = []
    var isStateNews = false

    /// - Parameters:
    ///   - settings: how requests are made up and paced.
    ///   - now: the time.
    public init(settings: ForwardingSettings, now: Moment) {
        self.settings = settings
        state = SendingState(phase: .sending, since: now.wall)
    }

    /// How many requests were sent and have no answer yet.
    public var requestsUnderway: Int { underway.values.count(where: \.isSent) }

    /// Takes in what happened.
    ///
    /// - Parameters:
    ///   - event: what happened.
    ///   - now: the time.
    ///   - random: where the jitter of a wait comes from.
    /// - Returns: what is to be done.
    public mutating func handle(
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
        case .draining: isDraining = true
        }
        return requests + advance(now)
    }

    private mutating func connect() {
        isConnected = true
        hasSaidWhatIsHeld = false
        // What was not sent is queued again by the first claim, which does not name it.
        waiting = []
        // All that it may not know is told again, before it is asked for more.
        settlements = unconfirmed.flatMap(\.self) + settlements
        unconfirmed = []
        isStateNews = knowsThePast
    }

    private mutating func disconnect() {
        isConnected = false
        isClaiming = false
        isClaimStale = false
        waiting = []
        // The daemon may have taken in that they depart: it is to know that they did not.
        while let number = departing.popFirst() {
            let entries = underway.removeValue(forKey: number)?.batch.entries ?? []
            settlements += entries.map { Settlement($0.entry.number, .queued) }
        }
    }

    /// Ends a stop and a wait after failures; not the wait that this very endpoint asked for.
    private mutating func reconfigure(_ settings: ForwardingSettings, now: Moment) {
        let isSameEndpoint = settings.endpoint == self.settings.endpoint
        self.settings = settings
        if case .waiting(_, isAskedFor: true) = phase, isSameEndpoint { return }
        resume(failures: 0, now: now)
    }

    private mutating func take(_ entries: [ClaimedEntry], past: SendingState?, now: Moment) {
        isClaiming = false
        if !knowsThePast {
            knowsThePast = true
            // Where nobody said yet how sending goes, people are to see that it does.
            if let past { goOn(from: past, now: now) } else { isStateNews = true }
        }
        forgetSettlements(of: Set(entries.map(\.number)))
        if isClaimStale {
            isClaimStale = false
            settlements += entries.map { Settlement($0.number, .queued, reason: state.reason) }
        } else {
            wait(entries.map { WaitingEntry($0, since: now.monotonic) })
        }
    }

    /// Puts entries among those that wait.
    mutating func wait(_ entries: [WaitingEntry]) {
        waiting = (waiting + entries).sorted { $0.entry.number < $1.entry.number }
    }

    /// What the daemon hands over again it has in its queue again: it knows what was told of it before. To repeat that now
    /// would take the entry away while it is held here.
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
        var effects = tellDaemon()
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

    /// Gives back what waits: while nothing is sent it is in nobody's hands, and a forwarder that dies has nothing that
    /// might have been sent.
    private mutating func release() {
        if isClaiming { isClaimStale = true }
        settlements += waiting.map { Settlement($0.entry.number, .queued, reason: state.reason) }
        waiting = []
    }

    private mutating func departures(_ now: Moment) -> [ForwarderEffect] {
        var effects: [ForwarderEffect] = []
        // After a failure one request tries first.
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

    /// Sends the oldest request that was announced, with the entries that the daemon still has for this run: a person may
    /// have discarded others.
    private mutating func depart(_ granted: Set<EntryNumber>, until: Instant?, _ now: Moment) -> [ForwarderEffect] {
        guard let number = departing.popFirst(), var request = underway[number] else { return [] }
        request.batch.keep(granted)
        // Sending may have been stopped meanwhile: then it waits again, and is given back.
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

    private mutating func tellDaemon() -> [ForwarderEffect] {
        guard isConnected else { return [] }
        var effects: [ForwarderEffect] = []
        while !settlements.isEmpty {
            let part = Array(settlements.prefix(Self.settlementsInRequest))
            settlements.removeFirst(part.count)
            unconfirmed.append(part)
            effects.append(.settle(part))
        }
        if isStateNews {
            isStateNews = false
            effects.append(.report(state))
        }
        let room = settings.mostHeld - held.count
        if phase == .sending, !isDraining, !isClaiming, room > 0 {
            isClaiming = true
            effects.append(.claim(limit: min(room, Self.claimLimit), holding: hasSaidWhatIsHeld ? nil : held))
            hasSaidWhatIsHeld = true
        }
        return effects
    }

    /// What the daemon takes in one request at most; the settlements with their reasons, within RequestLengthMax=.
    private static let claimLimit = 1000
    private static let settlementsInRequest = 100

    private var held: [EntryNumber] {
        (waiting + underway.values.flatMap(\.batch.entries)).map(\.entry.number).sorted()
    }
}
