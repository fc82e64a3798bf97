import Testing

@testable import LinuxSystem
@testable import PushModel

/// A line from the daemon.
struct Line: CustomStringConvertible {
    let description: String
    private let root: JSONNode

    init(_ bytes: [UInt8]) throws {
        description = String(decoding: bytes, as: UTF8.self)
        root = try JSONDocument(scanning: bytes).root
    }

    subscript(key: String) -> JSONNode? { root[key] }

    /// Whether it is the reply to a request, not an outcome line.
    var isReply: Bool { root["ok"] != nil }
    var isAccepted: Bool { root["ok"]?.bool == true }
    var seq: Int64? { root["seq"]?.int64 }
    var n: Int64? { root["n"]?.int64 }
    var id: String? { root["id"]?.string }
    var outcome: String? { root["outcome"]?.string }
    var reason: String? { root["reason"]?.string }
    var reasonCode: String? { root["reason_code"]?.string }
    var errorCode: String? { root["error"]?["code"]?.string }
    var errorMessage: String? { root["error"]?["message"]?.string }
    var completion: String? { root["completion"].map { String(decoding: $0.rawBytes, as: UTF8.self) } }
    var totalMilliseconds: Int64 { root["total_ms"]?.int64 ?? -1 }
    var executionMilliseconds: Int64 { root["exec_ms"]?.int64 ?? -1 }
}

extension Client {
    /// Returns the next line; the test fails at the timeout.
    func next() throws -> Line {
        try Line(try #require(try receiveLine(timeoutMilliseconds: patience), "the daemon closed the connection"))
    }

    /// Sends a line and returns the next one.
    func ask(_ line: String) throws -> Line {
        try send(line: line)
        return try next()
    }

    /// Sends a request that waits for its only outcome, and returns the outcome line.
    func outcome(of request: String) throws -> Line {
        let reply = try ask(request)
        try #require(reply.isAccepted, "\(reply)")
        return try next()
    }

    /// Returns all lines until the daemon closes the connection.
    func all() throws -> [Line] {
        var lines: [Line] = []
        while let bytes = try receiveLine(timeoutMilliseconds: patience) { lines.append(try Line(bytes)) }
        return lines
    }

    /// Returns whether the daemon closes the connection within the timeout without another line.
    func isAtEnd() throws -> Bool { try receiveLine(timeoutMilliseconds: patience) == nil }

    /// Finishes sending and waits until the daemon has closed the connection.
    func leave() throws {
        finishSending()
        try #require(try isAtEnd())
    }
}

/// The timeout of a test's wait for an event in milliseconds; a passing test never reaches it.
let patience = 60_000
