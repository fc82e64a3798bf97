/// Whose a request is: what is limited is limited for an account, and an id tells a request within one.
///
/// On one machine it is a user of the machine. In a pair it is a producer of the chain, whatever its users' ids are. Only
/// this type and what makes one know what an account is.
public struct Account: Hashable, Sendable, CustomStringConvertible {
    /// A name that takes little room in each request.
    private final class Label: Sendable {
        let text: String

        init(_ text: String) { self.text = text }
    }

    private let label: Label?
    /// The user's id, or the producer's number. The ledger and the journal keep it as a number; nobody else asks for it.
    public let uid: UInt32

    /// - Parameters:
    ///   - uid: the user's id, or the producer's number.
    ///   - name: the producer's name; `nil` where the id is all that is known.
    public init(uid: UInt32, name: String? = nil) { (self.uid, label) = (uid, name.map(Label.init)) }

    /// What it is called in the status and in metrics.
    public var name: String { label?.text ?? String(uid) }

    /// For people.
    public var description: String { label?.text ?? "uid \(uid)" }

    public static func == (left: Account, right: Account) -> Bool { left.uid == right.uid }

    public func hash(into hasher: inout Hasher) { hasher.combine(uid) }
}
