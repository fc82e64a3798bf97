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
            $0.member("action", action)
            $0.member("message", invocation.seq.value)
            $0.member("platform", target.platform?.rawValue)
            $0.member("app", target.app)
            $0.member("device", target.device)
            $0.member("external_id", target.externalID)
        }
        return writer.bytes
    }
}
