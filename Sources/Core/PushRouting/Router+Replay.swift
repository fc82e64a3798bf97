public import PushModel

extension Router {
    /// Accepts a request again whose invocations became dead letters: under a new number, with a new deadline, for the same
    /// app, device and user, whatever was said of the device since.
    ///
    /// Only the invocations that are given begin again. What the request says is read by the same code as after a restart. The
    /// tracker, the tracks and FCM's list of recent messages have had the request, so they do not get it once more.
    ///
    /// - Parameters:
    ///   - dead: the request as the ledger has it, and its invocations that are dead letters.
    ///   - peer: who wants it replayed.
    ///   - now: when that was read.
    ///   - effects: what is to be done is appended.
    /// - Returns: how it was accepted: that is so once the records among the effects are on disk, not before.
    /// - Throws: `Refusal`, and then nothing changed.
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
