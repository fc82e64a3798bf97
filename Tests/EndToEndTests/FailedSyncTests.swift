import Glibc
import Synchronization
import TestSupport
import Testing

@testable import PushModel
@testable import Store

@Suite("A failed sync", .serialized)
struct FailedSyncTests {
    /// The number of failures of each sync point, each with a different continuation: `PUSH_TEST_SYNCS`; default 1.
    private static let times = number("PUSH_TEST_SYNCS") ?? 1
    /// `PUSH_TEST_PHASE`, such as `pruning`; default: all phases.
    private static let phases = SyncPhase.allCases.filter { phase in
        getenv("PUSH_TEST_PHASE").map { String(cString: $0) == phase.rawValue } ?? true
    }
    private static let total = Mutex(DiskFigures())

    @Test(
        "ends the daemon with 74, and nothing that is acknowledged before or after it is lost, whatever follows",
        .timeLimit(.minutes(60)), arguments: phases)
    func everySyncPoint(of phase: SyncPhase) async throws {
        var generator = SeededGenerator(seed: diskSeed)
        let counted = try FailedSync(phase, at: nil, isCutAtOnce: false, seed: generator.next()).run()
        var (figures, ends) = (counted.figures, Set<String>())
        for index in 0..<counted.points * Self.times {
            // The tests share one thread per core, and this test takes long.
            await Task.yield()
            let (point, round) = (index % counted.points + 1, index / counted.points)
            // Alternating, with a random first round.
            let isCutAtOnce = round == 0 ? Bool.random(using: &generator) : (point + round) % 2 == 0
            let failure = FailedSync(phase, at: point, isCutAtOnce: isCutAtOnce, seed: generator.next())
            let result: FailedSync.Result
            do {
                result = try failure.run()
            } catch {
                print("failed sync: sync point \(point) of \(phase.rawValue): \(failure.history)")
                throw error
            }
            figures += result.figures
            ends.insert(result.howItEnded)
            if result.figures.lost > 0 {
                let place = "sync point \(point) (\(result.file)) of \(phase.rawValue)"
                print("failed sync: \(place), \(result.figures): \(failure.history)")
            }
        }
        let howItEnded = ends.sorted().joined(separator: ", ")
        print("disk, \(phase.rawValue): \(counted.points) sync points, seed \(diskSeed); \(figures); \(howItEnded)")
        Self.total.withLock { $0 += figures }
        #expect(figures.lost == 0)
    }

    @Test("all phases together lose no acknowledged request")
    func all() {
        let total = Self.total.withLock { $0 }
        print("disk, failed syncs, seed \(diskSeed): \(total)")
        #expect(total.lost == 0)
    }
}

/// A daemon with one failed sync, and the daemons after it in the same state directory.
final class FailedSync {
    struct Result {
        /// The number of sync points in the phase.
        var points: Int
        /// Whether the daemon may continue.
        var isHarmless = false
        /// The end of the daemon after the failed sync; `nil` if it continued.
        var end: Program.End?
        /// The file or directory of the failed sync.
        var file = ""
        var figures = DiskFigures()

        var howItEnded: String { end.map { "\($0)" } ?? "goes on" }
    }

    private let phase: SyncPhase
    private let point: Int?
    private let isCutAtOnce: Bool
    private var generator: SeededGenerator
    private let bed: DaemonOnDisk
    private let load: DiskLoad

    /// The events in order.
    var history: String { bed.history.joined(separator: "; ") }

    /// - Parameters:
    ///   - phase: the phase with the failure.
    ///   - point: the index of the sync to fail, from 1; `nil`: none fails.
    ///   - isCutAtOnce: whether the power is cut before the next start.
    ///   - seed: the seed of all other choices.
    init(_ phase: SyncPhase, at point: Int?, isCutAtOnce: Bool, seed: UInt64) {
        self.phase = phase
        self.point = point
        self.isCutAtOnce = isCutAtOnce
        generator = SeededGenerator(seed: seed)
        bed = DaemonOnDisk(phase.settings, seed: generator.next())
        load = DiskLoad("r", seed: generator.next())
        bed.chooseTransfers(&generator)
    }

    func run() throws -> Result {
        try phase.prepare(bed, load)
        bed.disk.eagerness = [0, 0, 200].randomElement(using: &generator) ?? 0
        let error = [EIO, EIO, ENOSPC, EDQUOT].randomElement(using: &generator) ?? EIO
        let rule = point.map { bed.disk.fail(phase.syncs, .only($0), error: error) } ?? bed.disk.count(phase.syncs)
        try phase.provoke(bed, load, rule)
        // No further sync fails from here on; the code below waits for a failure in progress.
        rule.end()
        var result = Result(points: rule.matched, file: rule.lastPicked)
        result.figures.failedSyncs = rule.picked
        bed.history.append(
            "failed to sync \(result.file) (\(rule.picked)) by \(String(cString: strerror(error)))")
        let isHarmless = rule.picked == 0 || phase.isHarmless(error, result.file)
        result.end = try isHarmless ? endOfDaemon() : bed.waitForEnd()
        bed.history.append(result.howItEnded)
        let isRight = result.end == .exited(74) || isHarmless && [nil, .exited(0)].contains(result.end)
        #expect(isRight, "after a failed sync of \(result.file) it \(result.howItEnded): \(bed.lastWords)")
        result.isHarmless = isHarmless

        // A cut at once loses acknowledged data that was never synced. A cut after another start loses data that the
        // start believed to be on the disk.
        if isCutAtOnce { try cutPower(&result) } else { bed.crash() }
        try failStart(&result)
        try bed.start()
        if isCutAtOnce { result.figures.lost += try load.findLost(at: bed.installation).count }
        try load.connect(to: bed.installation)
        try load.run(count: 60)
        load.disconnect()
        try cutPower(&result)
        try bed.start()
        result.figures.lost += try load.findLost(at: bed.installation).count
        try checkAtLast()
        result.figures.acknowledged = load.acknowledgements
        return result
    }

    /// Makes most of the next starts fail as well: by another sync, a kill -9, or a power cut. Such a start's writes
    /// depend on its reads, which may come from the page cache only.
    private func failStart(_ result: inout Result) throws {
        let fate = Int.random(in: 0..<5, using: &generator)
        let number = Int.random(in: 1...Int.random(in: 1...60, using: &generator), using: &generator)
        switch fate {
        case 0:
            let rule = bed.disk.fail(.syncs(), .only((number + 7) / 8), error: EIO)
            if let end = try bed.startUnlessItEnds() { #expect(end == .exited(74)) }
            result.figures.failedSyncs += rule.picked
            bed.history.append("failed to sync \(rule.lastPicked)")
        case 1, 2, 3:
            let rule = bed.disk.kill(.writes(), at: number, isDone: true)
            let end = try bed.startUnlessItEnds()
            // Alternatively it dies just after it is ready.
            if let end { #expect(end == .signaled(SIGKILL) && rule.picked == 1) }
            rule.end()
            bed.history.append("killed after writing \(rule.lastPicked), the write \(number)")
        default: return
        }
        if fate == 3 { try cutPower(&result) } else { bed.crash() }
    }

    /// Returns the end of the daemon; `nil` if it still answers.
    private func endOfDaemon() throws -> Program.End? {
        if let end = bed.daemon?.end { return end }
        if load.isCutOff, try !load.connectIfPossible(to: bed.installation) { return try bed.waitForEnd() }
        // A daemon about to end does not answer all of these.
        try load.run(count: 50)
        guard load.isCutOff else {
            load.disconnect()
            return nil
        }
        return try bed.waitForEnd()
    }

    private func cutPower(_ result: inout Result) throws {
        bed.crash()
        try load.receiveLastReplies()
        try bed.disk.checkIsComplete()
        try bed.cutPower(sparing: [0, 200].randomElement(using: &generator) ?? 0)
        result.figures.cuts += 1
    }

    private func checkAtLast() throws {
        #expect(load.contradictions.isEmpty, "\(load.contradictions.prefix(3))")
        try bed.installation.waitUntilIdle()
        try load.checkLedger(of: bed.installation)
        #expect(try bed.stop() == .exited(0))
    }
}
