import PushModel

/// A queue whose accounts take turns: an account with many elements delays each other account by one element at a time.
struct FairQueue<Element> {
    private var queues: [Account: Queue<Element>] = [:]
    /// The accounts with elements, in the order of their turns.
    private var turns = Queue<Account>()

    /// Whether the queue has no elements.
    var isEmpty: Bool { turns.isEmpty }

    /// Adds an element behind the account's others.
    mutating func append(_ element: Element, of account: Account) {
        if queues[account] == nil { turns.append(account) }
        queues[account, default: Queue()].append(element)
    }

    /// Takes the oldest element of the account whose turn it is.
    mutating func popFirst() -> Element? {
        guard let account = turns.popFirst() else { return nil }
        let element = queues[account]?.popFirst()
        if queues[account]?.isEmpty == true { queues[account] = nil } else { turns.append(account) }
        return element
    }
}
