import Glibc
import JournalLog
import LinuxSystem
import PushModel
import PushRouting
import Store
import TestSupport
import Testing

@testable import PushDaemon

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
}
