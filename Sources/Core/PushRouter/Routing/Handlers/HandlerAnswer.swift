public import PushModel

/// The answer of a handler, or its end without an answer.
public enum HandlerAnswer: Hashable, Sendable {
    /// The work is done.
    case handled(Content)
    /// The handler asks for another attempt within the budget, in `relay` mode only: after this delay, or after the
    /// configured one. The reason is for people.
    case retry(after: Duration?, reason: String? = nil)
    /// The router could not reach the handler; the reason is for people. In `relay` mode it tries again after this
    /// delay if the deadline is later.
    case unavailable(reason: String, after: Duration)
    /// The handler passes the invocation to the next route.
    case declined
    /// The handler refuses the invocation for good; the reason is for people.
    case rejected(reason: String)
    /// The run ended without an answer, through no fault of this invocation; the reason is for people.
    case lost(reason: String)
    /// This signal ended the run.
    case signaled(Int32)

    /// Whether the handler answered, by an exit status too. `nil` for a retry: only the end of its attempts counts,
    /// because an HTTP handler also reports an unreachable server as a retry.
    var isAnswer: Bool? {
        switch self {
        case .handled, .declined, .rejected: true
        case .retry: nil
        case .unavailable, .lost, .signaled: false
        }
    }

    /// The words by which a handler says how a run ended.
    public enum Status: String, Sendable, CaseIterable {
        case handled, retry, declined, rejected

        /// The meaning of an `exec` handler's exit status.
        public init(exitStatus: Int32) {
            switch exitStatus {
            case 0: self = .handled
            case 75: self = .retry
            case 80: self = .declined
            default: self = .rejected
            }
        }
    }

    /// The fields that a handler's answer may have beside its status.
    public struct Content: Hashable, Sendable {
        /// The fetch result.
        public var result: FetchResult?
        /// The presentation options of `willPresent`, as the handler wrote them.
        public var options: [String]?
        /// The number of the handler's answers; 0: none. The first answer counts.
        public var times: Int
        /// The status in the answer; an exit status overrides it.
        public var status: Status?
        /// The reason for the status in the handler's words; a remark if the status is `handled`.
        public var reason: String?
        /// Custom data that the handler wants to store. The router stores it only from an answer `handled`: a handler
        /// that declines or asks for a retry has not given its last answer.
        public var log: [LoggedByHandler]
        /// The parts of the answer that the router does not understand, or that contradict the exit status; for people.
        public var remarks: [String]

        /// Joins the parts; a content with a result, options or entries counts as one answer.
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

    /// Reads an `exec` handler's exit status. It overrides the answer; a contradiction becomes a remark.
    ///
    /// - Parameter errors: the program's standard error. Its last line is the reason of a failed run without a reason in
    ///   its answer. Other text of standard output is not: it may have parts of the payload.
    public init(exitStatus: Int32, content: Content = Content(), errors: ErrorOutput? = nil) {
        var content = content
        if Status(exitStatus: exitStatus) != .handled, content.reason == nil { content.reason = errors?.lastLine }
        var contradiction: String?
        if let status = content.status, status != Status(exitStatus: exitStatus) {
            contradiction = "the answer says \"\(status.rawValue)\", but the exit status is \(exitStatus)"
        }
        switch Status(exitStatus: exitStatus) {
        case .handled:
            if let contradiction { content.remarks.append(contradiction) }
            self = .handled(content)
        case .retry: self = .retry(after: nil, reason: content.reason)
        case .declined: self = .declined
        case .rejected:
            let general = contradiction ?? "exit status \(exitStatus)"
            self = .rejected(reason: content.reason.map { "\(general): \($0)" } ?? general)
        }
    }

    /// Reads the result of a program run.
    ///
    /// - Parameters:
    ///   - exitStatus: the program's exit status.
    ///   - output: the program's standard output, as far as the daemon read it.
    ///   - discarded: the number of bytes after `output` that the daemon discarded.
    ///   - errors: the program's standard error.
    public init(exitStatus: Int32, output: [UInt8], discarded: Int, errors: ErrorOutput? = nil) {
        let content = Content(standardOutput: output, discarded: discarded) ?? Content()
        self.init(exitStatus: exitStatus, content: content, errors: errors)
    }
}

/// An entry of custom data in a handler's answer. It inherits the app and the device of the delivery unless it names
/// its own. It has a user only if it names one.
public struct LoggedByHandler: Hashable, Sendable {
    /// The entry as a request of `op: log`.
    public var request: LogRequest

    /// - Parameter request: the entry; its object is the element of the answer, and every other field is read from it.
    init(_ request: LogRequest) { self.request = request }

    public static func == (left: LoggedByHandler, right: LoggedByHandler) -> Bool {
        left.request.object.rawBytes == right.request.object.rawBytes
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(request.object.rawBytes) }
}
