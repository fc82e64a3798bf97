/// The replies that a client is owed, in the order of its requests.
///
/// A request takes a place when it is read. A reply may be known before those of earlier requests are; it waits here
/// until they are sent.
struct ReplyQueue {
    private var places: [[UInt8]?] = []
    /// The number of the place at the front of `places`.
    private var first = 0

    /// Whether every request has its reply.
    var isEmpty: Bool { places.isEmpty }

    /// How many replies are owed.
    var count: Int { places.count }

    /// Takes the next place.
    mutating func reserve() -> Int {
        places.append(nil)
        return first + places.count - 1
    }

    /// Fills a place that was reserved and not filled before; hands all that may be sent now to `send`, in order.
    mutating func fill(_ place: Int, with reply: [UInt8], send: ([UInt8]) -> Void) {
        let index = place - first
        guard index == 0 else {
            places[index] = reply
            return
        }
        send(reply)
        var sent = 1
        while sent < places.count, let next = places[sent] {
            send(next)
            sent += 1
        }
        places.removeFirst(sent)
        first += sent
    }
}
