import PushModel

/// What waits for several accounts, which take turns: one that has much waiting delays the others by one element at a
/// time.
struct FairQueue<Element> {
    private var queues: [Account: Queue<Element>] = [:]
    /// Accounts with something waiting, in the order of their turns.
    private var turns = Queue<Account>()

    /// Whether nothing waits.
    var isEmpty: Bool { turns.isEmpty }

    /// Adds something behind all that the account has.
    mutating func append(_ element: Element, of account: Account) {
        if queues[account] == nil { turns.append(account) }
        queues[account, default: Queue()].append(element)
    }

    /// Takes what waited longest of the account whose turn it is.
    mutating func popFirst() -> Element? {
        guard let account = turns.popFirst() else { return nil }
        let element = queues[account]?.popFirst()
        if queues[account]?.isEmpty == true { queues[account] = nil } else { turns.append(account) }
        return element
    }
}
