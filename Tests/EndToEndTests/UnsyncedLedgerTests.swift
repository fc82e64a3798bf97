import Glibc
import TestSupport
import Testing

/// After a failed sync a start finds data in the page cache that the disk never got and that no later sync writes.
@Suite("A ledger that is only in the page cache")
struct UnsyncedLedgerTests {
    @Test(
        "is rewritten before a start relies on it: a power cut during the rewrite damages nothing",
        .timeLimit(.minutes(30)))
    func cutInTheMiddle() async throws {
        var (generator, figures) = (SeededGenerator(seed: diskSeed), DiskFigures())
        for _ in 0..<4 {
            await Task.yield()
            let seed = generator.next()
            let (bed, load) = (DaemonOnDisk(seed: seed), DiskLoad("r", seed: seed))
            try bed.start()
            try load.connect(to: bed.installation)
            try load.run(count: 80, size: 2000)
            try stopWithFailedSync(bed)
            try load.receiveLastReplies()

            // The next start copies the WAL to the database, and a random part of its writes reaches the platter.
            bed.disk.eagerness = 400
            let number = Int.random(in: 1...40, using: &generator)
            let rule = bed.disk.kill(.writes(of: "ledger.db$"), at: number, isDone: true)
            #expect(try bed.startUnlessItEnds() == .signaled(SIGKILL) && rule.picked == 1)
            rule.end()
            try bed.disk.checkIsComplete()
            try bed.cutPower(sparing: 300)

            try bed.start()
            figures.lost += try load.findLost(at: bed.installation).count
            try bed.installation.waitUntilIdle()
            try load.checkLedger(of: bed.installation)
            #expect(try bed.stop() == .exited(0))
            figures.cuts += 1
            figures.failedSyncs += 1
            figures.acknowledged += load.acknowledgements
        }
        print("disk, ledger in the page cache, seed \(diskSeed): \(figures)")
        #expect(figures.lost == 0)
    }

    /// Ends the daemon with a failed sync of the WAL: the disk loses all that the ledger got since its start.
    private func stopWithFailedSync(_ bed: DaemonOnDisk) throws {
        let rule = bed.disk.fail(.syncs(of: "ledger.db-wal$"), .only(1), error: EIO)
        #expect(try bed.stop() == .exited(74))
        #expect(rule.picked == 1 && bed.disk.sectorsForgotten > 0)
        rule.end()
    }
}
