/// The requests of a connection to `inject.sock` that still wait for a reply or for outcomes. Replies come in the order
/// of the requests. An outcome comes at any time after the reply, with the number of its request.
public struct OutstandingRequests<Request> {
    /// The kind of a line from the daemon.
    public enum Match {
        /// The reply to a request; `nil` if no request waits for one, so that the line concerns the connection.
        case reply(to: Request?)
        /// The outcome of an invocation.
        case outcome
    }

    private var unanswered = Queue<Request>()
    /// The number of outcomes that each accepted request still waits for; its reply contains their total.
    private var undecided: [Int64: Int64] = [:]

    /// Creates an empty set.
    public init() {}

    /// The number of requests without a reply.
    public var unansweredCount: Int { unanswered.count }
    /// The number of requests with a reply that still wait for outcomes.
    public var undecidedCount: Int { undecided.count }

    /// Notes that a request was sent.
    public mutating func append(_ request: Request) { unanswered.append(request) }

    /// Matches a line from the daemon to a request.
    ///
    /// - Parameter line: the line; `nil` if it is no JSON.
    public mutating func take(_ line: JSONNode?) -> Match {
        let isReply = line?["outcome"] == nil
        if let seq = line?["seq"]?.int64 {
            let left = undecided[seq, default: 0] + (isReply ? line?["outcomes"]?.int64 ?? 0 : -1)
            undecided[seq] = left > 0 ? left : nil
        }
        return isReply ? .reply(to: unanswered.popFirst()) : .outcome
    }
}
