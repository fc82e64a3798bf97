import CSQLite
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel

extension DiskLoad {
    /// Asks the daemon for requests that it has acknowledged, by their ids: the number of a lost request may have been given
    /// again.
    ///
    /// - Parameters:
    ///   - installation: the daemon's installation.
    ///   - isComplete: whether to ask for all, or only for those since the last call.
    /// - Returns: the ids of unknown requests, which this method also forgets.
    func findLost(at installation: Installation, isComplete: Bool = true) throws -> [String] {
        let wanted = (isComplete ? Array(acknowledged.keys) : unchecked).compactMap { acknowledged[$0] }
        unchecked = []
        let client = try installation.injectClient()
        var lost: [String] = []
        try Self.ask(wanted.map(\.request.contradiction), of: client) { index, reply in
            let id = wanted[index].request.id
            if reply.isAccepted { lost.append(id) } else { try #require(reply.errorCode == "id_conflict", "\(reply)") }
        }
        for id in lost { acknowledged[id] = nil }
        let known = wanted.filter { acknowledged[$0.request.id] != nil }
        try Self.ask(known.map(\.request.line), of: client) { index, reply in
            try #require(reply.description == known[index].reply, "the first reply to \(known[index].request.id)")
        }
        return lost
    }

    /// Sends lines pipelined, and reads their replies in order.
    private static func ask(_ lines: [String], of client: Client, take: (Int, Line) throws -> Void) throws {
        let window = 64
        for start in stride(from: 0, to: lines.count, by: window) {
            let some = start..<min(start + window, lines.count)
            try client.send(Array(lines[some].joined(separator: "\n").utf8) + [UInt8(ascii: "\n")])
            for index in some { try take(index, try client.next()) }
        }
    }

    /// Checks the ledger of an idle daemon against the acknowledged requests: each delivery has one outcome for each of
    /// its invocations, the report balances, no event occurs twice, and SQLite finds no damage.
    func checkLedger(of installation: Installation) throws {
        #expect(try integrity(of: installation.state + "/ledger.db") == "ok")
        let options = [
            "--config", installation.configuration, "--state", installation.state, "--runtime", installation.runtime,
        ]

        let report = try json(pushctl.run(options + ["report", "--json"]).output)
        let outcomes = report["outcomes"]?.members.reduce(0) { $0 + ($1.value.int64 ?? 0) }
        #expect(report["in_flight"]?.int64 == 0 && report["accepted"]?.int64 == outcomes, "\(report.text)")

        var outcomesByRequest: [Int64: [String]] = [:]
        var invocations: Set<String> = []
        let table = pushctl.run(options + ["report", "--format", "csv"]).output
        for row in table.split(separator: "\r\n").dropFirst() {
            let columns = row.split(separator: ",", maxSplits: 3, omittingEmptySubsequences: false)
            let seq = try #require(Int64(columns[0]), "\(row)")
            try #require(invocations.insert("\(seq)/\(columns[1])").inserted, "it is there twice: \(row)")
            outcomesByRequest[seq, default: []].append(String(columns[2]))
        }
        for (request, reply) in acknowledged.values.map({ ($0.request, $0.reply) }) {
            guard let wanted = request.invocations else { continue }
            let seq = try #require(try json(reply)["seq"]?.int64)
            let found = outcomesByRequest[seq] ?? []
            try #require(found.count == wanted && !found.contains(""), "\(request.id) has the outcomes \(found)")
        }

        let events = try pushctl.run(options + ["export"]).lines.map { try json($0)["id"]?.string }
        #expect(Set(events).count == events.count, "an event is there twice")
    }
}

/// Returns SQLite's integrity check of a database. Opens it read-only, so that no write bypasses the disk.
private func integrity(of path: String) throws -> String {
    var connection: OpaquePointer?
    defer { sqlite3_close(connection) }
    try #require(sqlite3_open_v2(path, &connection, SQLITE_OPEN_READONLY, nil) == SQLITE_OK)
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    sqlite3_prepare_v2(connection, "PRAGMA integrity_check", -1, &statement, nil)
    guard sqlite3_step(statement) == SQLITE_ROW, let text = sqlite3_column_text(statement, 0) else {
        return String(cString: sqlite3_errmsg(connection))
    }
    return String(cString: text)
}
