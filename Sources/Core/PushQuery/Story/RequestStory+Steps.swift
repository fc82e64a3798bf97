public import PushModel

extension RequestStory {
    /// Every attempt at an invocation. The ledger has no row of the last one where the invocation says all of it: it was
    /// handled, and the handler wrote nothing.
    public func attempts(at invocation: InvocationRecord) -> [AttemptRecord] {
        var attempts = attempts.filter { $0.id == invocation.id }
        guard let result = invocation.result, result.outcome == .handled, let handler = invocation.handler,
            attempts.last?.answer != .handled
        else { return attempts }
        let start = max(result.queue, attempts.last?.ended ?? .zero)
        attempts.append(
            AttemptRecord(
                id: invocation.id, route: invocation.route, handler: handler, asked: start, started: start,
                ended: result.total, answer: .handled, number: (attempts.last?.number ?? 0) + 1))
        return attempts
    }

    /// Returns the steps of an invocation, each with its time since acceptance; empty if no handler had it.
    public func steps(of invocation: InvocationRecord) -> [[String]] {
        let attempts = attempts(at: invocation)
        let ahead = invocation.result?.ahead
        guard !attempts.isEmpty || ahead != nil else { return [] }
        var steps = [["0 ms", "accepted"]]
        if let ahead { steps.append(["0 ms", "queued in its lane, \(ahead) ahead of it"]) }
        var before = 0
        for attempt in attempts {
            if attempt.number > before + 1, before > 0 {
                steps.append(["", "\(counted(attempt.number - before - 1, "attempt")) between these are not shown"])
            }
            before = attempt.number
            let number = attempts.count == 1 && attempt.number == 1 ? "" : "attempt \(attempt.number), "
            if let started = attempt.started {
                steps.append(["\(started.milliseconds) ms", "\(number)handler \(attempt.handler) started"])
            } else {
                let asked = "\(number)handler \(attempt.handler) was to start"
                steps.append(["\(attempt.asked.milliseconds) ms", asked])
            }
            steps.append(["\(attempt.ended.milliseconds) ms", attempt.end])
        }
        // A handler's end often has the outcome's word.
        if let result = invocation.result, steps.last?.last != result.outcome.rawValue {
            steps.append(["\(result.total.milliseconds) ms", result.outcome.rawValue])
        }
        return steps
    }

    /// The ends of standard error of the handlers.
    public func outputs(of invocation: InvocationRecord) -> String {
        let attempts = attempts(at: invocation)
        var text = ""
        for attempt in attempts {
            guard let output = attempt.output else { continue }
            let number = attempts.count == 1 && attempt.number == 1 ? "" : " in attempt \(attempt.number)"
            let cut = output.cut == 0 ? "" : ", after \(output.cut) bytes that are not kept"
            text += "  \(attempt.handler) wrote to standard error\(number)\(cut):\n"
            var lines = output.text.shownLines
            if lines.last?.isEmpty == true { lines.removeLast() }
            for line in lines { text += "    \(line)\n" }
        }
        return text
    }
}

extension AttemptRecord {
    /// How it ended, for people.
    fileprivate var end: String {
        let words: String =
            switch answer {
            case .handled: "handled"
            case .retry: "asked for a retry" + (retryAfter.map { ", tried again after \($0.milliseconds) ms" } ?? "")
            case .declined: "declined"
            case .rejected: "rejected"
            case .timedOut: "not finished at the deadline, killed"
            case .killed: "killed by \(signalText(signal ?? 0))"
            case .notStarted: "not started"
            }
        // A program's exit status is less than 256, and one of HTTP that is shown is more.
        let detail = reason ?? status.flatMap { $0 == 0 ? nil : $0 > 255 ? "HTTP status \($0)" : "exit status \($0)" }
        return words + (detail.map { ": \($0)" } ?? "")
    }
}
