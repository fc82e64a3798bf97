import PushModel

/// What waits for several users, who take turns: one who has much waiting delays the others by one element each time.
struct FairQueue<Element> {
    private var queues: [UInt32: Queue<Element>] = [:]
    /// Users with something waiting, in the order of their turns.
    private var turns = Queue<UInt32>()

    /// Whether nothing waits.
    var isEmpty: Bool { turns.isEmpty }

    /// Adds something behind all that the user has.
    mutating func append(_ element: Element, of user: UInt32) {
        if queues[user] == nil { turns.append(user) }
        queues[user, default: Queue()].append(element)
    }

    /// Takes what waited longest of the user whose turn it is.
    mutating func popFirst() -> Element? {
        guard let user = turns.popFirst() else { return nil }
        let element = queues[user]?.popFirst()
        if queues[user]?.isEmpty == true { queues[user] = nil } else { turns.append(user) }
        return element
    }
}
