/// The clocks of the machines that wrote a chain, each by its boot, relative to this machine's clock. They convert a
/// deadline of another machine to one of this machine.
///
/// The engine tells the age of a batch since its insertion; the writer's clock tells when it handed the batch over. A
/// batch that is read soon after its insertion gives the offset to within the time of one append, unaffected by steps
/// of the engine's clock between two batches. The time of an append, which may be that of an outage, can only increase
/// an offset, so the smallest offset is the best.
public struct BootClocks: Hashable, Sendable {
    private struct Reading: Hashable, Sendable {
        var offset: Duration
        /// Whether the batch was less than `youth` old when it was read.
        var isGood: Bool
        var at: Instant
    }

    private var readings: [UUID128: Reading] = [:]
    private var order: [UUID128] = []
    /// The limit of boots: more than have unfinished requests.
    private static let limit = 64

    /// The age from which a batch tells less: the engine's clock may have been set since its insertion.
    private static let youth: Duration = .milliseconds(500)

    /// Creates a table without machines.
    public init() {}

    /// Takes a reading from a batch that was read.
    ///
    /// - Parameter now: `CLOCK_MONOTONIC` of this machine at the arrival of the answer.
    public mutating func read(_ stored: StoredBatch, at now: Instant) {
        let boot = stored.batch.boot
        let age = max(.zero, stored.age)
        let reading = Reading(
            offset: (now + .nanoseconds(-age.nanoseconds)) - stored.batch.handedOver,
            isGood: stored.age >= .zero && age < Self.youth, at: now)
        if let known = readings[boot], known.isGood {
            // The offset of two slewed clocks drifts by a thousandth at most.
            let limit = known.offset + .nanoseconds((now - known.at).nanoseconds / 1000)
            guard reading.isGood, reading.offset <= limit else { return }
        }
        if readings[boot] == nil {
            order.append(boot)
            if order.count > Self.limit { readings[order.removeFirst()] = nil }
        }
        readings[boot] = reading
    }

    /// Converts an instant of another machine's boot to one of this machine; `nil` if no batch of that boot was read.
    public func instant(_ instant: Instant, of boot: UUID128) -> Instant? {
        readings[boot].map { instant + $0.offset }
    }
}
