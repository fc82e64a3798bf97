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
            if let result { opened.complete(from: result) }
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
        var written = WrittenPayload(json: text)
        var root: JSONNode
        do throws(JSONError) { root = try JSONDocument(scanning: text, limits: limits).root } catch {
            guard let found = try first(in: text) else {
                throw PayloadFormError("the payload is not JSON: \(error.message)")
            }
            written = found
            root = try scanned(found.json, limits)
        }
        if root.kind == .object, var opened = try open(root, for: platform ?? written.platform) {
            opened.complete(from: written)
            written = opened
            root = try scanned(opened.json, limits)
        }
        return (root, written)
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

// Objects with a payload in them.
extension PayloadEnvelope {
    private static func opened(_ object: JSONNode, for platform: Platform?) -> WrittenPayload? {
        guard object["op"] == nil, !object.isApplePayload else { return nil }
        if let block = object["notification"], block.count > 0, block.members.allSatisfy({ $0.value.kind == .null }) {
            return withoutBlock(object)
        }
        if object.hasTextsOnly { return ofSNS(object, for: platform) ?? raw(object) }
        return event(object, for: platform) ?? sendBody(object, for: platform)
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

    static func payload(
        _ node: JSONNode, _ name: String, _ platform: Platform? = nil, over transport: Transport? = nil
    ) -> WrittenPayload? {
        guard let object = node.kind == .object ? node : node.objectInText else { return nil }
        return WrittenPayload(json: object.compactBytes, platform: platform, transport: transport, name: name)
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
        if let raw = raw(object) { return raw }
        if let detail = object["detail"], object["type"] != nil, let data = detail["notification"]?["data"] {
            return data.kind == .object ? wrapped(data, as: "data", "an event of notifee") : nil
        }
        if let data = object["_data"], object.hasAny("_alert", "_sound", "_category", "_badgeCount") {
            return ofPushNotificationIOS(object, data)
        }
        if let more = object["additionalData"], more.kind == .object,
            more.hasAny("foreground", "coldstart") || object["message"] != nil
        {
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

    private static func raw(_ object: JSONNode) -> WrittenPayload? {
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
        return WrittenPayload(json: writer.bytes, platform: nil, name: "an event of phonegap-plugin-push")
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
