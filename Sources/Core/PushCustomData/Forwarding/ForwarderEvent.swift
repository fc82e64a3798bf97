public import PushModel

/// What a forwarder is told.
public enum ForwarderEvent: Sendable {
    /// The daemon can be asked.
    case connected
    /// The connection to the daemon is gone, or was given up after a refusal: replies that were awaited will not come.
    case disconnected
    /// The reply to a claim, with how sending went as far as the daemon knows.
    case claimed([ClaimedEntry], SendingState?)
    /// The reply to the oldest `depart` that has none yet: the entries that may be sent, and until when, on the clock that
    /// counts suspensions; `nil`: at any time.
    case departed([EntryNumber], until: Instant? = nil)
    /// The reply to the oldest `settle` that has none yet.
    case settled
    /// What came of a request.
    case answered(request: Int, EndpointAnswer)
    /// Time has passed; carries out what is due.
    case clock
    /// The configuration or the key was read again: what stopped sending may be put right. A wait
    /// that the endpoint asked for goes on.
    case reconfigured(ForwardingSettings)
    /// Nothing new is to be sent: what is under way comes to its end, the rest goes back.
    case draining
}

/// What a forwarder wants done; carried out in this order.
public enum ForwarderEffect: Hashable, Sendable {
    /// Tell the daemon what became of entries.
    case settle([Settlement])
    /// Tell the daemon how sending goes.
    case report(SendingState)
    /// Ask the daemon for entries, and wait until it has some.
    ///
    /// - Parameters:
    ///   - limit: how many at most.
    ///   - holding: with the first claim of a connection: what is held. Whatever else the daemon takes for held by this run
    ///     was in a reply that was lost, and goes back into the queue.
    case claim(limit: Int, holding: [EntryNumber]?)
    /// Tell the daemon that these entries are about to be sent; they leave when it has confirmed that.
    case depart([EntryNumber])
    /// Send a request, unless the time is over when its first byte is about to leave: then another machine may send the same
    /// entries, and the request has failed without being sent.
    case send(request: Int, RequestContent, until: Instant?)
    /// Nothing is held any more: the program may end.
    case finish
}
