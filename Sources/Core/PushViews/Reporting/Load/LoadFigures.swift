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

extension LoadFigures {
    /// The figures for people, a line each.
    public var text: String {
        var lines = [
            ("Requests", "\(grouped(sent)) in \(roundedSpan(length)), \(setupText)"),
            ("Accepted", "\(grouped(accepted)), \(rounded(rate, decimals: rate < 100 ? 1 : 0)) a second"),
        ]
        if refusedInAll > 0 {
            let codes = refused.sorted { $0.key < $1.key }.map { "\($0.key) \(grouped($0.value))" }
            lines.append(("Refused", "\(grouped(refusedInAll)): \(codes.joined(separator: ", "))"))
        }
        let problems = [
            ("Unanswered", unanswered, "no reply came, so the daemon may have accepted these requests"),
            ("Overdue", overdue, "not sent: the daemon did not keep up with the rate"),
            ("Rejected", rejectedParts, "accepted, with custom data that was rejected"),
            ("Stray replies", strayReplies, "replies to no request"),
            ("Lost connections", lostConnections, "closed by the daemon"),
        ]
        for (label, count, what) in problems where count > 0 { lines.append((label, "\(grouped(count)): \(what)")) }
        let times = Self.quantiles.map { "\($0.name) \(groupedMilliseconds(latency.quantile(permille: $0.permille)))" }
        lines.append(
            ("Acknowledged", "\(times.joined(separator: ", ")), max \(groupedMilliseconds(latency.max)) ms"))
        lines.append(
            ("", setup.rate == nil ? "from the sending of each request" : "from the scheduled time of each request"))
        lines += outcomeLines
        return lines.map { label, text in
            (label + String(repeating: " ", count: max(0, 21 - label.count)) + text) + "\n"
        }.joined()
    }

    private var setupText: String {
        let connections = "\(counted(setup.connections, "connection")) with up to \(setup.pipeline) in the pipeline"
        return setup.rate.map { "scheduled at \(rounded($0, decimals: 3)) a second, \(connections)" } ?? connections
    }

    private var outcomeLines: [(String, String)] {
        if let outcomesProblem { return [("Outcomes", "not known: \(outcomesProblem)")] }
        guard let outcomes else { return [] }
        var parts = Outcome.allCases.compactMap { outcome in
            outcomes.outcomes[outcome].map { "\(outcome.rawValue) \(grouped($0))" }
        }
        if outcomes.inFlight > 0 { parts.append("in flight \(grouped(outcomes.inFlight))") }
        let compliance = outcomes.compliance
        let counts = "(due \(grouped(compliance.due)), missed \(grouped(compliance.missed)))"
        return [
            ("Outcomes", parts.isEmpty ? "none" : parts.joined(separator: ", ")),
            ("Deadline compliance", compliance.due == 0 ? "nothing was due" : "\(compliance)  \(counts)"),
        ]
    }

    private static let quantiles = [
        (name: "p50", permille: 500), (name: "p90", permille: 900), (name: "p99", permille: 990),
        (name: "p99.9", permille: 999),
    ]

    /// The figures for programs, one object on one line.
    public var json: [UInt8] {
        var writer = JSONWriter()
        writer.object {
            $0.member("connections", setup.connections)
            $0.member("pipeline", setup.pipeline)
            $0.member("rate", setup.rate)
            $0.member("requests", sent)
            $0.member("accepted", accepted)
            $0.member("refused", refusedInAll)
            $0.member(
                "errors",
                object: { errors in
                    for (code, count) in refused.sorted(by: { $0.key < $1.key }) { errors.member(code, count) }
                })
            $0.member("unanswered", unanswered)
            $0.member("overdue", overdue)
            $0.member("rejected", rejectedParts)
            $0.member("stray_replies", strayReplies)
            $0.member("lost_connections", lostConnections)
            $0.member("length_ms", length)
            $0.member("accepted_per_second", rate)
            $0.member("latency_from", setup.rate == nil ? "sent" : "meant")
            $0.key("latency")
            latency.write(to: &$0)
            $0.member("first_seq", numbers?.lowerBound.value)
            $0.member("last_seq", numbers?.upperBound.value)
            writeOutcomes(to: &$0)
        }
        return writer.bytes
    }

    private func writeOutcomes(to writer: inout JSONWriter) {
        writer.member("outcomes_problem", outcomesProblem)
        guard let report = outcomes else { return writer.member("outcomes", nil as String?) }
        writer.key("outcomes")
        writer.counts(report.outcomes)
        writer.member("in_flight", report.inFlight)
        writer.members(of: report.compliance)
    }
}
