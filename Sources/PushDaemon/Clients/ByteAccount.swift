import PushModel

/// Counts bytes that are held for clients, in all and for each peer, against limits.
struct ByteAccount {
    /// What may be held.
    struct Limits: Hashable {
        /// In all, in bytes.
        var total: Int
        /// For one peer, in bytes.
        var perPeer: Int
    }

    var limits: Limits
    /// How many bytes are held in all.
    private(set) var total = 0
    private var byPeer: [UInt32: Int] = [:]

    init(_ limits: Limits) { self.limits = limits }

    /// How many bytes are held for a peer.
    func held(for peer: Peer) -> Int { byPeer[peer.uid] ?? 0 }

    /// Whether nothing more is to be held for a peer.
    func isFull(for peer: Peer) -> Bool { total >= limits.total || held(for: peer) >= limits.perPeer }

    /// Notes that bytes of a peer came; or went, if there are less than none.
    mutating func add(_ bytes: Int, for peer: Peer) {
        guard bytes != 0 else { return }
        total += bytes
        let left = held(for: peer) + bytes
        byPeer[peer.uid] = left == 0 ? nil : left
    }
}
