import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushModel
@testable import Store

@Suite(
    "Two machines that share a log", .needsPostgreSQL, .timeLimit(.minutes(30)))
struct FleetTests {
    @Test("continue when the leader is killed: its acknowledged requests are there, and a repeat has its number")
    func killed() throws {
        let pair = try MachinePair()
        let (leader, follower) = try pair.startBoth()
        let client = try pair.first.injectClient()
        for number in 1...3 {
            #expect(try client.outcome(of: Requests.deliver(job: "note", id: "n\(number)")).outcome == "handled")
        }
        leader.crash()
        try follower.waitForNotification("READY=1", times: 2)
        let other = try pair.second.injectClient()
        let repeated = try other.ask(Requests.deliver(job: "note", id: "n2", waits: false))
        #expect(repeated.isAccepted && repeated.seq == 2, "\(repeated)")
        let next = try other.outcome(of: Requests.deliver(job: "note", id: "n4"))
        #expect(next.outcome == "handled" && next.seq == 4, "\(next)")
        #expect(pair.runs == ["1", "2", "3", "4"] && pair.terms == ["1", "1", "1", "2"])
        #expect(pair.status.contains("second leads, term 2"))
    }

    @Test("answer on every socket of the one that follows that another leads, and which")
    func refuses() throws {
        let pair = try MachinePair()
        let daemons = try pair.startBoth()
        defer { withExtendedLifetime(daemons) {} }
        let refused = try pair.second.injectClient().ask(Requests.deliver(job: "note", id: "x"))
        #expect(refused.id == "x" && refused.errorCode == "unavailable")
        #expect(refused["error"]?["leader"]?.string == "first" && refused["error"]?["retry_after_ms"]?.int64 == 250)
        for socket in [pair.second.controlSocket, pair.second.readSocket] {
            let reply = try Client(path: socket).ask(#"{"op":"log_level"}"#)
            #expect(reply["error"]?["leader"]?.string == "first", "\(reply)")
        }
    }

    @Test("report their roles, the follower too: the leader's name, and the state of the copy")
    func status() throws {
        let pair = try MachinePair()
        let daemons = try pair.startBoth()
        defer { withExtendedLifetime(daemons) {} }
        #expect(try pair.first.injectClient().outcome(of: Requests.deliver(job: "note")).outcome == "handled")
        for socket in [pair.second.controlSocket, pair.second.readSocket] {
            try waitUntil("the copy has all") {
                try Client(path: socket).ask(#"{"op":"status"}"#)["status"]?["fleet"]?["batches_behind"]?.int64 == 0
            }
            let follower = try #require(try Client(path: socket).ask(#"{"op":"status"}"#)["status"])
            #expect(follower["state"]?.string == "following")
            let fleet = follower["fleet"]
            #expect(fleet?["role"]?.string == "follower" && fleet?["leader"]?.string == "first")
            #expect(fleet?["node"]?.string == "second" && fleet?["term"]?.int64 == 1)
            #expect(fleet?["engine_answers"]?.bool == true && fleet?["unprotected_ms"]?.int64 == 0)
            let text = try Client(path: socket).ask(#"{"op":"metrics"}"#)["metrics"]?.string ?? ""
            for line in ["up 1", "leads 0", "term 1", "engine_answers 1", "copy_behind_batches 0", "running 1"] {
                #expect(text.contains("\npushrouterd_\(line)\n"), "\(line): \(text)")
            }
        }
        let leader = try DaemonStatus(of: pair.first)
        #expect(leader["state"]?.string == "running" && leader["fleet"]?["role"]?.string == "leader")
        let text = try Client(path: pair.first.readSocket).ask(#"{"op":"metrics"}"#)["metrics"]?.string ?? ""
        #expect(text.contains("\npushrouterd_leads 1\n") && !text.contains("copy_behind"), "\(text)")
    }

    @Test("show the loss of a leader as a gap, and its running invocations as failed for that reason")
    func leaderLost() throws {
        let pair = try MachinePair(lease: "1s")
        let (leader, follower) = try pair.startBoth()
        defer { withExtendedLifetime(follower) {} }
        let client = try pair.first.injectClient()
        #expect(try client.ask(Requests.deliver(job: "hang", id: "h", waits: false)).isAccepted)
        try waitUntil("it runs") { pair.runs == ["1"] }
        leader.crash()
        try follower.waitForNotification("READY=1", times: 2)
        try waitUntil("the gap is in the ledger") { try !pair.second.ledger().gaps().isEmpty }
        let gap = try #require(try pair.second.ledger().gaps().last)
        // The gap lasts from the batch that started the handler, over the lease, until the other machine was ready.
        #expect(gap.kind == .leaderLost && gap.length > .milliseconds(900) && gap.length < .seconds(60), "\(gap)")
        let shown = Program(product: "pushctl").run(["show", "1", "--state", pair.second.state])
        #expect(shown.output.contains("failed") && shown.output.contains("leader_lost"), "\(shown.output)")
        let report = try json(
            Program(product: "pushctl").run(["report", "--state", pair.second.state, "--format", "json"]).output)
        #expect(report["gaps"]?.elements.contains { $0["kind"]?.string == "leader_lost" } == true, "\(report)")
        #expect(report["daemon_gaps"]?.elements.last?["kind"]?.string == "leader_lost")
        #expect(try DaemonStatus(of: pair.second)["gaps"]?["leader_lost"]?.int64 == 1)
    }

    @Test("show a handover as a pause of the daemon, not as a loss of the leader")
    func handoverIsNoLoss() throws {
        let pair = try MachinePair(lease: "60s")
        let (leader, follower) = try pair.startBoth()
        #expect(try pair.first.injectClient().outcome(of: Requests.deliver(job: "note")).outcome == "handled")
        #expect(try leader.stop() == .exited(0))
        try follower.waitForNotification("READY=1", times: 2)
        try waitUntil("the gap is in the ledger") { try !pair.second.ledger().gaps().isEmpty }
        #expect(try pair.second.ledger().gaps().map(\.kind) == [.down])
        #expect(try follower.stop() == .exited(0))
    }

    @Test("show that the database was away, from the batch that it did not take to its answer")
    func engineAway() throws {
        let pair = try MachinePair(lease: "60s")
        let daemon = try pair.startLeader(pair.first)
        let client = try pair.first.injectClient()
        #expect(try client.outcome(of: Requests.deliver(job: "note", id: "1")).outcome == "handled")
        pair.server.stop(.kill)
        try client.send(line: Requests.deliver(job: "note", id: "2"))
        let sentAt = SystemClock.monotonicNanoseconds
        try waitUntil("it has been away for a while") {
            let fleet = try DaemonStatus(of: pair.first)["fleet"]
            return fleet?["engine_answers"]?.bool == false && SystemClock.monotonicNanoseconds - sentAt > 1_300_000_000
        }
        pair.server.start()
        #expect(try client.next().isAccepted)
        #expect(try daemon.stop() == .exited(0))
        let gap = try #require(try pair.first.ledger().gaps().last, "\(daemon.standardError)")
        #expect(gap.kind == .engineAway && gap.length >= .seconds(1) && gap.length < .seconds(60), "\(gap)")
        #expect(daemon.standardError.contains("the database committed nothing for "))
    }

    @Test("show that no standby of the database had the written data", arguments: [true, false])
    func unprotected(isGone: Bool) throws {
        // Past its lease a leader refuses a request before writing it, and the standby takes some 3 s to disappear.
        let pair = try MachinePair(lease: isGone ? "15s" : "2s", durability: "standby")
        let standby = pair.server.makeStandby("copy")
        pair.server.set("synchronous_standby_names", "copy")
        pair.server.wait("SELECT sync_state FROM pg_stat_replication", for: "sync")
        let daemon = try pair.startLeader(pair.first)
        let client = try pair.first.injectClient()
        #expect(try client.outcome(of: Requests.deliver(job: "note", id: "1")).outcome == "handled")
        if isGone {
            standby.stop(.kill)
            // The standby's WAL receiver outlives the killed process for a moment, and may confirm a write in that
            // time.
            pair.server.wait("SELECT count(*) FROM pg_stat_replication", for: "0")
        } else {
            pair.server.set("synchronous_standby_names", "")
        }
        try client.send(line: Requests.deliver(job: "note", id: "2"))
        try waitUntil("it says so") { daemon.standardError.contains("no request can be accepted for now: ") }
        if isGone {
            // The request blocks neither other producers nor people.
            let other = try pair.first.injectClient()
            try waitUntil("others are refused") {
                try other.ask(Requests.deliver(job: "note", waits: false)).errorCode == "unavailable"
            }
            #expect(try DaemonStatus(of: pair.first)["fleet"]?["role"]?.string == "leader")
            standby.start()
        } else {
            try waitUntil("that is a gap") {
                try DaemonStatus(of: pair.first)["fleet"]?["unprotected_ms"]?.int64 ?? 0 >= 1200
            }
            pair.server.set("synchronous_standby_names", "copy")
        }
        #expect(try client.next().isAccepted)
        #expect(try daemon.stop() == .exited(0))
        let gaps = try pair.first.ledger().gaps().map(\.kind)
        #expect(gaps.contains(.unprotected) && !gaps.contains(.diskStalled), "\(gaps)")
        #expect(!isGone || !gaps.contains(.engineAway), "the database answered all the time")
        #expect(!isGone || daemon.standardError.contains("the standby is away: start it"))
    }

    @Test("wait, both of them, while the database lacks a table, say so, and go on by themselves")
    func lacksTable() throws {
        let pair = try MachinePair(lease: "1s")
        let (leader, follower) = try pair.startBoth()
        #expect(try pair.first.injectClient().outcome(of: Requests.deliver(job: "note", id: "1")).outcome == "handled")
        pair.server.sql("ALTER TABLE push_shards RENAME TO away", database: "push")
        try waitUntil("the follower says what the database lacks") {
            try DaemonStatus(of: pair.second)["fleet"]?["engine_problem"]?.string?.contains("42P01") == true
        }
        pair.server.sql("ALTER TABLE away RENAME TO push_shards", database: "push")
        try waitUntil("one leads") {
            try [pair.first, pair.second].contains { machine in
                try machine.injectClient().ask(Requests.deliver(job: "note", waits: false)).isAccepted
            }
        }
        for daemon in [leader, follower] { #expect(try [.exited(0), .exited(75)].contains(daemon.stop())) }
    }

    @Test(
        "hand over when the leader is told to stop: it lets handlers end, and the other need not wait for its lease"
    )
    func handsOver() throws {
        let pair = try MachinePair(lease: "60s")
        let (leader, follower) = try pair.startBoth()
        #expect(try pair.first.injectClient().ask(Requests.deliver(job: "note", waits: false)).isAccepted)
        #expect(try leader.stop() == .exited(0))
        try follower.waitForNotification("READY=1", times: 2)
        #expect(pair.runs == ["1"])
        #expect(try pair.second.injectClient().outcome(of: Requests.deliver(job: "note")).outcome == "handled")
        #expect(try follower.stop() == .exited(0))
        // The last leader's copy, from which a single machine may continue, has all batches.
        let status = pair.status
        #expect(status.contains("no machine leads"))
        #expect(status.contains("second: was 0 batches behind"), "\(status)")
    }

    @Test("show their state beside a mistake in a route, which may be the incident")
    func mistake() throws {
        let pair = try MachinePair()
        pair.first.write("routes.d/10-bad.route", "[Route]\nHandler=gone\n")
        let shown = pair.order("--status")
        #expect(shown.end == .exited(1) && shown.output.contains("no machine leads"), "\(shown)")
        let daemon = DaemonProcess(pair.first, program: "pushrouterd-fleet")
        #expect(try daemon.waitForEnd() == .exited(78))
    }

    @Test("do not count a leader that gives no sign")
    func silent() throws {
        let pair = try MachinePair()
        let leader = try pair.startLeader(pair.first)
        leader.crash()
        #expect(pair.status.contains("first leads, term 1"))
        pair.server.sql("UPDATE push_nodes SET seen = seen - interval '20 s'", database: "push")
        let status = pair.status
        #expect(status.contains("no machine leads, first led until 2"), "\(status)")
        #expect(status.contains("error          no machine leads: the last sign of its leader first is 2"))
        let again = try pair.startLeader(pair.first)
        #expect(try again.stop() == .exited(0))
    }

    @Test("move the lead by an order: the leader lets handlers end, hands over, and follows again")
    func moves() throws {
        let pair = try MachinePair()
        let (leader, follower) = try pair.startBoth()
        let refused = pair.order("--move", "--to", "third")
        #expect(refused.end == .exited(69) && refused.errors.contains("no machine third has a copy"), "\(refused)")
        #expect(try pair.first.injectClient().ask(Requests.deliver(job: "note", waits: false)).isAccepted)
        let moved = pair.order("--move", "--to", "second")
        #expect(moved.end == .exited(0) && moved.output.contains("second leads, term 2"), "\(moved)")
        print(moved.output)
        #expect(try leader.waitForEnd() == .exited(75))
        try follower.waitForNotification("READY=1", times: 2)
        #expect(pair.runs == ["1"])
        #expect(try pair.second.injectClient().outcome(of: Requests.deliver(job: "note")).outcome == "handled")
        let alone = pair.order("--move")
        #expect(alone.end == .exited(0) || alone.errors.contains("no other machine is near enough"), "\(alone)")
    }

    @Test("stop following before a batch that only a newer program can read, say so, and continue with that program")
    func newerVersion() throws {
        let own = RowKind.allCases.map(\.since).max() ?? 1
        let newer = own + 1
        let pair = try MachinePair(lease: "60s")
        let leader = try pair.startLeader(pair.first)
        #expect(try pair.first.injectClient().outcome(of: Requests.deliver(job: "note", id: "1")).outcome == "handled")
        // As a newer program would write it.
        pair.server.sql(
            "UPDATE push_batches SET version = \(newer) WHERE number = (SELECT max(number) FROM push_batches)",
            database: "push")
        let follower = try pair.start(pair.second)
        let reason = "stopped before those of version \(newer): upgrade it"
        try waitUntil("the status says it") { pair.status.contains(reason) }
        #expect(
            follower.standardError.contains("has version \(newer), and this program reads \(own); upgrade this program")
        )
        #expect(try pair.second.injectClient().ask(Requests.deliver(id: "x")).errorCode == "unavailable")
        pair.server.sql("UPDATE push_batches SET version = \(own)", database: "push")
        try waitUntil("it goes on") { !pair.status.contains(reason) && pair.status.contains("second: was 0 batches") }
        #expect(try leader.stop() == .exited(0))
        try follower.waitForNotification("READY=1", times: 2)
    }

    @Test("are drained by an order: a machine hands over and takes no lease until the order is undone")
    func drains() throws {
        let pair = try MachinePair(lease: "2s")
        let (leader, follower) = try pair.startBoth()
        let drained = pair.order("--drain", "--node", "first")
        #expect(drained.end == .exited(0) && drained.output.contains("second leads, term 2"), "\(drained)")
        #expect(try leader.waitForEnd() == .exited(75))
        #expect(pair.status.contains(", drained; pushrouterd "))
        let again = try pair.start(pair.first)
        let last = pair.order("--drain", "--node", "second")
        #expect(last.end == .exited(69) && last.errors.contains("--force"), "\(last)")
        #expect(try follower.stop() == .exited(0))
        // The lease is free, and the only machine that runs may not take it.
        try again.waitForStatus("STATUS=follows as first; no machine leads yet")
        #expect(pair.order("--drain", "--node", "first", "--undo").end == .exited(0))
        try again.waitForNotification("READY=1", times: 2)
        #expect(pair.status.contains("first leads, term 3"))
        let forced = pair.order("--drain", "--node", "first", "--force")
        #expect(forced.end == .exited(0), "\(forced)")
        #expect(try again.waitForEnd() == .exited(75))
    }

    @Test("fence a leader that was stopped for longer than its lease: it ends, and has acknowledged nothing since")
    func fences() throws {
        let pair = try MachinePair(lease: "2s")
        let (leader, follower) = try pair.startBoth()
        let client = try pair.first.injectClient()
        #expect(try client.outcome(of: Requests.deliver(job: "note", id: "before")).outcome == "handled")
        leader.send(SIGSTOP)
        try client.send(line: Requests.deliver(job: "note", id: "late"))
        try follower.waitForNotification("READY=1", times: 2)
        leader.send(SIGCONT)
        #expect(try leader.waitForEnd() == .exited(75))
        #expect(try client.all().isEmpty)
        let accepted = try pair.second.injectClient().outcome(of: Requests.deliver(job: "note", id: "late"))
        #expect(accepted.outcome == "handled" && accepted.seq == 2, "\(accepted)")
        #expect(pair.runs == ["1", "2"])
    }

    @Test("acknowledge nothing while the database is away, and continue when it is back", arguments: [true, false])
    func databaseAway(isKilled: Bool) throws {
        let pair = try MachinePair(lease: "60s")
        let daemons = try pair.startBoth()
        defer { withExtendedLifetime(daemons) {} }
        let client = try pair.first.injectClient()
        #expect(try client.outcome(of: Requests.deliver(job: "note", id: "1")).outcome == "handled")
        pair.server.stop(isKilled ? .kill : .immediate)
        try client.send(line: Requests.deliver(job: "note", id: "2"))
        pair.server.start()
        #expect(try client.next().isAccepted)
        #expect(try client.next().outcome == "handled")
        #expect(pair.runs == ["1", "2"])
    }
}
