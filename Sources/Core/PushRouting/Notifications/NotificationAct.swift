public import PushModel

/// A person's act on a shown notification: the desk submits the same request as `pushctl open`, `act` and `dismiss`.
public struct NotificationAct: Hashable, Sendable {
    /// The kind of the act.
    public var kind: InteractRequest.Kind
    /// The id of the pressed button; `nil`: none was pressed.
    public var action: String?
    /// The invocation that showed the notification.
    public var invocation: InvocationID
    /// The target of the delivery, as accepted.
    public var target: Target

    /// The request line, without its line feed. The invocation's id in it makes a repeated D-Bus signal harmless.
    public var line: [UInt8] {
        var writer = JSONWriter(reserving: 256)
        writer.object {
            $0.member("op", Operation.interact.rawValue)
            $0.member("id", "notification:\(invocation.seq):\(invocation.n)")
            $0.member("kind", kind.rawValue)
            $0.member("message", invocation.seq.value)
            // The protocol has no null: empty keys are left out.
            let optional = [
                ("action", action), ("platform", target.platform?.rawValue), ("app", target.app),
                ("device", target.device), ("external_id", target.externalID),
            ]
            for case (let key, let value?) in optional { $0.member(key, value) }
        }
        return writer.bytes
    }
}
