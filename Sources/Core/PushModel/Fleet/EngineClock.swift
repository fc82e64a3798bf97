/// A reading of the engine's clock by this machine: the difference to this machine's clocks, with an error.
///
/// Instants are of `CLOCK_BOOTTIME`, which nobody can set, and which counts a suspension.
public struct ClockReading: Hashable, Sendable {
    /// The engine's clock at the midpoint of question and answer.
    public var wall: WallTime
    /// The midpoint of question and answer.
    public var at: Instant
    /// The error bound of that midpoint: half of the round trip.
    public var error: Duration
    /// The amount by which this machine's wall clock was ahead of the engine's.
    public var ahead: Duration

    /// The end of the year 9999, in milliseconds.
    private static let last: Int64 = 253_402_300_799_000

    /// - Parameters:
    ///   - wall: the engine's clock.
    ///   - sentAt: the time of sending the question.
    ///   - answeredAt: the time of receiving the answer.
    ///   - machine: this machine's wall clock at that time.
    public init(_ wall: WallTime, sentAt: Instant, answeredAt: Instant, machine: WallTime) {
        let taken = max(.zero, answeredAt - sentAt)
        // Clamps an engine's time that no machine's clock shows.
        self.wall = WallTime(milliseconds: min(max(wall.milliseconds, 0), Self.last))
        error = taken / 2
        at = sentAt + taken / 2
        ahead = .milliseconds(machine.milliseconds - self.wall.milliseconds) - taken / 2
    }
}

/// The wall clock of a leader: the engine's clock, continued by this machine's own clock, so that times do not jump
/// when another machine takes over.
///
/// Within a term it never goes back. If the engine's clock was set back, this clock runs slower by a twentieth, which
/// no software takes for a step, until the engine's has caught up. If the engine's clock was set ahead, this clock
/// steps as well, like the clock of one machine.
public struct EngineClock: Hashable, Sendable {
    /// The inverse of the slow-down: while it is ahead, the clock runs slower by 1/20.
    static let slowness: Int64 = 20

    /// Microseconds since 1970, at ``since``.
    private var wall: Int64
    private var since: Instant
    /// The microseconds by which it was ahead of the engine's clock at ``since``.
    private var ahead: Int64 = 0

    /// - Parameter reading: the first reading.
    public init(_ reading: ClockReading) { (wall, since) = (reading.microseconds, reading.at) }

    /// Takes a reading of the engine's clock; ignores one that is older than the last.
    public mutating func read(_ reading: ClockReading) {
        guard reading.at >= since else { return }
        let (passed, slowed) = progress(at: reading.at)
        (wall, since, ahead) = (wall + passed - slowed, reading.at, ahead - slowed)
        let difference = wall - reading.microseconds
        let error = reading.error.nanoseconds / 1000
        if difference < -error {
            (wall, ahead) = (reading.microseconds, 0)
        } else if difference > error {
            ahead = difference
        }
    }

    /// The time of the clock.
    ///
    /// - Parameter now: the instant; one before the last reading counts as that reading.
    public func wall(at now: Instant) -> WallTime {
        let (passed, slowed) = progress(at: now)
        return WallTime(milliseconds: (wall + passed - slowed) / 1000)
    }

    /// The time since the last reading, and the part of it by which this clock ran slower.
    private func progress(at now: Instant) -> (passed: Int64, slowed: Int64) {
        let passed = max(0, (now - since).nanoseconds / 1000)
        return (passed, min(passed / Self.slowness, ahead))
    }
}

/// The watch of this machine's own clock, for messages to people: reports once that it is off, and again when that
/// changes.
public struct ClockWatch: Hashable, Sendable {
    /// A change to report.
    public enum Change: Hashable, Sendable {
        /// This machine's clock is ahead of the engine's by this much; negative if it is behind.
        case off(Duration)
        /// The clock is right again.
        case right
    }

    /// The smallest difference to report.
    public static let tolerance: Duration = .seconds(1)

    private var lastReported: Duration?

    /// Creates a watch without a report.
    public init() {}

    /// Takes a reading of the engine's clock, and returns a change to report.
    public mutating func read(_ reading: ClockReading) -> Change? {
        // A slow answer proves nothing about the clock.
        guard reading.error < Self.tolerance else { return nil }
        let isOff = reading.ahead.magnitude > Self.tolerance + reading.error
        switch (lastReported, isOff) {
        case (nil, false): return nil
        case (nil, true):
            lastReported = reading.ahead
            return .off(reading.ahead)
        case (.some, false):
            lastReported = nil
            return .right
        case (let before?, true):
            guard (reading.ahead - before).magnitude > Self.tolerance + reading.error else { return nil }
            lastReported = reading.ahead
            return .off(reading.ahead)
        }
    }
}

extension ClockReading {
    fileprivate var microseconds: Int64 { wall.milliseconds * 1000 }
}

extension Duration {
    fileprivate var magnitude: Duration { self < .zero ? .zero - self : self }
}

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
