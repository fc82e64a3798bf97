import PushModel

/// The queue of invocations for one app on one device: FCM on Android hands them to the app on a single thread.
struct Lane: Sendable {
    private struct Member {
        var id: InvocationID
        /// The number of invocations that had left the lane when it joined; it waited for those after them.
        var through: Int
    }

    private struct Through {
        var number: Int
        var took: Duration
        var invocation: Predecessor
    }

    private var members = Queue<Member>()
    private var headSince: Instant
    private var through = 0
    /// The invocations that have left the lane, without any that took less time than a later one: the first one that
    /// the head waited for is the longest.
    private var longest = Queue<Through>()

    /// Creates a lane with this invocation at its head.
    init(_ id: InvocationID, at now: Instant) {
        headSince = now
        append(id)
    }

    /// The invocation whose turn it is; `nil`: the lane is empty.
    var head: InvocationID? { members.first?.id }

    /// The longest invocation that the head waited for; `nil`: it did not wait.
    var headWaitedFor: Predecessor? { longest.first?.invocation }

    /// Appends an invocation.
    ///
    /// - Returns: the number of invocations ahead of it.
    @discardableResult
    mutating func append(_ id: InvocationID) -> Int {
        defer { members.append(Member(id: id, through: through)) }
        return members.count
    }

    /// Returns the time since the head's turn began.
    func headAge(at now: Instant) -> Duration { now - headSince }

    /// Removes the head, whose turn is over, and begins the next turn.
    ///
    /// - Parameter handler: the handler of the head; `nil` for the tracker.
    mutating func popHead(at now: Instant, handler: String?) {
        guard let head = members.popFirst() else { return }
        let took = now - headSince
        while let last = longest.last, last.took < took { _ = longest.popLast() }
        let predecessor = Predecessor(id: head.id, handler: handler, took: took)
        longest.append(Through(number: through, took: took, invocation: predecessor))
        through += 1
        headSince = now
        forgetOthers()
    }

    /// Removes a head that ended while it waited and so delayed no other.
    mutating func dropHead() {
        _ = members.popFirst()
        forgetOthers()
    }

    /// Drops the invocations that left the lane before the head joined.
    private mutating func forgetOthers() {
        guard let head = members.first else { return }
        while let first = longest.first, first.number < head.through { _ = longest.popFirst() }
    }
}
