import PushModel
import PushRouter
import PushViews
import Store

/// The replies of `control.sock`, each with its line feed.
extension Reply {
    /// The reply to a claim.
    static func claimed(_ claimed: Claimed, id: String?) -> [UInt8] { done(id: id, claimed.write) }

    /// The reply to a departure: the entries that may be sent, and the rest of the lease, counted from the request on.
    static func departed(_ numbers: [EntryNumber], valid: Duration? = nil, id: String?) -> [UInt8] {
        done(id: id) {
            $0.member("entries", array: { list in numbers.forEach { list.int($0.value) } })
            if let valid { $0.member("valid_ms", max(0, valid.milliseconds)) }
        }
    }

    /// The reply to a status request.
    static func status(_ status: StatusValue, id: String?) -> [UInt8] {
        done(id: id) {
            $0.key("status")
            status.write(to: &$0)
        }
    }

    /// The reply to a request that changes entries: their number, under the name of the change.
    static func counted(_ what: String, _ count: Int, id: String?) -> [UInt8] {
        done(id: id) { $0.member(what, count) }
    }

    /// The reply to a flush: the number of flushed entries, and how many of them should have been sent and could not
    /// be.
    static func flushed(_ count: Int, unsent: Int, id: String?) -> [UInt8] {
        done(id: id) {
            $0.member("flushed", count)
            if unsent > 0 { $0.member("not_sent", unsent) }
        }
    }

    /// The reply to a replay: the new number of each request, and the requests that were not accepted again.
    static func replayed(_ results: [ReplayResult], id: String?) -> [UInt8] {
        done(id: id) { reply in
            reply.member(
                "replayed",
                array: { list in
                    for case .accepted(let seq, let replay) in results {
                        list.object {
                            $0.member("of", seq.value)
                            $0.member("seq", replay.value)
                        }
                    }
                })
            reply.member(
                "refused",
                array: { list in
                    for case .refused(let seq, let reason, let code, let retryAfter) in results {
                        list.object {
                            $0.member("of", seq.value)
                            $0.member("reason", reason)
                            if let code { $0.member("code", code.rawValue) }
                            if let retryAfter { $0.member("retry_after_ms", retryAfter.milliseconds) }
                        }
                    }
                })
        }
    }

    /// The reply to an erasure: the counts of erased rows, and the reason if the rest has to wait.
    static func erased(_ receipt: ErasureReceipt, waitsFor reason: String?, id: String?) -> [UInt8] {
        done(id: id) { reply in
            for count in ErasureReceipt.counts { reply.member(count.name, receipt[keyPath: count.value]) }
            if let batch = receipt.batch { reply.member("batch", Int64(batch)) }
            reply.member("complete", reason == nil)
            if let reason { reply.member("waits_for", reason) }
        }
    }

    /// The answer to a reload.
    ///
    /// - Parameters:
    ///   - table: the table in force.
    ///   - state: the result of the reading.
    static func reloaded(_ table: RoutingTable, _ state: ConfigurationState, id: String?) -> [UInt8] {
        done(id: id) {
            $0.member("reloaded", state.problem == nil)
            $0.member("problem", state.problem)
            $0.member("routes", table.routes.count)
            $0.member("handlers", table.handlers.count)
            $0.member("warnings", array: { list in state.warnings.prefix(warningsMax).forEach { list.string($0) } })
        }
    }

    /// The most warnings of a configuration in an answer; the journal has all.
    private static let warningsMax = 20

    /// The answer to what has nothing to tell.
    static func done(id: String?) -> [UInt8] { done(id: id) { _ in } }

    /// The line with the version of the protocol of `control.sock`: for the first reply on a connection.
    static func stating(version: Int, _ line: [UInt8]) -> [UInt8] {
        Array(line.dropLast(2)) + Array(#","protocol":\#(version)}"#.utf8) + [UInt8(ascii: "\n")]
    }

    /// The reply to a request that was done, with the members that `content` adds.
    static func done(id: String?, _ content: (inout JSONWriter) -> Void) -> [UInt8] {
        line { reply in
            reply.member("ok", true)
            if let id { reply.member("id", id) }
            content(&reply)
        }
    }
}
