import PushCustomData
import PushModel
import PushProtocol

/// What `op: status` tells: what the daemon is doing now.
struct Status {
    var version: String
    var processID: Int32
    var mode: DispatchMode
    var uptime: Duration
    var state: String
    var configurationProblem: String?
    var storeProblem: String?
    var accepted: Int64
    var lastSeq: Int64
    var requestsInFlight: Int
    var handlersRunning: Int
    var processes: Int
    var deliveriesTracked: Int
    var injectConnections: Int
    var controlConnections: Int
    var bytesWaiting: Int
    var transactions: UInt64
    var longestTurn: Duration
    var customData: CustomDataStatus

    /// The reply, with its line feed.
    func reply(id: String?) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { reply in
            reply.member("ok", true)
            if let id { reply.member("id", id) }
            reply.member("status", object: { members(&$0) })
        }
        return writer.bytes + [UInt8(ascii: "\n")]
    }

    private func members(_ writer: inout JSONWriter) {
        writer.member("version", version)
        writer.member("pid", processID)
        writer.member("mode", mode.rawValue)
        writer.member("uptime_ms", uptime.milliseconds)
        writer.member("state", state)
        writer.member("configuration_problem", configurationProblem)
        writer.member("store_problem", storeProblem)
        writer.member("accepted_since_start", accepted)
        writer.member("last_seq", lastSeq)
        writer.member("requests_in_flight", requestsInFlight)
        writer.member("handlers_running", handlersRunning)
        writer.member("handler_processes", processes)
        writer.member("deliveries_tracked", deliveriesTracked)
        writer.member("inject_connections", injectConnections)
        writer.member("control_connections", controlConnections)
        writer.member("bytes_waiting_for_disk", bytesWaiting)
        writer.member("transactions", transactions)
        writer.member("longest_turn_us", longestTurn.microseconds)
        writer.member("custom_data", object: { customData.members(&$0) })
    }
}

/// What `op: status` tells of custom data.
struct CustomDataStatus {
    var summary: CustomDataSummary
    var sending: SendingState?
    var isForwarderConnected: Bool
    /// The clock: ages are counted to it.
    var now: WallTime

    fileprivate func members(_ writer: inout JSONWriter) {
        writer.member("pending", summary.pending)
        writer.member("queued", summary.queued)
        writer.member("claimed", summary.claimed)
        writer.member("unknown", summary.unknown)
        writer.member("bytes", summary.bytes)
        let age = summary.oldestUnsent.map { max(0, now.milliseconds - $0.milliseconds) }
        writer.member("oldest_unsent_age_ms", age)
        writer.key("sending")
        if let sending { writer.object { $0.members(of: sending) } } else { writer.null() }
        writer.member("forwarder_connected", isForwarderConnected)
    }
}
