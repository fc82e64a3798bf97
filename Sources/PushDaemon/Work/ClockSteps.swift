import PushModel

/// Tells whether the wall clock is believed. While it is not, ledger and tracker delete nothing by age.
///
/// CLOCK_BOOTTIME, which cannot be set, tells how far the wall clock should have moved. At the start the wall clock is
/// compared with the ledger's last sign of life by a clock that was believed (<doc:loop>).
final class ClockSteps {
    /// The largest correction of a clock that is no step, in milliseconds: a day.
    static let most: Int64 = 86_400_000

    /// How long after the start a clock that is too far ahead, and that the kernel does not call synchronised, is not
    /// believed, in nanoseconds.
    private static let patience: Int64 = 3600 * 1_000_000_000

    private let difference: Int64
    private let startedAt: Int64
    /// How many milliseconds the clock was ahead of the ledger's last sign of life at the start; `nil`: at most a day,
    /// or the clock has been believed since.
    private var jump: Int64?
    private let isSynchronised: () -> Bool?

    /// - Parameters:
    ///   - wall: the wall clock, milliseconds since 1970.
    ///   - boot: CLOCK_BOOTTIME, in nanoseconds.
    ///   - lastAlive: the ledger's last sign of life by a clock that was believed; `nil`: the ledger is new.
    ///   - isSynchronised: whether the kernel calls the wall clock synchronised; `nil`: unknown.
    init(
        wall: WallTime, boot: Int64, lastAlive: WallTime?, isSynchronised: @escaping () -> Bool?
    ) {
        difference = Self.difference(wall, boot)
        startedAt = boot
        self.isSynchronised = isSynchronised
        let (later, isTooFar) = wall.milliseconds.subtractingReportingOverflow((lastAlive ?? wall).milliseconds)
        let found = isTooFar ? Int64.max : later
        jump = found > Self.most ? found : nil
    }

    /// How many milliseconds the clock was ahead of the ledger's last sign of life at the start, until the kernel calls
    /// the clock synchronised, or for an hour; `nil`: the clock is believed.
    func doubt(boot: Int64) -> Int64? {
        guard jump != nil else { return nil }
        if boot - startedAt >= Self.patience || isSynchronised() == true { jump = nil }
        return jump
    }

    /// Whether rows may be deleted by age.
    func isBelieved(wall: WallTime, boot: Int64) -> Bool {
        step(wall: wall, boot: boot) == nil && doubt(boot: boot) == nil
    }

    /// Why nothing is deleted by age, for people; `nil`: the clock is believed.
    func objection(wall: WallTime, boot: Int64) -> String? {
        if let step = step(wall: wall, boot: boot) {
            return """
                the clock was set \(step > 0 ? "ahead" : "back") by \(Self.days(step)) since the start, so \
                nothing is deleted or forgotten by its age; correct the clock, or restart pushrouterd if it is right now
                """
        }
        return doubt(boot: boot).map { jump in
            """
            at the start the clock was \(Self.days(jump)) later than the ledger's last sign of life, so nothing is \
            deleted or forgotten by its age until the kernel calls the clock synchronized, or for an hour
            """
        }
    }

    private static func days(_ milliseconds: Int64) -> String {
        let day = UInt64(Self.most)
        return counted((milliseconds.magnitude + day / 2) / day, "day")
    }

    /// How many milliseconds the wall clock was set since the start, ahead or (negative) back; `nil`: at most a day.
    func step(wall: WallTime, boot: Int64) -> Int64? {
        let step = Self.difference(wall, boot) - difference
        return abs(step) > Self.most ? step : nil
    }

    private static func difference(_ wall: WallTime, _ boot: Int64) -> Int64 { wall.milliseconds - boot / 1_000_000 }
}
