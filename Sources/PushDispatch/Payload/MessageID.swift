public import PushModel

/// The id that a payload brings itself: FCM's, in the place where its form has it. Plain APNs and web push have none.
///
/// Also for a payload that the platform hands back with an interaction. Empty ids, and ids that are no strings, are none.
public func messageID(of payload: JSONNode, platform: Platform) -> String? {
    if let message = V1Message.message(in: payload, platform: platform) {
        // FCM answers a send with `projects/*/messages/{id}`; the id is what the device gets.
        return message["name"]?.string?.split(separator: "/").last.map(String.init)
    }
    switch platform {
    case .android:
        // FCM: RemoteMessage.getMessageId reads `google.message_id`, else `message_id`; `messageId` is what SDKs that
        // print a RemoteMessage as JSON call it.
        let holder = payload["extras"].flatMap { $0.kind == .object ? $0 : nil } ?? payload
        return firstText(in: holder, under: ["google.message_id", "message_id", "messageId", "gcm.message_id"])
    case .ios:
        let holder = payload["userInfo"].flatMap { $0.kind == .object ? $0 : nil } ?? payload
        return firstText(in: holder, under: ["gcm.message_id"])
    case .web:
        return firstText(in: payload, under: ["messageId"])
    }
}

private func firstText(in node: JSONNode, under keys: [String]) -> String? {
    for key in keys {
        if let text = node[key]?.string, !text.isEmpty { return text }
    }
    return nil
}
