import PushModel
import PushRouter

// Send bodies of services that pass the payload on.
extension PayloadEnvelope {
    /// The payload in the send body of a service that passes it on.
    static func sendBody(_ object: JSONNode, for platform: Platform?) -> WrittenPayload? {
        if let message = object["message"], message.kind == .object, isHuaweis(message) { return ofHuawei(message) }
        if object["data"]?.kind == .object, object.hasAny("consolidationKey", "expiresAfter", "md5") {
            return object["data"].flatMap {
                payload($0, "a send body of Amazon Device Messaging", .android, over: .adm)
            }
        }
        if let parts = ofExpo(object, for: platform) { return parts }
        if let parts = ofPublish(object, for: platform) ?? ofSNS(object, for: platform) { return parts }
        if object.hasAny("interests", "users"),
            let part = object[platform.isApple ? "apns" : platform?.takesText == true ? "web" : "fcm"]
                ?? (platform.isApple ? nil : object["apns"] ?? object["web"])
        {
            let others = [("apns", "ios"), ("web", "web")].filter { platform == nil && object[$0.0] != nil }
            let pointer = others.map { "; --platform \($0.1) explains \($0.0)" }.joined()
            return payload(part, "a send body of Pusher Beams\(pointer)", object.hasAny("fcm", "apns") ? nil : .web)
        }
        if let part = object[platform.isApple ? "pn_apns" : "pn_fcm"] ?? object["pn_gcm"] ?? object["pn_apns"] {
            return payload(part, "a message of PubNub", part.isApplePayload ? .ios : .android)
        }
        if let v1 = object["fcmV1Message"], v1["message"] != nil {
            return withTarget(v1["message"], "a message of FCM v1 in SNS")
        }
        let hasPart = object.hasAny("token", "tokens", "topic", "condition", "notification", "data")
        if object["message"] == nil, !object.hasAny("to", "registration_ids", "fcmMessageId"),
            object.hasAny("android", "apns", "webpush", "fcmOptions", "fcm_options"),
            hasPart || object["apns"]?.hasAny("payload") == true || isPartsOnly(object)
        {
            return withTarget(object, "a message of firebase-admin")
        }
        return isLegacy(object) ? ofLegacy(object, for: platform) : nil
    }

    /// Whether an object has nothing but parts of a message for one platform each.
    static func isPartsOnly(_ object: JSONNode) -> Bool {
        let parts = ["android", "apns", "webpush", "fcm_options", "fcmOptions"]
        return object.count > 0
            && object.members.allSatisfy { key, value in
                parts.contains(key)
                    && value.hasAny("notification", "data", "headers", "payload", "fcm_options", "fcmOptions")
            }
    }

    /// Whether an object is a send body of FCM's API before v1. node-gcm makes it of a message without its target, and
    /// people leave the target out.
    static func isLegacy(_ object: JSONNode) -> Bool {
        let isNodeGCMs = object.hasAny("contentAvailable", "timeToLive", "delayWhileIdle", "dryRun")
        let hasKey = object.hasAny("content_available", "mutable_content", "time_to_live", "dry_run", "condition")
        // Of no message that a device got: its priority is a number, or has another name.
        let isSent =
            ["high", "normal"].contains(object["priority"]?.string) && !object.hasAny("originalPriority", "ttl")
        guard isNodeGCMs || hasKey || isSent || object.hasAny("to", "registration_ids") else { return false }
        return object.hasAny("data", "notification") && object["message"] == nil
            && !object.hasAny("from", "messageId", "sentTime", "wasTapped")
    }

    /// A message of FCM v1 without its target, as people and services take it out of what they show.
    static func ofV1WithoutTarget(_ object: JSONNode) -> WrittenPayload? {
        guard let message = object["message"], message.kind == .object,
            !message.hasAny("token", "topic", "condition", "fid"),
            message.hasAny("data", "notification", "android", "apns", "webpush")
        else { return nil }
        var writer = JSONWriter()
        writer.object { writer in
            for (key, value) in object.members {
                guard key == "message" else {
                    writer.member(key, raw: value.compactBytes)
                    continue
                }
                writer.member(
                    key,
                    object: { writer in
                        writer.member("token", "token")
                        for (key, value) in message.members { writer.member(key, raw: value.compactBytes) }
                    })
            }
        }
        return WrittenPayload(
            json: writer.bytes,
            name: """
                a message of FCM v1 without its target: FCM refuses it as it is, for it takes one of token, topic, \
                condition and fid
                """)
    }

    /// A send body of Expo's push service: what the device gets of it.
    ///
    /// Source: Expo's "Sending notifications with the Expo Push Service", the format of a message; the keys on the device
    /// from FirebaseMessagingDelegate.kt and NotificationData.kt of expo-notifications.
    static func ofExpo(_ object: JSONNode, for platform: Platform?) -> WrittenPayload? {
        let target = object["to"].flatMap { $0.kind == .array ? $0.elements.first : $0 }?.string
        guard let target else { return nil }
        let isExpos = target.hasPrefix("ExponentPushToken[") || target.hasPrefix("ExpoPushToken[")
        guard isExpos || platform?.takesText != true && hasKeysOfExpo(object, to: target) else { return nil }
        let apple = [
            ("badge", "badge"), ("sound", "sound"), ("categoryId", "category"),
            ("interruptionLevel", "interruption-level"),
        ]
        var writer = JSONWriter()
        writer.object { writer in
            func members(_ writer: inout JSONWriter) {
                writer.member("experienceId", "@owner/app")
                writer.member("scopeKey", "@owner/app")
            }
            if platform.isApple {
                writer.member(
                    "aps",
                    object: { aps in
                        let texts = ["title", "subtitle", "body"].filter { object.hasAny($0) }
                        if !texts.isEmpty {
                            aps.member(
                                "alert",
                                object: { alert in
                                    for key in texts { object[key].map { alert.member(key, raw: $0.compactBytes) } }
                                })
                        }
                        for (key, name) in apple { object[key].map { aps.member(name, raw: $0.compactBytes) } }
                        if object["_contentAvailable"]?.bool == true { aps.member("content-available", 1) }
                        if object["mutableContent"]?.bool == true { aps.member("mutable-content", 1) }
                    })
                if let data = object["data"] { writer.member("body", raw: data.compactBytes) }
                members(&writer)
            } else {
                writer.member(
                    "data",
                    object: { data in
                        for (key, name) in [("title", "title"), ("body", "message"), ("channelId", "channelId")] {
                            object[key].map { data.member(name, raw: $0.compactBytes) }
                        }
                        if let own = object["data"] {
                            data.member("body", String(decoding: own.compactBytes, as: UTF8.self))
                        }
                        members(&data)
                    })
                if let priority = object["priority"] { writer.member("originalPriority", raw: priority.compactBytes) }
            }
        }
        return WrittenPayload(
            json: writer.bytes, platform: platform.isApple ? .ios : .android,
            name: """
                a send body of Expo's push service, which makes the payload of it; only --platform ios has \
                content-available and the other keys of iOS\
                \(isExpos ? "" : "; to is no token of FCM, and FCM's API before v1 takes title and body in notification")\
                \(unknownToExpo(object))
                """)
    }

    /// The keys of a message that Expo's push service does not know, and the ones that they resemble.
    ///
    /// Source: Expo's "Sending notifications with the Expo Push Service", the format of a message (read 2026-11-30).
    private static func unknownToExpo(_ object: JSONNode) -> String {
        let known = [
            "to", "data", "title", "body", "ttl", "expiration", "priority", "subtitle", "sound", "badge",
            "interruptionLevel", "channelId", "icon", "richContent", "categoryId", "mutableContent",
            "_contentAvailable",
        ]
        let names = object.members.prefix(64).compactMap { member in
            Spelling.meant(by: member.key, of: known).map {
                "; \(member.key.showingControls()) is no key of Expo's (\($0) is)"
            }
        }
        return names.prefix(3).joined()
    }

    /// Whether a send body has title and body where Expo's push service takes them, beside a target that may stand for
    /// one of Expo's tokens. Data of a message has texts alone.
    private static func hasKeysOfExpo(_ object: JSONNode, to target: String) -> Bool {
        let ofFCM = ["FCM", "DEVICE", "REGISTRATION"].contains { target.has($0) }
        return object.hasAny("title", "body") && !object.hasTextsOnly && !ofFCM
            && !object.hasAny("content_available", "mutable_content", "collapse_key", "time_to_live", "dry_run")
            && object.hasAny("data", "sound", "channelId", "badge", "priority", "ttl", "subtitle", "categoryId")
            && !object.hasAny("notification", "message", "aps", "registration_ids")
            && !target.hasPrefix("/topics/") && !target.has(":APA91") && target.utf8.count < 100
    }

    /// The headers of a VoIP push.
    public static let voip = Array(#"{"apns-push-type":"voip"}"#.utf8)

    /// Amazon SNS: a JSON text for each service.
    static func ofSNS(_ object: JSONNode, for platform: Platform?) -> WrittenPayload? {
        let android = object["GCM"] ?? object["FCM"]
        // Source: Amazon SNS, "Publishing to mobile devices", the platforms of a message.
        let voip = object["APNS_VOIP"] ?? object["APNS_VOIP_SANDBOX"]
        let apple = object["APNS"] ?? object["APNS_SANDBOX"] ?? voip
        let amazon = object["ADM"]
        guard android ?? apple ?? amazon != nil,
            object["default"] != nil || object.count <= 3 || object.hasAny("TargetArn", "TopicArn")
        else { return nil }
        let isApple = platform.isApple || android ?? amazon == nil
        guard let part = isApple ? apple ?? android : android ?? amazon else { return nil }
        // Source: Amazon SNS, API reference of Publish, MessageStructure.
        let parts = object.members.filter { $0.key != "default" && $0.value.kind == .object }.map(\.key)
        let faults = [
            parts.isEmpty
                ? nil
                : """
                \(parts.joined(separator: " and ")) \(parts.count > 1 ? "have" : "has") an object, where SNS takes a text \
                that is JSON
                """,
            object["default"]?.kind == .string ? nil : "the text default is missing",
        ].compactMap(\.self)
        let refused =
            faults.isEmpty
            ? ""
            : parts.isEmpty
                ? "; to a topic SNS needs the text default, too"
                : ", which SNS refuses with MessageStructure json: \(faults.joined(separator: ", and "))"
        let block = (part.objectInText ?? part)["notification"]
        let inside = ["content_available", "mutable_content", "priority"].filter { block?[$0] != nil }
        let misplaced =
            inside.isEmpty ? "" : "; \(inside.joined(separator: " and ")) belongs beside notification, not into it"
        var result = payload(
            part, "a message of Amazon SNS\(refused)\(misplaced)", isApple && apple != nil ? .ios : nil)
        if !isApple, android == nil {
            result?.platform = .android
            result?.transport = .adm
        }
        if isApple, object["APNS"] ?? object["APNS_SANDBOX"] == nil, voip != nil {
            result?.headers = PayloadEnvelope.voip
        }
        return result
    }

    /// The parameters of SNS's operation Publish, as its SDKs take them. A plain text reaches a device as `default`.
    ///
    /// Source: Amazon SNS, API reference of Publish, and "Publishing to mobile devices".
    static func ofPublish(_ object: JSONNode, for platform: Platform?) -> WrittenPayload? {
        guard object.hasAny("TargetArn", "TopicArn", "MessageStructure"), object["Type"] == nil else { return nil }
        guard let message = object["Message"] else {
            var result = ofSNS(object, for: platform)
            result?.name =
                "parameters of SNS's Publish without Message: default and the texts of the services belong into Message, as one text in JSON"
            return result
        }
        let structure = object["MessageStructure"]?.string
        let isMisplaced = structure?.hasPrefix("{") == true
        let isJSON = structure != nil && !isMisplaced || message.kind == .object
        if isJSON, let parts = message.kind == .object ? message : message.objectInText {
            return ofSNS(parts, for: platform)
        }
        var writer = JSONWriter()
        writer.object { writer in
            writer.member(
                platform.isApple ? "aps" : "data",
                object: { $0.member(platform.isApple ? "alert" : "default", raw: message.compactBytes) })
        }
        return WrittenPayload(
            json: writer.bytes, platform: platform,
            name: """
                a plain text that Amazon SNS publishes\
                \(message.objectInText == nil ? "" : ", for it has no MessageStructure json")\
                \(isMisplaced ? "; MessageStructure has to be the word json, and the JSON belongs into Message" : "")
                """)
    }

    /// A message of FCM v1 without `message` around it or without a target, as firebase-admin and SNS take it. Names
    /// and types of firebase-admin for Node become those of the API.
    private static func withTarget(_ message: JSONNode?, _ name: String) -> WrittenPayload? {
        guard let message, message.kind == .object else { return nil }
        var writer = JSONWriter()
        writer.object { writer in
            writer.member(
                "message",
                object: { writer in
                    if !message.hasAny("token", "topic", "condition", "fid") { writer.member("token", "token") }
                    for (key, value) in message.members where key != "tokens" && value.kind != .null {
                        switch key {
                        case "fcmOptions", "fcm_options": writer.adminOptions(value)
                        case "notification" where value.kind == .object:
                            writer.member(key, object: { $0.adminNotification(value) })
                        case "apns": writer.member(key, object: { $0.adminPart(of: value, isApple: true) })
                        case "android": writer.member(key, object: { $0.adminPart(of: value, isApple: false) })
                        default: writer.member(key, raw: value.compactBytes)
                        }
                    }
                })
        }
        return WrittenPayload(json: writer.bytes, name: name)
    }

    /// A notification of FCM by itself, for iOS: no device gets such an object.
    static func ofBlockAlone(_ object: JSONNode, for platform: Platform?) -> WrittenPayload? {
        guard platform.isApple, object["notification"]?.hasAny("title", "body") == true,
            object.members.allSatisfy({ ["notification", "data"].contains($0.key) })
        else { return nil }
        var result = ofLegacy(object, for: platform)
        result?.name = "a notification of FCM without the rest of its message: iOS gets what FCM makes of it"
        return result
    }

    /// A send body of FCM's API before v1. The device gets `data` and `notification`; iOS gets what FCM makes of them.
    ///
    /// Source: "Firebase Cloud Messaging HTTP protocol", tables 1 to 2c.
    private static func ofLegacy(_ object: JSONNode, for platform: Platform?) -> WrittenPayload? {
        var writer = JSONWriter()
        let (data, block) = (object["data"], object["notification"])
        func flag(_ key: String, _ other: String) -> Bool { (object[key] ?? object[other])?.bool == true }
        if platform.isApple {
            writer.object { writer in
                writer.member(
                    "aps",
                    object: { aps in
                        if flag("content_available", "contentAvailable") { aps.member("content-available", 1) }
                        if flag("mutable_content", "mutableContent") { aps.member("mutable-content", 1) }
                        guard let block, block.kind == .object else { return }
                        let named = [("sound", "sound"), ("badge", "badge"), ("click_action", "category")]
                        for (key, name) in named {
                            guard let value = block[key] else { continue }
                            aps.member(name, raw: Self.number(value, if: key == "badge"))
                        }
                        let texts = [
                            ("title", "title"), ("subtitle", "subtitle"), ("body", "body"), ("body_loc_key", "loc-key"),
                            ("title_loc_key", "title-loc-key"),
                        ]
                        guard texts.contains(where: { block[$0.0] != nil }) else { return }
                        aps.member(
                            "alert",
                            object: { alert in
                                for (key, name) in texts { block[key].map { alert.member(name, raw: $0.compactBytes) } }
                            })
                    })
                for (key, value) in data?.members ?? [] where key != "aps" {
                    writer.member(key, raw: value.compactBytes)
                }
            }
        } else {
            writer.object { writer in
                for (key, value) in object.members {
                    switch key {
                    case "data", "notification":
                        if value.kind == .object { writer.member(key, raw: value.compactBytes) }
                    case "priority": writer.member("originalPriority", raw: value.compactBytes)
                    case "time_to_live": writer.member("ttl", raw: value.compactBytes)
                    case "collapse_key": writer.member("collapseKey", raw: value.compactBytes)
                    case "fcm_options": writer.member("fcmOptions", raw: value.compactBytes)
                    default: break
                    }
                }
                // FCM's worker gets it with an id.
                if platform?.takesText == true { writer.member("fcmMessageId", "") }
                // A variable of a program, whose value is not known.
                if data?.kind != .object, block?.kind != .object { writer.member("data", object: { _ in }) }
            }
        }
        return WrittenPayload(json: writer.bytes, platform: platform, name: nameOfLegacy(object, for: platform))
    }

    /// The name of a send body of FCM's API before v1, with the keys that FCM drops and the ones that it knows.
    private static func nameOfLegacy(_ object: JSONNode, for platform: Platform?) -> String {
        let known: Set<String> = [
            "to", "registration_ids", "condition", "notification_key", "collapse_key", "priority", "content_available",
            "mutable_content", "time_to_live", "delay_while_idle", "restricted_package_name", "dry_run", "data",
            "notification", "fcm_options", "direct_boot_ok", "raw_data", "contentAvailable", "mutableContent",
            "timeToLive", "collapseKey", "delayWhileIdle", "restrictedPackageName", "dryRun",
        ]
        let foreign = object.members.map { $0.key.showingControls() }.filter { !known.contains($0) }.prefix(4)
        let meant = [
            "channel_id": "notification.android_channel_id", "channelId": "notification.android_channel_id",
            "content_available": "content_available, beside notification",
            "mutable_content": "mutable_content, beside notification", "priority": "priority, beside notification",
        ]
        let ofBlock: Set<String> = [
            "title", "subtitle", "body", "android_channel_id", "icon", "image", "sound", "badge", "tag", "color",
            "click_action", "body_loc_key", "body_loc_args", "title_loc_key", "title_loc_args",
        ]
        // Those that node-gcm and browsers have are not named.
        let others = ["actions", "data", "renotify", "requireInteraction", "silent", "dir", "lang"]
        let unknown = (object["notification"]?.members ?? []).map(\.key).filter {
            !ofBlock.contains($0) && !others.contains($0)
        }.prefix(4)
        let inside = unknown.map { key in
            let name = key.showingControls()
            return "notification.\(name) is no field" + (meant[key].map { " (\($0) is)" } ?? "")
                + (key == unknown.last
                    ? ", and shows nothing: an Android app finds it as gcm.notification.\(name)" : "")
        }
        let drops = foreign.isEmpty ? [] : ["FCM drops what it does not know: \(foreign.joined(separator: ", "))"]
        let ofApple = ["content_available", "mutable_content", "contentAvailable", "mutableContent"].first {
            object[$0] != nil
        }
        let pointer = platform == nil ? ofApple.map { ["\($0) is for iOS, which --platform ios explains"] } ?? [] : []
        return
            (["a send body of FCM's API before v1, which \(switchedOff)"] + faultsOfLegacy(object) + drops + inside
            + pointer).joined(separator: "; ")
    }

    /// Source: Firebase, "Migrate from legacy FCM APIs to HTTP v1".
    static let switchedOff = "Google has been switching off since July 22, 2024"

    /// The fields of a send body of FCM's API before v1 whose values have another type than the reference says.
    private static func faultsOfLegacy(_ object: JSONNode) -> [String] {
        var faults: [String] = []
        if let priority = object["priority"], priority.kind != .null,
            !["high", "normal"].contains(priority.string ?? "")
        {
            faults.append("priority is neither high nor normal, the two values that FCM documents")
        }
        for key in ["content_available", "mutable_content"] {
            guard let value = object[key], value.kind != .bool, value.kind != .null else { continue }
            faults.append("\(key) is \(value.kind.name), where FCM documents true and false")
        }
        if object["registration_ids"]?.kind == .string {
            faults.append("registration_ids is a text, and FCM refuses that: it takes a list")
        }
        if object["to"]?.kind == .array { faults.append("to is a list, where FCM documents a text") }
        return faults
    }

    private static func number(_ value: JSONNode, if wanted: Bool) -> [UInt8] {
        guard wanted, let text = value.string, Int(text) != nil else { return Array(value.compactBytes) }
        return Array(text.utf8)
    }
}

extension JSONWriter {
    /// Writes the members of `android` or `apns` of firebase-admin for Node in the spelling of the API: `ttl` is
    /// milliseconds there, and the keys of `aps` have no hyphens.
    fileprivate mutating func adminPart(of part: JSONNode, isApple: Bool) {
        for (key, value) in part.members where value.kind != .null {
            switch key {
            case "ttl" where value.kind == .number: member("ttl", "\((value.int64 ?? 0) / 1000)s")
            // The value of a program, which is not known.
            case "ttl" where value.string.map({ $0.last != "s" || $0.utf8.first?.isDigit != true }) == true: break
            case "timeToLive": break
            case "notification" where value.kind == .object:
                member(key, object: { $0.adminNotification(value, isAndroids: !isApple) })
            case "collapseKey": member("collapse_key", raw: value.compactBytes)
            case "fcmOptions", "fcm_options": adminOptions(value)
            case "payload" where isApple && value["aps"] != nil:
                member(
                    "payload",
                    object: { payload in
                        for (key, value) in value.members {
                            if key == "customData", value.kind == .object {
                                for (key, value) in value.members { payload.member(key, raw: value.compactBytes) }
                                continue
                            }
                            guard key == "aps", value.kind == .object else {
                                payload.member(key, raw: value.compactBytes)
                                continue
                            }
                            payload.member("aps", object: { $0.adminMembers(of: value) })
                        }
                    })
            default: member(key, raw: value.compactBytes)
            }
        }
    }

    /// Writes `fcmOptions` of firebase-admin.
    ///
    /// Source: firebase-admin-node, messaging-internal.ts (validateApnsFcmOptions): imageUrl is `image` of the API.
    fileprivate mutating func adminOptions(_ options: JSONNode) {
        let names = ["imageUrl": "image", "analyticsLabel": "analytics_label"]
        member(
            "fcm_options",
            object: { writer in
                for (key, value) in options.members { writer.member(names[key] ?? key, raw: value.compactBytes) }
            })
    }

    /// The names that firebase-admin has for keys of the API, in small letters and without `_` and `-`.
    ///
    /// Source: firebase-admin-node, messaging-internal.ts (validateAndroidNotification, validateApsAlert);
    /// firebase-admin-python, _messaging_encoder.py; firebase-admin-java, AndroidNotification and ApsAlert.
    private static let namesOfAdmin = [
        "imageurl": "image", "channelid": "channel_id", "clickaction": "click_action", "titlelockey": "title_loc_key",
        "titlelocargs": "title_loc_args", "bodylockey": "body_loc_key", "bodylocargs": "body_loc_args",
        "notificationcount": "notification_count", "localonly": "local_only", "titlelocalizationkey": "title_loc_key",
        "bodylocalizationkey": "body_loc_key",
    ]
    private static let namesOfAlert = [
        "titlelockey": "title-loc-key", "titlelocargs": "title-loc-args", "subtitlelockey": "subtitle-loc-key",
        "subtitlelocargs": "subtitle-loc-args", "lockey": "loc-key", "locargs": "loc-args",
        "actionlockey": "action-loc-key", "launchimage": "launch-image", "titlelocalizationkey": "title-loc-key",
        "subtitle": "subtitle", "actionlocalizationkey": "action-loc-key",
        "subtitlelocalizationkey": "subtitle-loc-key", "localizationkey": "loc-key",
    ]

    private static func plain(_ key: String) -> String { key.lowercased().filter { $0 != "_" && $0 != "-" } }

    /// Writes the members of a notification block of firebase-admin.
    fileprivate mutating func adminNotification(_ block: JSONNode, isAndroids: Bool = false) {
        for (key, value) in block.members where value.kind != .null {
            switch (Self.plain(key), value.string) {
            case ("priority", let word?) where isAndroids:
                member("notification_priority", "PRIORITY_\(word.uppercased())")
            case ("visibility", let word?): member(key, word.uppercased())
            // firebase-admin makes them of other values, and nothing depends on them.
            case ("eventtimestamp", _), ("eventtimeinmillis", _), ("vibratetimingsmillis", _),
                ("vibratetimingsinmillis", _), ("lightsettings", _):
                break
            case (let name, _): member(Self.namesOfAdmin[name] ?? key, raw: value.compactBytes)
            }
        }
    }

    /// Writes the members of `aps` of firebase-admin.
    private mutating func adminMembers(of aps: JSONNode) {
        let names = [
            "contentavailable": "content-available", "mutablecontent": "mutable-content", "threadid": "thread-id",
        ]
        for (key, value) in aps.members {
            // Python and Go put the members of custom_data beside the others.
            if Self.plain(key) == "customdata", value.kind == .object {
                for (key, value) in value.members { member(key, raw: value.compactBytes) }
                continue
            }
            if key == "alert", value.kind == .object {
                member(
                    key,
                    object: { alert in
                        for (key, value) in value.members {
                            alert.member(Self.namesOfAlert[Self.plain(key)] ?? key, raw: value.compactBytes)
                        }
                    })
                continue
            }
            guard let name = names[Self.plain(key)] else {
                member(key, raw: value.compactBytes)
                continue
            }
            if let flag = value.bool { if flag { member(name, 1) } } else { member(name, raw: value.compactBytes) }
        }
    }
}
