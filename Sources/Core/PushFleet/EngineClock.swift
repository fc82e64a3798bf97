public import PushModel

/// A reading of the engine's clock by a machine: the difference to the machine's clocks, with its error.
///
/// Instants are of `CLOCK_BOOTTIME`, which is never set and includes suspensions.
public struct ClockReading: Hashable, Sendable {
    /// The engine's clock, taken as that at the middle between the question and its answer.
    public var wall: WallTime
    /// The middle between the two.
    public var at: Instant
    /// The largest error of the two: half of the time that the answer took.
    public var error: Duration
    /// The time by which this machine's wall clock was ahead of the engine's.
    public var ahead: Duration

    /// The end of the year 9999, in milliseconds.
    private static let last: Int64 = 253_402_300_799_000

    /// - Parameters:
    ///   - wall: the engine's clock.
    ///   - sentAt: the time when the question was sent.
    ///   - answeredAt: the time when the answer came.
    ///   - machine: this machine's wall clock when the answer came.
    public init(_ wall: WallTime, sentAt: Instant, answeredAt: Instant, machine: WallTime) {
        let taken = max(.zero, answeredAt - sentAt)
        // Clamps the engine's time to the range that the clock of a machine can show.
        self.wall = WallTime(milliseconds: min(max(wall.milliseconds, 0), Self.last))
        error = taken / 2
        at = sentAt + taken / 2
        ahead = .milliseconds(machine.milliseconds - self.wall.milliseconds) - taken / 2
    }
}

/// The wall clock of a leader: the engine's clock, continued by this machine's own clock, so that times do not jump
/// when another machine takes over.
///
/// Within a term it never goes back. If the engine's clock is set back, this clock runs a twentieth slower until the
/// engine's has caught up; the daemon does not count that as a step. If the engine's clock is set ahead, this one jumps
/// too, like the clock of a single machine.
public struct EngineClock: Hashable, Sendable {
    /// The clock runs slower by one part in this many while it is ahead.
    static let slowness: Int64 = 20

    /// Microseconds since 1970, at ``since``.
    private var wall: Int64
    private var since: Instant
    /// The time by which it was ahead of the engine's clock at ``since``, in microseconds.
    private var ahead: Int64 = 0

    /// - Parameter reading: the first one.
    public init(_ reading: ClockReading) { (wall, since) = (reading.microseconds, reading.at) }

    /// Takes a reading of the engine's clock. Ignores a reading that is older than the last one.
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

    /// Returns the time of the clock.
    ///
    /// - Parameter now: the instant; one before the last reading counts as that reading.
    public func wall(at now: Instant) -> WallTime {
        let (passed, slowed) = progress(at: now)
        return WallTime(milliseconds: (wall + passed - slowed) / 1000)
    }

    /// Returns the time since the last reading, and the part of it by which this clock ran slower.
    private func progress(at now: Instant) -> (passed: Int64, slowed: Int64) {
        let passed = max(0, (now - since).nanoseconds / 1000)
        return (passed, min(passed / Self.slowness, ahead))
    }
}

/// Watches the difference of this machine's own clock, for people: reports it once, and again when it changes.
public struct ClockWatch: Hashable, Sendable {
    /// A change to report.
    public enum Change: Hashable, Sendable {
        /// The machine's clock is ahead of the engine's by this, or behind it if negative.
        case off(Duration)
        /// The machine's clock is right again.
        case right
    }

    /// The smallest difference that is reported.
    public static let tolerance: Duration = .seconds(1)

    private var told: Duration?

    /// Makes a watch without a report.
    public init() {}

    /// Takes a reading of the engine's clock.
    public mutating func read(_ reading: ClockReading) -> Change? {
        // A slow answer proves neither a right nor a wrong clock.
        guard reading.error < Self.tolerance else { return nil }
        let isOff = reading.ahead.magnitude > Self.tolerance + reading.error
        switch (told, isOff) {
        case (nil, false): return nil
        case (nil, true):
            told = reading.ahead
            return .off(reading.ahead)
        case (.some, false):
            told = nil
            return .right
        case (let before?, true):
            guard (reading.ahead - before).magnitude > Self.tolerance + reading.error else { return nil }
            told = reading.ahead
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
