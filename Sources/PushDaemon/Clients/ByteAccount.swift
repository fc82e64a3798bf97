import PushModel

/// Counts the bytes that are held for clients, in total and by account, against limits.
struct ByteAccount {
    /// The limits of the bytes held.
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

    /// Whether a limit keeps an account from holding more.
    func isFull(for account: Account) -> Bool { total >= limits.total || held(for: account) >= limits.perPeer }

    /// Adds the bytes of an account; a negative number releases them.
    mutating func add(_ bytes: Int, for account: Account) {
        guard bytes != 0 else { return }
        total += bytes
        let left = held(for: account) + bytes
        byAccount[account] = left == 0 ? nil : left
    }
}
