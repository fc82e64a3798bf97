/// The owner of requests: limits count for an account, and a request id is unique within one.
///
/// On one machine an account is a user of the machine. In a pair it is a producer of the chain, independent of uids.
/// Only this type and the code that makes accounts know the difference.
public struct Account: Hashable, Sendable, CustomStringConvertible {
    /// A name behind a reference, so that it takes 8 bytes in each request.
    private final class Label: Sendable {
        let text: String

        init(_ text: String) { self.text = text }
    }

    private let label: Label?
    /// The uid, or the producer's number. Only the ledger and the journal use it; they store it as a number.
    public let uid: UInt32

    /// - Parameters:
    ///   - uid: the uid, or the producer's number.
    ///   - name: the producer's name; `nil` if only the uid is known.
    public init(uid: UInt32, name: String? = nil) { (self.uid, label) = (uid, name.map(Label.init)) }

    /// The account's name in the status and in metrics.
    public var name: String { label?.text ?? String(uid) }

    /// The account's name for people.
    public var description: String { label?.text ?? "uid \(uid)" }

    public static func == (left: Account, right: Account) -> Bool { left.uid == right.uid }

    public func hash(into hasher: inout Hasher) { hasher.combine(uid) }
}
