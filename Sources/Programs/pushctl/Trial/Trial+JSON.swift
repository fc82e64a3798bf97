import HandlerProcess
import PushModel
import PushRouter
import PushSettings

extension Trial {
    /// The object for programs.
    var json: [UInt8] {
        var writer = JSONWriter(reserving: 4096)
        writer.object { writer in
            writer.member("place", place)
            writer.member("handler", handler.name)
            writer.member("type", handler.kind.name)
            writer.member("callback", plan.callback.rawValue)
            writer.member("route", plan.route.name)
            writer.member("deadline_ms", plan.budget.milliseconds)
            writer.member("attempts", array: { list in attempts.forEach { $0.write(to: &list, of: handler) } })
            if let result = end?.result { writer.members(of: result, at: plan.callback) }
            writer.member("remarks", array: { list in plan.remarks.forEach { list.string($0) } })
            writer.member("journal", array: { list in notes.forEach { list.string($0) } })
        }
        return writer.bytes
    }
}

extension Trial.Attempt {
    fileprivate func write(to writer: inout JSONWriter, of handler: Handler) {
        writer.object { writer in
            writer.member("number", number)
            if input.isEmpty { writer.null("input") } else { writer.member("input", raw: input.dropLast()) }
            if let request = request(to: handler) {
                writer.member(
                    "request",
                    object: { member in
                        member.member("url", handler.kind.endpoint?.url)
                        member.member("headers", array: { list in request.headers.lines.forEach { list.string($0) } })
                        member.member("body", String(decoding: request.body, as: UTF8.self))
                    })
            }
            writer.member("output", object: { $0.members(of: written) })
            writer.member("errors", object: { $0.members(of: errors) })
            switch end {
            case .exited(let code)?: writer.member("exit", code)
            case .signaled(let signal)?: writer.member("signal", signal)
            case nil: break
            }
            writer.member("warned", wasWarned)
            writer.member("killed", wasStopped)
            writer.member("status", answer?.status?.rawValue)
            writer.member("result", reply?.result?.rawValue)
            writer.member("options", array: { list in reply?.options?.forEach { list.string($0) } })
            writer.member("log", array: { list in reply?.log.forEach { list.raw($0.request.object.rawBytes) } })
            writer.member("remarks", array: { list in remarks.forEach { list.string($0) } })
            writer.member("ms", duration.map { Double($0.microseconds) / 1000 })
        }
    }
}

extension HandlerAnswer {
    /// The word of the answer; `nil` for an end without an answer.
    fileprivate var status: Status? {
        switch self {
        case .handled: .handled
        case .retry: .retry
        case .declined: .declined
        case .rejected: .rejected
        case .lost, .signaled, .unavailable: nil
        }
    }
}

extension JSONWriter {
    fileprivate mutating func null(_ key: String) {
        self.key(key)
        null()
    }

    /// The length of the text, and its end.
    fileprivate mutating func members(of tail: Tail) {
        member("bytes", tail.count)
        member("cut", tail.count > tail.bytes.count)
        member("text", String(decoding: tail.bytes, as: UTF8.self))
    }
}
