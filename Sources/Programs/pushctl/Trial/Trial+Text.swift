import HandlerProcess
import JSONC
import PushModel
import PushRouter
import PushSettings
import PushViews

extension Trial {
    /// The text for people.
    ///
    /// - Parameter isVerbose: whether the input of the handler is shown with a line for each value.
    func text(isVerbose: Bool) -> String {
        var text =
            "\(place): handler \(handler.name) (\(handler.kind.name)), \(plan.callback.rawValue), "
            + "route \(plan.route.name), \(plan.budget.shown)\n"
        for remark in plan.remarks { text += "  remark: \(remark.showingControls())\n" }
        if handler.kind.isBuiltIn {
            text += "  \(handler.kind.name) is built in: the daemon does the work itself, and no program runs\n"
        }
        var shown = 0
        for attempt in attempts {
            if attempt.number > shown + 1 { text += "  attempts \(shown + 1) to \(attempt.number - 1) are left out\n" }
            shown = attempt.number
            if let last = attempts.last, last.number > 1 { text += "  attempt \(shown) of \(last.number)\n" }
            text += attempt.text(of: handler, isVerbose: isVerbose, outcome: end?.result.reason)
        }
        for note in notes { text += "  journal: \(note.showingControls())\n" }
        guard let result = end?.result else { return text }
        // If no run began, the whole time was spent waiting for one.
        let took = attempts.contains { $0.began != nil } ? result.exec : result.total
        let time = attempts.isEmpty ? "" : " after \(took.shown)"
        return text + "  outcome: \(result.outcome.rawValue)\(time)"
            + (result.reason.map { ": \($0.showingControls())" } ?? "") + "\n"
    }
}

extension Trial.Attempt {
    /// The program's answer: standard output of an `exec` handler, otherwise the line; `nil` without one.
    var reply: HandlerAnswer.Content? {
        if case .handled(let content)? = answer, content != HandlerAnswer.Content() { return content }
        if let line = answerLine { return (try? JSONDocument(scanning: line)).map { .init(answer: $0.root) } }
        return HandlerAnswer.Content(standardOutput: output, discarded: discarded)
    }

    /// The parts of the answer that are ignored, or the reason why the output is no answer.
    var remarks: [String] {
        if let reply { return reply.remarks }
        // A failed program need not answer: its exit status and its standard error say why.
        if case .exited(let code)? = end, code != 0 { return [] }
        guard case .exited? = end, let objection = HandlerAnswer.Content.objection(toOutput: output) else { return [] }
        return ["its output is no answer and is ignored, so the exit status alone counts: \(objection)"]
    }

    /// Whether the handler got its input. An `exec` handler's input is made before its program is started.
    private func wasGiven(to handler: Handler) -> Bool {
        if case .exec = handler.kind { return began != nil }
        return !input.isEmpty
    }

    /// Standard output of an `exec` handler, otherwise the lines.
    var written: Tail { lines.count > 0 ? lines : Tail(output, more: discarded) }

    /// How the program ended, or that it was killed.
    var ending: String {
        switch end {
        case .exited(let code)?: "exit status \(code)"
        case .signaled(let signal)?: "ended by \(signalText(Int(signal)))"
        case nil: wasStopped ? "killed at its deadline" : ""
        }
    }

    /// - Parameter outcome: the reason of the outcome; remarks that it contains are left out.
    fileprivate func text(of handler: Handler, isVerbose: Bool, outcome: String?) -> String {
        var text = given(to: handler, isVerbose: isVerbose)
        // The lines of an http handler are pushrouter-http's; the answer has the server's reply.
        if handler.kind.notificationRules == nil, handler.kind.endpoint == nil {
            text += Self.stream("standard output", written, unknown: discarded)
        }
        // The service behind a socket has its own standard error.
        if handler.kind.command != nil || errors.count > 0 { text += Self.stream("standard error", errors) }
        if wasWarned { text += "  SIGTERM was sent: its grace began\n" }
        text += "  answer: \(answerText.showingControls())\n"
        for remark in remarks where outcome?.has(remark) != true { text += "    remark: \(remark.showingControls())\n" }
        return text
    }

    private func given(to handler: Handler, isVerbose: Bool) -> String {
        guard wasGiven(to: handler) else { return "" }
        guard let endpoint = handler.kind.endpoint, let request = request(to: handler) else {
            return "  got:\n" + Self.indented(isVerbose ? Self.pretty(input) : input)
        }
        let headers = request.headers.lines.map { "    \($0.showingControls())\n" }.joined()
        let body = Self.indented(isVerbose ? Self.pretty(request.body) : request.body)
        let added = endpoint.addedHeaders.joined(separator: ", ")
        return "  request to \(endpoint.url):\n\(headers)    \(added): added as it leaves\n\n\(body)"
    }

    private var answerText: String {
        var parts: [String] = []
        switch answer {
        case .handled?: parts.append("handled")
        case .retry(let after, let reason)?:
            parts.append("retry" + (after.map { " after \($0.shown)" } ?? "") + (reason.map { " (\($0))" } ?? ""))
        case .unavailable(let reason, _)?: parts.append("none (\(reason))")
        case .declined?: parts.append("declined")
        case .rejected(let reason)?: parts.append("rejected (\(reason))")
        case .lost(let reason)?: parts.append("none (\(reason))")
        case .signaled?: parts.append("none")
        case nil: parts.append(wasStopped ? "none in time" : "none")
        }
        if !ending.isEmpty, !parts[0].has(ending) { parts.append(ending) }
        if let reply {
            if let result = reply.result { parts.append("result \(result.rawValue)") }
            if let options = reply.options { parts.append("options \(options.joined(separator: " "))") }
            if !reply.log.isEmpty { parts.append("log of \(counted(reply.log.count, "object"))") }
            if reply.times > 1 { parts.append("given \(reply.times) times") }
        }
        if let duration { parts.append("after \(duration.shown)") }
        return parts.joined(separator: ", ")
    }

    /// A stream: its length, and its end.
    ///
    /// - Parameter unknown: how many bytes at its end were not read.
    private static func stream(_ name: String, _ tail: Tail, unknown: Int = 0) -> String {
        guard tail.count > 0 else { return "  \(name): nothing\n" }
        var size = counted(tail.count, "byte")
        if tail.count > tail.bytes.count {
            size +=
                unknown > 0
                ? ", of which the daemon reads \(tail.count - unknown); the last \(tail.bytes.count) of those"
                : "; the last \(tail.bytes.count)"
        }
        return "  \(name) (\(size)):\n" + indented(tail.bytes)
    }

    private static func indented(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.last == UInt8(ascii: "\n") ? bytes.dropLast() : bytes[...], as: UTF8.self)
            .shownLines.map { "    \($0)\n" }.joined()
    }

    private static func pretty(_ bytes: [UInt8]) -> [UInt8] {
        (try? JSONTree(scanning: bytes, limits: JSONLimits(depth: 128)))?.bytes(.indented) ?? bytes
    }
}

extension Duration {
    /// `9 s`, `500 ms`, `12.3 ms`.
    var shown: String {
        let tenths = microseconds / 100
        if tenths >= 10_000, tenths % 10_000 == 0 { return "\(tenths / 10_000) s" }
        return tenths % 10 == 0 ? "\(tenths / 10) ms" : "\(tenths / 10).\(tenths % 10) ms"
    }
}
