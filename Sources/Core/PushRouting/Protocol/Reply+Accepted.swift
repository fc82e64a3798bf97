public import PushCustomData
public import PushModel

extension Reply {
    /// Returns the reply to a request that is on disk, with its rejected entries.
    ///
    /// - Parameter outcomes: the number of outcome lines that follow; `nil` for a client that does not wait for them.
    public static func accepted(
        _ seq: SequenceNumber, id: String?, outcomes: Int? = nil, rejected: [Rejection] = []
    ) -> [UInt8] {
        line { writer in
            writer.member("ok", true)
            writer.member("seq", seq.value)
            if let id { writer.member("id", id) }
            if let outcomes { writer.member("outcomes", outcomes) }
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
