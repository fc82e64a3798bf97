import PushModel
import PushRouter

/// Serves the forwarder: gives one run at a time its entries, and records their results.
final class ForwarderService {
    /// A claim that waits for entries.
    private struct WaitingClaim {
        var client: ControlClient
        var request: ClaimRequest
    }

    private let processor: Processor
    private let customData: CustomDataService
    /// The rest of the lease, where other machines may lead; `nil`: this is the only machine.
    private let leaseLeft: () -> Duration?
    /// The run that claimed last, and its connection.
    private var current: (session: ClientSession, instance: UUID128)?
    /// The connection that reported last: a run that waits or has stopped claims nothing.
    private var reporter: ClientSession?
    private var waiting: WaitingClaim?

    /// - Parameters:
    ///   - processor: replies once the decisions are on disk.
    ///   - customData: passes requests to the router.
    ///   - leaseLeft: the rest of the lease, where other machines may lead.
    init(_ processor: Processor, _ customData: CustomDataService, leaseLeft: @escaping () -> Duration?) {
        (self.processor, self.leaseLeft) = (processor, leaseLeft)
        self.customData = customData
    }

    private var figures = ForwardingFigures()

    /// The figures, with the state of the connection.
    var currentFigures: ForwardingFigures {
        var figures = figures
        figures.isConnected = isConnected
        return figures
    }

    /// Whether a forwarder that has claimed or reported is connected.
    private var isConnected: Bool { hasClaimer || reporter?.isClosed == false }

    private var hasClaimer: Bool { current.map { !$0.session.isClosed } ?? false }

    /// Handles a claim. Replies once the entries are on disk: as queued if the run reserves them, otherwise as claimed
    /// by this run.
    ///
    /// - Throws: `unavailable` while another run is connected.
    func claim(_ request: ClaimRequest, for client: ControlClient) throws(ProtocolError) {
        try checkAlone(request.instance, client)
        endWait()
        current = (client.session, request.instance)
        if let holding = request.holding {
            customData.perform { $0.release(allBut: holding, of: request.instance, at: $1, effects: &$2) }
        }
        let entries = take(request)
        if entries.isEmpty, request.waits {
            waiting = WaitingClaim(client: client, request: request)
        } else {
            hand(entries, of: request.instance, to: client)
        }
    }

    /// Answers the waiting claim, if there are entries now.
    func serve() {
        guard let claim = waiting, processor.router.hasEntries(for: claim.request.instance) else { return }
        waiting = nil
        // Entries that nobody receives might become `unknown`.
        guard !claim.client.session.isClosed else { return }
        hand(take(claim.request), of: claim.request.instance, to: claim.client)
    }

    /// Answers the waiting claim without entries. With a session, answers only a claim of that session: its next
    /// request has come, and the reply to that request must not come first.
    func endWait(of session: ClientSession? = nil) {
        guard let claim = waiting, session == nil || session === claim.client.session else { return }
        waiting = nil
        hand([], of: claim.request.instance, to: claim.client)
    }

    /// Records that entries are about to be sent. They are on disk as this run's before the reply is sent. Once the
    /// lease has ended, another machine may hand them to its forwarder.
    func depart(_ request: DepartRequest, for client: ControlClient) {
        let granted = customData.perform {
            $0.depart(request.entries, by: request.instance, at: $1, effects: &$2)
        }
        if !granted.isEmpty { figures.requests += 1 }
        processor.reply(to: client, Reply.departed(granted, valid: leaseLeft(), id: client.id))
    }

    /// Records the results of entries.
    func settle(_ request: SettleRequest, for client: ControlClient) {
        let settled = customData.perform { router, now, effects in
            request.entries.filter {
                router.settle(
                    $0.number, $0.state, reason: $0.reason, by: request.instance, at: now, effects: &effects)
            }
        }
        for entry in settled { figures.settled[entry.state, default: 0] += 1 }
        let count = settled.count
        processor.reply(to: client, Reply.counted("settled", count, id: client.id))
    }

    /// Records the state of sending.
    func report(_ report: SendingReport, for client: ControlClient) throws(ProtocolError) {
        try checkAlone(report.instance, client)
        reporter = client.session
        figures.note(report, after: customData.sending)
        customData.perform {
            $0.report(
                report.phase, reason: report.reason, failures: report.failures, until: report.until, at: $1,
                effects: &$2)
        }
        processor.reply(to: client, Reply.done(id: client.id))
    }

    /// Returns queued entries, and leaves them queued.
    func peek(after number: EntryNumber, limit: Int, for client: ControlClient) {
        let entries = processor.router.queuedEntries(after: number, limit: limit)
        let claimed = Claimed(entries: entries.compactMap(ClaimedEntry.init), sending: customData.sending)
        processor.reply(to: client, Reply.claimed(claimed, id: client.id))
    }

    private func take(_ request: ClaimRequest) -> [CustomEntry] {
        customData.perform {
            $0.claim(
                by: request.instance, isReserving: request.reserves, limit: request.limit, at: $1, effects: &$2)
        }
    }

    private func checkAlone(_ instance: UUID128, _ client: ControlClient) throws(ProtocolError) {
        guard let current, hasClaimer, current.session !== client.session, current.instance != instance else { return }
        throw ProtocolError(
            .unavailable, field: "instance",
            message: "another forwarder, pid \(current.session.peer.pid), is connected", retryAfter: .seconds(1),
            id: client.id)
    }

    /// Sends entries to the forwarder once the decisions about them are on disk.
    private func hand(_ entries: [CustomEntry], of instance: UUID128, to client: ControlClient) {
        processor.follow(
            .handOver(ClaimedEntries(client: client, instance: instance, entries: entries)))
    }

    /// Sends the entries, whose claim is on disk now, or returns them to the queue.
    func handOver(_ answer: ClaimedEntries) {
        let session = answer.client.session
        guard session.isClosed else {
            let claimed = Claimed(entries: answer.entries.compactMap(ClaimedEntry.init), sending: customData.sending)
            return answer.client.reply(Reply.claimed(claimed, id: answer.client.id))
        }
        // The connection is closed and never had the entries, so they were certainly not sent. If the run is back on
        // another connection, it has said what it holds, and may have claimed these again.
        guard current?.session === session else { return }
        customData.perform { router, now, effects in
            for entry in answer.entries {
                _ = router.settle(
                    entry.number, .queued, reason: nil, by: answer.instance, at: now, effects: &effects)
            }
        }
    }
}

/// Entries of custom data for a run of the forwarder that claimed them.
struct ClaimedEntries {
    var client: ControlClient
    /// The forwarder's run.
    var instance: UUID128
    var entries: [CustomEntry]
}

/// The work of forwarders since the start of the daemon, which sees each of their acts.
struct ForwardingFigures: Sendable {
    /// Why sending paused. The raw values are labels.
    enum Pause: String, CaseIterable {
        /// A request had no answer, or an answer that a later one may not have.
        case failed
        /// The endpoint asked for the wait.
        case slowDown = "slow_down"
        /// The endpoint refuses: a person must act.
        case refused
    }

    var isConnected = false
    /// Requests that left for the endpoint, or were about to.
    var requests = 0
    /// Entries by the state in which sending ended.
    var settled: [EntryState: Int] = [:]
    var pauses: [Pause: Int] = [:]

    /// Counts a pause, unless the report repeats the last one, as a restarted forwarder does.
    mutating func note(_ report: SendingReport, after last: SendingState?) {
        let isRepeated =
            last?.phase == report.phase && last?.failures == report.failures && last?.until == report.until
        guard !isRepeated else { return }
        switch report.phase {
        case .sending: break
        case .waiting: pauses[report.failures > 0 ? .failed : .slowDown, default: 0] += 1
        case .stopped: pauses[.refused, default: 0] += 1
        }
    }
}
