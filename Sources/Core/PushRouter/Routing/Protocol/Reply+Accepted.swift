public import PushModel

extension Reply {
    /// The reply to a request that is on disk.
    ///
    /// - Parameters:
    ///   - outcomes: the number of outcome lines that follow; `nil` for a client that does not wait for them.
    ///   - members: the number of devices that a publish reaches.
    ///   - results: the result of each token of `op: topic`.
    ///   - rejected: its rejected entries.
    public static func accepted(
        _ seq: SequenceNumber, id: String?, outcomes: Int? = nil, members: Int? = nil,
        results: [TopicRequest.Result]? = nil, rejected: [Rejection] = []
    ) -> [UInt8] {
        line { writer in
            writer.member("ok", true)
            writer.member("seq", seq.value)
            if let id { writer.member("id", id) }
            if let outcomes { writer.member("outcomes", outcomes) }
            if let members { writer.member("members", members) }
            if let results { writer.member("results", array: { list in results.forEach { list.string($0.rawValue) } }) }
            guard !rejected.isEmpty else { return }
            writer.member("rejected", array: { list in rejected.forEach { list.rejection($0) } })
        }
    }
}

extension JSONWriter {
    fileprivate mutating func rejection(_ rejection: Rejection) {
        object {
            $0.member("entry", rejection.number.value)
            $0.member("field", rejection.problem.field)
            $0.member("reason_code", rejection.problem.code.rawValue)
            $0.member("message", rejection.problem.message)
        }
    }
}
