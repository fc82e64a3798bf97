/// The connections of the page's clients, and the one that gives way to a new one when there is no room: so a client
/// that opens many keeps no other away.
public struct ConnectionShares: Sendable {
    private struct Connection {
        let peer: WebPeer
        /// When it was opened, or its last request was answered, in monotonic nanoseconds.
        var idleSince: Int64
        /// The number of its requests without an answer, with streams.
        var asked = 0
    }

    private let limit: Int
    private var connections: [UInt64: Connection] = [:]
    private var counts: [WebPeer: Int] = [:]

    /// - Parameter limit: the most connections at once (`ConnectionsMax=`).
    public init(limit: Int) { self.limit = limit }

    /// The client of a connection.
    public func peer(of key: UInt64) -> WebPeer? { connections[key]?.peer }

    /// Adds a connection.
    ///
    /// - Returns: the connection to be closed for it, which is taken out: of the clients with an idle connection, the one
    ///   with the most connections gives the one that has been idle longest. `nil`: there is room, or none is idle.
    public mutating func open(_ key: UInt64, of peer: WebPeer, at now: Int64) -> UInt64? {
        let closed = connections.count < limit ? nil : closeIdle()
        connections[key] = Connection(peer: peer, idleSince: now)
        counts[peer, default: 0] += 1
        return closed
    }

    /// Takes out the connection that gives way to others.
    public mutating func closeIdle() -> UInt64? {
        let idle = longestIdle
        if let idle { close(idle) }
        return idle
    }

    /// Takes a connection out.
    public mutating func close(_ key: UInt64) {
        guard let peer = connections.removeValue(forKey: key)?.peer else { return }
        let left = (counts[peer] ?? 0) - 1
        counts[peer] = left > 0 ? left : nil
    }

    /// Notes a whole request on a connection, which is not idle until the answer.
    public mutating func asks(_ key: UInt64) { connections[key]?.asked += 1 }

    /// Notes the answer, or the end of a stream.
    public mutating func answered(_ key: UInt64, at now: Int64) {
        connections[key]?.asked -= 1
        connections[key]?.idleSince = now
    }

    private var longestIdle: UInt64? {
        var best: (key: UInt64, count: Int, since: Int64)?
        for (key, connection) in connections where connection.asked == 0 {
            let (count, since) = (counts[connection.peer] ?? 0, connection.idleSince)
            // Of two that have been idle as long, the lower key is the older connection.
            if let found = best,
                (found.count, -found.since, -Int64(clamping: found.key))
                    >= (count, -since, -Int64(clamping: key))
            {
                continue
            }
            best = (key, count, since)
        }
        return best?.key
    }
}

/// The streams and waiting requests of the page's clients: when all places are taken, a client with few gets one of a
/// client with many.
public struct StreamShares: Sendable {
    /// The answer to a client that asks for a stream.
    public enum Place: Hashable, Sendable {
        case free
        /// The stream of another client that ends for it.
        case instead(of: UInt64)
        case none
    }

    private let limit: Int
    private var peers: [UInt64: WebPeer] = [:]

    /// - Parameter limit: the most streams and waiting requests at once (`StreamsMax=`).
    public init(limit: Int) { self.limit = limit }

    /// Whether there are none.
    public var isEmpty: Bool { peers.isEmpty }

    /// Returns the place for one more stream of a client.
    ///
    /// A client gives one up only if it has more than the other one has then: so the two do not take turns.
    public func place(for peer: WebPeer) -> Place {
        guard peers.count >= limit else { return .free }
        var streams: [WebPeer: [UInt64]] = [:]
        for (id, peer) in peers { streams[peer, default: []].append(id) }
        let own = streams[peer]?.count ?? 0
        guard let most = streams.values.max(by: { ($0.count, $1.min() ?? 0) < ($1.count, $0.min() ?? 0) }),
            most.count > own + 1, let oldest = most.min()
        else { return .none }
        return .instead(of: oldest)
    }

    /// Adds a stream; ids ascend.
    public mutating func open(_ id: UInt64, of peer: WebPeer) { peers[id] = peer }

    /// Takes a stream out.
    ///
    /// - Returns: whether it was there.
    public mutating func close(_ id: UInt64) -> Bool { peers.removeValue(forKey: id) != nil }
}
