import PushModel
import PushRouting
import Store

/// A request that was read, and where its reply goes.
struct Candidate {
    /// How far it has come to be accepted.
    enum Admission {
        /// Nothing is known of it.
        case fresh
        /// It holds its id, the one with this hash, while the ledger is asked whether another request has it; so often it was
        /// asked again.
        case held(hash: UInt64, asks: Int = 0)
        /// It has no id, or holds one that is new. The ledger is asked for the delivery that it is about, once it has all up to
        /// this batch.
        case new(hash: UInt64?, batch: UInt64)
    }

    var session: ClientSession
    var place: Int
    var request: Request
    var admission = Admission.fresh

    /// The request's id within its account.
    var key: RequestKey? { request.id.map { RequestKey(account: session.account, id: $0) } }

    /// The hash of the id that it holds: nobody else is let through with that until it is accepted or refused.
    var heldHash: UInt64? {
        switch admission {
        case .fresh: nil
        case .held(let hash, _): hash
        case .new(let hash, _): hash
        }
    }
}
