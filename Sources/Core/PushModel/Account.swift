/// Whose a request is: what is limited is limited for an account, and an id tells a request within one.
///
/// Today it is a user of the machine. A user of a fleet, or a tenant for whom a front speaks, is another one; only this
/// type and what makes one (``Peer/account``) know what an account is.
public struct Account: Hashable, Sendable, CustomStringConvertible {
    /// The user's id. The ledger and the journal keep it as a number; nobody else asks for it.
    public let uid: UInt32

    /// - Parameter uid: the user's id.
    public init(uid: UInt32) { self.uid = uid }

    /// What it is called in the status and in metrics.
    public var name: String { String(uid) }

    /// For people.
    public var description: String { "uid \(uid)" }
}
