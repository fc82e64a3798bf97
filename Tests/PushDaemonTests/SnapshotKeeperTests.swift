import Glibc
import TestSupport
import Testing

@testable import LinuxSystem
@testable import PushDaemon
@testable import PushModel
@testable import Store

@Suite("The keeper of snapshots", .timeLimit(.minutes(30)))
struct SnapshotKeeperTests: ~Copyable {
    private let engine = MemoryEngine()
    private let directory = TemporaryDirectory()

    /// A running keeper, and the snapshots that it wrote.
    private final class Running {
        let written = Monitor<[Snapshot]>([])
        private let keeper: SnapshotKeeper
        private var thread: WorkerThread?

        init(_ engine: MemoryEngine, _ directory: String, leads: Bool) throws {
            let written = written
            var options = SnapshotKeeper.Options(interval: .seconds(3600), rate: 1 << 30)
            options.pause = .milliseconds(5)
            let keeper = SnapshotKeeper(engine.session(), node: "a", directory: directory, options: options) { news in
                if case .written(let snapshot) = news { written.update { $0.append(snapshot) } }
            }
            if leads { keeper.lead() }
            self.keeper = keeper
            thread = try WorkerThread("snapshots") { keeper.run() }
        }

        deinit {
            keeper.stop()
            thread.take()?.join()
        }

        func wait(for count: Int) -> Bool {
            written.wait(atMost: .seconds(60)) { $0.count >= count ? true : nil } == true
        }
    }

    /// Writes a ledger with terms of three batches.
    private func fill() throws {
        for epoch in 1...3 as ClosedRange<Int64> {
            let store = SharedStore(
                identity: try engine.identity(), epoch: epoch, boot: UUID128(high: 0, low: 1), clocks: BootClocks(),
                writing: engine.session(), reading: engine.session())
            try Committer(directory: StateDirectory(path: directory.path), shared: store) { _ in }.stop()
        }
    }

    @Test("writes the first one, and replaces a draft that its node had begun")
    func writes() throws {
        try fill()
        #expect(try engine.beginSnapshot(UUID128(high: 0, low: 9), by: "a", replacing: nil))
        let running = try Running(engine, directory.path, leads: false)
        #expect(running.wait(for: 1))
        #expect(try engine.snapshots().snapshots.map(\.snapshot) == running.written.withLock(\.self))
        #expect(try engine.snapshots().first == 0)
    }

    @Test("writes one soon after an erasure, however young the last one is")
    func erasure() throws {
        try fill()
        let before = try Running(engine, directory.path, leads: false)
        #expect(before.wait(for: 1))
        let store = SharedStore(
            identity: try engine.identity(), epoch: 4, boot: UUID128(high: 0, low: 1), clocks: BootClocks(),
            writing: engine.session(), reading: engine.session())
        let committer = try Committer(directory: StateDirectory(path: directory.path), shared: store) { _ in }
        let rows = committer.takeBuffer()
        let bound = ErasureBound(request: SequenceNumber(1), entry: EntryNumber(1))
        rows.append(.erase(ErasureOrder(person: Person(externalID: "anna"), bound: bound)))
        _ = try committer.commit(
            CommitBatch(number: committer.lastNumber + 1, rows: rows, lastSequence: SequenceNumber(0)))
        committer.stop()
        #expect(before.wait(for: 2))
        #expect(try engine.snapshots().snapshots.first?.snapshot.reference.number == 5)
    }

    @Test("deletes batches only on the leader, behind two snapshots and older than ten minutes")
    func trims() throws {
        try fill()
        for snapshot in 1...2 as ClosedRange<UInt64> {
            let id = UUID128(high: 0, low: snapshot)
            #expect(try engine.beginSnapshot(id, by: "b", replacing: nil))
            let written = Snapshot(id: id, reference: engine.chain[2].reference, schema: 1, length: 0, checksum: 0)
            #expect(try engine.finishSnapshot(written))
        }
        engine.clock = Instant(nanoseconds: 3_700_000_000_000)
        let follower = try Running(engine, directory.path, leads: false)
        #expect(follower.wait(for: 1))
        #expect(try engine.snapshots().first == 0)
        let leader = try Running(engine, directory.path, leads: true)
        while try engine.snapshots().first == 0 { usleep(1000) }
        #expect(try engine.snapshots().first == 2)
        withExtendedLifetime(leader) {}
    }
}
