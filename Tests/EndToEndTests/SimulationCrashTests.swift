import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel
@testable import Store

/// The counterpart of `TwinTests`: the built programs over their sockets instead of the daemon's parts with a virtual
/// clock.
@Suite("The built daemon and pushctl simulate", .timeLimit(.minutes(30)))
struct SimulationCrashTests {
    /// The settings make nothing due during this test, so no row depends on its speed.
    private let installation = Installation(
        """
        [Dispatch]
        DismissActionCategories=registered
        [Tracker]
        Grace=600s
        AndroidSessionTimeout=30d
        IosSessionTimeout=30d
        WebSessionTimeout=30d

        """)

    @Test("write the same rows of a random day, although the daemon is killed repeatedly", arguments: [1, 2])
    func day(seed: UInt64) throws {
        installation.addRoute("10-orders", to: "journal", match: "Data=order_id")
        installation.addRoute("50-watch", to: "journal", match: "KeyValue=order_id", route: "Observe=yes")
        var daemon = try DaemonProcess.ready(installation)
        var client = try installation.injectClient()
        var crashes: Set<Int64> = []
        var accepted: Int64 = 0
        for event in RandomDay(seed: seed, requests: 300).events {
            switch event {
            case .request(_, let line, _):
                let reply = try client.ask(line)
                if reply.isAccepted { accepted = try #require(reply.seq) }
            case .crash:
                daemon.crash()
                crashes.insert(accepted + 1)
                daemon = try DaemonProcess.ready(installation)
                client = try installation.injectClient()
            }
        }
        daemon.crash()
        // The next start applies rows that are only in the log to the ledger.
        daemon = try DaemonProcess.ready(installation)
        daemon.crash()
        let rows = try self.rows()
        #expect(!crashes.isEmpty && rows.count > 250)
        let simulated = try simulate(crashes)
        let difference = rows.difference(from: simulated)
        #expect(difference.isEmpty, "seed \(seed): \(difference)")
    }

    private func rows() throws -> [String] {
        var rows: [String] = []
        try installation.ledger().rows { row in
            guard let invocation = row.invocation, let result = invocation.result else { return }
            rows.append(
                [
                    "\(row.seq).\(invocation.id.n)", invocation.callback.rawValue, invocation.provider ?? "-",
                    invocation.route ?? "-", "\(invocation.isObserver)", result.outcome.rawValue, result.reason ?? "-",
                ].joined(separator: " "))
        }
        return rows
    }

    private func simulate(_ crashes: Set<Int64>) throws -> [String] {
        let ledger = try installation.ledger()
        var numbers: [SequenceNumber] = []
        try ledger.rows { if numbers.last != $0.seq { numbers.append($0.seq) } }
        var script = ""
        for seq in numbers {
            let request = try #require(try ledger.story(of: seq)).request
            let at = request.acceptedAt.wall.milliseconds
            if crashes.contains(seq.value) { script += #"{"at":\#(at),"crash":{}}"# + "\n" }
            script += Self.moved(String(decoding: request.body, as: UTF8.self), to: at) + "\n"
        }
        let simulation = pushctl.run(
            ["simulate", "-", "--config", installation.configuration], input: Array(script.utf8))
        #expect(simulation.end == .exited(0), "\(simulation.errors)")
        let rows = try simulation.lines.map { try json($0) }.filter { $0["type"]?.string == "invocation" }
        return rows.sorted { Self.place($0) < Self.place($1) }.map { row in
            [
                "\(row["seq"]?.int64 ?? 0).\(row["n"]?.int64 ?? 0)", row["callback"]?.string ?? "-",
                row["provider"]?.string ?? "-", row["route"]?.string ?? "-", "\(row["observer"]?.bool == true)",
                row["outcome"]?.string ?? "-", row["reason"]?.string ?? "-",
            ].joined(separator: " ")
        }
    }

    private static func place(_ row: JSONNode) -> (Int64, Int64) { (row["seq"]?.int64 ?? 0, row["n"]?.int64 ?? 0) }

    /// Returns the line with another time: that of its acceptance.
    private static func moved(_ line: String, to time: Int64) -> String {
        guard let start = line.start(ofLast: #","at":"#) else { return line }
        return line[..<start] + #","at":\#(time)}"#
    }
}

extension String {
    /// Returns the start of the last occurrence of `text`.
    fileprivate func start(ofLast text: String) -> Index? {
        indices.last { self[$0...].hasPrefix(text) }
    }
}
