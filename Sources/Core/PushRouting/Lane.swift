import PushModel

/// The invocations of one app on one device that wait for each other, as FCM's single thread takes them.
struct Lane: Sendable {
    private struct Member {
        var id: InvocationID
        /// How many were through when it came: those after them it waited for.
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
    /// Those that are through, without any that was shorter than one after it: the first that the head waited for is the
    /// longest that it waited for.
    private var longest = Queue<Through>()

    /// A lane that begins with this invocation at its head.
    init(_ id: InvocationID, at now: Instant) {
        headSince = now
        append(id)
    }

    /// Whose turn it is; `nil` when the lane is done with.
    var head: InvocationID? { members.first?.id }

    /// Of those that the head waited for, the one that took longest; `nil` if it did not wait.
    var headWaitedFor: Predecessor? { longest.first?.invocation }

    /// Puts one behind all others.
    ///
    /// - Returns: how many are ahead of it.
    @discardableResult
    mutating func append(_ id: InvocationID) -> Int {
        defer { members.append(Member(id: id, through: through)) }
        return members.count
    }

    /// Since when the head has had its turn.
    func headAge(at now: Instant) -> Duration { now - headSince }

    /// The head is through: the next one's turn begins.
    ///
    /// - Parameter handler: who had the head; `nil` for the tracker.
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

    /// The head ended while it waited, and held nobody up.
    mutating func dropHead() {
        _ = members.popFirst()
        forgetOthers()
    }

    /// Drops those that were through before the head came.
    private mutating func forgetOthers() {
        guard let head = members.first else { return }
        while let first = longest.first, first.number < head.through { _ = longest.popFirst() }
    }
}
