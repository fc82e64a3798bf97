public import PushModel

extension Router {
    /// The bytes of the rows of one replayed invocation beside the line, at most.
    private static let replayedRows = 4 << 10

    /// Accepts a request again whose invocations became dead letters: with a new number and a new deadline, and with
    /// the same app, device and user, even if the device's user has changed.
    ///
    /// Only the given invocations begin again. The same code as after a restart reads the request's content. The
    /// tracker, the tracks and FCM's list of recent messages do not get the request a second time.
    ///
    /// - Parameters:
    ///   - dead: the request in the ledger, with the invocations that are dead letters.
    ///   - peer: the peer that asks for the replay.
    ///   - now: the time at which that request was read.
    ///   - effects: receives the effects.
    /// - Returns: the acceptance; valid once the records among the effects are on disk.
    /// - Throws: `Refusal`; the router is then unchanged.
    public mutating func replay(
        _ dead: UnfinishedRequest, from peer: Peer, at now: Moment, effects: inout Effects
    ) throws(Refusal) -> Acceptance {
        guard !isDraining else { throw .draining }
        guard table.mode == .relay, dead.accepted.mode == .relay else {
            throw .notReplayable("a replay needs Mode=relay, for the request and for the daemon")
        }
        guard dead.request != nil else {
            throw .notReplayable("this version of pushrouterd cannot read the request's line")
        }
        let letters = dead.invocations.filter { !$0.isTracked(of: dead.accepted) }
        guard !letters.isEmpty else { throw .notReplayable("the request has no dead letter") }
        try checkLimits(of: peer.account, adding: dead.byteCount, at: now)
        // RequestLengthMax= was higher when the request was accepted.
        guard dead.byteCount + letters.count * Self.replayedRows <= table.limits.batchLength else {
            throw .notReplayable(
                "its line of \(dead.byteCount) bytes is longer than a request may be now; raise RequestLengthMax=")
        }

        var replay = dead
        replay.accepted.seq = lastNumber.next
        replay.accepted.id = nil
        replay.accepted.peer = peer
        replay.accepted.acceptedAt = now
        replay.accepted.boot = boot
        replay.accepted.duplicateID = nil
        replay.accepted.isTracked = false
        replay.accepted.replayOf = dead.accepted.seq
        effects.record(replay.accepted)
        effects.record(.noDeadLetters(dead.accepted.seq))
        let context = RecoveryContext(replay, table: table)
        for (n, letter) in letters.enumerated() {
            let row = InvocationRecord(
                id: InvocationID(seq: replay.accepted.seq, n: n), callback: letter.callback,
                isObserver: letter.isObserver, provider: letter.provider, route: letter.isPinned ? letter.route : nil,
                handler: letter.isPinned ? letter.handler : nil, budget: table.budget, deadline: nil, started: false,
                result: nil)
            resumeInvocation(row, stored: nil, of: replay, context, at: now, &effects)
        }
        lastNumber = replay.accepted.seq
        endTurn(at: now, &effects)
        return Acceptance(seq: lastNumber, invocations: letters.count, rejections: [])
    }
}
