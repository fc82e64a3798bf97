import PushDispatch
import PushModel

/// An invocation in flight: what the ledger says of it, and what only the router needs.
struct Invocation: Sendable {
    /// Where it is on its way. Every stage ends by an outcome.
    enum Stage: Hashable, Sendable, CaseIterable {
        /// Behind others in its lane. Goes to `ready` at the head.
        case waiting
        /// At the head, without a free place to run. Goes to `starting`.
        case ready
        /// A start was asked for and is not reported yet. Goes to `running`.
        case starting
        /// The handler runs. Goes to `terminating`, to `pausing`, or to the next route's `ready`.
        case running
        /// The handler got SIGTERM from us and has its grace. Goes where `running` goes.
        case terminating
        /// The handler asked to be tried again later. Goes to `ready`.
        case pausing
    }

    let request: AcceptedRequest
    /// What the handler gets; `nil` for an interaction that names its notification by an id.
    let payload: JSONNode?
    var record: InvocationRecord
    let owner: PlannedInvocation.Owner
    let facts: RouteFacts
    var stage = Stage.waiting
    /// The table that it was accepted under: a reload does not move it.
    let table: RoutingTable
    /// The place of its route in `table`.
    var position = 0
    var handler: Handler?
    let lane: DeviceKey?
    /// What the tracker takes over when its turn comes.
    var receipt: Receipt?
    /// From when its time counts; `nil` while it waits in its lane in `device` mode.
    var clockStart: Instant?
    /// When a handler first began to run.
    var firstStart: Instant?
    /// The row as the ledger has it; `nil` before the first write.
    var stored: InvocationRecord?

    /// Whether it holds one of the places to run.
    var holdsPlace: Bool {
        switch stage {
        case .starting, .running, .terminating: true
        case .waiting, .ready, .pausing: false
        }
    }

    /// When its handler is to get SIGTERM; `nil`: it is not.
    var terminationDue: Instant? {
        guard let deadline = record.deadline, let grace = handler?.grace, grace < record.budget else { return nil }
        return deadline + (.zero - grace)
    }

    /// How it ends when its time is up.
    var missed: Outcome { firstStart == nil ? .expired : .timedOut }
}

/// A Braze payload on its way to the tracker.
struct Receipt: Sendable {
    var campaignID: String?
    /// Whether the message id is the payload's own, not the request's.
    var hasOwnID: Bool
    var isDisplayed: Bool
    var at: WallTime
}
