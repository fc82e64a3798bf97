import PushModel

/// The delay before a retry if the handler gave none.
public struct RetryRules: Hashable, Sendable {
    /// The longest delay after the first attempt; it doubles with each attempt.
    public var delay: Duration = .milliseconds(200)
    /// The upper limit of the delay.
    public var delayMax: Duration = .seconds(2)

    /// Returns the delay: between half of the back-off and all of it, so that invocations that failed together are not
    /// retried together. The invocation's id is the seed: the same input gives the same delays.
    ///
    /// - Parameter attempt: the number of the attempt that asked for a retry, from 1.
    func wait(afterAttempt attempt: Int, of id: InvocationID) -> Duration {
        let doublings = Swift.min(max(attempt, 1) - 1, 20)
        let longest = max(1, Swift.min(delay * (1 << doublings), max(delay, delayMax)).milliseconds)
        let half = longest / 2
        let seed = UInt64(bitPattern: id.seq.value) << 24 ^ UInt64(UInt32(bitPattern: Int32(id.n))) << 8
        let spread = UInt64(longest - half + 1)
        return .milliseconds(half + Int64(Self.mixed(seed ^ UInt64(clamping: attempt)) % spread))
    }

    /// SplitMix64, by Steele, Lea and Flood: adjacent inputs give unrelated outputs.
    private static func mixed(_ value: UInt64) -> UInt64 {
        var mixed = value &+ 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
