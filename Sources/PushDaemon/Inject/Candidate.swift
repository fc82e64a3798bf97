import PushModel
import PushRouter
import Store

/// A parsed request, and the place of its reply.
struct Candidate {
    /// How far the admission of a request has come.
    enum Admission {
        /// Nothing is known about its id.
        case fresh
        /// It holds its id, by this hash, while the ledger is asked whether another request has it; `asks` counts the
        /// repeated questions.
        case held(hash: UInt64, asks: Int = 0)
        /// It has no id, or holds a new one. The ledger is asked for the delivery that it refers to, once it has this
        /// batch.
        case new(hash: UInt64?, batch: UInt64)
    }

    var session: ClientSession
    var place: Int
    var request: Request
    var admission = Admission.fresh

    /// The request's id within its account.
    var key: RequestKey? { request.id.map { RequestKey(account: session.account, id: $0) } }

    /// The hash of the id that it holds: no other request with that hash is admitted until this one is accepted or
    /// refused.
    var heldHash: UInt64? {
        switch admission {
        case .fresh: nil
        case .held(let hash, _): hash
        case .new(let hash, _): hash
        }
    }
}
