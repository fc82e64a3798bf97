import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel
@testable import Store

@Suite(
    "The ledgers of two machines that share a log", .needsPostgreSQL, .timeLimit(.minutes(30))
)
struct FleetLedgerTests {
    @Test("need no disk: a machine without a state directory starts from the database alone")
    func emptyDisk() throws {
        let pair = try MachinePair()
        let leader = try pair.startLeader(pair.first)
        let client = try pair.first.injectClient()
        for number in 1...20 { #expect(try client.ask(Requests.deliver(id: "n\(number)", waits: false)).isAccepted) }
        try pair.first.waitUntilIdle()
        #expect(try leader.stop() == .exited(0))
        let other = try pair.startLeader(pair.second)
        let repeated = try pair.second.injectClient().ask(Requests.deliver(id: "n7", waits: false))
        #expect(repeated.seq == 7, "\(repeated)")
        #expect(try other.stop() == .exited(0))
        #expect(try pair.first.ledger().highestSequenceNumber() == pair.second.ledger().highestSequenceNumber())
        #expect(try pair.first.ledger().stateIdentity == pair.second.ledger().stateIdentity)
    }

    @Test("recover from the loss of both disks: a machine starts from a snapshot in the database and later batches")
    func disksLost() throws {
        let pair = try MachinePair(lease: "2s", settings: "SnapshotEvery=1s")
        let (leader, follower) = try pair.startBoth()
        let client = try pair.first.injectClient()
        func wait(for count: Int) {
            pair.server.wait(
                "SELECT count(*) FROM push_snapshots WHERE state = 'counts'", database: "push", for: "\(count)")
        }
        for number in 1...2 {
            #expect(try client.outcome(of: Requests.deliver(job: "note", id: "n\(number)")).outcome == "handled")
            wait(for: number)
        }
        pair.server.sql("UPDATE push_batches SET at = at - interval '1 hour'", database: "push")
        pair.server.wait("SELECT min(number) > 0 FROM push_batches", database: "push", for: "t")
        #expect(try client.outcome(of: Requests.deliver(job: "note", id: "n3")).outcome == "handled")
        #expect(pair.status.contains("snapshot       behind batch"), "\(pair.status)")
        for daemon in [leader, follower] { daemon.crash() }
        for machine in [pair.first, pair.second] { #expect(remove(machine.state)) }
        let again = try pair.startLeader(pair.second)
        let other = try pair.second.injectClient()
        for number in 1...4 {
            let answer = try other.ask(Requests.deliver(job: "note", id: "n\(number)", waits: false))
            #expect(answer.isAccepted && answer.seq == Int64(number), "\(answer)")
        }
        try pair.second.waitUntilIdle()
        #expect(pair.runs == ["1", "2", "3", "4"])
        #expect(try again.stop() == .exited(0))
    }

    @Test("continue with the ledger of a single machine, and one machine with theirs, which then never follows again")
    func oneMachine() throws {
        let pair = try MachinePair(isMade: false)
        func deliver(_ id: String, to machine: Installation, number: Int64) throws {
            let answer = try machine.injectClient().outcome(of: Requests.deliver(job: "note", id: id))
            #expect(answer.outcome == "handled" && answer.seq == number, "\(answer)")
        }
        func repeats(_ id: String, to machine: Installation, number: Int64) throws {
            let answer = try machine.injectClient().ask(Requests.deliver(job: "note", id: id, waits: false))
            #expect(answer.seq == number, "\(answer)")
        }
        let configuration = try #require(readFile(pair.first.configuration + "/pushrouterd.conf"))
        pair.use(nil, on: pair.first)
        let alone = DaemonProcess(pair.first)
        try alone.waitForNotification("READY=1")
        try deliver("n1", to: pair.first, number: 1)
        pair.first.write("pushrouterd.conf", String(decoding: configuration, as: UTF8.self))
        let used = Program(product: "pushrouterd-fleet").run(
            ["--config", pair.first.configuration, "--init", "--ledger", pair.first.state])
        #expect(used.end == .exited(69) && used.errors.contains("in use"), "\(used.errors)")
        #expect(try alone.stop() == .exited(0))
        try pair.makeFleet("--ledger", pair.first.state)
        let mark = readFile(pair.first.state + "/fleet")
        let again = Program(product: "pushrouterd-fleet").run(
            ["--config", pair.first.configuration, "--init", "--ledger", pair.first.state])
        #expect(again.end == .exited(69) && again.errors.contains("already"), "\(again.errors)")
        #expect(readFile(pair.first.state + "/fleet") == mark)

        let (leader, follower) = try pair.startBoth()
        try repeats("n1", to: pair.first, number: 1)
        try deliver("n2", to: pair.first, number: 2)
        #expect(try leader.stop() == .exited(0))
        try follower.waitForNotification("READY=1", times: 2)
        for number in 1...2 { try repeats("n\(number)", to: pair.second, number: Int64(number)) }
        #expect(try follower.stop() == .exited(0))

        let shared = try #require(readFile(pair.second.configuration + "/pushrouterd.conf"))
        pair.use(nil, on: pair.second)
        let last = DaemonProcess(pair.second)
        try last.waitForNotification("READY=1")
        for number in 1...2 { try repeats("n\(number)", to: pair.second, number: Int64(number)) }
        try deliver("n3", to: pair.second, number: 3)
        #expect(try last.stop() == .exited(0))
        #expect(try pair.first.ledger().stateIdentity == pair.second.ledger().stateIdentity)
        pair.second.write("pushrouterd.conf", String(decoding: shared, as: UTF8.self))
        let refused = DaemonProcess(pair.second, program: "pushrouterd-fleet")
        #expect(try refused.waitForEnd() == .exited(78))
        #expect(refused.standardError.contains("led alone since"), "\(refused.standardError)")
    }

    @Test("set aside the ledger of a single machine that accepted nothing, and keep one that has requests")
    func machineAlone() throws {
        let pair = try MachinePair(isMade: false)
        let shared = try #require(readFile(pair.second.configuration + "/pushrouterd.conf"))
        func run(_ id: String?) throws {
            pair.use(nil, on: pair.second)
            let alone = DaemonProcess(pair.second)
            try alone.waitForNotification("READY=1")
            if let id {
                let answer = try pair.second.injectClient().outcome(of: Requests.deliver(job: "note", id: id))
                #expect(answer.outcome == "handled")
            }
            #expect(try alone.stop() == .exited(0))
            pair.second.write("pushrouterd.conf", String(decoding: shared, as: UTF8.self))
        }
        try pair.makeFleet()
        try run(nil)
        // In one start: otherwise systemctl would report a failure.
        let leader = try pair.startLeader(pair.second)
        #expect(names(in: pair.second.state).contains { $0.hasPrefix("set-aside-") })
        #expect(try leader.stop() == .exited(0))

        #expect(remove(pair.second.state))
        try run("n1")
        let refused = DaemonProcess(pair.second, program: "pushrouterd-fleet")
        #expect(try refused.waitForEnd() == .exited(78))
        #expect(refused.standardError.contains("store init --ledger"), "\(refused.standardError)")
        try run("n1")
    }

    @Test("refuse a clone of their database until it becomes a fleet of its own")
    func clone() throws {
        let pair = try MachinePair()
        let leader = try pair.startLeader(pair.first)
        #expect(try pair.first.injectClient().outcome(of: Requests.deliver(job: "note", id: "n1")).outcome == "handled")
        let inUse = pair.order("--init", "--adopt")
        #expect(inUse.end == .exited(69) && inUse.errors.contains("(first): stop all machines"), "\(inUse.errors)")
        #expect(try leader.stop() == .exited(0))
        pair.server.sql("CREATE DATABASE clone TEMPLATE push")
        pair.use("clone", on: pair.first)
        let refused = DaemonProcess(pair.first, program: "pushrouterd-fleet")
        #expect(try refused.waitForEnd() == .exited(78))
        #expect(refused.standardError.contains("a clone or a restored copy"), "\(refused.standardError)")
        try pair.makeFleet("--adopt")
        let other = DaemonProcess(pair.first, program: "pushrouterd-fleet")
        #expect(try other.waitForEnd() == .exited(78))
        #expect(remove(pair.first.state))
        let again = try pair.startLeader(pair.first)
        let repeated = try pair.first.injectClient().ask(Requests.deliver(job: "note", id: "n1", waits: false))
        #expect(repeated.seq == 1, "\(repeated)")
        #expect(try again.stop() == .exited(0))
    }

    private func remove(_ directory: String) -> Bool {
        Program(path: "/bin/rm").run(["-r", directory]).end == .exited(0)
    }

    @Test("set aside a copy that is not a prefix of the chain, and fetch another")
    func forked() throws {
        let pair = try MachinePair(lease: "60s")
        let leader = try pair.startLeader(pair.first)
        #expect(try pair.first.injectClient().outcome(of: Requests.deliver(job: "note", id: "1")).outcome == "handled")
        #expect(try leader.stop() == .exited(0))
        // As after a promotion that lost the last batch.
        pair.server.sql(
            "DELETE FROM push_batches WHERE number = (SELECT max(number) FROM push_batches)", database: "push")
        let again = try pair.startLeader(pair.first)
        #expect(names(in: pair.first.state).contains { $0.hasPrefix("set-aside-") })
        #expect(again.standardError.contains("this machine fetches another one"), "\(again.standardError)")
        #expect(try again.stop() == .exited(0))
    }

    @Test("refuse a database without a fleet, the ledger of one machine, and a second set-up")
    func refusesOthers() throws {
        let pair = try MachinePair()
        let again = Program(product: "pushrouterd-fleet").run(["--config", pair.first.configuration, "--init"])
        #expect(again.end == .exited(69) && again.errors.contains("has the fleet"), "\(again.errors)")
        let one = Program(product: "pushrouterd").run(["--config", pair.first.configuration, "--state", "/nonexistent"])
        #expect(one.end == .exited(78) && one.errors.contains("pushrouterd-fleet"), "\(one.errors)")
        pair.server.sql("CREATE DATABASE empty")
        pair.second.write(
            "pushrouterd.conf", "[Store]\nLog=postgresql://postgres@/empty?host=\(pair.server.root)&port=5432\n")
        let empty = DaemonProcess(pair.second, program: "pushrouterd-fleet")
        #expect(try empty.waitForEnd() == .exited(78))
        #expect(empty.standardError.contains("pushctl store init"), "\(empty.standardError)")
        // Before the service manager takes the start for done.
        #expect(!empty.messages.contains { $0.contains("READY=1") })
    }
}
