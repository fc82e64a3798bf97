import Testing

@testable import PushDaemon

@Suite("The writer of the next batch")
struct BatchWriterTests {
    private static let fast: Duration = BatchWriter.limit
    private static let slow: Duration = BatchWriter.limit + .nanoseconds(1)

    /// The number of batches that the thread writes before the loop's next turn.
    private func pause(of writer: inout BatchWriter, took duration: Duration = fast) -> Int {
        var count = 0
        while !writer.isLoop {
            writer.noteThreadWrite(took: duration)
            count += 1
        }
        return count
    }

    @Test("is the loop, while no batch takes more than 10 ms")
    func fastDisk() {
        var writer = BatchWriter()
        for _ in 0..<10_000 {
            #expect(writer.isLoop)
            writer.noteLoopWrite(took: Self.fast)
        }
    }

    @Test("is the thread for 8 batches after a slow one, for twice as many after each further slow one, at most 1024")
    func slowDisk() {
        var writer = BatchWriter()
        for expected in [8, 16, 32, 64, 128, 256, 512, 1024, 1024] {
            writer.noteLoopWrite(took: Self.slow)
            #expect(pause(of: &writer) == expected)
        }
    }

    @Test("is the thread for 8 batches each time on a disk that is slow now and then")
    func nowAndThen() {
        var writer = BatchWriter()
        for _ in 0..<100 {
            writer.noteLoopWrite(took: Self.slow)
            #expect(pause(of: &writer) == 8)
            for _ in 0..<20 { writer.noteLoopWrite(took: Self.fast) }
        }
    }

    @Test("stays the thread while its own batches are slow")
    func slowThread() {
        var writer = BatchWriter()
        writer.noteLoopWrite(took: Self.slow)
        for _ in 0..<10_000 {
            writer.noteThreadWrite(took: Self.slow)
            #expect(!writer.isLoop)
        }
        #expect(pause(of: &writer) == 16)
    }
}
