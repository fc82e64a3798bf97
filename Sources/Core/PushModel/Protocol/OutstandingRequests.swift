/// The requests of a connection to `inject.sock` with a reply or outcomes outstanding. Replies come in the order of the
/// requests. An outcome comes at any time after the reply, and has the `seq` of its request.
public struct OutstandingRequests<Request> {
    /// The kind of a line that the daemon sent.
    public enum Match {
        /// The reply to a request; `nil`: no request is outstanding, so the line is about the connection.
        case reply(to: Request?)
        /// The outcome of an invocation.
        case outcome
    }

    private var unanswered = Queue<Request>()
    /// The number of outstanding outcomes by `seq`; the reply of a request gives the initial number.
    private var undecided: [Int64: Int64] = [:]

    /// Makes the state before the first request.
    public init() {}

    /// The number of requests without a reply.
    public var unansweredCount: Int { unanswered.count }
    /// The number of requests with a reply and outstanding outcomes.
    public var undecidedCount: Int { undecided.count }

    /// Adds a request that was sent.
    public mutating func append(_ request: Request) { unanswered.append(request) }

    /// Matches a line with its request.
    ///
    /// - Parameter line: the line; `nil` if it is not valid JSON.
    public mutating func take(_ line: JSONNode?) -> Match {
        let isReply = line?["outcome"] == nil
        if let seq = line?["seq"]?.int64 {
            let left = undecided[seq, default: 0] + (isReply ? line?["outcomes"]?.int64 ?? 0 : -1)
            undecided[seq] = left > 0 ? left : nil
        }
        return isReply ? .reply(to: unanswered.popFirst()) : .outcome
    }
}
