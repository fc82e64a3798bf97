public import PushModel

/// What a handler said, or how it ended without saying.
public enum HandlerAnswer: Hashable, Sendable {
    /// Done.
    case handled(Reply)
    /// Try again while the budget lasts; only in `relay` mode. After this long, or after the configured delay.
    case retry(after: Duration?)
    /// Not mine: the next route's.
    case declined
    /// Never; the reason is for people.
    case rejected(reason: String)
    /// Ended by this signal.
    case signaled(Int32)

    /// What a handler may say beside that it is done.
    public struct Reply: Hashable, Sendable {
        /// The fetch result.
        public var result: FetchResult?
        /// The presentation options of `willPresent`, as the handler wrote them.
        public var options: [String]?
        /// How often it answered; what is here is the first answer.
        public var times: Int

        /// Joins the parts.
        public init(result: FetchResult? = nil, options: [String]? = nil, times: Int = 1) {
            self.result = result
            self.options = options
            self.times = times
        }
    }

    /// What the exit status of an `exec` handler means (design, section 5.3).
    public init(exitStatus: Int32, reply: Reply = Reply()) {
        switch exitStatus {
        case 0: self = .handled(reply)
        case 75: self = .retry(after: nil)
        case 80: self = .declined
        default: self = .rejected(reason: "exit status \(exitStatus)")
        }
    }
}
