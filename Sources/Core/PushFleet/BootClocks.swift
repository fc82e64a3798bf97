public import PushModel

/// The clocks of the machines that wrote a chain, each by its boot, as seen from this one: what turns a deadline of
/// another machine into one of this machine.
///
/// The engine says how long ago it inserted a batch; the writer's clock says when it handed the batch over. A batch
/// that is read soon after it was inserted gives the offset to within the time of one append, whatever the engine's
/// clock does between two batches. The time of an append, which may be that of an outage, only ever adds to an offset:
/// so the smallest of the offsets is the best.
public struct BootClocks: Hashable, Sendable {
    private struct Reading: Hashable, Sendable {
        var offset: Duration
        /// Whether the batch was young when it was read.
        var isGood: Bool
        var at: Instant
    }

    private var readings: [UUID128: Reading] = [:]
    private var order: [UUID128] = []
    /// How many boots are remembered: more than have unfinished requests.
    private static let limit = 64

    /// A batch that was inserted longer ago tells less: the engine's clock may have been set meanwhile.
    private static let youth: Duration = .milliseconds(500)

    /// Knows no machine.
    public init() {}

    /// A batch was read.
    ///
    /// - Parameter now: `CLOCK_MONOTONIC` of this machine when the answer came.
    public mutating func read(_ stored: StoredBatch, at now: Instant) {
        let boot = stored.batch.boot
        let age = max(.zero, stored.age)
        let reading = Reading(
            offset: (now + .nanoseconds(-age.nanoseconds)) - stored.batch.handedOver,
            isGood: stored.age >= .zero && age < Self.youth, at: now)
        if let known = readings[boot], known.isGood {
            // Two clocks that are slewed drift by a thousandth at most.
            let limit = known.offset + .nanoseconds((now - known.at).nanoseconds / 1000)
            guard reading.isGood, reading.offset <= limit else { return }
        }
        if readings[boot] == nil {
            order.append(boot)
            if order.count > Self.limit { readings[order.removeFirst()] = nil }
        }
        readings[boot] = reading
    }

    /// An instant of another machine's boot as one of this machine; `nil` where no batch of that boot was read.
    public func instant(_ instant: Instant, of boot: UUID128) -> Instant? {
        readings[boot].map { instant + $0.offset }
    }
}
