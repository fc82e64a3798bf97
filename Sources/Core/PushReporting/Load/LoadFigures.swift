public import PushFigures
public import PushModel

/// What a load generator saw. Its size does not depend on how many requests there were.
public struct LoadFigures: Sendable {
    /// How the requests were sent.
    public struct Setup: Hashable, Sendable {
        /// How many connections.
        public var connections: Int
        /// How many requests without a reply on each at most.
        public var pipeline: Int
        /// How many a second; `nil`: as fast as there was room.
        public var rate: Double?

        /// Joins the parts.
        public init(connections: Int, pipeline: Int, rate: Double?) {
            self.connections = connections
            self.pipeline = pipeline
            self.rate = rate
        }
    }

    /// How many codes of refusals are told apart: a daemon has fewer.
    private static let codeLimit = 64

    /// How the requests were sent.
    public let setup: Setup
    /// How many were sent, or were to be and could not.
    public var sent = 0
    /// How many were accepted.
    public private(set) var accepted = 0
    /// How many were refused, by the code of the error.
    public private(set) var refused: [String: Int] = [:]
    /// Replies that no request was waiting for, or that are none.
    public private(set) var strayReplies = 0
    /// Accepted requests with custom data that was rejected.
    public private(set) var rejectedParts = 0
    /// Connections that the daemon closed.
    public var lostConnections = 0
    /// Requests that were meant to be sent and were not, because there was no room for them.
    public var overdue = 0
    /// From the first request to the last reply.
    public var length: Duration = .zero
    /// From when a request was meant to be sent to its reply.
    public private(set) var latency = Histogram()
    /// The lowest and the highest number of an accepted request.
    public private(set) var numbers: ClosedRange<SequenceNumber>?
    /// What became of the requests: rows of the ledger; `nil`: not known.
    public var outcomes: ComplianceReport?
    /// Why that is not known.
    public var outcomesProblem: String?

    /// Without requests.
    public init(_ setup: Setup) { self.setup = setup }

    /// Counts a reply.
    /// - Parameters:
    ///   - line: as it came.
    ///   - latency: from when the request was meant to be sent, in nanoseconds; `nil`: no request was waiting.
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

    /// Refused requests, whatever the code.
    public var refusedInAll: Int { refused.values.reduce(0, +) }

    /// Requests that got no reply, and may have been accepted or not.
    public var unanswered: Int { max(0, sent - latency.count) }

    /// Whether all that was meant to be sent was sent and accepted.
    public var isGood: Bool {
        refusedInAll + unanswered + strayReplies + rejectedParts + lostConnections + overdue == 0
    }

    /// Accepted requests in a second.
    public var rate: Double {
        let seconds = Double(length.microseconds) / 1e6
        return seconds > 0 ? Double(accepted) / seconds : 0
    }
}
