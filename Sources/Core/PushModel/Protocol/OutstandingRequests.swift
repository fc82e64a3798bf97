/// The requests of a connection to `inject.sock` of which something is still to come. Replies come in the order of the requests.
/// An outcome comes at any time after the reply, and has the number of its request.
public struct OutstandingRequests<Request> {
    /// What a line of the daemon is.
    public enum Match {
        /// The reply to a request; `nil`: nothing was asked, so it is about the connection.
        case reply(to: Request?)
        /// How an invocation of a request ended.
        case outcome
    }

    private var unanswered = Queue<Request>()
    /// How many outcomes are still to come of each accepted request that has some to come: its reply says how many.
    private var undecided: [Int64: Int64] = [:]

    /// Nothing was sent.
    public init() {}

    /// How many have no reply.
    public var unansweredCount: Int { unanswered.count }
    /// How many have a reply, and outcomes to come.
    public var undecidedCount: Int { undecided.count }

    /// A request is sent.
    public mutating func append(_ request: Request) { unanswered.append(request) }

    /// Says what a line belongs to.
    ///
    /// - Parameter line: `nil` for one that is no JSON.
    public mutating func take(_ line: JSONNode?) -> Match {
        let isReply = line?["outcome"] == nil
        if let seq = line?["seq"]?.int64 {
            let left = undecided[seq, default: 0] + (isReply ? line?["outcomes"]?.int64 ?? 0 : -1)
            undecided[seq] = left > 0 ? left : nil
        }
        return isReply ? .reply(to: unanswered.popFirst()) : .outcome
    }
}
