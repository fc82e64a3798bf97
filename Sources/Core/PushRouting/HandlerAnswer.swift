public import PushModel

/// What a handler said, or how it ended without saying.
public enum HandlerAnswer: Hashable, Sendable {
    /// Done.
    case handled(Content)
    /// Try again while the budget lasts; only in `relay` mode. After this long, or after the configured delay; the reason is
    /// for people.
    case retry(after: Duration?, reason: String? = nil)
    /// It could not be asked; the reason is for people. In `relay` mode it is tried again after this long, if there is as
    /// much time.
    case unavailable(reason: String, after: Duration)
    /// Not mine: the next route's.
    case declined
    /// Never; the reason is for people.
    case rejected(reason: String)
    /// What ran it is gone without an answer, by no fault of this invocation; the reason is for people.
    case lost(reason: String)
    /// Ended by this signal.
    case signaled(Int32)

    /// Whether the handler said anything, by an exit status too. `nil`: it wants to be asked again, and how that ends is
    /// what counts; a server that nobody reaches is told so, too.
    var isAnswer: Bool? {
        switch self {
        case .handled, .declined, .rejected: true
        case .retry: nil
        case .unavailable, .lost, .signaled: false
        }
    }

    /// The words for how a run ended, as handlers write them.
    public enum Status: String, Sendable, CaseIterable {
        case handled, retry, declined, rejected

        /// What the exit status of an `exec` handler means.
        public init(exitStatus: Int32) {
            switch exitStatus {
            case 0: self = .handled
            case 75: self = .retry
            case 80: self = .declined
            default: self = .rejected
            }
        }
    }

    /// What a handler may say beside that it is done.
    public struct Content: Hashable, Sendable {
        /// The fetch result.
        public var result: FetchResult?
        /// The presentation options of `willPresent`, as the handler wrote them.
        public var options: [String]?
        /// How often it answered; 0: it said nothing. The first answer is the one that counts.
        public var times: Int
        /// How it says that it ended; where there is an exit status, that one decides.
        public var status: Status?
        /// Why it ended so, in the handler's words; where it is done, a remark.
        public var reason: String?
        /// Custom data that it wants kept. Only of one that is done it is: whoever declines or wants to be tried again has
        /// not said its last word.
        public var log: [LoggedByHandler]
        /// What of its answer nobody understands, or goes against its exit status, for people.
        public var remarks: [String]

        /// Joins the parts; what has a result, options or entries was said once.
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

    /// What the exit status of an `exec` handler means. It decides: an answer that says otherwise
    /// is remarked on.
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

    /// How a run of a program ended that is its own answer: by its exit status, and by what it wrote to standard output. What
    /// a failure wrote besides an answer is its reason.
    ///
    /// - Parameters:
    ///   - exitStatus: of the program.
    ///   - output: what it wrote to standard output, as far as it was read.
    ///   - discarded: how many bytes came after them.
    public init(exitStatus: Int32, output: [UInt8], discarded: Int) {
        var content = Content(standardOutput: output, discarded: discarded) ?? Content()
        if Status(exitStatus: exitStatus) != .handled, content.reason == nil {
            content.reason = Content.chatter(in: output, isCut: discarded > 0)
        }
        self.init(exitStatus: exitStatus, content: content)
    }
}

/// One entry of custom data that a handler's answer brings. What it does not say of the app and the device is the
/// delivery's; a user it has only if it names one.
public struct LoggedByHandler: Hashable, Sendable {
    /// What it says, as `op: log` would.
    public var request: LogRequest

    /// - Parameter request: what it says; its object is the element of the answer, and all the rest is read from that.
    public init(_ request: LogRequest) { self.request = request }

    public static func == (left: LoggedByHandler, right: LoggedByHandler) -> Bool {
        left.request.object.rawBytes == right.request.object.rawBytes
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(request.object.rawBytes) }
}
