public import PushModel

/// A handler's answer, or the end of a run without an answer.
public enum HandlerAnswer: Hashable, Sendable {
    /// The work is done.
    case handled(Content)
    /// The handler asks for another attempt while the budget lasts; only in `relay` mode. `after`: the wait; `nil`: the
    /// configured delay. The reason is for people.
    case retry(after: Duration?, reason: String? = nil)
    /// The daemon could not start or reach the handler; the reason is for people. In `relay` mode the router tries
    /// again after this wait if the budget lasts.
    case unavailable(reason: String, after: Duration)
    /// The handler passes the invocation to the next route.
    case declined
    /// The handler will never do the work; the reason is for people.
    case rejected(reason: String)
    /// The handler's instance ended without an answer, through no fault of this invocation; the reason is for people.
    case lost(reason: String)
    /// A signal ended the program.
    case signaled(Int32)

    /// Whether the handler answered, an exit status included. `nil`: it asked for another attempt, and the outcome of
    /// that counts; a bridge also answers `retry` when its server cannot be reached.
    var isAnswer: Bool? {
        switch self {
        case .handled, .declined, .rejected: true
        case .retry: nil
        case .unavailable, .lost, .signaled: false
        }
    }

    /// The words by which handlers write the end of a run.
    public enum Status: String, Sendable, CaseIterable {
        case handled, retry, declined, rejected

        /// Returns the meaning of an `exec` handler's exit status.
        public init(exitStatus: Int32) {
            switch exitStatus {
            case 0: self = .handled
            case 75: self = .retry
            case 80: self = .declined
            default: self = .rejected
            }
        }
    }

    /// The parts of a handler's answer beside its status.
    public struct Content: Hashable, Sendable {
        /// The fetch result.
        public var result: FetchResult?
        /// The presentation options of `willPresent`, as the handler wrote them.
        public var options: [String]?
        /// The number of answers; 0: none. Only the first counts.
        public var times: Int
        /// The status in the answer; an exit status overrides it.
        public var status: Status?
        /// The handler's reason for its status; for `handled`, a remark.
        public var reason: String?
        /// Custom data to keep. The router keeps it only with `handled`: a handler that declines or asks for a retry
        /// has not given its final answer.
        public var log: [LoggedByHandler]
        /// The parts of the answer that are invalid or contradict the exit status, for people.
        public var remarks: [String]

        /// Joins the parts; content with a result, options or entries counts as one answer.
        public init(
            result: FetchResult? = nil, options: [String]? = nil, times: Int? = nil, status: Status? = nil,
            reason: String? = nil, log: [LoggedByHandler] = [], remarks: [String] = []
        ) {
            self.result = result
            self.options = options
            self.times = times ?? (result != nil || options != nil || !log.isEmpty ? 1 : 0)
            self.status = status
            self.reason = reason
            self.log = log
            self.remarks = remarks
        }
    }

    /// Returns the meaning of an `exec` handler's exit status. It overrides an answer with another status, which
    /// becomes a remark.
    public init(exitStatus: Int32, content: Content = Content()) {
        var contradiction: String?
        if let status = content.status, status != Status(exitStatus: exitStatus) {
            contradiction = "its answer says \"\(status.rawValue)\", but its exit status is \(exitStatus)"
        }
        switch Status(exitStatus: exitStatus) {
        case .handled:
            var content = content
            if let contradiction { content.remarks.append(contradiction) }
            self = .handled(content)
        case .retry: self = .retry(after: nil, reason: content.reason)
        case .declined: self = .declined
        case .rejected:
            let general = contradiction ?? "exit status \(exitStatus)"
            self = .rejected(reason: content.reason.map { "\(general): \($0)" } ?? general)
        }
    }

    /// Returns the answer of a program that ran: its exit status with its standard output. Output of a failed run that
    /// is no answer becomes the reason.
    ///
    /// - Parameters:
    ///   - exitStatus: the exit status of the program.
    ///   - output: its standard output, as far as the daemon read it.
    ///   - discarded: the number of bytes after these.
    public init(exitStatus: Int32, output: [UInt8], discarded: Int) {
        var content = Content(standardOutput: output, discarded: discarded) ?? Content()
        if Status(exitStatus: exitStatus) != .handled, content.reason == nil {
            content.reason = Content.chatter(in: output, isCut: discarded > 0)
        }
        self.init(exitStatus: exitStatus, content: content)
    }
}

/// An entry of custom data in a handler's answer. App and device default to the delivery's; the user does not: the
/// entry has one only if it names one.
public struct LoggedByHandler: Hashable, Sendable {
    /// The entry, in the form of `op: log`.
    public var request: LogRequest

    /// - Parameter request: the entry. Its object is the element of the answer; all other fields are read from it.
    public init(_ request: LogRequest) { self.request = request }

    public static func == (left: LoggedByHandler, right: LoggedByHandler) -> Bool {
        left.request.object.rawBytes == right.request.object.rawBytes
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(request.object.rawBytes) }
}
