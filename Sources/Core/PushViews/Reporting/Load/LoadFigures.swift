public import PushModel

/// The measurements of a load generator. Their size does not depend on the number of requests.
public struct LoadFigures: Sendable {
    /// The parameters of the load.
    public struct Setup: Hashable, Sendable {
        /// The number of connections.
        public var connections: Int
        /// The most requests without a reply on a connection.
        public var pipeline: Int
        /// The requests per second; `nil`: as fast as the pipelines allow.
        public var rate: Double?

        /// Joins the fields.
        public init(connections: Int, pipeline: Int, rate: Double?) {
            self.connections = connections
            self.pipeline = pipeline
            self.rate = rate
        }
    }

    /// The most error codes to count separately; a daemon has fewer.
    private static let codeLimit = 64

    /// The parameters of the load.
    public let setup: Setup
    /// The requests that were sent, or that could not be sent.
    public var sent = 0
    /// The accepted requests.
    public private(set) var accepted = 0
    /// The refused requests by error code.
    public private(set) var refused: [String: Int] = [:]
    /// Replies without a waiting request, and lines that are not replies.
    private(set) var strayReplies = 0
    /// Accepted requests with custom data that was rejected.
    private(set) var rejectedParts = 0
    /// Connections that the daemon closed.
    public var lostConnections = 0
    /// Requests that were not sent at their time, because the pipelines were full.
    public var overdue = 0
    /// The time from the first request to the last reply.
    public var length: Duration = .zero
    /// The time from a request's scheduled time to its reply.
    public private(set) var latency = Histogram()
    /// The lowest and the highest number of an accepted request.
    public private(set) var numbers: ClosedRange<SequenceNumber>?
    /// The outcomes of the requests from the ledger; `nil` if unknown.
    public var outcomes: ComplianceReport?
    /// The reason for unknown outcomes.
    public var outcomesProblem: String?

    /// Measurements without requests.
    public init(_ setup: Setup) { self.setup = setup }

    /// Counts a reply.
    /// - Parameters:
    ///   - line: the reply as received.
    ///   - latency: the time since the request's scheduled time, in nanoseconds; `nil`: no request was waiting.
    public mutating func add(reply line: [UInt8], latency nanoseconds: Int64?) {
        let reply = (try? JSONDocument(scanning: line))?.root
        guard let isAccepted = reply?["ok"]?.bool else { return strayReplies += 1 }
        if nanoseconds == nil { strayReplies += 1 }
        if let nanoseconds { latency.add(microseconds: nanoseconds / 1000) }
        guard isAccepted else {
            let code = reply?["error"]?["code"]?.string ?? "unknown"
            let isKnown = refused[code] != nil || refused.count < Self.codeLimit
            refused[isKnown ? code : "other", default: 0] += 1
            return
        }
        accepted += 1
        if reply?["rejected"] != nil { rejectedParts += 1 }
        guard let number = reply?["seq"]?.int64.map({ SequenceNumber($0) }) else { return }
        numbers = min(numbers?.lowerBound ?? number, number)...max(numbers?.upperBound ?? number, number)
    }

    /// The refused requests of all codes.
    var refusedInAll: Int { refused.values.reduce(0, +) }

    /// Requests without a reply; whether the daemon accepted them is unknown.
    var unanswered: Int { max(0, sent - latency.count) }

    /// Whether every scheduled request was sent and accepted.
    public var isGood: Bool {
        refusedInAll + unanswered + strayReplies + rejectedParts + lostConnections + overdue == 0
    }

    /// The accepted requests per second.
    public var rate: Double {
        let seconds = Double(length.microseconds) / 1e6
        return seconds > 0 ? Double(accepted) / seconds : 0
    }
}
