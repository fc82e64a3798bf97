public import PushModel
import PushRouter

// Objects without a payload.
extension PayloadEnvelope {
    /// Returns the name of an object without a payload, with a remedy; `nil` if it may have one.
    public static func nameOfOther(_ object: JSONNode, for platform: Platform? = nil) -> String? {
        // A push has its own keys, and a request names its operation.
        if object.members.first?.key == "default", object["default"]?.kind == .string, object["aps"]?.kind == .object,
            object.count <= 3
        {
            return """
                this is a message for Amazon SNS without a member for a service: SNS sends the text default, and no aps; \
                the payload belongs as a text in JSON into APNS (APNS_SANDBOX for builds of Xcode)
                """
        }
        if object["op"] != nil || object.isApplePayload { return nil }
        if platform == nil, object.count > 0, object["aps"] == nil,
            object.members.allSatisfy({ $0.value.kind == .null })
        {
            return "this is an object with nothing but null, not a push: give the message that is sent or comes"
        }
        return nameOfAnswer(object, for: platform) ?? nameOfInnerAnswer(object)
            ?? (object.hasTextsOnly ? nil : nameOfOwnService(object))
            ?? nameOfRefused(object) ?? nameOfFile(object, for: platform)
    }

    /// The name of an object that has an answer in a member: the result of a client of HTTP, or of pushy; and of an error
    /// of APNs' binary protocol, as clients print it.
    private static func nameOfInnerAnswer(_ object: JSONNode) -> String? {
        if object["command"]?.int64 == 8, object["status"]?.kind == .number, object["identifier"] != nil {
            return
                "this is an error of APNs' binary protocol, which Apple has switched off, not a push: send over HTTP/2"
        }
        if object["status_code"] != nil, let body = object["body"]?.objectInText { return nameOfAnswer(body, for: nil) }
        return object.members.lazy.filter { $0.value["rejectionReason"] != nil }.compactMap {
            nameOfAnswer($0.value, for: nil)
        }.first
    }

    /// Send bodies of services that make the payload of the device themselves.
    private static func nameOfOwnService(_ object: JSONNode) -> String? {
        if object.hasAny("audience"), object["platform"] != nil, object.hasAny("notification", "message"),
            object["to"] == nil
        {
            return body(of: "JPush")
        }
        let (method, url) = (
            object["method"] ?? object["Method"], object["url"] ?? object["path"] ?? object["RequestUri"]
        )
        if method != nil, url != nil, object.hasAny("headers", "Headers"),
            !object.hasAny("body", "data", "json", "Body")
        {
            return "this is a request without its body, not a push: give the body that it sends"
        }
        let languages = [object["contents"], object["headings"]].contains { $0?["en"] != nil }
        func body(of service: String) -> String {
            """
            this is a send body for \(service), which makes the payload of it: send it to a test device, and take the \
            payload from the log of the device
            """
        }
        if ["start", "update", "end"].contains(object["event"]?.string), object["event_updates"]?.kind == .object {
            return """
                this is a request to OneSignal for a Live Activity, not a push: OneSignal sends it to iOS alone (push type \
                liveactivity), where it changes the activity; Android gets nothing
                """
        }
        if object["app_id"] != nil, object["notifications"]?.kind == .array, !object.hasAny("total_count", "offset") {
            return body(of: "OneSignal") + "; OneSignal takes one notification, and no list of them"
        }
        if object["status_code"]?.kind == .number, object["status_message"] != nil, object["response"] != nil {
            return "this is an answer of Pushwoosh, not a push"
        }
        if object["alertContent"]?.kind == .string, object.hasAny("extras", "alertType") {
            return """
                this is an event of JPush's plugin, not a push: JPush's SDK shows alertContent, and extras is the sender's \
                data
                """
        }
        if object.count == 1, let request = object["request"], request.hasAny("hwid"), request["notifications"] == nil {
            return "this is a request of Pushwoosh's SDK to its service, not a push"
        }
        let isOneSignals = object["app_id"] != nil && object.hasAny("contents", "headings", "template_id")
        if languages || isOneSignals, object.hasAny("contents", "headings") {
            return body(of: "OneSignal") + "; OneSignal's SDK shows contents, whatever the app's own service does"
        }
        if languages || isOneSignals
            || object.members.contains(where: {
                $0.key.hasPrefix("include") && $0.key.has("_") && $0.value.kind == .array
            })
            || object["include_aliases"]?.kind == .object
        {
            return body(of: "OneSignal")
        }
        let isBrazes =
            object["messages"]?.kind == .object
            || object.hasAny("campaign_id", "canvas_id")
                && object.hasAny("recipients", "broadcast", "trigger_properties", "canvas_entry_properties", "audience")
        if isBrazes {
            return body(of: object.hasAny("campaign_id", "canvas_id") ? "a campaign or a Canvas of Braze" : "Braze")
        }
        if let first = object["notifications"]?.elements.first, first.hasAny("tokens", "token"),
            first["platform"] != nil
        {
            return body(of: first["tokens"] == nil ? "gaurun" : "gorush")
        }
        if let event = object["notification"], event.hasAny("event_id", "room_id"), event["devices"] != nil {
            return body(of: "a push gateway of Matrix")
        }
        if object["audience"] != nil, object["device_types"] != nil { return body(of: "Airship") }
        let sent = object["notification"] ?? object
        let parts = ["ios", "android"].compactMap { sent[$0] }
        if !parts.isEmpty, parts.allSatisfy({ $0.hasAny("alert") }) {
            return body(of: object["platform"] == nil ? "Airship" : "JPush")
        }
        let tokens = object.members.filter { $0.key.lowercased().hasSuffix("tokens") && $0.value.kind == .array }
        let isOfFCM = object.hasAny("data", "notification", "message", "to", "registration_ids", "tokens", "apns")
        let title = object.members.first { $0.value.kind == .object && $0.value.hasAny("title", "body") }
        if let key = tokens.first?.key, let title, !isOfFCM {
            return """
                this is a request to a server of your own (\(key.showingControls()), \(title.key.showingControls())), not \
                a push: give the message that the server sends, or what the device got
                """
        }
        if object["request"]?["notifications"] != nil { return body(of: "Pushwoosh") }
        if object.hasAny("where", "channels"), object["data"]?.hasAny("alert") == true { return body(of: "Parse") }
        if object["to"]?.kind == .object, object["content"]?.kind == .object { return body(of: "CleverTap") }
        if object["transactional_message_id"] != nil { return body(of: "Customer.io") }
        if object["campaignId"] != nil, object.hasAny("recipientEmail", "recipientUserId") {
            return body(of: "Iterable")
        }
        return nil
    }

    /// A send body of FCM's API before v1 that FCM refused, as it refuses its like in v1.
    ///
    /// Source: "Firebase Cloud Messaging HTTP protocol", InvalidDataKey and the forms of `to` and `condition`.
    private static func nameOfRefused(_ object: JSONNode) -> String? {
        func refused(_ why: String) -> String {
            "this is a send body that FCM refuses, so that nothing reaches a device: \(why)"
        }
        let targets = ["token", "topic", "condition"].filter { object[$0]?.kind == .string }
        if targets.count > 1, ["notification", "data"].contains(where: { object[$0]?.kind == .object }) {
            return refused("it has \(targets.joined(separator: " and ")), and FCM takes one of them")
        }
        guard isLegacy(object) else { return nil }
        if let key = object["data"]?.members.first(where: { V1Body.keepsForItself($0.key) })?.key {
            return refused("data.\(key.showingControls()) is a key that FCM keeps for itself; give it another name")
        }
        if let to = object["to"]?.string, to.has("topics"), to.has("/") {
            let name = to.hasPrefix("/topics/") ? String(to.dropFirst(8)) : ""
            guard !V1Body.isTopic(name), !name.has("<"), !name.has("$") else { return nil }
            return refused(
                "to is \"\(to.showingControls())\", which names no topic: it is /topics/ and a name of A-Z, a-z, 0-9 and -_.~%"
            )
        }
        if let condition = object["condition"]?.string {
            do throws(TopicCondition.Fault) { _ = try TopicCondition(condition) } catch {
                return refused("condition: \(error.message)")
            }
        }
        return nil
    }

    /// Whether an object is the record of a log: a time beside a level, or beside a line that a container wrote. The data
    /// of a push may have such keys, too.
    static func isLogRecord(_ object: JSONNode) -> Bool {
        let time = ["time", "timestamp", "ts", "@timestamp", "datetime"].lazy.compactMap { object[$0] }.first
        guard let time, !object.isApplePayload, !object.hasAny("data", "notification", "aps", "to", "title", "body"),
            !object.members.contains(where: { V1Body.keepsForItself($0.key) })
        else { return false }
        if object["log"]?.kind == .string, ["stdout", "stderr"].contains(object["stream"]?.string) { return true }
        if object["@timestamp"] != nil, object.hasAny("message", "msg", "log") { return true }
        let level = ["level_name", "level", "log.level", "severity", "lvl", "levelname"].lazy.compactMap { object[$0] }
            .first
        let words = ["trace", "debug", "info", "notice", "warn", "warning", "error", "critical", "fatal", "default"]
        let isOfLogger = object.hasAny("pid", "hostname", "logger", "caller", "textPayload", "jsonPayload", "logName")
        if let number = level?.int64 { return isOfLogger || number >= 10 && number % 10 == 0 && object["msg"] != nil }
        let isDate =
            time.string.map {
                $0.utf8.count >= 10 && $0.utf8.first?.isDigit == true && ["-", "/"].contains(where: $0.has)
            } == true
        let own = ["time", "timestamp", "ts", "level", "severity", "lvl", "msg", "message"]
        let isPlain = object.count > 2 && object.members.allSatisfy { own.contains($0.key) && $0.value.kind == .string }
        return level?.string.map { words.contains($0.lowercased()) } == true && (isDate || isOfLogger || isPlain)
            && object.hasAny("msg", "message", "log", "textPayload", "jsonPayload", "event")
    }

    /// The push in a record of a log: in its text, or an object beside it.
    static func ofLogRecord(_ object: JSONNode) -> WrittenPayload? {
        let name = "the record of a log with a push in "
        for (key, value) in object.members where value.kind == .object && !["resource", "labels", "err"].contains(key) {
            for inner in [value, value["body"] ?? value]
            where WrittenPayload(json: inner.compactBytes).isAboutPush(isTentative: true) && !isAnswer(inner) {
                return payload(inner, name + key.showingControls())
            }
        }
        for key in ["log", "msg", "message", "textPayload", "payload"] {
            guard let text = object[key]?.string, text.utf8.count <= logMax,
                let (_, found, _) = try? read(Array(text.utf8), for: nil, limits: JSONLimits(depth: .max)),
                let root = try? JSONDocument(scanning: found.json, limits: JSONLimits(depth: .max)).root,
                RepairedPayload.isKnown(root) || root["extras"]?.kind == .object
            else { continue }
            var result = found
            result.name = name + key
            return result
        }
        return nil
    }

    /// The limit of a text in a record that is searched for a push, in bytes.
    private static let logMax = 16 << 10

    /// Whether an object has these keys of what Android keeps with a notification.
    private static func hasExtrasOfNotification(_ object: JSONNode?) -> Bool {
        let keys = ["android.title", "android.text", "android.template", "android.appInfo", "android.showWhen"]
        return keys.count { object?[$0] != nil } >= 2
    }

    private static func nameOfFile(_ object: JSONNode, for platform: Platform?) -> String? {
        if let name = nameOfSNS(object) { return name }
        if platform == nil, isLogRecord(object), ofLogRecord(object) == nil {
            let meaning = KnownSentence.meaning(in: object).map { ": \($0)" } ?? ""
            return "this is the record of a log, without a push in it\(meaning)"
        }
        if let shown = object["notifications"]?.elements.first, shown.hasAny("id", "identifier"),
            shown.hasAny("title", "body", "data"),
            object.count == 1
        {
            return """
                these are notifications that the device shows already (getDeliveredNotifications), not a push: give what \
                the app got, or the send body
                """
        }
        let options: Set<String> = [
            "android", "apns", "webpush", "priority", "timeToLive", "collapseKey", "contentAvailable", "mutableContent",
            "dryRun", "restrictedPackageName", "content_available", "time_to_live", "collapse_key", "ttl",
        ]
        let parts = ["android", "apns", "webpush"].compactMap { object[$0] }
        let hasPush = parts.contains { $0.hasAny("notification", "data", "payload", "fcm_options", "fcmOptions") }
        if object.count > 0, object.members.allSatisfy({ options.contains($0.key) }), !hasPush,
            object.hasAny("android", "apns", "webpush", "timeToLive", "contentAvailable", "time_to_live")
        {
            return "these are options of a send over FCM, without notification and data: give the message, too"
        }
        let headers = [
            "content-type", "content-length", "cache-control", "date", "server", "connection", "vary", "user-agent",
            "accept-ranges", "x-frame-options", "authorization", "transfer-encoding", "expires", "etag", "pragma",
            "via",
            "host", "accept", "age",
        ]
        let isHeader = { (key: String) in headers.contains(key.lowercased()) || key.has("-") }
        if object.members.count(where: { headers.contains($0.key.lowercased()) }) >= 2,
            object.members.allSatisfy({ isHeader($0.key) })
        {
            return "these are the headers of a request or an answer, not a push: give its body"
        }
        if object["topic"]?.string != nil, object["time"]?.kind == .number, object["event"]?.string != nil {
            return "this is a message of ntfy, whose own app shows it: no push of FCM or APNs"
        }
        if object["appid"]?.kind == .number, object["date"]?.string != nil, object["message"]?.string != nil {
            return "this is a message of Gotify, whose own app shows it: no push of FCM or APNs"
        }
        if object.hasAny("$schema", "openapi", "swagger")
            || object["type"]?.string == "object" && object["properties"]?.kind == .object
        {
            return "this is a description of data (JSON Schema, OpenAPI), not a push"
        }
        if object.hasAny("errno", "syscall"), !object.hasTextsOnly, let code = object["code"]?.string,
            code.hasPrefix("E"),
            code.utf8.allSatisfy({ (65...90).contains($0) || $0 == UInt8(ascii: "_") || $0.isDigit })
        {
            return "this is the error of a program (\(code.showingControls())), not a push"
        }
        if object.hasAny("senderID") || ["android", "ios"].contains(where: { object[$0]?.hasAny("senderID") == true }) {
            return "this is what an app starts a plugin with (senderID), not a push"
        }
        if let variable = ["notification", "apns", "android", "webpush"].first(where: { object[$0]?.string == $0 }) {
            return """
                this is source code whose \(variable) is a variable, not a push: run it, and give the message that it \
                makes as JSON
                """
        }
        if object["uriPage"] != nil, object["extras"] != nil, object["remoteMessage"]?.count == 0 {
            return """
                this is the event of a tap that Huawei's plugin gives, without a message: Huawei's push kit showed the \
                notification itself, and no service of the app ran; give the send body
                """
        }
        if let mark = marksOfEvent.first(where: { object[$0] != nil }), isEmptyEvent(object) {
            let isTap = object["wasTapped"]?.bool == true
            return """
                this is the event of a plugin (\(mark)) without anything of the push in it: no text, no data\
                \(isTap ? "; after a tap this means that FCM showed a notification message itself" : ""); give what native \
                code got, or the send body
                """
        }
        if hasExtrasOfNotification(object) || hasExtrasOfNotification(object["data"]) {
            return """
                this is a notification that Android shows already, with its own extras (android.title and others), as \
                Capacitor gives the delivered ones: the data of the push is not in it; give what the app got
                """
        }
        if object["messageType"]?.string == "notification", object["tap"]?.string != nil,
            !object.hasAny("title", "body")
        {
            return """
                this is the event of a tap that cordova-plugin-firebasex gives (tap, messageType notification): FCM \
                showed a notification message itself, and no service of the app ran; title and body are not in the \
                extras that a tap brings: give the send body
                """
        }
        if let request = (object["notification"] ?? object)["request"], request["content"] != nil,
            let trigger = request["trigger"], isLocal(trigger)
        {
            return """
                this is a local notification of expo-notifications (its trigger is no push): the app made it itself, \
                and no push brought it
                """
        }
        let response = (object["notification"] ?? object)["request"]
        if let content = response?["content"], response?["trigger"]?["type"]?.string == "push",
            !content.hasAny("title", "body", "data", "dataString"),
            response?["trigger"]?.hasAny("remoteMessage", "payload") != true
        {
            return """
                this is a notification of expo-notifications without content, and so without the payload: its owner \
                cannot be told from it\(object["actionIdentifier"] == nil ? "" : " (it is the event of a tap)"); give \
                what trigger.remoteMessage or trigger.payload has, or the log of the device
                """
        }
        if object["type"]?.string == "service_account" {
            return "this is the key of a service account, not a push: keep it secret"
        }
        if object["project_info"] != nil, object["client"] != nil {
            return "this is a google-services.json, not a push"
        }
        if object["endpoint"]?.string != nil,
            ["keys", "expirationTime", "userPublicKey", "userAuthToken", "p256dh"].contains(where: { object[$0] != nil }
            )
        {
            return "this is the subscription of a browser, not a push: give the data of the push event"
        }
        if object["iss"] != nil, object["iat"] != nil, object.count <= 5 {
            return "these are the claims of a provider token, not a push"
        }
        if let bundle = object["extras"] ?? object["data"], bundle.hasAny("_nmid", "_nmt"), bundle["_o"] != nil {
            return
                "this is an event of Firebase Analytics about a push, not the push: the extras of the push are in another line"
        }
        if object["payload_type"]?.string?.hasPrefix("push_") == true, object["is_braze_internal"] != nil {
            return """
                this is the event of a push that Braze's SDK for React Native gives to JavaScript, without the keys by \
                which the SDK knew the push: give the userInfo or the extras, from native code or the log of the device
                """
        }
        if object.count == 1, object["customExtras"]?.kind == .object {
            return """
                this is the event of a click that CleverTap's plugin gives on iOS, without aps: give the userInfo, from \
                native code or the log of the device
                """
        }
        if object.count == 1, object["isTrusted"] != nil {
            return """
                this is an event of a browser that was made JSON, without data: give event.data.json(), or for a \
                click event.notification.data
                """
        }
        if object.hasAny("pressAction"), object["notification"]?["data"]?.count == 0 {
            return """
                this is an event of notifee about a notification that the app itself shows (pressAction), without data: \
                the push is not in it; give what native code got, or the send body
                """
        }
        if object["info"]?["author"]?.string == "xcode" { return "this is a catalogue of Xcode, not a push" }
        guard !object.hasAny("data", "notification", "message", "aps", "to", "title", "body") else { return nil }
        let isVersion = { (text: String) in text.hasPrefix("^") && text.utf8.dropFirst().first?.isDigit == true }
        if object.hasTextsOnly, object.members.contains(where: { $0.value.string.map(isVersion) == true }) {
            return "these are dependencies out of a package.json, not a push"
        }
        // Keys of the data of a push may be the same, and its values are texts.
        let file = files.first { keys, _ in
            keys.allSatisfy { object[$0] != nil } && (!object.hasTextsOnly || textsOfFiles.contains(keys[0]))
        }
        return file.map { "this is \($0.name), not a push" }
    }

    private static let textsOfFiles: Set<String> = [
        "webDir", "gcm_sender_id", "messagingSenderId", "aps-environment", "CFBundleIdentifier", "GOOGLE_APP_ID",
    ]

    /// Files of a project that reports about pushes have, each with keys that it has.
    private static let files: [(keys: [String], name: String)] = [
        (["dependencies"], "a package.json"), (["devDependencies"], "a package.json"),
        (["scripts", "version"], "a package.json"), (["autoload"], "a composer.json"),
        (["expo"], "an app.json of Expo"), (["cli", "build"], "an eas.json"),
        (["react-native"], "a firebase.json of React Native Firebase"), (["hosting"], "a firebase.json"),
        (["functions"], "a firebase.json"), (["webDir"], "a capacitor.config.json"),
        (["compilerOptions"], "a tsconfig.json"), (["manifest_version"], "the manifest of an extension"),
        (["start_url"], "the manifest of a web app"),
        (["gcm_sender_id"], "the manifest of a web app, with the id of a sender"),
        (["messagingSenderId"], "the configuration with which an app starts Firebase"),
        (["applinks"], "an apple-app-site-association"), (["webcredentials"], "an apple-app-site-association"),
        (["aps-environment"], "the entitlements of an app"), (["CFBundleIdentifier"], "an Info.plist"),
        (["UIBackgroundModes"], "a part of an Info.plist"), (["GOOGLE_APP_ID"], "a GoogleService-Info.plist"),
    ]
}

extension PayloadEnvelope {
    /// Whether a trigger of expo-notifications is one of the app's own: none, or a time.
    private static func isLocal(_ trigger: JSONNode) -> Bool {
        if trigger.kind == .null { return true }
        let times = ["timeInterval", "date", "calendar", "daily", "weekly", "monthly", "yearly"]
        return trigger["type"]?.string.map(times.contains) == true
    }

    /// Keys of which one is in each event of these plugins: react-native-push-notification, cordova-plugin-fcm,
    /// react-native-fcm and React Native Firebase before version 6.
    static let marksOfEvent = ["userInteraction", "wasTapped", "opened_from_tray"]

    /// The keys that plugins add to what a push had.
    static let ownOfEvent: Set<String> = [
        "userInteraction", "wasTapped", "opened_from_tray", "foreground", "coldstart", "finish", "id", "remote",
        "notificationId", "actionIdentifier", "action", "reply_text", "local_notification", "channelId",
    ]

    /// Whether the event of a plugin has nothing but what the plugin and FCM added.
    private static func isEmptyEvent(_ object: JSONNode) -> Bool {
        object.members.allSatisfy { key, value in
            value.kind == .null || ownOfEvent.contains(key) || V1Body.keepsForItself(key) || key == "collapse_key"
                || ["data", "fcm"].contains(key) && isEmptyEvent(value)
        }
    }

    /// A message for Amazon SNS with a name of a service in small letters, or with a value that is no object.
    private static func nameOfSNS(_ object: JSONNode) -> String? {
        let names = ["GCM", "FCM", "APNS", "APNS_SANDBOX", "APNS_VOIP", "APNS_VOIP_SANDBOX", "ADM"]
        let parts = object.members.filter { $0.key != "default" }
        if parts.allSatisfy({ names.contains($0.key) }),
            let (key, _) = parts.first(where: { $0.value.kind == .string && $0.value.objectInText == nil })
        {
            return """
                this is a message for Amazon SNS whose \(key) is no JSON object: its value has to be the payload as a \
                text in JSON, from { to }
                """
        }

        // Pusher Beams has the keys apns and fcm.
        let services = ["gcm", "apns_sandbox"] + (object["default"] == nil ? [] : ["fcm", "apns", "adm"])
        let others = object.members.filter { $0.key != "default" }
        guard (1...2).contains(others.count), others.allSatisfy({ services.contains($0.key) }),
            let (key, value) = others.first,
            value.hasAny("notification", "data", "aps") || value.objectInText != nil
        else { return nil }
        return """
            this is a message for Amazon SNS whose key is \(key): SNS knows \(key.uppercased()), in capitals, and its \
            value is the payload as a text in JSON
            """
    }
}
