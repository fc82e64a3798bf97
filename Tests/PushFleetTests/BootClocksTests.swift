import Testing

@testable import PushModel

@Suite("The clocks of machines that wrote a chain")
struct BootClocksTests {
    private static let hour = Duration.seconds(3600)
    private static let boot = UUID128(high: 5, low: 5)
    /// The writer's clock when this machine's is 0.
    private static let ahead = Duration.seconds(500_000)
    /// The most time that a takeover may add to a deadline.
    private static let tolerance = Duration.milliseconds(50)
    private var clocks = BootClocks()

    private func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

    /// Reads a batch: handed over and inserted at times of this machine's clock.
    private mutating func read(
        handedOver: Int64, inserted: Int64? = nil, readAt: Int64, engineClockStepped step: Duration = .zero,
        boot: UUID128 = boot
    ) {
        let inserted = inserted ?? handedOver + 5
        let batch = ChainBatch(
            reference: BatchReference(number: 1, id: boot), previous: boot, epoch: 1, boot: boot,
            handedOver: at(handedOver) + Self.ahead, bytes: [])
        clocks.read(StoredBatch(batch: batch, age: at(readAt) - at(inserted) + step), at: at(readAt))
    }

    /// By how much an instant of the writer is later on this machine.
    private func error(of boot: UUID128 = boot) throws -> Duration {
        try #require(clocks.instant(at(1_000_000) + Self.ahead, of: boot)) - at(1_000_000)
    }

    @Test("are known by the first batch, to within the time of its append")
    mutating func first() throws {
        #expect(clocks.instant(at(0), of: Self.boot) == nil)
        read(handedOver: 10_000, inserted: 10_020, readAt: 10_090)
        #expect(try error() == .milliseconds(20))
    }

    @Test("are known by a batch read long after, if the engine's clock was not set")
    mutating func old() throws {
        read(handedOver: 10_000, readAt: 3_000_000)
        #expect(try error() == .milliseconds(5))
    }

    @Test("stay unchanged when the engine's clock is set between two batches", arguments: [hour, .zero - hour])
    mutating func engineClockSet(step: Duration) throws {
        // The age of a batch inserted after the step is right; the age of one inserted before it is wrong.
        read(handedOver: 10_000, readAt: 10_060)
        read(handedOver: 10_500, readAt: 10_560, engineClockStepped: step)
        #expect((.zero...Self.tolerance).contains(try error()))
        read(handedOver: 11_000, readAt: 11_060)
        #expect((.zero...Self.tolerance).contains(try error()))
    }

    @Test(
        "are estimated anew by the next batch, if the engine's clock was set between the writing and the reading of the first",
        arguments: [hour, .zero - hour])
    mutating func firstIsWrong(step: Duration) throws {
        read(handedOver: 10_000, readAt: 13_000, engineClockStepped: step)
        read(handedOver: 13_100, readAt: 13_160)
        #expect((.zero...Self.tolerance).contains(try error()))
    }

    @Test("are not changed by a batch handed over before an outage and inserted after it")
    mutating func outage() throws {
        read(handedOver: 10_000, readAt: 10_060)
        read(handedOver: 11_000, inserted: 41_000, readAt: 41_050)
        #expect((.zero...Self.tolerance).contains(try error()))
    }

    @Test("follow two clocks that drift apart")
    mutating func drift() throws {
        // The writer's clock loses 200 us a second, for an hour.
        for second in 0..<3600 as Range<Int64> {
            let here = second * 1000
            let batch = ChainBatch(
                reference: BatchReference(number: 1, id: Self.boot), previous: Self.boot, epoch: 1, boot: Self.boot,
                handedOver: at(here) + Self.ahead + .microseconds(-200 * second), bytes: [])
            clocks.read(StoredBatch(batch: batch, age: .milliseconds(20)), at: at(here + 25))
        }
        let now = try #require(clocks.instant(at(3_600_000) + Self.ahead + .milliseconds(-720), of: Self.boot))
        #expect((.zero...Self.tolerance).contains(now - at(3_600_000)))
    }

    @Test("are known for each boot: a deadline from another machine ends within 50 ms of its time")
    mutating func takeover() throws {
        let other = UUID128(high: 6, low: 6)
        read(handedOver: 10_000, readAt: 10_060)
        read(handedOver: 70_000, readAt: 70_060, boot: other)
        let deadline = try #require(clocks.instant(at(19_000) + Self.ahead, of: Self.boot))
        #expect((.zero...Self.tolerance).contains(deadline - at(19_000)))
        #expect((.zero...Self.tolerance).contains(try error(of: other)))
    }

    @Test("are forgotten, the oldest boot first, when there are more than 64")
    mutating func limit() {
        for boot in 0..<65 as Range<UInt64> {
            read(handedOver: 10_000, readAt: 10_060, boot: UUID128(high: 1, low: boot))
        }
        #expect(clocks.instant(at(0), of: UUID128(high: 1, low: 0)) == nil)
        #expect(clocks.instant(at(0), of: UUID128(high: 1, low: 1)) != nil)
    }
}
