import PushModel
import PushRouter
import PushSettings

/// The events that a forwarder handles.
enum ForwarderEvent: Sendable {
    /// The daemon accepts requests.
    case connected
    /// The connection to the daemon ended, or the forwarder gave it up after a refusal. Pending replies will not come.
    case disconnected
    /// The reply to a claim, with the daemon's last report of how sending went.
    case claimed([ClaimedEntry], SendingState?)
    /// The reply to the oldest pending `depart`: the entries that may be sent, and until when. The time is on the clock
    /// that counts suspensions; `nil`: no limit.
    case departed([EntryNumber], until: Instant? = nil)
    /// The reply to the oldest pending `settle`.
    case settled
    /// The result of a request.
    case answered(request: Int, EndpointAnswer)
    /// The time `nextDue` has come.
    case clock
    /// The configuration or the key was read again, so the cause of a stop may be gone. A wait that the endpoint asked
    /// for continues.
    case reconfigured(ForwardingSettings)
    /// The configuration or the key was read again and refused: the reason.
    case refused(String)
    /// The forwarder is about to end: requests under way finish, the other entries go back.
    case draining
}

/// The effects of a forwarder, to be carried out in this order.
enum ForwarderEffect: Hashable, Sendable {
    /// Settle entries with the daemon.
    case settle([Settlement])
    /// Report the state of sending to the daemon.
    case report(SendingState)
    /// Claim entries from the daemon; the reply comes when the daemon has some.
    ///
    /// - Parameters:
    ///   - limit: how many at most.
    ///   - holding: with the first claim of a connection: the held entries. The daemon queues all other entries that it
    ///     counts for this run again: they were in a reply that was lost.
    case claim(limit: Int, holding: [EntryNumber]?)
    /// Announce entries to the daemon that are about to be sent; they leave after its confirmation.
    case depart([EntryNumber])
    /// Send a request, unless `until` has passed when its first byte is about to leave. After `until` another machine
    /// may send the same entries; then the request has failed without being sent.
    case send(request: Int, RequestContent, until: Instant?)
    /// The forwarder holds no entries: the program may end.
    case finish
}
