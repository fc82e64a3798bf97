import PushModel
import PushRouter

// The events that plugins of Capacitor, Cordova, React Native, Flutter and Expo make of a push, made the push again.
extension PayloadEnvelope {
    /// The payload in the event or the notification of a plugin.
    static func event(_ object: JSONNode, for platform: Platform?) -> WrittenPayload? {
        for key in ["notificationResponse", "nativeEvent"] where object.count == 1 {
            if let inner = object[key] { return payload(inner, "an event of a plugin") }
        }
        let expo = "a notification of expo-notifications"
        if let inner = object["notification"], inner["request"] != nil { return payload(inner, expo) }
        if let request = object["request"], let content = request["content"] {
            let trigger = request["trigger"]
            if let message = trigger?["remoteMessage"] { return payload(message, expo, .android) }
            if let userInfo = trigger?["payload"], userInfo.kind == .object { return payload(userInfo, expo, .ios) }
            return (content["data"] ?? content["dataString"]).flatMap { payload($0, expo) }
        }
        if let tapped = object["notification"], object.hasAny("actionId", "inputValue") {
            let parts = tapped["data"]?.isApplePayload == true ? nil : ofTitleBesideData(tapped, for: platform)
            return parts ?? tapped["data"].flatMap { payload($0, "the event of a tap by Capacitor") }
        }
        // Of version 2 of the plugins, notification.payload.rawPayload.
        for inner in [object["notification"]?["payload"], object["notification"], object["payload"]] {
            guard let raw = inner?["rawPayload"] else { continue }
            return payload(raw, "an event of OneSignal's SDK")
        }
        if let raw = raw(object) { return raw }
        // The extras of a tap on a notification that OneSignal's SDK showed.
        if let data = (object["extras"] ?? object["data"] ?? object)["onesignalData"]?.objectInText {
            return wrapped(data, as: "extras", "the payload in onesignalData, of a tap")
        }
        if let data = object["data"], !data.isApplePayload, object.hasAny("userInteraction"),
            object.hasAny("message", "title", "badge", "soundName")
        {
            return ofParts(object, more: data, sound: "soundName", badge: "badge", for: platform)
        }
        let others = object.members.filter { $0.key != "foreground" }
        if others.count < object.count, object.hasAny("alert"), others.allSatisfy({ APSKey(rawValue: $0.key) != nil }) {
            var writer = JSONWriter()
            writer.object { writer in
                writer.member(
                    "aps", object: { aps in for (key, value) in others { aps.member(key, raw: value.compactBytes) } })
            }
            return WrittenPayload(json: writer.bytes, platform: .ios, name: "an event of a plugin with what aps has")
        }
        let detail = object["detail"] ?? (object.hasAny("pressAction") ? object : nil)
        if let detail, detail.count < object.count || object["type"] != nil || detail["pressAction"] != nil,
            let data = detail["notification"]?["data"], data.kind != .object || data.count > 0
        {
            return data.kind == .object ? wrapped(data, as: "data", "an event of notifee") : nil
        }
        if let data = object["_data"], object.hasAny("_alert", "_sound", "_category", "_badgeCount") {
            return ofPushNotificationIOS(object, data)
        }
        if let more = object["additionalData"], more.kind == .object,
            more.hasAny("foreground", "coldstart") || object["message"] != nil
        {
            return ofParts(object, more: more, sound: "sound", badge: "count", for: platform)
        }
        if let pushed = object["pushPayload"], let extras = pushed["extras"] {
            return wrapped(extras, as: "data", "an event of Airship's plugin")
        }
        if let message = object["FCM_MSG"], message.kind == .object {
            return payload(message, "notification.data of a click in FCM's worker, whose message is in FCM_MSG", .web)
        }
        let launch = "the launch options of an iOS app"
        if let userInfo = object["UIApplicationLaunchOptionsRemoteNotificationKey"] {
            return payload(userInfo, launch, .ios)
        }
        if let body = object["body"]?.objectInText, object.hasAny("headers", "path", "url", "uri", "method"),
            body.isApplePayload || body.hasAny("message", "to", "registration_ids", "token", "default")
        {
            return payload(body, nameOfRequest)
        }
        if let data = object["data"], data.isApplePayload {
            let isInFront = object["foreground"]?.bool == true
            return payload(
                data,
                "a notification of a plugin"
                    + (isInFront ? ", in the foreground: --app-state foreground explains that" : ""),
                .ios)
        }
        if let message = object["remoteMessage"], message.kind == .object, message.count > 0 {
            return payload(message, "an event with a RemoteMessage", .android)
        }
        if let message = ofRemoteMessage(object, for: platform) { return message }
        if let parts = ofTitleBesideData(object, for: platform) ?? ofPlugin(object) { return parts }
        guard let inner = object["payload"], object["data"] == nil, object["message"] == nil,
            inner.isApplePayload || inner.hasAny("data", "notification", "message", "extras", "_ab")
        else { return nil }
        var result = payload(inner, "an object with a payload")
        if let headers = object["headers"], headers.members.contains(where: { $0.key.hasPrefix("apns-") }) {
            result?.headers = Array(headers.compactBytes)
            result?.platform = .ios
        }
        return result
    }

    /// The push that an iOS app got, from the message that a plugin makes of it.
    ///
    /// Source: RNFBMessagingSerializer.m of React Native Firebase 0b480065, remoteMessageUserInfoToDict. FlutterFire's has
    /// `apple` for `ios`.
    private static func ofRemoteMessage(_ object: JSONNode, for platform: Platform?) -> WrittenPayload? {
        let block = object["notification"]
        let ofApple = block?["ios"] ?? block?["apple"]
        guard platform.isApple || ofApple?.kind == .object, let data = object["data"], data.kind == .object,
            object.hasAny("messageId", "sentTime") || object.hasAny("contentAvailable") && object["priority"] == nil,
            !object.hasAny("to", "registration_ids")
        else { return nil }
        /// Writes parts with their names in `aps`, where a flag is a number. FlutterFire gives the badge as a text.
        func members(_ parts: [(JSONNode?, String, String)], _ writer: inout JSONWriter) {
            for (part, key, name) in parts {
                guard let value = part?[key], value.kind != .null, value.bool != false else { continue }
                if let number = value.bool.map({ _ in 1 }) ?? value.string.flatMap({ key == "badge" ? Int($0) : nil }) {
                    writer.member(name, number)
                } else {
                    writer.member(name, raw: value.compactBytes)
                }
            }
        }
        var writer = JSONWriter()
        writer.object { writer in
            writer.member(
                "aps",
                object: { aps in
                    members(
                        [
                            (object, "contentAvailable", "content-available"),
                            (object, "mutableContent", "mutable-content"), (object, "category", "category"),
                            (object, "threadId", "thread-id"), (ofApple, "badge", "badge"), (ofApple, "sound", "sound"),
                        ], &aps)
                    guard let block, block.hasAny("title", "body", "titleLocKey", "bodyLocKey") else { return }
                    aps.member(
                        "alert",
                        object: { alert in
                            members(
                                [
                                    (block, "title", "title"), (block, "body", "body"),
                                    (ofApple, "subtitle", "subtitle"), (block, "titleLocKey", "title-loc-key"),
                                    (block, "titleLocArgs", "title-loc-args"), (block, "bodyLocKey", "loc-key"),
                                    (block, "bodyLocArgs", "loc-args"),
                                ],
                                &alert)
                        })
                })
            object["messageId"]?.string.map { writer.member("gcm.message_id", $0) }
            for (key, value) in data.members where key != "aps" { writer.member(key, raw: value.compactBytes) }
        }
        return WrittenPayload(
            json: writer.bytes, platform: .ios,
            name: "the message that a plugin makes of a push on iOS, made the push again: aps has what it shows")
    }

    /// A push whose texts stand beside its data, as Capacitor gives what FCM had in `notification`, and as services take
    /// a message. A service worker has its own such keys.
    ///
    /// Source: PushNotificationsPlugin.java of Capacitor, fireNotification (read 2026-11-30).
    private static func ofTitleBesideData(_ object: JSONNode, for platform: Platform?) -> WrittenPayload? {
        let texts = ["title", "subtitle", "body"].filter { object[$0]?.kind == .string }
        guard platform?.takesText != true, let data = object["data"], data.kind == .object, !texts.isEmpty,
            object["notification"] == nil, !object.hasAny("to", "extras", "message", "registration_ids", "tokens")
        else { return nil }
        let place = platform.isApple ? "aps.alert" : "notification"
        var writer = JSONWriter()
        writer.object { writer in
            func block(_ writer: inout JSONWriter) {
                for key in texts { if let text = object[key] { writer.member(key, raw: text.compactBytes) } }
            }
            if platform.isApple {
                writer.member("aps", object: { $0.member("alert", object: { block(&$0) }) })
                for (key, value) in data.members { writer.member(key, raw: value.compactBytes) }
            } else {
                writer.member("notification", object: { block(&$0) })
                writer.member("data", raw: data.compactBytes)
            }
        }
        return WrittenPayload(
            json: writer.bytes, platform: platform,
            name: """
                texts beside data, as Capacitor gives them and a service such as Expo takes them: the push has them in \(place)
                """)
    }

    /// An event with the keys of the push beside those of a plugin, which may have FCM's block as `fcm`.
    private static func ofPlugin(_ object: JSONNode) -> WrittenPayload? {
        guard marksOfEvent.dropFirst().contains(where: { object[$0] != nil }), object["data"]?.kind != .object else {
            return nil
        }
        let block = object["fcm"].flatMap { $0.hasAny("title", "body") ? $0 : nil }
        let members = object.members.filter { key, value in
            !ownOfEvent.contains(key) && key != "fcm" && value.kind != .null
        }
        var writer = JSONWriter()
        writer.object { writer in
            func write(_ isOfFCM: Bool, _ writer: inout JSONWriter) {
                for (key, value) in members where (V1Body.keepsForItself(key) || key == "collapse_key") == isOfFCM {
                    writer.member(key, raw: value.compactBytes)
                }
            }
            write(true, &writer)
            if let block { writer.member("notification", raw: block.compactBytes) }
            writer.member("data", object: { write(false, &$0) })
        }
        return WrittenPayload(json: writer.bytes, name: "an event that a plugin gives")
    }

    static func raw(_ object: JSONNode) -> WrittenPayload? {
        object["rawPayload"].flatMap { payload($0, "an event of OneSignal's SDK") }
    }

    private static func wrapped(_ node: JSONNode, as key: String, _ name: String) -> WrittenPayload? {
        if node.isApplePayload { return payload(node, name, .ios) }
        var writer = JSONWriter()
        writer.object { $0.member(key, raw: node.compactBytes) }
        return WrittenPayload(json: writer.bytes, platform: .android, name: name)
    }

    /// A notification of react-native-push-notification-ios, whose members are the parts of `aps`.
    private static func ofPushNotificationIOS(_ object: JSONNode, _ data: JSONNode) -> WrittenPayload? {
        let parts = [
            ("_alert", "alert"), ("_sound", "sound"), ("_badgeCount", "badge"), ("_category", "category"),
            ("_threadID", "thread-id"), ("_contentAvailable", "content-available"),
        ]
        var writer = JSONWriter()
        writer.object { writer in
            writer.member(
                "aps",
                object: { aps in
                    for (part, key) in parts {
                        guard let value = object[part], value.kind != .null else { continue }
                        aps.member(key, raw: value.compactBytes)
                    }
                })
            for (key, value) in data.members where key != "aps" { writer.member(key, raw: value.compactBytes) }
        }
        return WrittenPayload(json: writer.bytes, platform: .ios, name: "a notification of PushNotificationIOS")
    }

    /// An event of phonegap-plugin-push or react-native-push-notification: the payload's own keys are in one member,
    /// beside the parts of what it shows.
    ///
    /// Source: PushPlugin.m of phonegap-plugin-push, notificationReceived; index.js of react-native-push-notification.
    private static func ofParts(
        _ object: JSONNode, more: JSONNode, sound: String, badge: String, for platform: Platform?
    ) -> WrittenPayload? {
        let own: Set<String> = [
            "foreground", "coldstart", "dismissed", "additionalData", "registrationType", "data", "finish",
            "userInteraction",
        ]
        let ofAps: Set<String> = ["content-available", "mutable-content", "category", "thread-id"]
        let name =
            "an event of \(object["additionalData"] == nil ? "react-native-push-notification" : "phonegap-plugin-push")"
        var writer = JSONWriter()
        guard platform.isApple else {
            // FCM leaves these of a notification block in the extras.
            let hasBlock = more.members.contains { $0.key.hasPrefix("gcm.n") }
            writer.object { writer in
                if hasBlock {
                    writer.member(
                        "notification",
                        object: { block in
                            for (key, name) in [("title", "title"), ("message", "body")] {
                                object[key].map { block.member(name, raw: $0.compactBytes) }
                            }
                        })
                }
                for (key, value) in more.members where V1Body.keepsForItself(key) && !key.hasPrefix("gcm.n") {
                    writer.member(key, raw: value.compactBytes)
                }
                writer.member(
                    "data",
                    object: { data in
                        for (key, value) in object.members where !hasBlock && !own.contains(key) && value.kind != .null
                        {
                            data.member(key, raw: value.compactBytes)
                        }
                        for (key, value) in more.members
                        where !own.contains(key) && object[key] == nil && !V1Body.keepsForItself(key) {
                            data.member(key, raw: value.compactBytes)
                        }
                    })
            }
            return WrittenPayload(json: writer.bytes, platform: nil, name: name)
        }
        func part(_ key: String) -> JSONNode? { object[key].flatMap { $0.kind == .null ? nil : $0 } }
        writer.object { writer in
            writer.member(
                "aps",
                object: { aps in
                    if let title = part("title") {
                        aps.member(
                            "alert",
                            object: { alert in
                                alert.member("title", raw: title.compactBytes)
                                part("message").map { alert.member("body", raw: $0.compactBytes) }
                            })
                    } else if let message = part("message") {
                        aps.member("alert", raw: message.compactBytes)
                    }
                    part(badge).map { aps.member("badge", raw: $0.compactBytes) }
                    part(sound).map { aps.member("sound", raw: $0.compactBytes) }
                    for (key, value) in more.members where ofAps.contains(key) {
                        aps.member(key, raw: value.compactBytes)
                    }
                })
            for (key, value) in more.members where !own.contains(key) && !ofAps.contains(key) {
                writer.member(key, raw: value.compactBytes)
            }
        }
        return WrittenPayload(json: writer.bytes, platform: .ios, name: name)
    }
}
