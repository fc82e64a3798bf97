import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel
@testable import Store

@Suite(
    "Two machines of a pair, operated", .needsPostgreSQL, .timeLimit(.minutes(30)))
struct FleetOperationTests {
    @Test("are ready once they follow; without a database in the end, too, and the status says what is missing")
    func ready() throws {
        let pair = try MachinePair()
        pair.server.stop(.fast)
        let daemon = DaemonProcess(pair.first, program: "pushrouterd-fleet")
        try daemon.waitForStatus("STATUS=does not follow as first: the database was not asked yet")
        try daemon.waitForNotification("READY=1")
        let ready = try #require(daemon.messages.first { $0.contains("READY=1") })
        let status = ready.first { $0.hasPrefix("STATUS=does not follow as first: ") } ?? ""
        #expect(status.contains("the shared log"), "\(ready)")
        let refused = try pair.first.injectClient().ask(Requests.deliver(id: "x"))
        #expect(refused.errorCode == "unavailable")
        pair.server.start()
        try daemon.waitForNotification("READY=1", times: 2)
        #expect(daemon.messages.joined().contains("STATUS=follows as first; no machine leads yet"))
        #expect(try pair.first.injectClient().outcome(of: Requests.deliver(job: "note")).outcome == "handled")
        #expect(try daemon.stop() == .exited(0))
    }

    @Test("with one name: the second one ends, names both, and the first one goes on")
    func oneName() throws {
        let pair = try MachinePair()
        let leader = try pair.startLeader(pair.first)
        pair.second.write(
            "pushrouterd.conf",
            """
            [Store]
            Log=postgresql://postgres@/push?host=\(pair.server.root)&port=5432
            Durability=engine
            Node=first
            """)
        let second = DaemonProcess(pair.second, program: "pushrouterd-fleet")
        #expect(try second.waitForEnd() == .exited(78))
        #expect(!second.messages.contains { $0.contains("READY=1") })
        #expect(second.standardError.contains("two machines have the name first: "), "\(second.standardError)")
        for place in [pair.first.state, pair.second.state] { #expect(second.standardError.contains(", \(place))")) }
        #expect(try pair.first.injectClient().outcome(of: Requests.deliver(job: "note")).outcome == "handled")
        #expect(!leader.standardError.contains("57P01"), "\(leader.standardError)")
        #expect(try leader.stop() == .exited(0))
    }

    @Test(
        "are moved while a handler runs: no request stays refused, and each runs once",
        arguments: [true, false])
    func movesWhileItRuns(isOrdered: Bool) throws {
        let pair = try MachinePair(lease: "60s")
        for machine in [pair.first, pair.second] {
            machine.addJob("slow", "cat >/dev/null; echo $PUSH_SEQ >>\(pair.server.root)/runs; sleep 3")
        }
        let (leader, follower) = try pair.startBoth()
        #expect(try pair.first.injectClient().ask(Requests.deliver(job: "slow", id: "s", waits: false)).isAccepted)
        try waitUntil("it runs") { pair.runs == ["1"] }
        if isOrdered {
            #expect(pair.begin("--move", "--to", "second"))
        } else {
            leader.send(SIGTERM)
        }
        var numbers: Set<Int64> = [1]
        var (sent, hasMoved, after) = (0, false, 0)
        while after < 10 {
            sent += 1
            let line = Requests.deliver(job: "note", id: "n\(sent)", waits: false)
            let begin = SystemClock.monotonicNanoseconds
            while true {
                let machine = hasMoved ? pair.second : pair.first
                if let client = try? machine.injectClient(), (try? client.send(line: line)) != nil,
                    let bytes = try? client.receiveLine(timeoutMilliseconds: patience),
                    let answer = try? Line(bytes), answer.isAccepted
                {
                    numbers.insert(answer.seq ?? -1)
                    break
                }
                hasMoved.toggle()
                // Twice the second that is promised: tests run on busy machines.
                try #require(SystemClock.monotonicNanoseconds - begin < 2_000_000_000, "request \(sent) stays refused")
                usleep(20_000)
            }
            if hasMoved { after += 1 }
            usleep(50_000)
        }
        #expect(try leader.waitForEnd() == .exited(isOrdered ? 75 : 0))
        #expect(sent > 20 && numbers == Set(1...Int64(sent + 1)), "\(numbers)")
        try waitUntil("all have run") { pair.runs.count > sent }
        try pair.second.waitUntilIdle()
        #expect(pair.runs.compactMap { Int64($0) }.sorted() == Array(1...Int64(sent + 1)))
        #expect(try follower.stop() == .exited(0))
        let last = try #require(try pair.second.ledger().story(of: SequenceNumber(Int64(sent + 1))))
        #expect(last.invocations.compactMap(\.result?.outcome) == [.handled])
    }

    @Test("read their configuration again, the one that follows too, which goes by it when it leads")
    func reload() throws {
        let pair = try MachinePair(lease: "60s")
        let (leader, follower) = try pair.startBoth()
        let control = try Client(path: pair.second.controlSocket)
        pair.second.addHandler("broken", "Exec=relative")
        let refused = try control.ask(#"{"op":"reload","id":"r1"}"#)
        #expect(refused["reloaded"]?.bool == false, "\(refused)")
        #expect(refused["problem"]?.string?.contains("broken") == true, "\(refused)")
        #expect(try DaemonStatus(of: pair.second)["configuration_problem"]?.string?.contains("broken") == true)
        unlink(pair.second.configuration + "/handlers.d/broken.handler")
        pair.second.addJob("new", "cat >/dev/null; echo new-$PUSH_SEQ >>\(pair.server.root)/runs")
        let read = try control.ask(#"{"op":"reload","id":"r2"}"#)
        #expect(read.id == "r2" && read["reloaded"]?.bool == true && read["routes"]?.int64 == 4, "\(read)")
        try waitUntil("it says so") { follower.standardError.contains("reloaded: device mode, 4 routes") }
        follower.send(SIGHUP)
        try follower.waitForNotification("RELOADING=1", times: 3)
        try follower.waitForNotification("READY=1", times: 4)
        #expect(try leader.stop() == .exited(0))
        try follower.waitForNotification("READY=1", times: 5)
        #expect(try pair.second.injectClient().outcome(of: Requests.deliver(job: "new")).outcome == "handled")
        #expect(pair.runs == ["new-1"])
    }

    @Test("have each act's and order's row on both, with its machine; one that follows has a journal entry alone")
    func audit() throws {
        let pair = try MachinePair(lease: "60s")
        let (leader, follower) = try pair.startBoth()
        // The leader writes such rows from the same moment on: all copies read them.
        try waitUntil("all copies read new rows") { try pair.first.ledger().lastConfiguration() != nil }
        let control = try Client(path: pair.first.controlSocket)
        let flush = #"{"op":"flush","app":"shop","device":"d","external_id":"annaXyZZy"}"#
        #expect(try control.ask(flush)["ok"]?.bool == true)
        let other = try Client(path: pair.second.controlSocket)
        #expect(try other.ask(#"{"op":"purge","requests":[1]}"#).errorCode == "unavailable")
        #expect(try other.ask(#"{"op":"reload"}"#)["reloaded"]?.bool == true)
        func acts(_ machine: Installation) throws -> [AuditRecord] {
            try machine.ledger().audit(after: 0, limit: 9).map(\.record)
        }
        for machine in [pair.first, pair.second] {
            try waitUntil("it has the row") { try acts(machine).count == 1 }
            let act = try #require(try acts(machine).first)
            #expect(act.subject.externalID == "annaXyZZy" && act.node == "first" && act.uid == getuid())
        }
        #expect(try control.ask(#"{"op":"erase","external_id":"annaXyZZy"}"#)["ok"]?.bool == true)
        for machine in [pair.first, pair.second] {
            try waitUntil("it has the erasure") { try acts(machine).count == 2 }
            #expect(try acts(machine).map(\.subject.act) == [.flush, .erase])
            #expect(try acts(machine).allSatisfy { $0.subject.externalID == nil && $0.subject.device == nil })
        }
        // The leader writes the rows of orders; the one that hands over writes that of its move.
        for words in [["--drain", "--node", "second"], ["--drain", "--node", "second", "--undo"], ["--move"]] {
            #expect(pair.order(words).end == .exited(0))
        }
        #expect(try leader.waitForEnd() == .exited(75))
        try follower.waitForNotification("READY=1", times: 3)
        for (act, what) in zip(try acts(pair.second).dropFirst(2), ["second", "second, undone", nil]) {
            #expect(act.subject.what == what && act.entrance == .program && act.result == .done, "\(act)")
            #expect(act.uid == getuid() && act.pid != getpid() && act.node == "first", "\(act)")
        }
        #expect(try acts(pair.second).dropFirst(2).map(\.subject.act) == [.drain, .drain, .move])
        #expect(pair.server.sql("SELECT count(*) FROM push_acts", database: "push") == ["0"])
        #expect(pair.order("--move", "--to", "second").end == .exited(0))
        #expect(pair.order("--move", "--to", "nobody").end != .exited(0))
        #expect(try follower.stop() == .exited(0))
        #expect(try acts(pair.second).count == 5, "what was refused, or so already, has an entry alone")
        let said = follower.standardError.split(separator: "\n").filter { $0.contains(MessageID.audited.rawValue) }
        #expect(said.map { $0.contains("push_result=refused") } == [true, false], "\(said)")
        #expect(said[1].contains("push_act=reload"))
    }

    @Test("start again with a mistake on the last good configuration, node by node; the log has those that decided")
    func mistake() throws {
        let pair = try MachinePair(lease: "5s")
        let (leader, follower) = try pair.startBoth()
        #expect(try pair.first.injectClient().outcome(of: Requests.deliver(job: "note")).outcome == "handled")
        #expect(try follower.stop() == .exited(0))
        pair.second.addHandler("broken", "Exec=relative")
        let again = try pair.start(pair.second)
        func problem() throws -> String? { try DaemonStatus(of: pair.second)["configuration_problem"]?.string }
        #expect(try problem()?.contains("broken") == true)
        let asked = try Client(path: pair.second.readSocket).ask(#"{"op":"configuration"}"#)
        #expect(asked["in_force"]?.bool == true && asked["files"]?.string?.contains("broken") == false, "\(asked)")
        func configuration(of seq: Int64) throws -> ConfigurationID? {
            try pair.second.ledger().story(of: SequenceNumber(seq))?.configuration?.period.id
        }
        try waitUntil("the first one is recorded") { try configuration(of: 1) != nil }
        #expect(try leader.stop() == .exited(0))
        try again.waitForNotification("READY=1", times: 2)
        #expect(try problem()?.contains("broken") == true)
        #expect(try pair.second.injectClient().outcome(of: Requests.deliver(job: "note")).outcome == "handled")
        // The paths of the scripts differ.
        try waitUntil("the second one is recorded") {
            let id = try configuration(of: 2)
            return try id?.description == asked["configuration"]?.string && id != configuration(of: 1)
        }
    }

    @Test("give requests the database's time, although the leader's clock is an hour ahead")
    func leaderClock() throws {
        let pair = try MachinePair(lease: "15s")
        // The disk gives the daemon its clock, and has none of its files.
        mkdir("\(pair.first.root)/clock", 0o755)
        let disk = FaultyDisk("\(pair.first.root)/clock", platterAt: "\(pair.first.root)/platter", seed: 1)
        disk.wallOffset = 3600
        let leader = DaemonProcess(pair.first, environment: disk.environment, program: "pushrouterd-fleet")
        try leader.waitForNotification("READY=1", times: 2)
        let begin = WallTime(milliseconds: SystemClock.wallMilliseconds)
        #expect(try pair.first.injectClient().outcome(of: Requests.deliver(job: "note")).outcome == "handled")
        let words = "s ahead of the database's, whose time counts"
        try waitUntil("the journal says that the clocks differ") { leader.standardError.contains(words) }
        #expect(try leader.stop() == .exited(0))
        let story = try LedgerReader(directory: pair.first.state).story(of: SequenceNumber(1))
        let time = try #require(story?.request.acceptedAt.wall)
        let difference = time.milliseconds - begin.milliseconds
        #expect((-1000...60_000).contains(difference), "\(difference) ms later than this machine's clock")
    }
}
