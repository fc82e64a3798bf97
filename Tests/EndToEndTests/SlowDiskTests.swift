import TestSupport
import Testing
import UnixSockets

@Suite("A slow disk")
struct SlowDiskTests {
    @Test("delays replies, and neither refuses requests nor holds up a deadline", .timeLimit(.minutes(5)))
    func slow() throws {
        let bed = DaemonOnDisk(seed: 5)
        bed.installation.addJob("hangs", "exec sleep 60", route: "Deadline=500ms")
        try bed.start()
        let slowness = bed.disk.delay(.syncs(), milliseconds: 300)
        let load = DiskLoad("r", seed: 5)
        try load.connect(to: bed.installation)

        let client = try bed.installation.injectClient()
        for _ in 0..<3 {
            #expect(try client.ask(Requests.deliver(job: "hangs")).isAccepted)
            let line = try client.next()
            #expect(line.outcome == "timed_out" && line.reason == "not finished at the deadline", "\(line)")
            // A kill that waits for the disk comes a sync late.
            #expect(line.totalMilliseconds >= 500 && line.totalMilliseconds < 800, "\(line)")
        }
        try load.run(count: 200)
        #expect(load.refusals.isEmpty && !load.isCutOff && slowness.picked > 6)
        slowness.end()
        load.disconnect()
        try bed.cutPower()
        try bed.start()
        let lost = try load.findLost(at: bed.installation)
        #expect(lost == [] && load.contradictions.isEmpty)
        var figures = DiskFigures()
        (figures.cuts, figures.acknowledged, figures.lost) = (1, load.acknowledgements, lost.count)
        print("disk, slow: \(slowness.picked) slow syncs; \(figures)")
    }
}
