import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushDaemon
@testable import PushModel
@testable import PushRouter
@testable import Store

@Suite("The commit pipeline", .timeLimit(.minutes(30)))
struct CommitPipelineTests {
    /// A pipeline on a real store.
    private final class Bench {
        let pipeline: CommitPipeline
        let disk: DiskWatch
        private let directory = TemporaryDirectory()
        private let committer: Committer
        private let reports = Monitor<[StoreReport]>([])

        init(isShort: Bool) throws {
            let reports = reports
            disk = DiskWatch(directory.path)
            committer = try Committer(directory: StateDirectory(path: directory.path)) { report in
                reports.update { $0.append(report) }
            }
            let journal = try JournalWriter(destination: .logfmt(descriptor: open("/dev/null", O_WRONLY | O_CLOEXEC)))
            pipeline = CommitPipeline(
                committer, lastSequence: SequenceNumber(0),
                watch: try CommitWatch(journal: journal, slowCommit: .seconds(3600)), isShort: { _ in isShort })
        }

        deinit { committer.stop() }

        /// Adds a row to the batch.
        func decide() {
            pipeline.effects.rows?.append(
                .lifeSign(LifeSign(at: WallTime(milliseconds: 1), last: SequenceNumber(0), believed: nil)))
            pipeline.endRequest()
        }

        /// Adds rows of the daemon's own work.
        func doOwnWork(_ seq: Int64, bytes: Int) {
            pipeline.doOwnWork {
                pipeline.effects.rows?.append(.request(AcceptedRequest(seq: SequenceNumber(seq), bytes: bytes)))
                pipeline.endRequest()
            }
        }

        /// Waits until the batch that is being written is durable, and reports it durable at this time.
        func becomeDurable(at now: Int64) throws {
            let durable = reports.wait(atMost: .seconds(60)) { reports -> (UInt64, Duration)? in
                for report in reports { if case .durable(let number, let took) = report { return (number, took) } }
                return nil
            }
            let (number, took) = try #require(durable)
            reports.withLock { $0 = [] }
            pipeline.committed(number, took: took, at: now)
        }
    }

    @Test("holds a batch back behind another one for a moment when processors are short")
    func heldBack() throws {
        let bench = try Bench(isShort: true)
        let pipeline = bench.pipeline
        bench.decide()
        _ = try pipeline.endTurn(mayWait: false, at: 1_000_000)
        #expect(pipeline.writingSince == 1_000_000, "there was none before it")
        try bench.becomeDurable(at: 2_000_000)

        bench.decide()
        _ = try pipeline.endTurn(mayWait: false, at: 2_199_999)
        #expect(pipeline.writingSince == nil && !pipeline.isReady)
        #expect(pipeline.heldUntil == 2_200_000)
        bench.decide()
        _ = try pipeline.endTurn(mayWait: false, at: 2_200_000)
        #expect(pipeline.writingSince == 2_200_000 && pipeline.heldUntil == nil)
        try bench.becomeDurable(at: 2_300_000)
        #expect(pipeline.batches == 2, "what came meanwhile is in the same one")
    }

    @Test("holds back no batch without rows")
    func withoutRows() throws {
        let bench = try Bench(isShort: true)
        let pipeline = bench.pipeline
        bench.decide()
        _ = try pipeline.endTurn(mayWait: false, at: 1_000_000)
        try bench.becomeDurable(at: 2_000_000)
        pipeline.append(.note(JournalEntry(.info, "nothing is to be written for it")))
        _ = try pipeline.endTurn(mayWait: false, at: 2_000_001)
        #expect(pipeline.hasDue && pipeline.heldUntil == nil)
    }

    @Test("holds back no batch when processors are not short")
    func notShort() throws {
        let bench = try Bench(isShort: false)
        let pipeline = bench.pipeline
        bench.decide()
        _ = try pipeline.endTurn(mayWait: false, at: 1_000_000)
        try bench.becomeDurable(at: 2_000_000)
        bench.decide()
        _ = try pipeline.endTurn(mayWait: false, at: 2_000_001)
        #expect(pipeline.writingSince == 2_000_001)
        try bench.becomeDurable(at: 2_100_000)
    }

    @Test("delays the effects of a loop's batch that found no room until the log's thread has written it")
    func noRoom() throws {
        let bench = try Bench(isShort: false)
        let pipeline = bench.pipeline
        bench.disk.failWrites(of: "segment-", times: 1, with: ENOSPC)
        bench.decide()
        pipeline.append(.note(JournalEntry(.info, "it is durable")))
        #expect(try pipeline.endTurn(mayWait: true, at: 1_000_000) == nil)
        #expect(bench.disk.events.contains { $0.hasSuffix(" -\(ENOSPC)") }, "\(bench.disk.events)")
        #expect(pipeline.writingSince == 1_000_000 && !pipeline.hasDue && pipeline.durable < pipeline.number)
        // Another turn does not change that.
        pipeline.append(.note(JournalEntry(.info, "it is not written yet")))
        #expect(try pipeline.endTurn(mayWait: true, at: 1_500_000) == nil && !pipeline.hasDue)
        try bench.becomeDurable(at: 2_000_000)
        guard case .note(let entry) = pipeline.nextDue() else {
            Issue.record("nothing follows the batch")
            return
        }
        #expect(entry.message == "it is durable" && pipeline.durable == pipeline.number && !pipeline.hasDue)
    }

    @Test("allows an early start only near a number of this run that is durable")
    func earlyStarts() throws {
        let bench = try Bench(isShort: false)
        let pipeline = bench.pipeline
        func write(at now: Int64) throws {
            bench.decide()
            _ = try pipeline.endTurn(mayWait: false, at: now)
            #expect(!pipeline.allowsEarlyStart(of: SequenceNumber(1)))
            try bench.becomeDurable(at: now + 1)
        }
        try write(at: 1_000_000)
        #expect(!pipeline.allowsEarlyStart(of: SequenceNumber(1)), "the batch had no request")
        pipeline.accepted(SequenceNumber(1))
        try write(at: 2_000_000)
        #expect(pipeline.allowsEarlyStart(of: SequenceNumber(1 + StateDirectory.numbersLeftOut)))
        #expect(!pipeline.allowsEarlyStart(of: SequenceNumber(2 + StateDirectory.numbersLeftOut)))
    }

    @Test(
        "gives the daemon's own work a share of the room, which clients' rows neither take nor lose",
        arguments: [false, true])
    func ownWork(isOfClients: Bool) throws {
        let bench = try Bench(isShort: false)
        let pipeline = bench.pipeline
        if isOfClients {
            for _ in 0..<100 { bench.decide() }
        }
        let before = pipeline.clientBytesWaiting
        #expect(pipeline.hasRoomForOwnWork && before == pipeline.bytesWaiting)
        bench.doOwnWork(1, bytes: 300_000)
        #expect(pipeline.hasRoomForOwnWork)
        bench.doOwnWork(2, bytes: 300_000)
        #expect(!pipeline.hasRoomForOwnWork)
        #expect(pipeline.clientBytesWaiting == before)
        // A long slice closes its batch.
        bench.doOwnWork(3, bytes: 600_000)
        bench.decide()
        #expect(!pipeline.hasRoomForOwnWork)
        _ = try pipeline.endTurn(mayWait: false, at: 1_000_000)
        try bench.becomeDurable(at: 2_000_000)
        #expect(pipeline.hasRoomForOwnWork)
        _ = try pipeline.endTurn(mayWait: false, at: 3_000_000)
        try bench.becomeDurable(at: 4_000_000)
        #expect(pipeline.bytesWaiting == 0 && pipeline.clientBytesWaiting == 0 && pipeline.hasRoomForOwnWork)
    }
}

extension AcceptedRequest {
    fileprivate init(seq: SequenceNumber, bytes: Int) {
        self.init(
            seq: seq, operation: .deliver, id: nil, peer: Peer(uid: 1, gid: 1, pid: 1),
            acceptedAt: Moment(monotonic: Instant(nanoseconds: 1), wall: WallTime(milliseconds: 1)),
            boot: UUID128(high: 7, low: 8), mode: .relay, platform: .android, app: "a", device: "d", externalID: "u",
            messageID: nil, body: Array(repeating: UInt8(ascii: "x"), count: bytes))
    }
}
