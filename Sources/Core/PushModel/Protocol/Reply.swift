/// The lines that the daemon sends to a client, each with its line feed.
public enum Reply {
    /// The line for a refused request, which changed nothing.
    public static func refused(_ error: ProtocolError) -> [UInt8] {
        line { writer in
            writer.member("ok", false)
            if let id = error.id { writer.member("id", id) }
            writer.member("error", object: { $0.members(of: error) })
        }
    }

    /// The line for the outcome of an invocation, for a client that waits for it.
    public static func outcome(_ invocation: InvocationRecord, _ result: InvocationResult, id: String?) -> [UInt8] {
        line { writer in
            writer.member("seq", invocation.id.seq.value)
            if let id { writer.member("id", id) }
            writer.member("n", invocation.id.n)
            writer.member("callback", invocation.callback.rawValue)
            if let handler = invocation.handler { writer.member("handler", handler) }
            if invocation.isObserver { writer.member("observer", true) }
            writer.members(of: result, at: invocation.callback)
        }
    }

    /// Returns a line of one object, with its line feed.
    public static func line(_ content: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        writer.object(content)
        return writer.line()
    }
}

extension JSONWriter {
    /// Writes the members of an `error` object.
    public mutating func members(of error: ProtocolError) {
        member("code", error.code.rawValue)
        if let field = error.field { member("field", field) }
        member("message", error.message)
        member("retry", error.code.isTransient)
        if let retryAfter = error.retryAfter { member("retry_after_ms", retryAfter.milliseconds) }
        if let leader = error.leader { member("leader", leader) }
        if let rule = error.rule { member("rule", rule) }
    }

    /// Writes the members for the end of an invocation of a callback.
    public mutating func members(of result: InvocationResult, at callback: Callback) {
        member("outcome", result.outcome.rawValue)
        if let reason = result.reason { member("reason", reason) }
        if let code = result.reasonCode { member("reason_code", code.rawValue) }
        member("queue_ms", result.queue.milliseconds)
        member("exec_ms", result.exec.milliseconds)
        member("total_ms", result.total.milliseconds)
        if let ahead = result.ahead { member("ahead", ahead) }
        if let waitedFor = result.waitedFor { member("waited_for", object: { $0.members(of: waitedFor) }) }
        guard let completion = result.completion else { return }
        member(
            "completion",
            object: { writer in
                writer.member("by", completion.by.rawValue)
                writer.member("times", completion.times)
                writer.member("result", completion.result(at: callback)?.rawValue)
                guard !completion.options.isEmpty else { return }
                writer.member("options", array: { options in completion.options.forEach { options.string($0) } })
            })
    }

    /// Writes the members for the invocation that another one waited for; `handler` is `null` for the tracker.
    public mutating func members(of predecessor: Predecessor) {
        member("seq", predecessor.id.seq.value)
        member("n", predecessor.id.n)
        member("handler", predecessor.handler)
        if let took = predecessor.took { member("took_ms", took.milliseconds) }
    }

    /// Writes the members of an attempt; times count from the acceptance of the request.
    public mutating func members(of attempt: AttemptRecord) {
        member("attempt", attempt.number)
        member("route", attempt.route)
        member("handler", attempt.handler)
        member("asked_ms", attempt.asked.milliseconds)
        member("started_ms", attempt.started?.milliseconds)
        member("ended_ms", attempt.ended.milliseconds)
        member("answer", attempt.answer.rawValue)
        if let status = attempt.status { member("status", status) }
        if let signal = attempt.signal { member("signal", signal) }
        if let wait = attempt.retryAfter { member("retry_after_ms", wait.milliseconds) }
        if let reason = attempt.reason { member("reason", reason) }
        guard let output = attempt.output else { return }
        member("errors", output.text)
        if output.cut > 0 { member("errors_cut", output.cut) }
    }
}

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
