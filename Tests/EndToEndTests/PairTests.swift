import Glibc
import PushModel
import TestSupport
import Testing
import UnixSockets

@Suite(
    "What people see of a pair", .enabled(if: PostgreSQLServer.isInstalled || testsAll), .timeLimit(.minutes(10)))
struct PairTests {
    private let server = PostgreSQLServer()

    private func installation(_ node: String) -> Installation {
        Installation(
            """
            [Store]
            Log=postgresql://postgres@/postgres?host=\(server.root)
            Durability=engine
            Lease=60s
            Node=\(node)

            """)
    }

    private func run(_ installation: Installation, _ words: String..., input: String = "") -> Program.Result {
        let options = [
            "--config", installation.configuration, "--state", installation.state, "--runtime", installation.runtime,
        ]
        return pushctl.run(options + words, input: Array(input.utf8))
    }

    @Test("it is set up once; one machine leads, the other names it, as the metrics do; erase is refused")
    func pair() throws {
        let (first, second) = (installation("a"), installation("b"))
        #expect(run(first, "store", "status").end == .exited(69))
        let made = run(first, "store", "init")
        #expect(made.end == .exited(0) && made.output.hasPrefix("fleet "), "\(made.errors)")
        let again = run(second, "store", "init")
        #expect(again.end == .exited(69) && again.errors.contains("already"), "\(again.errors)")

        let leader = DaemonProcess(first, program: "pushrouterd-fleet")
        try waitUntil("it leads") { run(first, "status").end == .exited(0) }
        let follower = DaemonProcess(second, program: "pushrouterd-fleet")
        try follower.waitForStatus("STATUS=follows as b; a leads")
        #expect(run(first, "inject", "-", input: #"{"data":{"k":"v"}}"#).end == .exited(0))
        let refused = try Client(path: second.injectSocket).ask(#"{"op":"flush","id":"i"}"#)
        #expect(refused["id"]?.string == "i" && refused["error"]?["code"]?.string == "unavailable")
        #expect(refused["error"]?["leader"]?.string == "a" && refused["error"]?["retry"]?.bool == true)

        let status = run(second, "store", "status", "--json")
        let shard = try json(status.output)["shards"]?.elements.first
        #expect(shard?["leader"]?.string == "a" && shard?["term"]?.int64 == 1, "\(status.output)\(status.errors)")
        #expect(run(second, "store", "status").output.contains("a leads, term 1"))

        let erased = run(first, "erase", "--user", "anna", "--yes")
        #expect(erased.end != .exited(0) && erased.errors.contains("erase is not there yet"), "\(erased.errors)")
        #expect(try leader.stop() == .exited(0))
        // It gave the lease back, so nobody waits for a minute.
        try waitUntil("the other leads") { run(second, "status").end == .exited(0) }
        #expect(try follower.stop() == .exited(0))
        let offline = run(first, "erase", "--user", "anna", "--yes")
        #expect(offline.end == .exited(1) && offline.errors.contains("erase is not there yet"), "\(offline.errors)")
    }

    @Test("without a database in Log= there is none to be set up, and two orders are one too many")
    func usage() {
        let alone = Installation()
        let none = run(alone, "store", "status")
        #expect(none.end == .exited(78) && none.errors.contains("names no database"), "\(none.errors)")
        #expect(run(alone, "store", "move").end == .exited(78))
        #expect(run(alone, "store", "turn").end == .exited(2))
        #expect(run(alone, "store", "drain", "--to", "b").end == .exited(2))
        #expect(run(alone, "store", "move", "b").end == .exited(2))
        #expect(run(alone, "store", "init", "--json").end == .exited(2))
    }
}
