import PushModel

/// Notices that somebody set the wall clock: what is too old to be kept is not decided by a clock that has just jumped.
///
/// The clock that counts from the boot on and cannot be set says how far the wall clock should be. A wrong clock at the
/// start itself cannot be noticed in this way.
struct ClockSteps {
    /// A step that is no correction any more: a day.
    static let most: Int64 = 86_400_000

    private let difference: Int64

    /// - Parameters:
    ///   - wall: the wall clock, milliseconds since 1970.
    ///   - boot: the clock from the boot on, in nanoseconds.
    init(wall: WallTime, boot: Int64) { difference = Self.difference(wall, boot) }

    /// By how many milliseconds the wall clock was set since the start, ahead or, negative, back; `nil`: by a day at most.
    func step(wall: WallTime, boot: Int64) -> Int64? {
        let step = Self.difference(wall, boot) - difference
        return abs(step) > Self.most ? step : nil
    }

    private static func difference(_ wall: WallTime, _ boot: Int64) -> Int64 { wall.milliseconds - boot / 1_000_000 }
}
