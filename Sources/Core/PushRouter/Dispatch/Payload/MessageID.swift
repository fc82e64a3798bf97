public import PushModel

/// Returns the payload's own message id: FCM's id at the place of the payload's form. Plain APNs and web push have
/// none.
///
/// Also for a payload that the platform hands back with an interaction. `nil` for an id that is empty or not a string.
public func messageID(of payload: JSONNode, platform: Platform) -> String? {
    payload.withView { messageID(of: $0, platform: platform) }
}

func messageID(of payload: JSONView, platform: Platform) -> String? {
    if let message = V1Message.message(in: payload, platform: platform) {
        return message.member("name").flatMap(messageIDInName)
    }
    switch platform {
    case .android:
        // FCM's RemoteMessage.getMessageId reads `google.message_id`, and `message_id` if that is absent; `messageId`
        // is the name in SDKs that print a RemoteMessage as JSON.
        let holder = payload.member("extras").flatMap { $0.isObject ? $0 : nil } ?? payload
        return holder.member("google.message_id")?.nonEmptyString ?? holder.member("message_id")?.nonEmptyString
            ?? holder.member("messageId")?.nonEmptyString ?? holder.member("gcm.message_id")?.nonEmptyString
    case .ios: return (ApplePayload.wrappedUserInfo(in: payload) ?? payload).member("gcm.message_id")?.nonEmptyString
    case .web: return payload.member("messageId")?.nonEmptyString
    }
}

/// Returns the id in the name of an FCM v1 message. FCM answers a send with `projects/*/messages/{id}`; the device gets
/// the id.
func messageIDInName(_ name: JSONView) -> String? {
    guard let id = name.string?.split(separator: "/", omittingEmptySubsequences: false).last, !id.isEmpty else {
        return nil
    }
    return String(id)
}
