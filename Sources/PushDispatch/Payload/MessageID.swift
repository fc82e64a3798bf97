public import PushModel

/// The id that a payload brings itself: FCM's, in the place where its form has it. Plain APNs and web push have none.
///
/// Also for a payload that the platform hands back with an interaction. Empty ids, and ids that are no strings, are none.
public func messageID(of payload: JSONNode, platform: Platform) -> String? {
    if let message = V1Message.message(in: payload, platform: platform) {
        return messageID(ofV1: message)
    }
    switch platform {
    case .android:
        // FCM: RemoteMessage.getMessageId reads `google.message_id`, else `message_id`; `messageId` is what SDKs that
        // print a RemoteMessage as JSON call it.
        let holder = payload["extras"].flatMap { $0.kind == .object ? $0 : nil } ?? payload
        return firstText(in: holder, under: ["google.message_id", "message_id", "messageId", "gcm.message_id"])
    case .ios:
        return firstText(in: ApplePayload.wrappedUserInfo(in: payload) ?? payload, under: ["gcm.message_id"])
    case .web:
        return firstText(in: payload, under: ["messageId"])
    }
}

/// The id in a message of FCM v1. FCM answers a send with `projects/*/messages/{id}`; the id is what the device gets.
func messageID(ofV1 message: JSONNode) -> String? {
    message["name"]?.string?.split(separator: "/").last.map(String.init)
}

private func firstText(in node: JSONNode, under keys: [String]) -> String? {
    keys.lazy.compactMap { node[$0]?.nonEmptyString }.first
}
