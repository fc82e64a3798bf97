import PushModel

/// Counts bytes that are held for clients, in all and for each account, against limits.
struct ByteAccount {
    /// What may be held.
    struct Limits: Hashable {
        /// In all, in bytes.
        var total: Int
        /// For one account, in bytes.
        var perPeer: Int
    }

    var limits: Limits
    /// How many bytes are held in all.
    private(set) var total = 0
    private var byAccount: [Account: Int] = [:]

    init(_ limits: Limits) { self.limits = limits }

    /// How many bytes are held for an account.
    func held(for account: Account) -> Int { byAccount[account] ?? 0 }

    /// Whether nothing more is to be held for an account.
    func isFull(for account: Account) -> Bool { total >= limits.total || held(for: account) >= limits.perPeer }

    /// Notes that bytes of an account came; or went, if there are less than none.
    mutating func add(_ bytes: Int, for account: Account) {
        guard bytes != 0 else { return }
        total += bytes
        let left = held(for: account) + bytes
        byAccount[account] = left == 0 ? nil : left
    }
}
