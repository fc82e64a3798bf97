import PushModel
import TestSupport
import Testing
import UnixSockets

/// What the daemon says of itself on `control.sock`.
struct DaemonStatus {
    private let root: JSONNode

    init(of installation: Installation) throws {
        let reply = try Client(path: installation.controlSocket).ask(#"{"op":"status"}"#)
        root = try #require(reply["status"], "\(reply)")
    }

    subscript(key: String) -> JSONNode? { root[key] }
    func number(_ key: String) throws -> Int64 { try #require(root[key]?.int64, "the status has no \(key)") }
}

extension Installation {
    func injectClient() throws -> Client { try Client(path: injectSocket) }

    /// Asks until nothing is in flight any more.
    func waitUntilIdle() throws {
        let client = try Client(path: controlSocket)
        try waitUntil("nothing is in flight") {
            try client.ask(#"{"op":"status"}"#)["status"]?["requests_in_flight"]?.int64 == 0
        }
    }
}
