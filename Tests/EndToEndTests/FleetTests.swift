import Glibc
import LinuxSystem
import PushModel
import Store
import TestSupport
import Testing
import UnixSockets

@Suite(
    "Two machines that share a log", .enabled(if: PostgreSQLServer.isInstalled), .timeLimit(.minutes(30)))
struct FleetTests {
    @Test("go on when the leader is killed: what it acknowledged is there, and a repeat has its number")
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

    @Test("tell what each of them does, the one that follows too: who leads, and how far its copy is")
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

    @Test("show the loss of a leader as a gap, and what it ran as failed with that reason")
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
        // From the batch by which the handler was started, over the lease, until the other one was ready.
        #expect(gap.kind == .leaderLost && gap.length > .milliseconds(900) && gap.length < .seconds(60), "\(gap)")
        let shown = Program(product: "pushctl").run(["show", "1", "--state", pair.second.state])
        #expect(shown.output.contains("failed") && shown.output.contains("leader_lost"), "\(shown.output)")
        let report = try json(
            Program(product: "pushctl").run(["report", "--state", pair.second.state, "--format", "json"]).output)
        #expect(report["gaps"]?.elements.contains { $0["kind"]?.string == "leader_lost" } == true, "\(report)")
        #expect(report["daemon_gaps"]?.elements.last?["kind"]?.string == "leader_lost")
        #expect(try DaemonStatus(of: pair.second)["gaps"]?["leader_lost"]?.int64 == 1)
    }

    @Test("show a handover as a pause of the daemon, not as a loss")
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

    @Test("show that the database was away, from the batch that it did not take to the answer")
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
        #expect(daemon.standardError.contains("the database gave no answer for "))
    }

    @Test("show that no standby of the database had what was written", arguments: [true, false])
    func unprotected(isGone: Bool) throws {
        // Past its lease a leader refuses a request before it is written: the standby takes some 3 s to be gone.
        let pair = try MachinePair(lease: isGone ? "15s" : "2s", durability: "standby")
        let standby = pair.server.makeStandby("copy")
        pair.server.set("synchronous_standby_names", "copy")
        pair.server.wait("SELECT sync_state FROM pg_stat_replication", for: "sync")
        let daemon = try pair.startLeader(pair.first)
        let client = try pair.first.injectClient()
        #expect(try client.outcome(of: Requests.deliver(job: "note", id: "1")).outcome == "handled")
        if isGone {
            standby.stop(.kill)
            // Its receiver outlives the process that was killed for a moment, and may confirm what comes then.
            pair.server.wait("SELECT count(*) FROM pg_stat_replication", for: "0")
        } else {
            pair.server.set("synchronous_standby_names", "")
        }
        try client.send(line: Requests.deliver(job: "note", id: "2"))
        try waitUntil("it says so") { daemon.standardError.contains("no request can be accepted for now: ") }
        if isGone {
            // Nobody waits for it: neither other producers nor people.
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
    }

    @Test(
        "hand over when the leader is told to stop: it lets handlers end, and the other one need not wait for its lease"
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
        #expect(pair.status.contains("nobody leads"))
    }

    @Test("are moved by an order: the leader lets handlers end and hands over to the other one, and follows again")
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

    @Test("stop following before a batch that only a newer program reads, say so, and go on with one that reads it")
    func newerVersion() throws {
        let own = RowKind.allCases.map(\.since).max() ?? 1
        let newer = own + 1
        let pair = try MachinePair(lease: "60s")
        let leader = try pair.startLeader(pair.first)
        #expect(try pair.first.injectClient().outcome(of: Requests.deliver(job: "note", id: "1")).outcome == "handled")
        // As a newer program writes it, while another one is the leader of the future.
        pair.server.sql(
            "UPDATE push_batches SET version = \(newer) WHERE number = (SELECT max(number) FROM push_batches)",
            database: "push")
        let follower = try pair.start(pair.second)
        let reason = "stopped before those of version \(newer): upgrade it"
        try waitUntil("the status says it") { pair.status.contains(reason) }
        #expect(follower.standardError.contains("has version \(newer), and this program reads \(own): upgrade it"))
        #expect(try pair.second.injectClient().ask(Requests.deliver(id: "x")).errorCode == "unavailable")
        pair.server.sql("UPDATE push_batches SET version = \(own)", database: "push")
        try waitUntil("it goes on") { !pair.status.contains(reason) && pair.status.contains("second: 0 batches") }
        #expect(try leader.stop() == .exited(0))
        try follower.waitForNotification("READY=1", times: 2)
    }

    @Test("are drained by an order: a machine hands over and takes no lease, until that is undone")
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
        // The lease is free, and is the one's of nobody who may take it.
        try again.waitForStatus("STATUS=follows as first; nobody leads yet")
        #expect(pair.order("--drain", "--node", "first", "--undo").end == .exited(0))
        try again.waitForNotification("READY=1", times: 2)
        #expect(pair.status.contains("first leads, term 3"))
        let forced = pair.order("--drain", "--node", "first", "--force")
        #expect(forced.end == .exited(0), "\(forced)")
        #expect(try again.waitForEnd() == .exited(75))
    }

    @Test("fence a leader that stood still for longer than its lease: it ends, and acknowledged nothing since")
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

    @Test("acknowledge nothing while the database is away, and go on when it is back", arguments: [true, false])
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

    @Test("lose both disks and nothing else: a machine starts from a snapshot in the database, and what came behind it")
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

    @Test("go on with the ledger that one machine had, and one machine with theirs, which they never follow again")
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

    @Test("set aside the ledger of a machine that accepted nothing alone, and do not touch one that has requests")
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
        let begins = DaemonProcess(pair.second, program: "pushrouterd-fleet")
        #expect(try begins.waitForEnd() == .exited(75))
        #expect(names(in: pair.second.state).contains { $0.hasPrefix("set-aside-") })
        let leader = try pair.startLeader(pair.second)
        #expect(try leader.stop() == .exited(0))

        #expect(remove(pair.second.state))
        try run("n1")
        let refused = DaemonProcess(pair.second, program: "pushrouterd-fleet")
        #expect(try refused.waitForEnd() == .exited(78))
        #expect(refused.standardError.contains("store init --ledger"), "\(refused.standardError)")
        try run("n1")
    }

    @Test("refuse a clone of their database, until it is made a fleet of its own")
    func clone() throws {
        let pair = try MachinePair()
        let leader = try pair.startLeader(pair.first)
        #expect(try pair.first.injectClient().outcome(of: Requests.deliver(job: "note", id: "n1")).outcome == "handled")
        #expect(try leader.stop() == .exited(0))
        pair.server.sql("CREATE DATABASE clone TEMPLATE push")
        pair.use("clone", on: pair.first)
        let refused = DaemonProcess(pair.first, program: "pushrouterd-fleet")
        #expect(try refused.waitForEnd() == .exited(78))
        #expect(refused.standardError.contains("a clone, or restored"), "\(refused.standardError)")
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

    @Test("set a copy aside that is not a prefix of the chain, and fetch another")
    func forked() throws {
        let pair = try MachinePair(lease: "60s")
        let leader = try pair.startLeader(pair.first)
        #expect(try pair.first.injectClient().outcome(of: Requests.deliver(job: "note", id: "1")).outcome == "handled")
        #expect(try leader.stop() == .exited(0))
        // As after a promotion that lost the last batch.
        pair.server.sql(
            "DELETE FROM push_batches WHERE number = (SELECT max(number) FROM push_batches)", database: "push")
        let forked = DaemonProcess(pair.first, program: "pushrouterd-fleet")
        #expect(try forked.waitForEnd() == .exited(75))
        #expect(!forked.messages.contains { $0.contains("READY=1") })
        let again = try pair.startLeader(pair.first)
        #expect(try again.stop() == .exited(0))
        #expect(names(in: pair.first.state).contains { $0.hasPrefix("set-aside-") })
    }

    @Test("are refused a database that no fleet is set up in, the ledger of one machine, and a second set-up")
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
