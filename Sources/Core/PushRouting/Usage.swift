import PushModel

/// What is in flight, in all and per peer, held against the limits.
struct Usage: Sendable {
    /// Owners' handlers that hold a place to run.
    private(set) var handlers = 0
    /// Observers' handlers that hold one of theirs.
    private(set) var observers = 0
    private(set) var requests = 0
    /// Bytes of the lines of requests in flight.
    private(set) var bytes = 0
    /// Bytes of them that are kept in memory for invocations that wait; those of a request with some, each time.
    private(set) var payloadBytes = 0
    private var byPeer: [UInt32: Share] = [:]
    /// Of each request in flight how many invocations have no outcome, and how long its line is.
    private var open = ShardedDictionary<SequenceNumber, (invocations: Int, bytes: Int)>()

    /// What one peer has in flight.
    private struct Share {
        var requests = 0
        var bytes = 0
    }

    func requests(of peer: Peer) -> Int { byPeer[peer.uid]?.requests ?? 0 }

    func bytes(of peer: Peer) -> Int { byPeer[peer.uid]?.bytes ?? 0 }

    func invocations(of seq: SequenceNumber) -> Int { open[seq]?.invocations ?? 0 }

    mutating func reserve(_ count: Int) { open.reserveCapacity(count) }

    mutating func keeps(payloadOf bytes: Int) { payloadBytes += bytes }

    mutating func letsGo(payloadOf bytes: Int) { payloadBytes -= bytes }

    mutating func took(placeOfObserver isObserver: Bool) {
        if isObserver { observers += 1 } else { handlers += 1 }
    }

    mutating func left(placeOfObserver isObserver: Bool) {
        if isObserver { observers -= 1 } else { handlers -= 1 }
    }

    mutating func began(_ id: InvocationID, of peer: Peer, bytes length: Int) {
        open[id.seq, default: (0, length)].invocations += 1
        guard invocations(of: id.seq) == 1 else { return }
        requests += 1
        bytes += length
        byPeer[peer.uid, default: Share()].requests += 1
        byPeer[peer.uid, default: Share()].bytes += length
    }

    mutating func ended(_ id: InvocationID, of peer: Peer) {
        guard let request = open[id.seq] else { return }
        guard request.invocations == 1 else {
            open[id.seq]?.invocations -= 1
            return
        }
        open[id.seq] = nil
        requests -= 1
        bytes -= request.bytes
        guard var share = byPeer[peer.uid] else { return }
        share.requests -= 1
        share.bytes -= request.bytes
        byPeer[peer.uid] = share.requests == 0 ? nil : share
    }
}
