import PushFleet
import PushModel

extension BootClocks {
    /// Turns the times of a request that another machine accepted into times of this one. Where nothing is known of that
    /// machine's clock they stay, and the request is too late.
    func translate(_ accepted: inout AcceptedRequest, _ invocation: inout InvocationRecord, to boot: UUID128) {
        guard let acceptedAt = instant(accepted.acceptedAt.monotonic, of: accepted.boot) else { return }
        if let deadline = invocation.deadline { invocation.deadline = instant(deadline, of: accepted.boot) }
        accepted.acceptedAt.monotonic = acceptedAt
        accepted.boot = boot
    }
}
