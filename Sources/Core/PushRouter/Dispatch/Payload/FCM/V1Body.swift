public import PushModel

/// The send body of FCM v1 for a forwarder: checked as FCM checks it, with its target.
public struct V1Body: Sendable {
    /// The one target of a message.
    public enum Recipient: Hashable, Sendable {
        /// A registration token.
        case token(String)
        /// An installation id, the second generation's name of a registration.
        case fid(String)
        /// A topic, without `/topics/` before it.
        case topic(String)
        /// A condition over topics; not checked here.
        case condition(String)
    }

    /// The whole body, unchanged.
    public let payload: JSONNode
    /// The target.
    public let recipient: Recipient
    /// `validate_only`: FCM checks the message and sends nothing.
    public let isDryRun: Bool
    /// The platforms for which the message has a part.
    public let platforms: Set<Platform>
    /// `restricted_package_name` in the Android part.
    public let package: String?

    /// Checks a body.
    ///
    /// - Throws: `V1Refusal` for the first fault that FCM refuses.
    public init(_ body: JSONNode) throws(V1Refusal) {
        payload = body
        (recipient, isDryRun, platforms, package) = try body.withView { (view) throws(V1Refusal) in
            guard let message = V1Message.message(in: view, platform: .android) else {
                // An absent message is one without a target (UNVERIFIED).
                var answer = V1Answer.noRecipient
                do throws(V1Fault) { try V1Schema.body.check(view) } catch { answer = error.answer(in: view) }
                throw V1Refusal(answer, "payload.message", "FCM v1 needs an object called message")
            }
            let checked = try V1Message(view, message: message)
            return (
                checked.recipient, checked.validateOnly, checked.platforms,
                checked.androidPart?.protobufField("restricted_package_name", "restrictedPackageName")?.string
            )
        }
    }
}

// Topics.
extension V1Body {
    /// The valid form of a topic's name, for messages.
    public static let topicForm = "a topic is 1 to 900 of A-Z, a-z, 0-9 and -_.~%, without /topics/ before it"

    /// Whether a text is a valid topic name.
    ///
    /// Source: the discovery document, revision 20261023: `[a-zA-Z0-9-_.~%]{1,900}`.
    public static func isTopic(_ name: String) -> Bool { name.withBytes(isTopic) }

    static func isTopic(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        1...900 ~= name.count && name.allSatisfy(isTopicCharacter)
    }

    private static func isTopicCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
            UInt8(ascii: "~"), UInt8(ascii: "%"):
            true
        default: false
        }
    }
}
