import PushModel

extension BootClocks {
    /// Returns the age of a request that another machine accepted; `nil`: that machine's clock is unknown.
    func age(of accepted: AcceptedRequest, at now: Instant) -> Duration? {
        instant(accepted.acceptedAt.monotonic, of: accepted.boot).map { max(.zero, now - $0) }
    }

    /// Translates the times of a request that another machine accepted into this machine's. If that machine's clock is
    /// unknown, the times stay, and the request has expired.
    func translate(_ accepted: inout AcceptedRequest, _ invocation: inout InvocationRecord, to boot: UUID128) {
        guard let acceptedAt = instant(accepted.acceptedAt.monotonic, of: accepted.boot) else { return }
        if let deadline = invocation.deadline { invocation.deadline = instant(deadline, of: accepted.boot) }
        accepted.acceptedAt.monotonic = acceptedAt
        accepted.boot = boot
    }
}
