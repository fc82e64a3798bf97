import PushModel
import PushReporting
import PushRouting
import Store

/// The answers of `control.sock`, each with its line feed.
extension Reply {
    /// The answer to a claim.
    static func claimed(_ claimed: Claimed, id: String?) -> [UInt8] { done(id: id, claimed.write) }

    /// The answer to a departure: the entries that may be sent, and how long from the question on where a lease ends.
    static func departed(_ numbers: [EntryNumber], valid: Duration? = nil, id: String?) -> [UInt8] {
        done(id: id) {
            $0.member("entries", array: { list in numbers.forEach { list.int($0.value) } })
            if let valid { $0.member("valid_ms", max(0, valid.milliseconds)) }
        }
    }

    /// The answer to a status.
    static func status(_ status: StatusValue, id: String?) -> [UInt8] {
        done(id: id) {
            $0.key("status")
            status.write(to: &$0)
        }
    }

    /// The answer to what changes entries: how many it changed, under a word for the change.
    static func counted(_ what: String, _ count: Int, id: String?) -> [UInt8] {
        done(id: id) { $0.member(what, count) }
    }

    /// The answer to a flush: how many entries were flushed, and how many of them were to be sent as well and could not be.
    static func flushed(_ count: Int, unsent: Int, id: String?) -> [UInt8] {
        done(id: id) {
            $0.member("flushed", count)
            if unsent > 0 { $0.member("not_sent", unsent) }
        }
    }

    /// The answer to a replay: which request became which, and which were not accepted again.
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

    /// The answer to an erasure: what was taken out; why the rest of it waits, if it does.
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
    ///   - table: what is in force.
    ///   - problem: why that is what was in force before; `nil`: it is what was read.
    static func reloaded(_ table: RoutingTable, _ problem: String?, id: String?) -> [UInt8] {
        done(id: id) {
            $0.member("reloaded", problem == nil)
            $0.member("problem", problem)
            $0.member("routes", table.routes.count)
            $0.member("handlers", table.handlers.count)
        }
    }

    /// The answer to what has nothing to tell.
    static func done(id: String?) -> [UInt8] { done(id: id) { _ in } }

    /// The same line with the version of what `control.sock` takes and tells: for the first reply on a connection.
    static func stating(version: Int, _ line: [UInt8]) -> [UInt8] {
        Array(line.dropLast(2)) + Array(#","protocol":\#(version)}"#.utf8) + [UInt8(ascii: "\n")]
    }

    /// A done request's answer, with what `content` adds.
    static func done(id: String?, _ content: (inout JSONWriter) -> Void) -> [UInt8] {
        line { reply in
            reply.member("ok", true)
            if let id { reply.member("id", id) }
            content(&reply)
        }
    }
}
