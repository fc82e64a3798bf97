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
    ///   - addsTarget: whether a message of FCM v1 may lack its target.
    /// - Throws: the name of the object and a remedy, if it has no payload.
    public static func open(
        _ object: JSONNode, for platform: Platform?, addsTarget: Bool = false
    ) throws(PayloadFormError) -> WrittenPayload? {
        var result: WrittenPayload?
        var object = object
        // An event of a plugin may have a message, which may have a payload in a text.
        for _ in 0..<4 {
            if let name = nameOfOther(object, for: platform) { throw PayloadFormError(name) }
            let inner =
                opened(object, for: platform ?? result?.platform)
                ?? (result == nil ? ofBlockAlone(object, for: platform) : nil)
            guard var opened = inner ?? (addsTarget ? ofV1WithoutTarget(object) : nil),
                let document = try? JSONDocument(scanning: opened.json, limits: JSONLimits(depth: .max))
            else { break }
            if let result { opened.complete(from: result) }
            result = opened
            object = document.root
        }
        return result
    }
}

// A whole text.
extension PayloadEnvelope {
    /// As many further payloads of a text as are counted.
    public static let othersMax = 100

    /// Returns the first payload in a text in any form, with what its form says, and the number of those behind it.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - platform: the platform in the request; `nil`: unknown.
    ///   - limits: the limits of a payload.
    ///   - repairs: whether a fault that has one repair is repaired, and told.
    public static func read(
        _ text: [UInt8], for platform: Platform?, limits: JSONLimits, repairs: Bool = false
    ) throws(PayloadFormError) -> (object: JSONNode, facts: WrittenPayload, others: Int) {
        if platform?.takesText == true, let found = webPush(of: text, isSaid: false, limits: limits) {
            return (try scanned(found.json, limits), found, 0)
        }
        var notes: [String] = []
        let source = PastedText(text)
        var reader = PayloadReader(
            pasted: source, for: platform, limits: limits, repairs: repairs, note: { notes.append($0) })
        let record: PayloadRecord
        do throws(PayloadFormError) {
            guard let first = try reader.next() else { throw PayloadFormError("there is no payload in it") }
            record = first
        } catch {
            throw PayloadFormError(source.remark(error.message))
        }
        var others = 0
        while others < othersMax, (try? reader.next()) != nil { others += 1 }
        var facts = WrittenPayload(
            json: record.document.root.compactBytes, platform: record.platform, app: record.app,
            transport: record.transport)
        (facts.headers, facts.name) = (record.headers, record.name)
        facts.remarks = notes.map(source.remark).filter { $0 != record.name.map { "read as \($0)" } }
        return (record.document.root, facts, others)
    }

    /// Returns a text without a payload as the service worker gets it that is woken with it: the text of a web push, as an
    /// application server sends it; `nil` for an object, and for a text of another kind.
    ///
    /// - Parameters:
    ///   - text: the text. A line feed at its end is the file's.
    ///   - isSaid: whether a person says that it is one. If not, a text that has a name or the begin of a payload is none.
    ///   - limits: the limits of a payload.
    public static func webPush(of text: [UInt8], isSaid: Bool, limits: JSONLimits) -> WrittenPayload? {
        let text = text.last == UInt8(ascii: "\n") ? Array(text.dropLast()) : text
        guard text.count <= WebPushText.max else { return nil }
        let json = try? JSONDocument(scanning: text, limits: limits).root
        guard json?.kind != .object, isSaid || !isOfAnotherKind(text) else { return nil }
        let found = WebPushText(text, limits: limits)
        let name =
            if text.isEmpty {
                "a web push without a body: event.data is null, and event.data.json() throws a TypeError"
            } else if json == nil {
                "the text of a web push: the worker gets it by event.data.text(), and event.data.json() throws a SyntaxError"
            } else {
                "the text of a web push: event.data.json() gives a value that is no object"
            }
        return WrittenPayload(json: found.payload.compactBytes, platform: .web, name: name)
    }

    /// Whether a text has a name, is a line of a log, or begins like a payload.
    private static func isOfAnotherKind(_ text: [UInt8]) -> Bool {
        let lines = text.split(separator: UInt8(ascii: "\n")).map(Array.init)
        guard let first = lines.first(where: { !$0.allSatisfy(\.isJSONWhiteSpace) }) else { return false }
        return PayloadForm.nameOfOther(first) != nil || PayloadForm.firstOfCode(in: lines) != nil
            || !KnownSentence.all(in: lines).isEmpty
            || lines.contains { PayloadStart.isLog($0) || PayloadStart(in: $0).map { !$0.isTentative } ?? false }
    }

    private static func scanned(_ json: [UInt8], _ limits: JSONLimits) throws(PayloadFormError) -> JSONNode {
        do { return try JSONDocument(scanning: json, limits: limits).root } catch {
            throw PayloadFormError("the payload is not JSON: \(error.message)")
        }
    }
}

/// A payload as JSON, with the facts about the request that its form has.
public struct WrittenPayload: Sendable {
    /// The payload.
    public let json: [UInt8]
    /// The platform, if only one has such payloads.
    public var platform: Platform?
    /// The app.
    public var app: String?
    /// The service that carries it, if only one has such payloads.
    public var transport: Transport?
    /// The headers of the request to APNs, as a JSON object.
    public var headers: [UInt8]?
    /// The host of the service in the form; `nil` if it has none.
    public var host: String?
    /// The object that the payload was found in, for people; `nil` if the payload was all.
    public var name: String?
    /// The assumptions that repaired it, for people, each with its line.
    public var remarks: [String] = []
    /// The number of lines before it in its form, if it stands in lines of its own (a here-document).
    var bodyLine = 0

    /// Returns the same facts with another payload.
    public func with(json: [UInt8]) -> WrittenPayload {
        var result = WrittenPayload(json: json, platform: platform, app: app, transport: transport)
        (result.headers, result.host, result.name, result.remarks) = (headers, host, name, remarks)
        return result
    }

    /// Takes what this payload does not say from the one that it was found in. The outermost object has the name, unless it
    /// is a request.
    mutating func complete(from outer: WrittenPayload) {
        platform = platform ?? outer.platform
        app = app ?? outer.app
        transport = transport ?? outer.transport
        headers = headers ?? outer.headers
        name = outer.name == PayloadEnvelope.nameOfRequest ? name ?? outer.name : outer.name ?? name
        remarks = outer.remarks + remarks
    }
}

extension WrittenPayload {
    /// Whether an object that stands behind other text is about a push.
    ///
    /// - Parameters:
    ///   - start: its begin; `nil`: there is no other text.
    ///   - isTentative: whether the text does not say so.
    public func isAboutPush(_ start: PayloadStart? = nil, isTentative: Bool) -> Bool {
        guard let root = try? JSONDocument(scanning: json, limits: JSONLimits(depth: .max)).root else { return true }
        if root.kind == .array, let first = root.elements.first {
            return WrittenPayload(json: first.compactBytes, platform: platform).isAboutPush(
                start, isTentative: isTentative)
        }
        guard root.kind == .object else { return false }
        if platform?.takesText == true {
            // The options of the call are none.
            let options = ["TTL", "ttl", "urgency", "topic", "headers", "vapidDetails", "timeout", "sub", "aud", "exp"]
            return !root.members.allSatisfy { options.contains($0.key) }
        }
        // The options of a request, whose body is the message.
        if root.hasAny("method", "headers"), let body = root["body"] {
            return WrittenPayload(json: (body.objectInText ?? body).compactBytes).isAboutPush(isTentative: true)
        }
        if (root["to"] ?? root["token"])?.string?.hasPrefix("ExponentPushToken") == true { return true }
        if ["token", "deviceToken", "pushToken"].contains(root.members.first?.key), root.count == 1 { return false }
        // A push that iOS prints has aps.
        guard isTentative else {
            if start?.isArgumentOfCode == true, !root.members.contains(where: { Self.contents.contains($0.key) }) {
                return PayloadEnvelope.nameOfOther(root) != nil
            }
            return !platform.isApple || root.isApplePayload || root.hasAny("rawPayload", "payload")
        }
        if root.hasAny("Message", "GCM", "APNS"), root.hasAny("TargetArn", "TopicArn", "MessageStructure") {
            return true
        }
        if root.isApplePayload || root.hasAny("_ab", "web_push") || PayloadEnvelope.isAnswer(root) { return true }
        if root["app_id"] != nil, root.hasAny("contents", "headings") { return true }
        let hasContent = root.hasAny("data", "notification", "apns", "android", "webpush")
        if root.hasAny("to", "registration_ids", "token", "tokens", "topic", "condition") { return hasContent }
        // Pusher Beams has a part for each platform.
        return PayloadEnvelope.hasBlock(root) || root["message"]?.kind == .object && root.count <= 2
            || root.count > 0
                && root.members.allSatisfy {
                    ["web", "fcm"].contains($0.key) && $0.value["notification"]?.kind == .object
                }
    }

    /// Keys of which a message has one in each API and in each plugin.
    fileprivate static let contents: Set<String> = [
        "data", "notification", "message", "aps", "to", "token", "tokens", "topic", "apns", "web", "fcm",
        "android", "webpush", "payload", "extras", "contents", "messages", "content", "registration_ids", "condition",
        "_ab", "ab", "GCM", "APNS", "default", "Message",
    ]
}

// Objects with a payload in them.
extension PayloadEnvelope {
    private static func opened(_ object: JSONNode, for platform: Platform?) -> WrittenPayload? {
        if let print = ofNodeAPN(object) { return print }
        guard object["op"] == nil, !object.isApplePayload else { return nil }
        if platform == nil, object["web_push"]?.int64 == 8030 {
            return payload(object, "a declarative web push", .web)
        }
        if let extras = printedExtras(object) ?? extrasOfTap(object) ?? extrasOfGCM(object) { return extras }
        if let block = object["notification"], block.count > 0, block.members.allSatisfy({ $0.value.kind == .null }) {
            return withoutBlock(object)
        }
        if let message = ofPushKit(object) { return message }
        if object.hasTextsOnly {
            if isLogRecord(object) { return ofLogRecord(object) }
            return ofPublish(object, for: platform) ?? ofSNS(object, for: platform) ?? ofExpo(object, for: platform)
                ?? raw(object) ?? inWrapper(object)
        }
        if platform == nil, object["notification"]?["data"]?["onActionClick"] != nil {
            return payload(object, "a push for a service worker of Angular", .web)
        }
        if let message = object["hps"]?["msg"] { return ofOldHuawei(message) }
        if let message = object["message"], message.hasAny("pn_fcm", "pn_gcm", "pn_apns") {
            return payload(message, "what is published over PubNub")
        }
        if let push = object["extras"]?["push"], push.kind == .object {
            if platform.isApple, let part = push["apns"] { return payload(part, "a message of Ably with a push", .ios) }
            var writer = JSONWriter()
            writer.object { writer in
                for key in ["notification", "data"] {
                    if let value = push[key] { writer.member(key, raw: value.compactBytes) }
                }
            }
            return WrittenPayload(json: writer.bytes, platform: platform, name: "a message of Ably with a push")
        }
        if isLogRecord(object) { return ofLogRecord(object) }
        return event(object, for: platform) ?? sendBody(object, for: platform) ?? inWrapper(object)
    }

    /// Whether an object has a notification with a member that some service knows.
    static func hasBlock(_ object: JSONNode) -> Bool {
        guard let block = object["notification"], block.kind == .object else { return false }
        let others = [
            "id", "_deviceToken", "_options", "device", "deviceToken", "user_id", "type", "read", "created_at",
        ]
        return block.count == 0 || !block.members.allSatisfy { others.contains($0.key) }
    }

    /// Whether an object is like no push: FCM's data has no number, and no key is a service's, a library's or a plugin's.
    public static func isOfNoService(_ object: JSONNode) -> Bool {
        if object["notification"]?.kind == .object, !hasBlock(object), !object.hasAny("data", "to", "token", "message")
        {
            return true
        }
        let others: Set<String> = [
            "title", "body", "alert", "badge", "sound", "icon", "image", "tag", "actions", "url", "from", "messageId",
            "sentTime", "collapseKey", "ttl", "priority", "originalPriority", "foreground", "coldstart", "identifier",
            "notificationId", "trigger", "request", "remote", "custom", "userInfo", "additionalData", "launchURL",
        ]
        return object["op"] == nil
            && object.members.contains { $0.value.kind == .number || $0.value.kind == .bool }
            && !object.members.contains { key, value in
                WrittenPayload.contents.contains(key) || others.contains(key) || V1Body.keepsForItself(key)
                    || ["google", "gcm", "content", "mutable", "notification"].contains { key.hasPrefix($0) }
                    || ownOfEvent.contains(key) || marksOfEvent.contains(key)
            }
    }

    /// The name of the options of a request, which say less than the name of its body.
    static let nameOfRequest = "the body of a request"

    /// The push in an object around it: its one member, or the body of a request in source code.
    private static func inWrapper(_ object: JSONNode) -> WrittenPayload? {
        let known = ["data", "notification", "message", "extras", "android", "apns", "webpush", "aps"]
        guard let (key, inner) = object.members.first(where: { object.count == 1 || $0.key == "body" }),
            !known.contains(key),
            let inner = inner.kind == .object ? inner : object.hasAny("method", "headers") ? inner.objectInText : nil,
            object.count == 1 || !object.hasAny("data", "notification")
        else { return nil }
        let isPush =
            inner.isApplePayload || inner["notification"]?.kind == .object
            || inner["message"]?.hasAny("data", "notification") == true || key == "body" && inner["to"] != nil
        let name = key == "body" ? nameOfRequest : "an object with a push in \(key.showingControls())"
        return isPush ? payload(inner, name, key == "web" ? .web : nil) : nil
    }

    /// A notification of node-apn, which prints the keys beside `aps` as `payload`, and the headers as members.
    ///
    /// Source: node-apn, lib/notification/index.js and apsProperties.js.
    private static func ofNodeAPN(_ object: JSONNode) -> WrittenPayload? {
        guard let aps = object["aps"], object["payload"]?.kind == .object, object.hasAny("encoding", "compiled") else {
            return nil
        }
        var headers = JSONWriter()
        headers.object { writer in
            for (key, header) in [("topic", APNsHeader.topic), ("pushType", .pushType), ("collapseId", .collapseID)] {
                object[key]?.string.map { writer.member(header.rawValue, $0) }
            }
            object["priority"]?.int64.map { writer.member(APNsHeader.priority.rawValue, "\($0)") }
        }
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("aps", raw: aps.compactBytes)
            for (key, value) in object["payload"]?.members ?? [] { writer.member(key, raw: value.compactBytes) }
        }
        var result = WrittenPayload(json: writer.bytes, platform: .ios, name: "a notification of node-apn")
        result.headers = headers.bytes
        return result
    }

    /// A message as FlutterFire prints it: a notification with nothing but `null` is none.
    private static func withoutBlock(_ object: JSONNode) -> WrittenPayload {
        var writer = JSONWriter()
        writer.object { writer in
            for (key, value) in object.members where key != "notification" {
                writer.member(key, raw: value.compactBytes)
            }
        }
        return WrittenPayload(json: writer.bytes, name: "a message whose notification has nothing in it")
    }

    /// The limit of such a text: Huawei takes 4 KiB.
    private static let dataMax = 16 << 10

    /// A message of Huawei's push service before its push kit: type 3 is a notification, type 1 goes to the app.
    ///
    /// Source: Huawei, "Push Service API Reference" before HMS Core, the field payload (hps, msg, action, ext).
    static func ofOldHuawei(_ message: JSONNode) -> WrittenPayload? {
        let body = message["body"]
        var writer = JSONWriter()
        writer.object { writer in
            if message["type"]?.int64 == 3 {
                writer.member(
                    "notification",
                    object: { block in
                        for (key, name) in [("title", "title"), ("content", "body")] {
                            body?[key].map { block.member(name, raw: $0.compactBytes) }
                        }
                    })
            } else {
                writer.member(
                    "data", raw: (body?.objectInText ?? body).map { Array($0.compactBytes) } ?? Array("{}".utf8))
            }
        }
        return WrittenPayload(
            json: writer.bytes, platform: .android, transport: .hms,
            name: "a message of Huawei's push service before its push kit")
    }

    // Huawei: Push Kit's REST reference, "Sending Messages": data is a text, token a list.
    static func isHuaweis(_ message: JSONNode) -> Bool {
        message["data"]?.kind == .string || message["token"]?.kind == .array
            || message["android"]?.hasAny("urgency", "fast_app_target", "bi_tag", "target_user_type", "category")
                == true
            || message["android"]?["notification"]?["click_action"]?.kind == .object
    }

    static func ofHuawei(_ message: JSONNode) -> WrittenPayload? {
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
        return WrittenPayload(
            json: writer.bytes, platform: .android, transport: .hms,
            name: "a send body of Huawei's push kit" + unknownToHuawei(own, block))
    }

    /// The keys of a send body that Huawei does not know, and the ones that they resemble.
    ///
    /// Source: hms-push-serverdemo-php, AndroidConfig.php and AndroidNotification.php (read 2026-12-01); keys that Huawei
    /// added since are in its REST reference.
    private static func unknownToHuawei(_ android: JSONNode?, _ block: JSONNode?) -> String {
        let ofAndroid = [
            "collapse_key", "category", "urgency", "ttl", "bi_tag", "fast_app_target", "notification", "data",
            "target_user_type", "receipt_id", "voip_token",
        ]
        let ofBlock = [
            "title", "body", "image", "icon", "color", "sound", "tag", "click_action", "body_loc_key", "body_loc_args",
            "title_loc_key", "title_loc_args", "multi_lang_key", "channel_id", "notify_summary", "notify_icon", "style",
            "big_title", "big_body", "big_picture", "auto_clear", "notify_id", "group", "badge", "ticker",
            "auto_cancel",
            "when", "local_only", "importance", "use_default_vibrate", "use_default_light", "vibrate_config",
            "visibility", "light_settings", "foreground_show", "default_sound", "inbox_content", "buttons",
            "profile_id", "live_notification",
        ]
        let names = [(android, ofAndroid, "android."), (block, ofBlock, "notification.")].flatMap {
            node, known, place in
            (node?.members ?? []).prefix(64).compactMap { member -> String? in
                guard !known.contains(member.key) else { return nil }
                let meant =
                    Spelling.meant(by: member.key, of: known)
                    ?? known.first { member.key.count > 7 && $0.hasPrefix(member.key.prefix(8)) }
                return meant.map {
                    "\(place)\(member.key.showingControls()) is no key of Huawei's (\($0) is)"
                }
            }
        }
        return names.prefix(3).map { "; \($0)" }.joined()
    }

    /// A message as Huawei's push kit hands it to an app: its data is a text, which the app reads as JSON.
    ///
    /// Source: HMS-Core/hms-cordova-plugin#130; FCM's RemoteMessage has a map.
    private static func ofPushKit(_ object: JSONNode) -> WrittenPayload? {
        let message = object["remoteMessage"] ?? object["msg"] ?? object
        let own = [
            "data", "dataOfMap", "messageId", "ttl", "from", "to", "token", "messageType", "collapseKey", "sentTime",
            "urgency", "originalUrgency", "receiptMode", "sendMode",
        ]
        guard message["messageId"]?.string?.hasPrefix("0:") == false, message["data"]?.kind == .string,
            message.members.allSatisfy({ own.contains($0.key) })
        else { return nil }
        // dataOfMap has the same as Java prints it.
        let json = ["data", "dataOfMap"].lazy.compactMap { key -> [UInt8]? in
            guard let text = message[key]?.string.map({ Array($0.utf8) }), text.count <= dataMax else { return nil }
            let found = PayloadForm.object(in: text).flatMap { $0.rest.isEmpty ? $0.payload.json : nil }
            let root = (try? JSONDocument(scanning: found ?? text, limits: JSONLimits(depth: .max)))?.root
            return root?.kind == .object ? root?.compactBytes : nil
        }.first
        guard let json else { return nil }
        var writer = JSONWriter()
        writer.object { $0.member("data", raw: json) }
        return WrittenPayload(
            json: writer.bytes, platform: .android, transport: .hms,
            name: "a message of Huawei's push kit, whose data is a text")
    }

    /// The extras of the activity that a tap on a notification of FCM's starts: the data of the push, and what FCM's
    /// statistics need. The keys of the notification are not among them.
    ///
    /// Source: firebase-android-sdk, CommonNotificationBuilder.createContentIntent, MessageNotificationKeys.
    private static func extrasOfTap(_ object: JSONNode) -> WrittenPayload? {
        let extras = object["extras"] ?? object
        let action = object["extras"] == nil ? nil : object["action"]?.string
        let opensActivity = action?.hasPrefix("android.intent.action.") == true
        guard action == nil || opensActivity, extras.kind == .object, !extras.hasAny("gcm.n.e", "gcm.notification.e"),
            extras["gcm.n.analytics_data"] != nil || opensActivity && extras["google.message_id"] != nil
        else { return nil }
        return WrittenPayload(
            json: json(ofExtras: extras, isNotification: true), platform: .android,
            name: """
                the extras that an activity gets by a tap on a notification that FCM showed, whose text is not among them
                """)
    }

    /// An intent whose extras are the members of an object, as texts, with FCM's mark of a notification if it is one.
    private static func json(ofExtras extras: JSONNode, isNotification: Bool = false) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member(
                "extras",
                object: { writer in
                    if isNotification { writer.member("gcm.n.e", "1") }
                    for (key, value) in extras.members where value.kind != .null && key != "gcm.n.analytics_data" {
                        writer.member(key, value.string ?? String(decoding: value.compactBytes, as: UTF8.self))
                    }
                })
        }
        return writer.bytes
    }

    /// Extras with the notification of the push as a Bundle, as the library of GCM gave them in the foreground.
    ///
    /// From reports alone.
    private static func extrasOfGCM(_ object: JSONNode) -> WrittenPayload? {
        let extras = object["extras"] ?? object
        guard extras["google.message_id"] != nil || extras["collapse_key"] != nil,
            let text = extras["notification"]?.string,
            let block = PrintedMap.bundle(in: Array(text.utf8)[...]),
            block.hasAny("title", "body")
        else { return nil }
        var writer = JSONWriter()
        writer.object { writer in
            writer.member(
                "extras",
                object: { writer in
                    writer.member("gcm.n.e", "1")
                    for (key, value) in block.members {
                        writer.member(
                            "gcm.n.\(key)", value.string ?? String(decoding: value.compactBytes, as: UTF8.self))
                    }
                    for (key, value) in extras.members where key != "notification" {
                        writer.member(key, raw: value.compactBytes)
                    }
                })
        }
        return WrittenPayload(
            json: writer.bytes, platform: .android,
            name:
                "extras with a notification in a Bundle, as GCM's library gave them: the push had a notification block")
    }

    /// The extras of an intent as a plugin prints them: the keys that FCM adds are among those of the app.
    private static func printedExtras(_ object: JSONNode) -> WrittenPayload? {
        let own = [
            "google.message_id", "google.sent_time", "google.delivered_priority", "google.original_priority",
            "google.ttl",
        ]
        guard let key = ["data", "payload"].first(where: { key in own.count { object[key]?[$0] != nil } > 1 }),
            let extras = object[key],
            object["notification"]?.members.contains(where: { $0.value.kind != .null }) != true,
            object["fcm"]?.count ?? 0 == 0
        else { return nil }
        let isTap = object["notification"] != nil
        return WrittenPayload(
            json: json(ofExtras: extras), platform: .android,
            name: """
                the extras of an intent in \(key), with the keys that FCM adds\
                \(isTap ? "; after a tap the notification is used up, and only its data comes" : "")
                """)
    }

    static func payload(
        _ node: JSONNode, _ name: String, _ platform: Platform? = nil, over transport: Transport? = nil
    ) -> WrittenPayload? {
        guard let object = node.kind == .object ? node : node.objectInText else { return nil }
        return WrittenPayload(json: object.compactBytes, platform: platform, transport: transport, name: name)
    }
}

extension Platform {
    /// Whether a push may be any text: a web push is the bytes that the service worker gets.
    var takesText: Bool {
        switch self {
        case .web: true
        case .android, .ios: false
        }
    }
}

extension Platform? {
    /// Whether the platform is known, and its payloads are Apple's.
    var isApple: Bool { self?.hasAPNsHeaders == true }
}

extension JSONNode {
    /// Whether all values are texts, as in the data of an Android message, whose keys are the app's own.
    var hasTextsOnly: Bool { kind == .object && members.allSatisfy { $0.value.kind == .string } }

    /// Whether an object has one of these keys, with any value but `null`.
    func hasAny(_ keys: String...) -> Bool {
        keys.contains { self[$0].map { $0.kind != .null } == true }
    }

    /// The object in a JSON text; `nil` for any other value.
    var objectInText: JSONNode? {
        guard let string, let root = try? JSONDocument(scanning: Array(string.utf8)).root, root.kind == .object else {
            return nil
        }
        return root
    }
}
