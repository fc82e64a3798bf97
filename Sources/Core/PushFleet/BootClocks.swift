public import PushModel

/// The clocks of the machines that wrote a chain, one for each boot, as offsets to this machine's clock. They convert a
/// deadline of another machine to one of this machine.
///
/// The engine gives the age of a batch since its insertion; the batch has the writer's clock at the hand-over. A batch
/// that is read soon after its insertion gives the offset to within the time of one append, even if the engine's clock
/// is set between two batches. The time of an append, which may include an outage, only increases an offset, so the
/// smallest offset is the best one.
public struct BootClocks: Hashable, Sendable {
    private struct Reading: Hashable, Sendable {
        var offset: Duration
        /// Whether the batch was young when it was read.
        var isGood: Bool
        var at: Instant
    }

    private var readings: [UUID128: Reading] = [:]
    private var order: [UUID128] = []
    /// The largest number of boots that are remembered: more than have unfinished requests.
    private static let limit = 64

    /// The largest age of a good reading: during a longer time the engine's clock may have been set.
    private static let youth: Duration = .milliseconds(500)

    /// Makes an empty set of clocks.
    public init() {}

    /// Takes a batch that was read.
    ///
    /// - Parameter now: `CLOCK_MONOTONIC` of this machine at the arrival of the answer.
    public mutating func read(_ stored: StoredBatch, at now: Instant) {
        let boot = stored.batch.boot
        let age = max(.zero, stored.age)
        let reading = Reading(
            offset: (now + .nanoseconds(-age.nanoseconds)) - stored.batch.handedOver,
            isGood: stored.age >= .zero && age < Self.youth, at: now)
        if let known = readings[boot], known.isGood {
            // Two slewed clocks drift apart by at most a thousandth.
            let limit = known.offset + .nanoseconds((now - known.at).nanoseconds / 1000)
            guard reading.isGood, reading.offset <= limit else { return }
        }
        if readings[boot] == nil {
            order.append(boot)
            if order.count > Self.limit { readings[order.removeFirst()] = nil }
        }
        readings[boot] = reading
    }

    /// Returns an instant of another machine's boot as one of this machine; `nil` if no batch of that boot was read.
    public func instant(_ instant: Instant, of boot: UUID128) -> Instant? {
        readings[boot].map { instant + $0.offset }
    }
}
