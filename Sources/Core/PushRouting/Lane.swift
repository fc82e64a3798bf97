import PushModel

/// The invocations of one app on one device, which run one after the other, like messages on FCM's single thread.
struct Lane: Sendable {
    private struct Member {
        var id: InvocationID
        /// The number of invocations that had passed when it joined; it waited for the later ones.
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
    /// The passed invocations, without any that was shorter than a later one. The first of them that the head waited
    /// for is the longest.
    private var longest = Queue<Through>()

    /// Makes a lane with this invocation at its head.
    init(_ id: InvocationID, at now: Instant) {
        headSince = now
        append(id)
    }

    /// The invocation whose turn it is; `nil` if the lane is empty.
    var head: InvocationID? { members.first?.id }

    /// The longest of the invocations that the head waited for; `nil` if it did not wait.
    var headWaitedFor: Predecessor? { longest.first?.invocation }

    /// Appends an invocation.
    ///
    /// - Returns: the number of invocations ahead of it.
    @discardableResult
    mutating func append(_ id: InvocationID) -> Int {
        defer { members.append(Member(id: id, through: through)) }
        return members.count
    }

    /// Returns how long the head has been the head.
    func headAge(at now: Instant) -> Duration { now - headSince }

    /// Removes the head after its turn; the turn of the next invocation begins.
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

    /// Removes a head that ended while it waited and delayed no other invocation.
    mutating func dropHead() {
        _ = members.popFirst()
        forgetOthers()
    }

    /// Drops the invocations that had passed before the head joined.
    private mutating func forgetOthers() {
        guard let head = members.first else { return }
        while let first = longest.first, first.number < head.through { _ = longest.popFirst() }
    }
}
