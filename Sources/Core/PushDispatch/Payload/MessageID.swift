public import PushModel

/// Returns a payload's own id: FCM's, at the place of its form. Plain APNs and web push have none.
///
/// Also reads a payload that the platform hands back with an interaction. An id must be a string that is not empty.
public func messageID(of payload: JSONNode, platform: Platform) -> String? {
    payload.withView { messageID(of: $0, platform: platform) }
}

func messageID(of payload: JSONView, platform: Platform) -> String? {
    if let message = V1Message.message(in: payload, platform: platform) {
        return message.member("name").flatMap(messageIDInName)
    }
    switch platform {
    case .android:
        // FCM: RemoteMessage.getMessageId reads `google.message_id`, then `message_id`; SDKs that print a RemoteMessage
        // as JSON name it `messageId`.
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
