/// The owner of a request. Limits count for each account, and the id of a request is unique within one account.
///
/// On one machine an account is a user of the machine. In a pair it is a producer of the chain, whose number does not
/// depend on the uid that the user has on each machine. Only this type and the code that makes accounts know the
/// difference.
public struct Account: Hashable, Sendable, CustomStringConvertible {
    /// The name behind a reference, so that a request stores 8 bytes for it.
    private final class Label: Sendable {
        let text: String

        init(_ text: String) { self.text = text }
    }

    private let label: Label?
    /// The uid of the user, or the number of the producer. Only the ledger and the journal store it.
    public let uid: UInt32

    /// - Parameters:
    ///   - uid: the uid of the user, or the number of the producer.
    ///   - name: the name of the producer; `nil` if only the uid is known.
    public init(uid: UInt32, name: String? = nil) { (self.uid, label) = (uid, name.map(Label.init)) }

    /// The name in the status and in metrics.
    public var name: String { label?.text ?? String(uid) }

    /// The name for people, such as `uid 1000`.
    public var description: String { label?.text ?? "uid \(uid)" }

    public static func == (left: Account, right: Account) -> Bool { left.uid == right.uid }

    public func hash(into hasher: inout Hasher) { hasher.combine(uid) }
}
