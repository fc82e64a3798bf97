import PushCustomData
import PushModel
import PushRouting

/// What a client is told for a request.
enum ClientReply {
    /// The request is on disk: its number, its id, for a client that waits how many outcomes follow, and what of it was
    /// rejected. Written out only when it is sent.
    case accepted(SequenceNumber, id: String?, outcomes: Int?, rejected: [Rejection])
    /// A line, with its line feed.
    case line([UInt8])

    /// How much memory it takes until it is sent, in bytes.
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

/// The replies that a client is owed, in the order of its requests.
///
/// A request takes a place when it is read. A reply may be known before those of earlier requests are; it waits here
/// until they are sent.
struct ReplyQueue {
    /// A window of places: the ones before `head` are sent.
    private var places: [ClientReply?] = []
    private var head = 0
    /// The number of the first place in `places`.
    private var first = 0
    /// How much memory the replies take that wait for earlier ones, in bytes.
    private(set) var heldBytes = 0

    /// Whether every request has its reply.
    var isEmpty: Bool { count == 0 }

    /// How many replies are owed.
    var count: Int { places.count - head }

    /// Takes the next place.
    mutating func reserve() -> Int {
        places.append(nil)
        return first + places.count - 1
    }

    /// Fills a place that was reserved and not filled before; hands all that may be sent now to `send`, in order.
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
