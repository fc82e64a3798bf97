@testable import PushModel

/// Requests for `control.sock`, written by hand, so that the tests do not derive the expected treatment from the
/// daemon's own table.
enum ControlLines {
    private static let run = #""instance":"00000000-0000-4000-8000-000000000001""#

    /// A line for each op that changes state.
    static let changing: [String: String] = [
        "claim": #"{"op":"claim",\#(run),"limit":1}"#,
        "depart": #"{"op":"depart",\#(run),"entries":[1]}"#,
        "settle": #"{"op":"settle",\#(run),"entries":[{"number":1,"state":"sent"}]}"#,
        "sending": #"{"op":"sending",\#(run),"phase":"stopped","reason":"no key"}"#,
        "flush": #"{"op":"flush","app":"shop"}"#,
        "reset": #"{"op":"reset","suite":"standard"}"#,
        "resolve": #"{"op":"resolve","entries":"all","state":"discarded"}"#,
        "replay": #"{"op":"replay","requests":[1]}"#,
        "purge": #"{"op":"purge","requests":[1]}"#,
        "erase": #"{"op":"erase","external_id":"anna"}"#,
        "log_level": #"{"op":"log_level","level":"err"}"#,
        "reload": #"{"op":"reload"}"#,
        "gateway_rotate": #"{"op":"gateway_rotate","until":"2026-12-24T00:00:00Z"}"#,
    ]

    /// A line for each op, or form of it, that changes no state.
    static let reading: [String: String] = [
        "status": #"{"op":"status"}"#, "metrics": #"{"op":"metrics"}"#, "sync": #"{"op":"sync"}"#,
        "peek": #"{"op":"peek","after":0,"limit":10}"#, "log_level": #"{"op":"log_level"}"#,
        "configuration": #"{"op":"configuration"}"#,
    ]

    /// The ops without a line here.
    static var missing: Set<String> {
        Set(ControlRequest.names).subtracting(changing.keys).subtracting(reading.keys)
    }
}
