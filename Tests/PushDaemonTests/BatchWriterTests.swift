import Testing

@testable import PushDaemon

@Suite("Who writes the next batch")
struct BatchWriterTests {
    private static let fast: Duration = BatchWriter.limit
    private static let slow: Duration = BatchWriter.limit + .nanoseconds(1)

    /// How many batches the thread writes before it is the loop's turn again.
    private func pause(of writer: inout BatchWriter, took duration: Duration = fast) -> Int {
        var count = 0
        while !writer.isLoop {
            writer.threadWrote(took: duration)
            count += 1
        }
        return count
    }

    @Test("the loop, as long as no batch takes more than 10 ms")
    func fastDisk() {
        var writer = BatchWriter()
        for _ in 0..<10_000 {
            #expect(writer.isLoop)
            writer.loopWrote(took: Self.fast)
        }
    }

    @Test("the thread writes 8 after a slow one, twice as many after each that is slow again, and 1024 at most")
    func slowDisk() {
        var writer = BatchWriter()
        for expected in [8, 16, 32, 64, 128, 256, 512, 1024, 1024] {
            writer.loopWrote(took: Self.slow)
            #expect(pause(of: &writer) == expected)
        }
    }

    @Test("a disk that is slow now and then costs 8 batches each time")
    func nowAndThen() {
        var writer = BatchWriter()
        for _ in 0..<100 {
            writer.loopWrote(took: Self.slow)
            #expect(pause(of: &writer) == 8)
            for _ in 0..<20 { writer.loopWrote(took: Self.fast) }
        }
    }

    @Test("the thread keeps writing as long as what it writes is slow")
    func slowThread() {
        var writer = BatchWriter()
        writer.loopWrote(took: Self.slow)
        for _ in 0..<10_000 {
            writer.threadWrote(took: Self.slow)
            #expect(!writer.isLoop)
        }
        #expect(pause(of: &writer) == 16)
    }
}
