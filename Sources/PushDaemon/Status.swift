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
    }
}
