public import PushModel
import PushRouter

/// Finds the payload in an object that people take for one: the event of a plugin, the send body of a service. Names an
/// object that is none: the answer of a service, a file of keys, a send body whose payload the service makes.
///
/// Sources: the reference of each service's send API; the types of the plugins (Capacitor PushNotifications,
/// expo-notifications, notifee, react-native-push-notification-ios, phonegap-plugin-push, react-native-onesignal).
public enum PayloadEnvelope {
    /// Returns the payload in an object; `nil` if the object is taken as it is.
    ///
    /// - Parameters:
    ///   - object: the object.
    ///   - platform: the platform in the request; `nil`: unknown.
    /// - Throws: the name of the object and a remedy, if it has no payload.
    public static func open(_ object: JSONNode, for platform: Platform?) throws(PayloadFormError) -> WrittenPayload? {
        var result: WrittenPayload?
        var object = object
        // An event of a plugin may have a message, which may have a payload in a text.
        for _ in 0..<4 {
            if let name = nameOfOther(object) { throw PayloadFormError(name) }
            guard var opened = opened(object, for: platform ?? result?.platform),
                let document = try? JSONDocument(scanning: opened.json, limits: JSONLimits(depth: .max))
            else { break }
            opened.platform = opened.platform ?? result?.platform
            opened.transport = opened.transport ?? result?.transport
            opened.headers = opened.headers ?? result?.headers
            opened.name = result?.name ?? opened.name
            result = opened
            object = document.root
        }
        return result
    }
}

// A whole text.
extension PayloadEnvelope {
    /// Returns the first payload in a text in any form, with what its form says.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - platform: the platform in the request; `nil`: unknown.
    ///   - limits: the limits of a payload.
    public static func read(
        _ text: [UInt8], for platform: Platform?, limits: JSONLimits
    ) throws(PayloadFormError) -> (object: JSONNode, facts: WrittenPayload) {
        var facts: WrittenPayload
        let root: JSONNode
        do throws(JSONError) {
            root = try JSONDocument(scanning: text, limits: limits).root
            facts = WrittenPayload(json: [])
        } catch {
            guard let written = try first(in: text) else {
                throw PayloadFormError("the payload is not JSON: \(error.message)")
            }
            facts = written
            root = try scanned(written.json, limits)
        }
        guard root.kind == .object, let opened = try open(root, for: platform ?? facts.platform) else {
            return (root, facts)
        }
        let object = try scanned(opened.json, limits)
        facts.platform = opened.platform ?? facts.platform
        facts.transport = opened.transport ?? facts.transport
        facts.headers = opened.headers ?? facts.headers
        return (object, facts)
    }

    private static func scanned(_ json: [UInt8], _ limits: JSONLimits) throws(PayloadFormError) -> JSONNode {
        do { return try JSONDocument(scanning: json, limits: limits).root } catch {
            throw PayloadFormError("the payload is not JSON: \(error.message)")
        }
    }

    /// Returns the first payload in a text that is not JSON; `nil` if there is none.
    private static func first(in text: [UInt8]) throws(PayloadFormError) -> WrittenPayload? {
        var rest = text[...]
        var isFirst = true
        while !rest.isEmpty {
            let line = Array(rest.prefix { $0 != UInt8(ascii: "\n") })
            let lines = rest
            rest = rest.dropFirst(line.count + 1)
            guard line.contains(where: { !$0.isJSONWhiteSpace }), !PayloadStart.isFence(line) else { continue }
            let start = PayloadStart(in: line)
            if isFirst, start?.isBehindText != false,
                let name = PayloadForm.nameOfOther(line, mayHavePayload: true)
            {
                throw PayloadFormError(name)
            }
            isFirst = false
            guard let start else { continue }
            guard var whole = try PayloadText(start, line: line) else {
                return PayloadForm.object(in: Array(lines)).map { WrittenPayload(json: $0.json) }
            }
            while !whole.isWhole, !rest.isEmpty {
                let line = Array(rest.prefix { $0 != UInt8(ascii: "\n") })
                guard try whole.add(line) else { break }
                rest = rest.dropFirst(line.count + 1)
            }
            return try whole.payload()
        }
        return nil
    }
}

// Objects without a payload.
extension PayloadEnvelope {
    /// Returns the name of an object without a payload, with a remedy; `nil` if it may have one.
    private static func nameOfOther(_ object: JSONNode) -> String? {
        // A push has its own keys, and a request names its operation.
        if object["op"] != nil || object.isApplePayload { return nil }
        return nameOfAnswer(object) ?? nameOfOwnService(object) ?? nameOfFile(object)
    }

    private static func answer(of service: String) -> String {
        "this is the answer of \(service) to a send, not a push: give the body of the send, or what the device got"
    }

    private static func nameOfAnswer(_ object: JSONNode) -> String? {
        let count = object.count
        if count == 1, object["name"]?.string?.hasPrefix("projects/") == true { return answer(of: "FCM") }
        if let error = object["error"], error["code"] != nil || error["status"] != nil, error["message"] != nil {
            return answer(of: "FCM")
        }
        if object["multicast_id"] != nil, object.hasAny("results", "success", "failure") { return answer(of: "FCM") }
        if object["successCount"] != nil, object["failureCount"] != nil { return answer(of: "firebase-admin") }
        if count == 1, object["message_id"]?.kind == .number { return answer(of: "FCM") }
        if count <= 2, let reason = object["reason"]?.string {
            if APNsReason(rawValue: reason) != nil { return answer(of: "APNs") }
            if ["BadJwtToken", "BadWebPushRequest", "BadWebPushTopic", "VapidPkHashMismatch"].contains(reason) {
                return answer(of: "Apple's web push service")
            }
        }
        if object["code"]?.string != nil, object["msg"] != nil, object["requestId"] != nil {
            return answer(of: "Huawei")
        }
        if object["registrationID"] != nil, object["data"] == nil { return answer(of: "Amazon Device Messaging") }
        if object["MessageId"] != nil, count == 1 || object.hasAny("ResponseMetadata", "SequenceNumber", "$metadata") {
            return answer(of: "Amazon SNS")
        }
        if let tickets = object["data"], count <= 2 {
            let first = tickets.kind == .array ? tickets.elements.first : tickets
            let receipt = first?.members.first?.value
            if [first, receipt].contains(where: { ["ok", "error"].contains($0?["status"]?.string ?? "") }) {
                return answer(of: "Expo")
            }
        }
        if object["id"]?.string != nil, object.hasAny("recipients", "errors"), object["data"] == nil, count <= 4 {
            return answer(of: "OneSignal")
        }
        if object["errors"]?.kind == .array, object["data"] == nil, count <= 2 { return answer(of: "a service") }
        if let message = object["message"]?.string, count == 1 && message == "success" || object["dispatch_id"] != nil {
            return answer(of: "Braze")
        }
        if object["ok"]?.bool != nil, object.hasAny("operation_id", "push_ids") { return answer(of: "Airship") }
        return nil
    }

    /// Send bodies of services that make the payload of the device themselves.
    private static func nameOfOwnService(_ object: JSONNode) -> String? {
        let languages = [object["contents"], object["headings"]].contains { $0?["en"] != nil }
        func body(of service: String) -> String {
            """
            this is a send body for \(service), which makes the payload of it: send it to a test device, and take the \
            payload from the log of the device
            """
        }
        let isOneSignals = object["app_id"] != nil && object.hasAny("contents", "headings", "template_id")
        if languages || isOneSignals
            || object.members.contains(where: { $0.key.hasPrefix("include") && $0.key.has("_") })
        {
            return body(of: "OneSignal")
        }
        let isBrazes =
            object["messages"]?.kind == .object
            || object.hasAny("campaign_id", "canvas_id")
                && object.hasAny("recipients", "broadcast", "trigger_properties", "canvas_entry_properties", "audience")
        if isBrazes { return body(of: "Braze") }
        if object["notifications"]?.kind == .array, object["notifications"]?.elements.first?["tokens"] != nil {
            return body(of: "gorush")
        }
        if let event = object["notification"], event.hasAny("event_id", "room_id"), event["devices"] != nil {
            return body(of: "a push gateway of Matrix")
        }
        if object["audience"] != nil, object["device_types"] != nil { return body(of: "Airship") }
        if object["request"]?["notifications"] != nil { return body(of: "Pushwoosh") }
        if object["to"]?.kind == .object, object["content"]?.kind == .object { return body(of: "CleverTap") }
        if object["transactional_message_id"] != nil { return body(of: "Customer.io") }
        if object["campaignId"] != nil, object.hasAny("recipientEmail", "recipientUserId") {
            return body(of: "Iterable")
        }
        return nil
    }

    private static func nameOfFile(_ object: JSONNode) -> String? {
        if object["type"]?.string == "service_account" {
            return "this is the key of a service account, not a push: keep it secret"
        }
        if object["project_info"] != nil, object["client"] != nil {
            return "this is a google-services.json, not a push"
        }
        if object["endpoint"]?.string != nil, object["keys"] != nil || object["expirationTime"] != nil {
            return "this is the subscription of a browser, not a push: give the data of the push event"
        }
        if object["iss"] != nil, object["iat"] != nil, object.count <= 5 {
            return "these are the claims of a provider token, not a push"
        }
        if let bundle = object["extras"] ?? object["data"], bundle.hasAny("_nmid", "_nmt"), bundle["_o"] != nil {
            return
                "this is an event of Firebase Analytics about a push, not the push: the extras of the push are in another line"
        }
        if object.count == 1, object["isTrusted"] != nil {
            return """
                this is an event of a browser that was made JSON, without data: give event.data.json(), or for a \
                click event.notification.data
                """
        }
        if object["info"]?["author"]?.string == "xcode" { return "this is a catalogue of Xcode, not a push" }
        return nil
    }
}

// Objects with a payload in them.
extension PayloadEnvelope {
    private static func opened(_ object: JSONNode, for platform: Platform?) -> WrittenPayload? {
        guard object["op"] == nil, !object.isApplePayload else { return nil }
        return event(object, for: platform) ?? sendBody(object, for: platform)
    }

    private static func payload(
        _ node: JSONNode, _ name: String, _ platform: Platform? = nil, over transport: Transport? = nil
    ) -> WrittenPayload? {
        guard let object = node.kind == .object ? node : node.objectInText else { return nil }
        var found = WrittenPayload(json: object.compactBytes, platform: platform)
        found.transport = transport
        found.name = name
        return found
    }

    /// The payload in the event or the notification of a plugin.
    private static func event(_ object: JSONNode, for platform: Platform?) -> WrittenPayload? {
        let expo = "a notification of expo-notifications"
        if let inner = object["notification"], inner["request"] != nil { return payload(inner, expo) }
        if let request = object["request"], let content = request["content"] {
            let trigger = request["trigger"]
            if let message = trigger?["remoteMessage"] { return payload(message, expo, .android) }
            if let userInfo = trigger?["payload"], userInfo.kind == .object { return payload(userInfo, expo, .ios) }
            return content["data"].flatMap { payload($0, expo) }
        }
        if let tapped = object["notification"], object.hasAny("actionId", "inputValue") {
            return tapped["data"].flatMap { payload($0, "the event of a tap by Capacitor") }
        }
        for key in ["notification", "payload"] {
            guard let raw = object[key]?["rawPayload"] else { continue }
            return payload(raw, "an event of OneSignal's SDK")
        }
        if let raw = object["rawPayload"] { return payload(raw, "an event of OneSignal's SDK") }
        if let detail = object["detail"], object["type"] != nil, let data = detail["notification"]?["data"] {
            return data.kind == .object ? wrapped(data, as: "data", "an event of notifee") : nil
        }
        if let data = object["_data"], object.hasAny("_alert", "_sound", "_category", "_badgeCount") {
            return ofPushNotificationIOS(object, data)
        }
        if let more = object["additionalData"], more.hasAny("foreground", "coldstart") || object["message"] != nil {
            return ofCordova(object, more)
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
        if let data = object["data"], data.isApplePayload { return payload(data, "a notification of a plugin", .ios) }
        if let message = object["remoteMessage"], message.kind == .object {
            return payload(message, "an event with a RemoteMessage", .android)
        }
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

    private static func wrapped(_ node: JSONNode, as key: String, _ name: String) -> WrittenPayload? {
        if node.isApplePayload { return payload(node, name, .ios) }
        var writer = JSONWriter()
        writer.object { $0.member(key, raw: node.compactBytes) }
        var payload = WrittenPayload(json: writer.bytes, platform: .android)
        payload.name = name
        return payload
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
        var payload = WrittenPayload(json: writer.bytes, platform: .ios)
        payload.name = "a notification of PushNotificationIOS"
        return payload
    }

    /// An event of phonegap-plugin-push: the payload's keys are in `additionalData`, but for those that it shows.
    private static func ofCordova(_ object: JSONNode, _ more: JSONNode) -> WrittenPayload? {
        let own: Set<String> = ["foreground", "coldstart", "dismissed", "additionalData", "registrationType"]
        var writer = JSONWriter()
        writer.object { writer in
            writer.member(
                "data",
                object: { data in
                    for (key, value) in object.members where !own.contains(key) {
                        data.member(key, raw: value.compactBytes)
                    }
                    for (key, value) in more.members where !own.contains(key) && object[key] == nil {
                        data.member(key, raw: value.compactBytes)
                    }
                })
        }
        var payload = WrittenPayload(json: writer.bytes, platform: nil)
        payload.name = "an event of phonegap-plugin-push"
        return payload
    }

    /// The payload in the send body of a service that passes it on.
    private static func sendBody(_ object: JSONNode, for platform: Platform?) -> WrittenPayload? {
        if let message = object["message"], message.kind == .object, isHuaweis(message) { return ofHuawei(message) }
        if object["data"]?.kind == .object, object.hasAny("consolidationKey", "expiresAfter", "md5") {
            return object["data"].flatMap {
                payload($0, "a send body of Amazon Device Messaging", .android, over: .adm)
            }
        }
        if let parts = ofExpo(object, for: platform) { return parts }
        if let parts = ofSNS(object, for: platform) { return parts }
        if object.hasAny("interests", "users"), let part = object[platform.isApple ? "apns" : "fcm"] ?? object["apns"] {
            return payload(part, "a send body of Pusher Beams")
        }
        if let v1 = object["fcmV1Message"], v1["message"] != nil {
            return withTarget(v1["message"], "a message of FCM v1 in SNS")
        }
        if object["message"] == nil, object.hasAny("android", "apns", "webpush", "fcmOptions", "fcm_options"),
            object.hasAny("token", "tokens", "topic", "condition", "notification", "data")
        {
            return withTarget(object, "a message of firebase-admin")
        }
        if object.hasAny("to", "registration_ids"), object.hasAny("data", "notification"),
            !object.hasAny("from", "messageId", "sentTime")
        {
            return ofLegacy(object, for: platform)
        }
        return nil
    }

    // Huawei: Push Kit's REST reference, "Sending Messages": data is a text, token a list.
    private static func isHuaweis(_ message: JSONNode) -> Bool {
        message["data"]?.kind == .string || message["token"]?.kind == .array
            || message["android"]?.hasAny("urgency", "fast_app_target", "bi_tag", "target_user_type", "category")
                == true
            || message["android"]?["notification"]?["click_action"]?.kind == .object
    }

    private static func ofHuawei(_ message: JSONNode) -> WrittenPayload? {
        let own = message["android"]
        let text = own?["data"] ?? message["data"]
        let data = text.flatMap { $0.kind == .object ? $0 : $0.objectInText }
        let block = own?["notification"] ?? message["notification"]
        var writer = JSONWriter()
        writer.object { writer in
            if let data { writer.member("data", raw: data.compactBytes) }
            if let block, block.kind == .object { writer.member("notification", raw: block.compactBytes) }
            if data == nil, block == nil { writer.member("data", object: { _ in }) }
        }
        var payload = WrittenPayload(json: writer.bytes, platform: .android)
        payload.transport = .hms
        payload.name = "a send body of Huawei's push kit"
        return payload
    }

    /// A send body of Expo's push service: what the device gets of it.
    ///
    /// Source: Expo's "Sending notifications with the Expo Push Service", the format of a message; the keys on the device
    /// from FirebaseMessagingDelegate.kt and NotificationData.kt of expo-notifications.
    private static func ofExpo(_ object: JSONNode, for platform: Platform?) -> WrittenPayload? {
        let target = object["to"].flatMap { $0.kind == .array ? $0.elements.first : $0 }?.string
        guard let target, target.hasPrefix("ExponentPushToken[") || target.hasPrefix("ExpoPushToken[") else {
            return nil
        }
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
        var payload = WrittenPayload(json: writer.bytes, platform: platform.isApple ? .ios : .android)
        payload.name = """
            a send body of Expo's push service, which makes the payload of it; only --platform ios has content-available \
            and the other keys of iOS
            """
        return payload
    }

    /// Amazon SNS: a JSON text for each service.
    private static func ofSNS(_ object: JSONNode, for platform: Platform?) -> WrittenPayload? {
        let android = object["GCM"] ?? object["FCM"]
        let apple = object["APNS"] ?? object["APNS_SANDBOX"]
        guard android ?? apple != nil, object["default"] != nil || object.count <= 3 else { return nil }
        let isApple = platform.isApple || android == nil
        guard let part = isApple ? apple ?? android : android else { return nil }
        return payload(part, "a message of Amazon SNS", isApple && apple != nil ? .ios : nil)
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
                        case "fcmOptions": writer.member("fcm_options", raw: value.compactBytes)
                        case "apns": writer.member(key, object: { $0.adminPart(of: value, isApple: true) })
                        case "android": writer.member(key, object: { $0.adminPart(of: value, isApple: false) })
                        default: writer.member(key, raw: value.compactBytes)
                        }
                    }
                })
        }
        var payload = WrittenPayload(json: writer.bytes)
        payload.name = name
        return payload
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
                    case "data", "notification": writer.member(key, raw: value.compactBytes)
                    case "priority": writer.member("originalPriority", raw: value.compactBytes)
                    case "time_to_live": writer.member("ttl", raw: value.compactBytes)
                    case "collapse_key": writer.member("collapseKey", raw: value.compactBytes)
                    default: break
                    }
                }
            }
        }
        var payload = WrittenPayload(json: writer.bytes, platform: platform)
        payload.name = "a send body of FCM's API before v1"
        return payload
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
            case "fcmOptions": member("fcm_options", raw: value.compactBytes)
            case "payload" where isApple && value["aps"] != nil:
                member(
                    "payload",
                    object: { payload in
                        for (key, value) in value.members {
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

    /// Writes the members of `aps` of firebase-admin for Node.
    private mutating func adminMembers(of aps: JSONNode) {
        let names = [
            "contentAvailable": "content-available", "mutableContent": "mutable-content", "threadId": "thread-id",
        ]
        for (key, value) in aps.members {
            guard let name = names[key] else {
                member(key, raw: value.compactBytes)
                continue
            }
            if let flag = value.bool { if flag { member(name, 1) } } else { member(name, raw: value.compactBytes) }
        }
    }
}

extension Platform? {
    /// Whether the platform is known, and its payloads are Apple's.
    fileprivate var isApple: Bool { self?.hasAPNsHeaders == true }
}

extension JSONNode {
    /// Whether an object has one of these keys, with any value but `null`.
    fileprivate func hasAny(_ keys: String...) -> Bool {
        keys.contains { self[$0].map { $0.kind != .null } == true }
    }

    /// The object in a JSON text; `nil` for any other value.
    fileprivate var objectInText: JSONNode? {
        guard let string, let root = try? JSONDocument(scanning: Array(string.utf8)).root, root.kind == .object else {
            return nil
        }
        return root
    }
}
