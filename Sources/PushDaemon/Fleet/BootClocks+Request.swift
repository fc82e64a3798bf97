import PushFleet
import PushModel

extension BootClocks {
    /// Translates the times of a request that another machine accepted into this machine's. If that machine's clock is
    /// unknown, the times stay, and the request has expired.
    func translate(_ accepted: inout AcceptedRequest, _ invocation: inout InvocationRecord, to boot: UUID128) {
        guard let acceptedAt = instant(accepted.acceptedAt.monotonic, of: accepted.boot) else { return }
        if let deadline = invocation.deadline { invocation.deadline = instant(deadline, of: accepted.boot) }
        accepted.acceptedAt.monotonic = acceptedAt
        accepted.boot = boot
    }
}
