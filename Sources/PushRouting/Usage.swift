import PushModel

/// What is in flight, in all and per peer, held against the limits.
struct Usage: Sendable {
    /// Owners' handlers that hold a place to run.
    private(set) var handlers = 0
    /// Observers' handlers that hold one of theirs.
    private(set) var observers = 0
    private(set) var requests = 0
    private var byPeer: [UInt32: Int] = [:]
    /// Invocations without an outcome, per request that has any.
    private var open: [SequenceNumber: Int] = [:]

    func requests(of peer: Peer) -> Int { byPeer[peer.uid] ?? 0 }

    func invocations(of seq: SequenceNumber) -> Int { open[seq] ?? 0 }

    mutating func took(placeOfObserver isObserver: Bool) {
        if isObserver { observers += 1 } else { handlers += 1 }
    }

    mutating func left(placeOfObserver isObserver: Bool) {
        if isObserver { observers -= 1 } else { handlers -= 1 }
    }

    mutating func began(_ id: InvocationID, of peer: Peer) {
        let before = open[id.seq] ?? 0
        open[id.seq] = before + 1
        guard before == 0 else { return }
        requests += 1
        byPeer[peer.uid, default: 0] += 1
    }

    mutating func ended(_ id: InvocationID, of peer: Peer) {
        guard let left = open[id.seq] else { return }
        guard left == 1 else {
            open[id.seq] = left - 1
            return
        }
        open[id.seq] = nil
        requests -= 1
        let ofPeer = requests(of: peer) - 1
        byPeer[peer.uid] = ofPeer == 0 ? nil : ofPeer
    }
}
