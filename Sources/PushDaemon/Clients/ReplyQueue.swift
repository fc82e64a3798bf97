import PushModel
import PushRouter

/// The reply to a request.
enum ClientReply {
    /// The request is on disk: its number, its id, the number of outcomes that follow if the client waits for them, and
    /// its rejected entries. The line is made when it is sent.
    case accepted(SequenceNumber, id: String?, outcomes: Int?, rejected: [Rejection])
    /// A line, with its line feed.
    case line([UInt8])

    /// The reply to an accepted request, the first time and to each repetition.
    init(_ acceptance: Acceptance, to request: Request) {
        let outcomes = request.waitsForOutcome ? acceptance.invocations : nil
        if acceptance.members == nil, acceptance.topicResults == nil {
            self = .accepted(acceptance.seq, id: request.id, outcomes: outcomes, rejected: acceptance.rejections)
        } else {
            self = .line(
                Reply.accepted(
                    acceptance.seq, id: request.id, outcomes: outcomes, members: acceptance.members,
                    results: acceptance.topicResults, rejected: acceptance.rejections))
        }
    }

    /// The memory that it takes until it is sent, in bytes.
    var memorySize: Int {
        switch self {
        case .accepted(_, let id, _, let rejected):
            MemoryLayout<ClientReply>.stride + (id?.utf8.count ?? 0) + rejected.count * MemoryLayout<Rejection>.stride
        case .line(let bytes): MemoryLayout<ClientReply>.stride + bytes.count
        }
    }

    /// The line, with its line feed.
    var bytes: [UInt8] {
        switch self {
        case .accepted(let seq, let id, let outcomes, let rejected):
            Reply.accepted(seq, id: id, outcomes: outcomes, rejected: rejected)
        case .line(let bytes): bytes
        }
    }
}

/// The replies to a client, in the order of its requests.
///
/// A request reserves a place when it is read. A reply that is ready before earlier ones waits in its place.
struct ReplyQueue {
    /// A window of places; those before `head` are sent.
    private var places: [ClientReply?] = []
    private var head = 0
    /// The number of the first place in `places`.
    private var first = 0
    /// The memory of the replies that wait for earlier ones, in bytes.
    private(set) var heldBytes = 0

    /// Whether every request has its reply.
    var isEmpty: Bool { count == 0 }

    /// The number of replies still to be sent.
    var count: Int { places.count - head }

    /// Reserves the next place.
    mutating func reserve() -> Int {
        places.append(nil)
        return first + places.count - 1
    }

    /// Fills a reserved place, once; passes all replies that may be sent now to `send`, in order.
    mutating func fill(_ place: Int, with reply: ClientReply, send: (ClientReply) -> Void) {
        guard place == first + head else {
            places[place - first] = reply
            heldBytes += reply.memorySize
            return
        }
        send(reply)
        head += 1
        while head < places.count, let next = places[head] {
            heldBytes -= next.memorySize
            send(next)
            places[head] = nil
            head += 1
        }
        // Each place moves once on average.
        guard head == places.count || head > 64 && head * 2 > places.count else { return }
        first += head
        if head == places.count {
            places.removeAll(keepingCapacity: places.capacity <= 1024)
        } else {
            places.removeFirst(head)
        }
        head = 0
    }
}

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
