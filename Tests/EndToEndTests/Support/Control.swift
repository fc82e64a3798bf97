import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel
@testable import Store

/// The daemon's status from `control.sock`.
struct DaemonStatus {
    private let root: JSONNode

    init(of installation: Installation) throws {
        let reply = try Client(path: installation.controlSocket).ask(#"{"op":"status"}"#)
        root = try #require(reply["status"], "\(reply)")
    }

    subscript(key: String) -> JSONNode? { root[key] }
    func text(_ key: String) throws -> String { try #require(root[key]?.string, "the status has no \(key)") }
    func number(_ key: String) throws -> Int64 { try #require(root[key]?.int64, "the status has no \(key)") }
}

extension Installation {
    func injectClient() throws -> Client { try Client(path: injectSocket) }

    /// Waits until every invocation in the ledger has its outcome.
    func waitUntilIdle() throws {
        try waitUntil("nothing is in flight") { try ledger().pendingInvocations().isEmpty }
    }
}
