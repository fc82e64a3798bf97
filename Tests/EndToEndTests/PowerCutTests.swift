import Glibc
import TestSupport
import Testing

@Suite("Power cuts under load")
struct PowerCutTests {
    /// `PUSH_TEST_CUTS`; default 100: with the other suites that makes more than 200.
    private static let cuts = number("PUSH_TEST_CUTS") ?? 100
    /// `PUSH_TEST_DIRECTORY_SEED`: repeats one state directory.
    private static let directorySeed = getenv("PUSH_TEST_DIRECTORY_SEED").flatMap { UInt64(String(cString: $0)) }
    /// The most power cuts for one state directory.
    private static let generations = 12

    @Test("lose nothing acknowledged, and leave a consistent ledger", .timeLimit(.minutes(60)))
    func cuts() async throws {
        var generator = SeededGenerator(seed: diskSeed)
        var figures = DiskFigures()
        while figures.cuts < Self.cuts {
            let seed = Self.directorySeed ?? generator.next()
            let more = try await cutAgainAndAgain(atMost: Self.cuts - figures.cuts, seed: seed)
            if more.lost > 0 { print("power cuts: \(more.lost) lost, PUSH_TEST_DIRECTORY_SEED=\(seed)") }
            figures += more
        }
        print("disk, power cuts, seed \(diskSeed): \(figures)")
        #expect(figures.lost == 0)
        // Without enough requests the test would prove nothing.
        #expect(figures.acknowledged > 10 * figures.cuts)
    }

    @Test("a start after kill -9 acknowledges nothing that is only in the page cache", .timeLimit(.minutes(30)))
    func pageCache() throws {
        var figures = DiskFigures()
        for seed in 1...5 as ClosedRange<UInt64> {
            let (bed, load) = (DaemonOnDisk(seed: seed), DiskLoad("r", seed: seed))
            try bed.start()
            let rule = bed.disk.kill(.syncs(), at: 1, isDone: false)
            try load.connect(to: bed.installation, producers: 1)
            try load.run(count: 1)
            #expect(try bed.waitForEnd() == .signaled(SIGKILL))
            rule.end()
            // Repeats the request that was about to be synced, and sends no other one that would cause a sync.
            try bed.start()
            try load.connect(to: bed.installation)
            try load.finish()
            load.disconnect()
            try bed.cutPower()
            try bed.start()
            figures.lost += try load.findLost(at: bed.installation).count
            figures.cuts += 1
            figures.acknowledged += load.acknowledgements
        }
        print("disk, repeated after kill -9: \(figures)")
        #expect(figures.lost == 0)
    }

    /// Tests one state directory, from the first start of its daemon.
    private func cutAgainAndAgain(atMost limit: Int, seed: UInt64) async throws -> DiskFigures {
        var generator = SeededGenerator(seed: seed)
        let times = min(limit, Int.random(in: 1...Self.generations, using: &generator))
        let bed = DaemonOnDisk(seed: generator.next())
        bed.chooseTransfers(&generator)
        var figures = DiskFigures()
        let load = DiskLoad("r", seed: generator.next())
        for _ in 0..<times {
            // The tests share one thread per core, and this test takes long.
            await Task.yield()
            bed.disk.eagerness = [0, 20, 200, 600].randomElement(using: &generator) ?? 0
            try cutDuringStart(bed, &generator)
            figures.lost += try load.findLost(at: bed.installation, isComplete: false).count
            try load.connect(to: bed.installation)
            // Occasionally enough that the log is copied to the database during the load.
            let size = Int.random(in: 0..<4, using: &generator) == 0 ? 10_000 : nil
            try run(load, size: size, on: bed, until: PowerCut(&generator))
            try load.receiveLastReplies()
            try bed.disk.checkIsComplete()
            // Sometimes a daemon continues with data that is only in the page cache, and loses it later.
            if Int.random(in: 0..<3, using: &generator) == 0 { try continueUnderLoad(load, on: bed, &generator) }
            try bed.cutPower(sparing: [0, 0, 100, 500].randomElement(using: &generator) ?? 0)
            #expect(load.contradictions.isEmpty, "\(load.contradictions.prefix(3))")
        }
        try bed.start()
        figures.lost += try load.findLost(at: bed.installation).count
        try bed.installation.waitUntilIdle()
        try load.checkLedger(of: bed.installation)
        #expect(try bed.stop() == .exited(0))
        figures.cuts = times
        figures.acknowledged = load.acknowledgements
        return figures
    }

    /// Starts the daemon again without a power cut, for some more load.
    private func continueUnderLoad(_ load: DiskLoad, on bed: DaemonOnDisk, _ generator: inout SeededGenerator) throws {
        try bed.start()
        try load.connect(to: bed.installation)
        try run(load, size: nil, on: bed, until: PowerCut(&generator))
        try load.receiveLastReplies()
    }

    /// Starts the daemon; occasionally a power cut ends it before it is ready.
    private func cutDuringStart(_ bed: DaemonOnDisk, _ generator: inout SeededGenerator) throws {
        guard Int.random(in: 0..<4, using: &generator) == 0 else { return try bed.start() }
        let rule = bed.disk.kill(.writes(), at: Int.random(in: 1...20, using: &generator), isDone: true)
        _ = try bed.startUnlessItEnds()
        rule.end()
        // It may have died just after it was ready.
        guard rule.picked > 0 else { return }
        #expect(try bed.waitForEnd() == .signaled(SIGKILL))
        try bed.cutPower(sparing: 300)
        try bed.start()
    }

    private func run(_ load: DiskLoad, size: Int?, on bed: DaemonOnDisk, until cut: PowerCut) throws {
        let rule = cut.arm(bed.disk)
        let enough = load.acknowledgements + cut.acknowledgements
        try load.run(size: size) { load.acknowledgements >= enough }
        withExtendedLifetime(rule) { bed.crash() }
    }
}

/// The moment of the power cut.
private struct PowerCut {
    private enum Moment: CaseIterable {
        case answered, synced, aboutToSync, written, aboutToWrite
    }

    private let moment: Moment
    private let number: Int

    init(_ generator: inout SeededGenerator) {
        moment = Moment.allCases.randomElement(using: &generator) ?? .answered
        number = Int.random(in: 1...(Int.random(in: 1...60, using: &generator)), using: &generator)
    }

    /// The number of replies after which the power is cut at the latest.
    var acknowledgements: Int { moment == .answered ? number * 4 : 400 }

    /// Makes the disk end the daemon at that moment.
    func arm(_ disk: FaultyDisk) -> DiskRule? {
        switch moment {
        case .answered: nil
        case .synced: disk.kill(.syncs(), at: number, isDone: true)
        case .aboutToSync: disk.kill(.syncs(), at: number, isDone: false)
        case .written: disk.kill(.writes(), at: number * 8, isDone: true)
        case .aboutToWrite: disk.kill(.writes(), at: number * 8, isDone: false)
        }
    }
}
