import PushModel

/// Says whether the wall clock is believed. The ledger and the tracker delete nothing by its age while it is not.
///
/// The clock that counts from the boot on and cannot be set says how far the wall clock should be. A clock that is wrong at
/// the start is judged by the ledger's last sign of life by a clock that was believed
/// (<doc:0093-a-clock-that-starts-ahead>).
final class ClockSteps {
    /// A step that is no correction any more: a day.
    static let most: Int64 = 86_400_000

    /// For so long after the start a clock that nobody vouches for is not believed, in nanoseconds.
    private static let patience: Int64 = 3600 * 1_000_000_000

    private let difference: Int64
    private let startedAt: Int64
    /// By how many milliseconds the clock was later at the start than the ledger's last sign of life; `nil`: by a day at most,
    /// or it has been believed since.
    private var jump: Int64?
    private let isSynchronised: () -> Bool?

    /// - Parameters:
    ///   - wall: the wall clock, milliseconds since 1970.
    ///   - boot: the clock from the boot on, in nanoseconds.
    ///   - lastAlive: the ledger's last sign of life by a clock that was believed; `nil`: it is new.
    ///   - isSynchronised: whether the kernel calls the wall clock synchronised; `nil`: it does not say.
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

    /// By how many milliseconds the clock was later at the start than the ledger's last sign of life, as long as it is not
    /// believed: until the kernel calls it synchronised, or for an hour. `nil`: it is believed.
    func doubt(boot: Int64) -> Int64? {
        guard jump != nil else { return nil }
        if boot - startedAt >= Self.patience || isSynchronised() == true { jump = nil }
        return jump
    }

    /// Whether something may be deleted by its age.
    func isBelieved(wall: WallTime, boot: Int64) -> Bool {
        step(wall: wall, boot: boot) == nil && doubt(boot: boot) == nil
    }

    /// Why nothing is to be deleted by its age, for people; `nil`: the clock can be believed.
    func objection(wall: WallTime, boot: Int64) -> String? {
        if let step = step(wall: wall, boot: boot) {
            return """
                the clock was set \(step > 0 ? "ahead" : "back") by \(Self.days(step)) since the start, so \
                nothing is deleted or forgotten by its age; set it right, or restart pushrouterd if it is right now
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

    /// By how many milliseconds the wall clock was set since the start, ahead or, negative, back; `nil`: by a day at most.
    func step(wall: WallTime, boot: Int64) -> Int64? {
        let step = Self.difference(wall, boot) - difference
        return abs(step) > Self.most ? step : nil
    }

    private static func difference(_ wall: WallTime, _ boot: Int64) -> Int64 { wall.milliseconds - boot / 1_000_000 }
}
