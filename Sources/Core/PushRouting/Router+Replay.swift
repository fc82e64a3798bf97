public import PushModel

extension Router {
    /// Accepts a request with dead letters again: under a new number, with a new deadline, for the same app, device and
    /// user, even if the device has changed since.
    ///
    /// Only the given invocations begin again. The code of a restart reads the request line. Tracker, tracks and FCM's
    /// list of recent messages had the request before, so they do not get it again.
    ///
    /// - Parameters:
    ///   - dead: the request as in the ledger, with its dead letters.
    ///   - peer: the sender of the replay.
    ///   - now: the time at which the replay was read.
    ///   - effects: takes the effects.
    /// - Returns: the acceptance, which holds once the records among the effects are on disk.
    /// - Throws: `Refusal`; nothing changed then.
    public mutating func replay(
        _ dead: UnfinishedRequest, from peer: Peer, at now: Moment, effects: inout Effects
    ) throws(Refusal) -> Acceptance {
        guard !isDraining else { throw .draining }
        guard table.mode == .relay, dead.accepted.mode == .relay else {
            throw .notReplayable("only what was accepted in relay mode is replayed, in relay mode (Mode=)")
        }
        guard dead.request != nil else { throw .notReplayable("this version cannot read its line any more") }
        let letters = dead.invocations.filter { !$0.isTracked(of: dead.accepted) }
        guard !letters.isEmpty else { throw .notReplayable("it has no dead letter") }
        try checkLimits(of: peer.account, adding: dead.byteCount, at: now)

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
            takeUp(row, stored: nil, of: replay, context, at: now, &effects)
        }
        lastNumber = replay.accepted.seq
        endTurn(at: now, &effects)
        return Acceptance(seq: lastNumber, invocations: letters.count, rejections: [])
    }
}
