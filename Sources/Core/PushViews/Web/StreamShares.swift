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
