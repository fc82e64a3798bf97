public import PushModel

/// The clocks of the machines that wrote a chain, each by its boot, as seen from this one: what turns a deadline of another
/// machine into one of this machine.
///
/// The engine says how long ago it inserted a batch; the writer's clock says when it handed the batch over. A batch that is
/// read soon after it was inserted gives the offset to within the time of one append, whatever the engine's clock does
/// between two batches.
public struct BootClocks: Hashable, Sendable {
    private struct Reading: Hashable, Sendable {
        var offset: Duration
        var age: Duration
    }

    private var readings: [UUID128: Reading] = [:]
    private var order: [UUID128] = []
    /// How many boots are remembered: more than have unfinished requests.
    private static let limit = 64

    /// Knows no machine.
    public init() {}

    /// A batch was read.
    ///
    /// - Parameter now: `CLOCK_MONOTONIC` of this machine when the answer came.
    public mutating func read(_ stored: StoredBatch, at now: Instant) {
        let batch = stored.batch
        let age = max(.zero, stored.age)
        let offset = (now + .nanoseconds(-age.nanoseconds)) - batch.handedOver
        // A batch that was young when it was read says it best.
        if let known = readings[batch.boot], known.age < .milliseconds(500), age >= .milliseconds(500) { return }
        if readings[batch.boot] == nil {
            order.append(batch.boot)
            if order.count > Self.limit { readings[order.removeFirst()] = nil }
        }
        readings[batch.boot] = Reading(offset: offset, age: age)
    }

    /// An instant of another machine's boot as one of this machine; `nil` where no batch of that boot was read.
    public func instant(_ instant: Instant, of boot: UUID128) -> Instant? {
        readings[boot].map { instant + $0.offset }
    }
}
