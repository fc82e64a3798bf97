import Glibc
import Synchronization
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushDaemon
@testable import PushModel
@testable import Store

@Suite("A node that follows the chain", .timeLimit(.minutes(30)))
struct ChainFollowerTests: ~Copyable {
    private let engine = MemoryEngine()
    private let directory = TemporaryDirectory()
    private let other = NodeIncarnation(node: "other", id: UUID128(high: 1, low: 1))

    /// A running follower, and its news.
    private final class Running {
        private let news = Monitor<[ChainFollower.News]>([])
        private let follower: ChainFollower
        private var thread: WorkerThread?

        init(_ engine: MemoryEngine, _ directory: String, lease: Duration, reads: Int = ChainBatch.currentVersion)
            throws
        {
            let news = news
            let node = NodeIncarnation(node: "this", id: UUID128(high: 2, low: 2))
            let follower = ChainFollower(engine, node: node, directory: directory, lease: lease, reads: reads) {
                message in
                news.update { $0.append(message) }
            }
            self.follower = follower
            thread = try WorkerThread("follower") { follower.run() }
        }

        deinit {
            follower.stop()
            thread.take()?.join()
        }

        /// The number of news so far that the closure chooses.
        func count(_ isChosen: (ChainFollower.News) -> Bool) -> Int { news.withLock { $0.count(where: isChosen) } }

        /// Waits for the first news from which the closure makes a value.
        func first<Value: Sendable>(_ take: @Sendable (ChainFollower.News) -> Value?) throws -> Value {
            try #require(
                news.wait(atMost: .seconds(60)) { news in
                    for message in news { if let value = take(message) { return value } }
                    return nil
                })
        }
    }

    @Test("takes a free lease at once, with a term above that of the last batch")
    func takesFree() throws {
        let running = try Running(engine.session(), directory.path, lease: .seconds(60))
        let term = try running.first { if case .took(let term) = $0 { term } else { nil } }
        let identity = try engine.identity()
        #expect(term.epoch == 1 && term.identity == identity)
        #expect(try engine.lease().owner?.node == "this")
    }

    @Test("takes another node's lease that was not renewed within the lease's time")
    func takesOld() throws {
        #expect(try engine.take(engine.lease(), for: other) == 1)
        let running = try Running(engine.session(), directory.path, lease: .milliseconds(500))
        #expect(try running.first { if case .leader(let name, _) = $0 { name } else { nil } } == "other")
        let term = try running.first { if case .took(let term) = $0 { term } else { nil } }
        #expect(term.epoch == 2)
        #expect(try engine.renew(other, epoch: 1) == nil)
    }

    @Test("waits for what the database lacks for a while if it has been in it, and says so once")
    func lacks() throws {
        do {
            let running = try Running(engine.session(), directory.path, lease: .seconds(60))
            _ = try running.first { if case .follows = $0 { true } else { nil } }
        }
        try engine.release(NodeIncarnation(node: "this", id: UUID128(high: 2, low: 2)), epoch: 1)
        let session = engine.session()
        session.lacks = "relation push_shards does not exist"
        let running = try Running(session, directory.path, lease: .seconds(60))
        let error = try running.first { if case .away(let error) = $0 { error } else { nil } }
        #expect(error.kind == .engineAway && error.message == "relation push_shards does not exist (SQLSTATE 42P01)")
        session.lacks = nil
        _ = try running.first { if case .answers = $0 { true } else { nil } }
        _ = try running.first { if case .took(let term) = $0 { term } else { nil } }
        #expect(running.count { if case .failed = $0 { true } else { false } } == 0)
        #expect(running.count { if case .away = $0 { true } else { false } } == 1)
    }

    @Test("fails with the exit status of a mistake where the database lacks a table and it has never been in it")
    func neverThere() throws {
        let session = engine.session()
        session.lacks = "relation push_shards does not exist"
        let running = try Running(session, directory.path, lease: .seconds(60))
        let error = try running.first { if case .failed(let error) = $0 { error } else { nil } }
        #expect(error.exitStatus == 78 && error.message == "relation push_shards does not exist (SQLSTATE 42P01)")
    }

    @Test("leaves a free lease while the database has no standby, reports that once, and takes the lease afterwards")
    func unprotected() throws {
        engine.hasNoStandby = true
        let running = try Running(engine.session(), directory.path, lease: .milliseconds(100))
        let error = try running.first { if case .unprotected(let error) = $0 { error } else { nil } }
        #expect(error.kind == .unprotected)
        // Some further tries.
        let readings = engine.readings
        while engine.readings < readings + 3 { usleep(10_000) }
        #expect(try engine.lease().owner == nil)
        engine.hasNoStandby = false
        #expect(try running.first { if case .took(let term) = $0 { term } else { nil } }.epoch == 1)
        #expect(running.count { if case .unprotected = $0 { true } else { false } } == 1)
    }

    @Test("says again who leads once the leader renews the lease that was free for lack of a standby")
    func renewed() throws {
        let epoch = try #require(try engine.take(engine.lease(), for: other))
        engine.hasNoStandby = true
        let running = try Running(engine.session(), directory.path, lease: .milliseconds(100))
        _ = try running.first { if case .unprotected(let error) = $0 { error } else { nil } }
        // The leader's renewals need no standby in this engine; the suite's time limit ends a follower that stays silent.
        while running.count({ if case .leader("other", _) = $0 { true } else { false } }) < 2 {
            _ = try engine.renew(other, epoch: epoch)
            usleep(5_000)
        }
        #expect(try engine.lease().owner?.node == "other")
    }

    @Test("leaves a lease that was handed to another node, for the lease's time")
    func leaves() throws {
        let epoch = try #require(try engine.take(engine.lease(), for: other))
        engine.order { $0.successor = "third" }
        try engine.release(other, epoch: epoch)
        let given = engine.session()
        let running = try Running(given, directory.path, lease: .milliseconds(700))
        _ = try running.first { if case .current = $0 { true } else { nil } }
        let begun = SystemClock.bootNanoseconds
        let term = try running.first { if case .took(let term) = $0 { term } else { nil } }
        #expect(term.epoch == 2 && term.sentAt.nanoseconds - begun > 500_000_000)
        #expect(try engine.lease().successor == nil)
    }

    @Test("takes no lease while a person has drained it, and takes it at once afterwards")
    func drained() throws {
        engine.order { $0.drained = ["this"] }
        let running = try Running(engine.session(), directory.path, lease: .milliseconds(500))
        _ = try running.first { if case .current = $0 { true } else { nil } }
        let seen = engine.readings
        while engine.readings < seen + 20 { usleep(1000) }
        #expect(try engine.lease().owner == nil)
        engine.order { $0.drained = [] }
        _ = try running.first { if case .took(let term) = $0 { term } else { nil } }
    }

    @Test("reports that the database is away and that it answers again, and restarts the lease's time")
    func away() throws {
        #expect(try engine.take(engine.lease(), for: other) == 1)
        let session = engine.session()
        session.isAway = true
        let running = try Running(session, directory.path, lease: .milliseconds(500))
        let error = try running.first { if case .away(let error) = $0 { error } else { nil } }
        #expect(error.kind == .engineAway)
        session.isAway = false
        _ = try running.first { if case .took(let term) = $0 { term } else { nil } }
    }

    @Test("stops before a batch of a newer version and reports it, takes no lease, and resumes after an upgrade")
    func newerVersion() throws {
        let own = ChainBatch.currentVersion
        let store = SharedStore(
            identity: try engine.identity(), epoch: 1, boot: UUID128(high: 0, low: 1), clocks: BootClocks(),
            writing: engine.session(), reading: engine.session(), version: own + 1)
        let elsewhere = TemporaryDirectory()
        let committer = try Committer(directory: StateDirectory(path: elsewhere.path), shared: store) { _ in }
        committer.stop()
        store.learn(LeaseRow(owner: nil, epoch: 1, renewals: 0))
        let later = try Committer(directory: StateDirectory(path: elsewhere.path), shared: store) { _ in }
        later.stop()
        #expect(engine.chain.map(\.version) == [own, own, own + 1])
        do {
            let running = try Running(engine.session(), directory.path, lease: .milliseconds(500))
            let error = try running.first { if case .away(let error) = $0 { error } else { nil } }
            #expect(error.kind == .newerSchema)
            #expect("\(error)".contains("this program reads \(own); upgrade this program"), "\(error)")
            let seen = engine.readings
            while engine.readings < seen + 3 { usleep(1000) }
            #expect(engine.copies["this"] == 1)
            #expect(try engine.lease().owner == nil)
        }
        let upgraded = try Running(engine.session(), directory.path, lease: .milliseconds(500), reads: own + 1)
        _ = try upgraded.first { if case .took(let term) = $0 { term } else { nil } }
        #expect(engine.copies["this"] == 2)
    }

    @Test("ends when its copy is not a prefix of the chain")
    func forked() throws {
        let store = SharedStore(
            identity: try engine.identity(), epoch: 1, boot: UUID128(high: 0, low: 1), clocks: BootClocks(),
            writing: engine.session(), reading: engine.session())
        let committer = try Committer(directory: StateDirectory(path: directory.path), shared: store) { _ in }
        committer.stop()
        engine.promote(with: 0)
        let running = try Running(engine.session(), directory.path, lease: .seconds(60))
        let error = try running.first { if case .forked(let error) = $0 { error } else { nil } }
        #expect(error.kind == .forked)
    }
}

@Suite("The lease of a leader", .timeLimit(.minutes(30)))
struct LeaseKeeperTests {
    private let engine = MemoryEngine()
    private let node = NodeIncarnation(node: "this", id: UUID128(high: 2, low: 2))

    private static var now: Instant { Instant(nanoseconds: SystemClock.bootNanoseconds) }

    /// The engine's clock; it is this machine's.
    private static var reading: ClockReading {
        let wall = WallTime(milliseconds: SystemClock.wallMilliseconds)
        return ClockReading(wall, sentAt: now, answeredAt: now, machine: wall)
    }

    @Test("is renewed while the loop answers, and reported as lost when another node has it")
    func renews() throws {
        let epoch = try #require(try engine.take(engine.lease(), for: node))
        let news = Monitor<[String]>([])
        let answers = Monitor<LeaseKeeper?>(nil)
        let keeper = LeaseKeeper(
            engine.session(), node: node, epoch: epoch, lease: .milliseconds(600), sentAt: Self.now, clock: Self.reading
        ) { message in
            switch message {
            case .question: answers.withLock { $0 }?.answer()
            case .renewed: news.update { $0.append("renewed") }
            case .acts(let acts): news.update { $0.append("acts \(acts.map(\.number))") }
            case .handOver(let node): news.update { $0.append("hand over to \(node ?? "any")") }
            case .lost: news.update { $0.append("lost") }
            case .away, .unprotected: news.update { $0.append("away") }
            case .clock: break
            }
        }
        answers.withLock { $0 = keeper }
        let thread = try WorkerThread("lease") { keeper.run() }
        #expect(news.wait(atMost: .seconds(60)) { $0.count(where: { $0 == "renewed" }) >= 3 ? true : nil } == true)
        #expect(news.withLock { !$0.contains { $0.hasPrefix("hand") } })
        let act = AuditRecord(
            at: WallTime(milliseconds: 1), AuditRecord.Subject(.drain, "other"), .program, .done, uid: 1)
        for _ in 1...2 { engine.order(act) }
        // Acts are reported again until the ledger has their rows; an act whose row is in the log alone may be lost.
        #expect(news.wait(atMost: .seconds(60)) { $0.count { $0 == "acts [1, 2]" } >= 2 ? true : nil } == true)
        keeper.note(acts: 2, areApplied: false)
        keeper.note(acts: 1, areApplied: true)
        #expect(news.wait(atMost: .seconds(60)) { $0.contains("acts [2]") ? true : nil } == true)
        engine.order { $0.successor = "other" }
        #expect(news.wait(atMost: .seconds(60)) { $0.contains("hand over to other") ? true : nil } == true)
        let other = NodeIncarnation(node: "other", id: UUID128(high: 3, low: 3))
        var taken: Int64?
        // The row may be renewed between the read and the take.
        while taken == nil { taken = try engine.take(engine.lease(), for: other) }
        #expect(news.wait(atMost: .seconds(60)) { $0.contains("lost") ? true : nil } == true)
        thread.join()
        #expect(try engine.acts(after: 0).map(\.number) == [2])
        keeper.forgetActs()
        #expect(try engine.acts(after: 0).isEmpty)
        // The order was reported once, and the lease was renewed afterwards.
        #expect(news.withLock { $0.count { $0.hasPrefix("hand") } } == 1)
        answers.withLock { $0 = nil }
    }

    @Test("brings the wall clock of the engine, which reports an hour's error of this machine's clock once")
    func wall() throws {
        let epoch = try #require(try engine.take(engine.lease(), for: node))
        let hour: Int64 = 3_600_000
        engine.setWall { WallTime(milliseconds: SystemClock.wallMilliseconds - hour) }
        let own = WallTime(milliseconds: SystemClock.wallMilliseconds)
        let first = ClockReading(
            WallTime(milliseconds: own.milliseconds - hour), sentAt: Self.now, answeredAt: Self.now, machine: own)
        let (renewals, changes) = (Monitor(0), Monitor<[ClockWatch.Change]>([]))
        let keeper = LeaseKeeper(
            engine.session(), node: node, epoch: epoch, lease: .milliseconds(300), sentAt: Self.now, clock: first
        ) { message in
            switch message {
            case .renewed: renewals.update { $0 += 1 }
            case .clock(let change): changes.update { $0.append(change) }
            default: break
            }
        }
        func behind() -> Int64 { SystemClock.wallMilliseconds - keeper.wall.milliseconds }
        #expect(abs(behind() - hour) < 30_000)
        let thread = try WorkerThread("lease") { keeper.run() }
        #expect(renewals.wait(atMost: .seconds(60)) { $0 >= 3 ? true : nil } == true)
        #expect(abs(behind() - hour) < 30_000)
        keeper.stop()
        thread.join()
        guard case .off(let ahead)? = changes.withLock({ $0.first }) else {
            Issue.record("nobody is told of the clock")
            return
        }
        #expect(changes.withLock(\.count) == 1 && abs(ahead.milliseconds - hour) < 30_000)
    }

    @Test(
        "reports how long it was not renewed, and whether the database had no standby meanwhile",
        arguments: [
            (false, false, DaemonGap.Kind.engineAway), (true, false, .engineAway), (true, true, .unprotected),
        ])
    func outage(answersQuestions: Bool, hasNoStandby: Bool, kind: DaemonGap.Kind) throws {
        let epoch = try #require(try engine.take(engine.lease(), for: node))
        let session = engine.session()
        let stalls = Monitor<[StoreHealth.Stall]>([])
        let (isTold, questions) = (Monitor(false), Monitor(0))
        let keeper = LeaseKeeper(
            session, node: node, epoch: epoch, lease: .milliseconds(150), sentAt: Self.now, clock: Self.reading
        ) { message in
            switch message {
            case .renewed(_, after: let stall?): stalls.update { $0.append(stall) }
            case .away: if !answersQuestions { isTold.update { $0 = true } }
            // The second renewal without an answer looks for a standby.
            case .question where answersQuestions && !hasNoStandby:
                questions.update { $0 += 1 }
                if questions.withLock(\.self) >= 4 { isTold.update { $0 = true } }
            case .unprotected: isTold.update { $0 = true }
            default: break
            }
        }
        let begin = SystemClock.monotonicNanoseconds
        engine.hasNoStandby = hasNoStandby
        if answersQuestions { session.endsNoCommit = true } else { session.isAway = true }
        let thread = try WorkerThread("lease") { keeper.run() }
        #expect(isTold.wait(atMost: .seconds(60)) { $0 ? true : nil } == true)
        let told = SystemClock.monotonicNanoseconds
        (session.endsNoCommit, session.isAway) = (false, false)
        let stall = try #require(stalls.wait(atMost: .seconds(60)) { $0.first })
        #expect(stall.kind == kind && stall.since >= begin && stall.since <= told)
        keeper.stop()
        thread.join()
    }

    @Test("is renewed while the leader starts, before its loop answers first")
    func starts() throws {
        let epoch = try #require(try engine.take(engine.lease(), for: node))
        let renewals = Monitor(0)
        let keeper = LeaseKeeper(
            engine.session(), node: node, epoch: epoch, lease: .milliseconds(300), sentAt: Self.now, clock: Self.reading
        ) { if case .renewed = $0 { renewals.update { $0 += 1 } } }
        let thread = try WorkerThread("lease") { keeper.run() }
        // Waits longer than the lease.
        #expect(renewals.wait(atMost: .seconds(60)) { $0 >= 5 ? true : nil } == true)
        keeper.stop()
        thread.join()
    }

    @Test("expires when the loop does not answer, although the engine would renew it")
    func hangs() throws {
        let epoch = try #require(try engine.take(engine.lease(), for: node))
        let questions = Monitor(0)
        let keeper = LeaseKeeper(
            engine.session(), node: node, epoch: epoch, lease: .milliseconds(300), sentAt: Self.now, clock: Self.reading
        ) { if case .question = $0 { questions.update { $0 += 1 } } }
        keeper.answer()
        let thread = try WorkerThread("lease") { keeper.run() }
        #expect(questions.wait(atMost: .seconds(60)) { $0 >= 8 ? true : nil } == true)
        #expect(!keeper.holds)
        keeper.stop()
        thread.join()
    }
}

@Suite("A request that another node accepted")
struct BootClocksRequestTests {
    private let here = UUID128(high: 1, low: 1)
    private let there = UUID128(high: 2, low: 2)

    @Test("has a deadline by this machine's clock with the rest that it had by the other one's")
    func translates() throws {
        var clocks = BootClocks()
        // The other node had been up for an hour when it handed a batch over, 40 ms ago; this one has been up for a
        // minute.
        let batch = ChainBatch(
            reference: BatchReference(number: 1, id: here), previous: here, epoch: 1, boot: there,
            handedOver: Instant(nanoseconds: 3_600_000_000_000), bytes: [])
        clocks.read(
            StoredBatch(batch: batch, age: .milliseconds(40)), at: Instant(nanoseconds: 60_000_000_000))
        var (accepted, invocation) = request()
        clocks.translate(&accepted, &invocation, to: here)
        #expect(accepted.boot == here)
        #expect(accepted.acceptedAt.monotonic == Instant(nanoseconds: 59_960_000_000))
        #expect(invocation.deadline == Instant(nanoseconds: 68_960_000_000))
    }

    @Test("keeps its deadline if no batch gave that node's clock")
    func unknown() {
        var (accepted, invocation) = request()
        BootClocks().translate(&accepted, &invocation, to: here)
        #expect(accepted.boot == there && invocation.deadline == Instant(nanoseconds: 3_609_000_000_000))
    }

    private func request() -> (AcceptedRequest, InvocationRecord) {
        let accepted = Moment(
            monotonic: Instant(nanoseconds: 3_600_000_000_000), wall: WallTime(milliseconds: 1_700_000_000_000))
        let request = AcceptedRequest(
            seq: SequenceNumber(1), operation: .deliver, id: nil, peer: Peer(uid: 1, gid: 1, pid: 1),
            acceptedAt: accepted, boot: there, mode: .device, platform: .android, app: nil, device: nil,
            externalID: nil, messageID: nil, body: [])
        let invocation = InvocationRecord(
            id: InvocationID(seq: SequenceNumber(1), n: 0), callback: .onMessageReceived, provider: nil, route: nil,
            handler: nil, budget: .seconds(9), deadline: accepted.monotonic + .seconds(9), started: false, result: nil)
        return (request, invocation)
    }
}
