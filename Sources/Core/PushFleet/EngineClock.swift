public import PushModel

/// The engine's clock, as a machine read it: how it differs from this machine's clocks, to within an error.
///
/// Instants are of `CLOCK_BOOTTIME`: nobody sets it, and it counts a suspension.
public struct ClockReading: Hashable, Sendable {
    /// The engine's clock halfway between the question and its answer.
    public var wall: WallTime
    /// Halfway between the two.
    public var at: Instant
    /// How far that may be wrong: half of the time that the answer took.
    public var error: Duration
    /// By how much this machine's wall clock was ahead of the engine's.
    public var ahead: Duration

    /// The end of the year 9999, in milliseconds.
    private static let last: Int64 = 253_402_300_799_000

    /// - Parameters:
    ///   - wall: the engine's clock.
    ///   - sentAt: when the question was sent.
    ///   - answeredAt: when the answer came.
    ///   - machine: this machine's wall clock when the answer came.
    public init(_ wall: WallTime, sentAt: Instant, answeredAt: Instant, machine: WallTime) {
        let taken = max(.zero, answeredAt - sentAt)
        // An engine may say anything; what the clock of a machine never shows is taken for its nearest time.
        self.wall = WallTime(milliseconds: min(max(wall.milliseconds, 0), Self.last))
        error = taken / 2
        at = sentAt + taken / 2
        ahead = .milliseconds(machine.milliseconds - self.wall.milliseconds) - taken / 2
    }
}

/// The wall clock of a leader: the engine's, carried on by this machine's own clock, so that times do not jump when
/// another machine goes on.
///
/// Within a term it never goes back. Where the engine's clock is set back it goes on slower until that has come up: by
/// a twentieth, which nobody takes for a step. Where it is set ahead this one is, too, as the clock of one machine.
public struct EngineClock: Hashable, Sendable {
    /// By this part of the time that passes it goes slower while it is ahead.
    static let slowness: Int64 = 20

    /// Microseconds since 1970, at ``since``.
    private var wall: Int64
    private var since: Instant
    /// How far it was ahead of the engine's then, in microseconds.
    private var ahead: Int64 = 0

    /// - Parameter reading: the first one.
    public init(_ reading: ClockReading) { (wall, since) = (reading.microseconds, reading.at) }

    /// The engine's clock was read. A reading that is older than the last one tells nothing.
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

    /// The time that it shows.
    ///
    /// - Parameter now: an instant before the last reading counts as that.
    public func wall(at now: Instant) -> WallTime {
        let (passed, slowed) = progress(at: now)
        return WallTime(milliseconds: (wall + passed - slowed) / 1000)
    }

    /// How much time has passed since the last reading, and by how much of it this clock went slower.
    private func progress(at now: Instant) -> (passed: Int64, slowed: Int64) {
        let passed = max(0, (now - since).nanoseconds / 1000)
        return (passed, min(passed / Self.slowness, ahead))
    }
}

/// Whether this machine's own clock is off, for people: told once, and when it changes.
public struct ClockWatch: Hashable, Sendable {
    /// A change that is told.
    public enum Change: Hashable, Sendable {
        /// The machine's clock is ahead of the engine's by this, or behind it.
        case off(Duration)
        /// It is not any more.
        case right
    }

    /// A smaller difference is not told.
    public static let tolerance: Duration = .seconds(1)

    private var told: Duration?

    /// Nothing was told.
    public init() {}

    /// The engine's clock was read.
    public mutating func read(_ reading: ClockReading) -> Change? {
        // An answer that took long says neither that it is right nor that it is not.
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
