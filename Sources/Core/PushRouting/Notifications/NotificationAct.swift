public import PushModel

/// What a person did with a notification that was shown: it comes back as the request that `pushctl open`, `act` and
/// `dismiss` send.
public struct NotificationAct: Hashable, Sendable {
    /// What was done.
    public var kind: InteractRequest.Kind
    /// The id of the button; `nil` unless one was pressed.
    public var action: String?
    /// The invocation that showed the notification.
    public var invocation: InvocationID
    /// Whom the delivery was for, as it was accepted.
    public var target: Target

    /// The request line, without its line feed. Its id is the invocation's: whatever a service says twice is accepted once.
    public var line: [UInt8] {
        var writer = JSONWriter(reserving: 256)
        writer.object {
            $0.member("op", Operation.interact.rawValue)
            $0.member("id", "notification:\(invocation.seq):\(invocation.n)")
            $0.member("kind", kind.rawValue)
            $0.member("message", invocation.seq.value)
            // A key that says nothing is left out: the protocol takes no null.
            let optional = [
                ("action", action), ("platform", target.platform?.rawValue), ("app", target.app),
                ("device", target.device), ("external_id", target.externalID),
            ]
            for case (let key, let value?) in optional { $0.member(key, value) }
        }
        return writer.bytes
    }
}
