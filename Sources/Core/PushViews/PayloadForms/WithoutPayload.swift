public import PushModel
import PushRouter

// Objects without a payload.
extension PayloadEnvelope {
    /// Returns the name of an object without a payload, with a remedy; `nil` if it may have one.
    public static func nameOfOther(_ object: JSONNode, for platform: Platform? = nil) -> String? {
        // A push has its own keys, and a request names its operation.
        if object["op"] != nil || object.isApplePayload { return nil }
        return nameOfAnswer(object, for: platform) ?? (object.hasTextsOnly ? nil : nameOfOwnService(object))
            ?? nameOfRefused(object) ?? nameOfFile(object)
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
        if object["notifications"]?.kind == .array, object["notifications"]?.elements.first?["tokens"] != nil {
            return body(of: "gorush")
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

    /// Whether an object has these keys of what Android keeps with a notification.
    private static func hasExtrasOfNotification(_ object: JSONNode?) -> Bool {
        let keys = ["android.title", "android.text", "android.template", "android.appInfo", "android.showWhen"]
        return keys.count { object?[$0] != nil } >= 2
    }

    private static func nameOfFile(_ object: JSONNode) -> String? {
        if let name = nameOfSNS(object) { return name }
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

// Texts without a payload.
extension PayloadForm {
    /// Returns the name of a text that has no payload, with a remedy; `nil` if it has no name.
    ///
    /// - Parameters:
    ///   - line: its first line that is not blank.
    ///   - mayHavePayload: whether a later line may have a payload: only what never precedes one has a name then.
    ///   - readsCode: whether source code may have one, too.
    public static func nameOfOther(
        _ line: [UInt8], mayHavePayload: Bool = false, readsCode: Bool = false
    ) -> String? {
        let text = line.drop(while: \.isJSONWhiteSpace)
        let mayBeObject = mayHavePayload && PayloadStart(in: line)?.isTentative == true
        let isObject = mayBeObject || readsCode && !isGo(text)
        let early =
            nameOfConsole(text) ?? nameOfPrinted(text) ?? nameOfDocument(text)
            ?? (isObject ? nil : nameOfCode(text, in: line))
        return early ?? (mayHavePayload ? nil : note(text) ?? nameOfPart(text) ?? nameOfTable(text))
    }

    /// Returns the name of a line of a log that tells something about a push without its content; `nil` for any other.
    public static func nameOfNote(_ line: [UInt8]) -> String? { note(line[...]) }

    /// Whether a line is about VoIP pushes.
    public static func namesVoIP(_ line: [UInt8]) -> Bool {
        line.count < 1000 && String(decoding: line, as: UTF8.self).lowercased().has("voip")
    }

    /// Returns what an error in JSON comes from, if the text says it: a missing quotation mark, or quotation marks in a
    /// text without their escapes.
    public static func hint(at place: Int, in text: [UInt8]) -> String? {
        hintOfEscapes(at: place, in: text) ?? hintOfMark(at: place, in: text) ?? hintOfInnerObject(in: text)
            ?? openText(in: text).map { "; and the quotation mark before this text is not closed: \($0)" }
    }

    /// Returns the remedy for an object in a text without escapes, anywhere in the text.
    private static func hintOfInnerObject(in text: [UInt8]) -> String? {
        let mark = UInt8(ascii: "\"")
        let isInText = text.indices.contains { place in
            guard text[place] == UInt8(ascii: ":") else { return false }
            let value = text[(place + 1)...].drop(while: \.isJSONWhiteSpace)
            let inner = value.dropFirst().drop(while: \.isJSONWhiteSpace)
            let key = inner.dropFirst().drop(while: \.isJSONWhiteSpace)
            return value.first == mark && inner.first == UInt8(ascii: "{") && key.first == mark
        }
        return isInText ? remedyOfEscapes : nil
    }

    private static let remedyOfEscapes =
        "; an object in a text needs an escape before each of its quotation marks: {\\\"key\\\": ...}"

    private static func hintOfMark(at place: Int, in text: [UInt8]) -> String? {
        guard place < text.count else { return nil }
        let (mark, colon) = (UInt8(ascii: "\""), UInt8(ascii: ":"))
        if text[place] == UInt8(ascii: "{"), text[..<place].last(where: { !$0.isJSONWhiteSpace }) == text[place] {
            let isPlace = text[place...].has("}}".utf8)
            return isPlace
                ? "; {{ and }} mark a place of a template: put a text there" : "; one of the two brackets is too many"
        }
        if text[place] == UInt8(ascii: "\n") || text[place] == UInt8(ascii: "\r") {
            if text[place...].allSatisfy(\.isJSONWhiteSpace) { return "; the text is cut off here: copy it whole" }
            return "; or the quotation mark that ends the text is missing in this line"
        }
        let word = text[place...].prefix { $0.isDigit || $0 == UInt8(ascii: "_") || (97...122).contains($0 | 0x20) }
        guard !word.isEmpty else { return nil }
        if text[word.endIndex...].starts(with: [mark, colon]) {
            return "; the quotation mark before \(String(decoding: word, as: UTF8.self)) is missing"
        }
        // "title: "Hello": the text that ended there is a key and a colon.
        let before = text[..<place]
        guard before.last == mark, let open = before.dropLast().lastIndex(of: mark) else { return nil }
        let bracket = before[..<open].last { !$0.isJSONWhiteSpace }
        guard bracket == UInt8(ascii: "{") || bracket == UInt8(ascii: ",") else { return nil }
        let key = before[(open + 1)...].dropLast()
        guard let end = key.firstIndex(of: colon), key[end...].dropFirst().allSatisfy(\.isJSONWhiteSpace) else {
            return nil
        }
        let name = String(decoding: key[..<end], as: UTF8.self).showingControls()
        return "; the quotation mark behind \(name) is missing"
    }

    /// Returns the begin of the first text of an object that is open at the end of its line; `nil` if there is none.
    static func openText(in text: [UInt8]) -> String? {
        var place = 0
        var open: Int?
        while place < text.count {
            switch (text[place], open) {
            case (UInt8(ascii: "\\"), .some): place += 1
            case (UInt8(ascii: "/"), nil) where text[place...].starts(with: "//".utf8):
                place = text[place...].firstIndex(of: UInt8(ascii: "\n")) ?? text.count
            case (UInt8(ascii: "/"), nil) where text[place...].starts(with: "/*".utf8):
                place = text.indices[place...].first { text[$0...].starts(with: "*/".utf8) } ?? text.count
            case (UInt8(ascii: "\""), nil), (UInt8(ascii: "'"), nil), (UInt8(ascii: "`"), nil): open = place
            case (UInt8(ascii: "\n"), let begin?) where text[begin] != UInt8(ascii: "`"):
                return String(decoding: text[begin..<min(place, begin + 40)], as: UTF8.self).showingControls()
            case (let byte, let begin?) where byte == text[begin]: open = nil
            default: break
            }
            place += 1
        }
        return nil
    }

    private static func hintOfEscapes(at place: Int, in text: [UInt8]) -> String? {
        let before = text[..<min(place, text.count)].reversed().drop(while: \.isJSONWhiteSpace)
        // A line feed behind the first brace is no part of a text, either.
        let isInBrace = before.first == UInt8(ascii: "{") && place < text.count && text[place] < 0x20
        guard isInBrace || before.first == UInt8(ascii: "\"") else { return nil }
        let brace = isInBrace ? before[...] : before.dropFirst().drop(while: \.isJSONWhiteSpace)
        guard brace.first == UInt8(ascii: "{"),
            brace.dropFirst().drop(while: \.isJSONWhiteSpace).first == UInt8(ascii: "\"")
        else { return nil }
        return remedyOfEscapes
    }

    private static func nameOfConsole(_ text: ArraySlice<UInt8>) -> String? {
        if text.starts(with: "NotificationRecord(".utf8) {
            return """
                the record of a notification that Android shows (dumpsys notification), without the payload: a tag \
                that begins with FCM-Notification means that FCM's SDK showed it
                """
        }
        guard text.has("dasd".utf8), text.has("pushLaunch".utf8) else { return nil }
        return """
            a line of the log in which iOS decides whether a silent push launches the app (dasd), without the payload: \
            Must Not Proceed means that it does not, because of the limit of silent pushes, low power or Background App \
            Refresh
            """
    }

    /// An object in a notation that is not read, or a part of one.
    private static func nameOfPrinted(_ text: ArraySlice<UInt8>) -> String? {
        let objects = [
            ("#<", "an object that Ruby inspected", "its payload with to_json"),
            ("map[", "a map that Go printed", "it with json.Marshal"),
            ("&{", "a struct that Go printed", "it with json.Marshal"),
            ("Array (", "an array that PHP printed", "it with json_encode"),
            ("array(", "an array that PHP printed", "it with json_encode"),
            ("RemoteMessage(", "an object that Kotlin or Dart printed", "its data"),
            ("RemoteMessage{", "an object that Java printed", "getData()"),
            ("\u{25BF} ", "an object that Xcode's debugger or dump() printed", "it with NSLog or JSONSerialization"),
        ]
        for (mark, name, remedy) in objects where text.starts(with: mark.utf8) {
            return "\(name), not a push in a form that is read: print \(remedy)"
        }
        guard text.first == UInt8(ascii: "\""), PrintedLiteral.begins(text, behind: UInt8(ascii: "[")) else {
            return nil
        }
        return "a part of an object in JSON, which begins with a key: put { before it and } behind it"
    }

    private static func nameOfDocument(_ text: ArraySlice<UInt8>) -> String? {
        let list = "plutil -convert json makes a property list JSON"
        let names = [
            ("<!DOCTYPE html", "a page in HTML, not a push"), ("<html", "a page in HTML, not a push"),
            ("<toast", "a notification of Windows (WNS) in XML, and no push of Android, iOS or a browser"),
            ("<tile", "a notification of Windows (WNS) in XML, and no push of Android, iOS or a browser"),
            ("diff --git", "the difference of two versions (diff), not a push: give one of them"),
            ("@@ -", "the difference of two versions (diff), not a push: give one of them"),
            ("<?xml", "a property list or another document in XML, not a push: \(list)"),
            ("<!DOCTYPE", "a property list or another document in XML, not a push: \(list)"),
            ("<plist", "a property list in XML, not a push: \(list)"),
            ("bplist", "a binary property list, not a push: \(list)"), ("HTTP/", "the answer of a server, not a push"),
            ("-----BEGIN", "a key or a certificate, not a push: keep it secret"),
        ]
        if let (_, name) = names.first(where: { text.starts(with: $0.0.utf8) }) { return name }
        if text.starts(with: "b'".utf8), text.has("HTTP/1.".utf8) { return "the answer of a server, not a push" }
        let isToken = text.starts(with: "eyJ".utf8) && text.count(where: { $0 == UInt8(ascii: ".") }) == 2
        return isToken ? "a token (JWT), not a push: keep it secret" : nil
    }

    private static func isGo(_ text: ArraySlice<UInt8>) -> Bool {
        text.has(" := ".utf8) || text.has("&messaging.".utf8)
    }

    /// Whether the text before a brace ends with a type of Go, whose struct or map it begins: `&messaging.Message{`.
    static func isTypeOfGo(_ before: ArraySlice<UInt8>) -> Bool {
        let begin = before.lastIndex { $0 <= 0x20 || $0 == UInt8(ascii: "(") }
        let type = before[(begin.map { $0 + 1 } ?? before.startIndex)...]
        return ["&", "map[", "[]string", "[]*"].contains { type.starts(with: $0.utf8) }
    }

    /// The name of source code.
    public static let codeName = "source code, not a push: run it, and give the message that it makes as JSON"

    /// Whether a line is source code.
    public static func isCode(_ line: [UInt8]) -> Bool {
        nameOfCode(line.drop(while: \.isJSONWhiteSpace), in: line) != nil || isStatement(line)
    }

    /// Whether a line of source code makes JSON of an object.
    public static func makesJSON(_ line: [UInt8]) -> Bool {
        ["stringify(", "jsonEncode(", "json_encode(", "json.dumps("].contains { line.has($0.utf8) }
    }

    /// The index of the first line of source code in a text without a payload, if it begins the text or a third of the
    /// text is code.
    public static func firstOfCode(in lines: [[UInt8]]) -> Int? {
        let written = lines.indices.filter { index in
            let text = lines[index].drop(while: \.isJSONWhiteSpace)
            return !["#", "//", "*", "/*", "```"].contains { text.starts(with: $0.utf8) } && !text.isEmpty
        }
        let code = written.filter { isCode(lines[$0]) }
        return code.count * 3 >= written.count || code.first == written.first ? code.first : nil
    }

    /// Whether a line has the shape of a statement: a call, a chain of calls, a variable that gets the value of a call, a
    /// variable of PHP.
    private static func isStatement(_ line: [UInt8]) -> Bool {
        var text = line.drop(while: \.isJSONWhiteSpace)
        while text.last?.isJSONWhiteSpace == true { text = text.dropLast() }
        func isOfName(_ byte: UInt8) -> Bool {
            byte.isDigit || byte | 0x20 >= 97 && byte | 0x20 <= 122 || "_.:$<>[]?!&*".utf8.contains(byte)
        }
        guard !PayloadStart.isLog(line), let last = text.last else { return false }
        // note.alert = "Hi", and Rpush::Apns::Notification.new.
        let first = text.prefix { $0 > 0x20 }
        let isMember = text[first.endIndex...].starts(with: " = ".utf8) && first.contains(UInt8(ascii: "."))
        let isRubys = first.first.map { (65...90).contains($0) } == true && first.has("::".utf8)
        if (isMember || isRubys && first.contains(UInt8(ascii: "."))) && first.allSatisfy(isOfName) { return true }
        guard "(){}[];,".utf8.contains(last) else { return false }
        /// Whether a text begins with the name of a function and its bracket.
        func isCall(_ text: ArraySlice<UInt8>) -> Bool {
            var rest = text.drop(while: \.isJSONWhiteSpace)
            for word in ["await ", "new ", "try ", "try? "] where rest.starts(with: word.utf8) {
                rest = rest.dropFirst(word.utf8.count)
            }
            let name = rest.prefix { isOfName($0) || $0 == UInt8(ascii: "-") }
            return name.contains { $0 | 0x20 >= 97 && $0 | 0x20 <= 122 }
                && rest.dropFirst(name.count).first == UInt8(ascii: "(")
        }
        let isPHP = text.first == UInt8(ascii: "$") && text.dropFirst().first.map(isOfName) == true
        // Objective-C sends messages in brackets.
        let isSend = text.first == UInt8(ascii: "[") && last == UInt8(ascii: ";")
        if isPHP && text.contains(where: { "=(".utf8.contains($0) }) || isSend || isCall(text) { return true }
        guard let equals = text.firstIndex(of: UInt8(ascii: "=")) else { return false }
        let words = text[..<equals].split(separator: UInt8(ascii: " "))
        return (1...3).contains(words.count)
            && words.allSatisfy { $0.allSatisfy { isOfName($0) || $0 == UInt8(ascii: ",") } }
            && isCall(text[(equals + 1)...])
    }

    /// Source code. A sentence may begin with the same words, so most of them need a sign of code, too.
    private static func nameOfCode(_ text: ArraySlice<UInt8>, in line: [UInt8]) -> String? {
        let code = codeName
        if isGo(text) { return code }
        guard PayloadStart(in: line)?.isTentative != false else { return nil }
        if ["import ", "<?php", "#include", "@Override", "package "].contains(where: { text.starts(with: $0.utf8) }) {
            return code
        }
        let words = [
            "from ", "const ", "let ", "var ", "val ", "func ", "def ", "public ", "private ", "async ", "await ",
            "using ", "class ", "function ", "admin.", "messaging.", "require(", "use ", "- (", "-(", "+ (",
            "@interface ",
            "@implementation ", "@property", "NSDictionary *", "NSString *", "[[", "if (", "foreach (", "for (",
            "protected ",
            "internal ", "override ", "static ",
        ]
        if [" += (".utf8, ") => {".utf8].contains(where: { text.has($0) }) { return code }
        let hasSign = text.contains { "=({;".utf8.contains($0) } || text.has(" import ".utf8)
        return hasSign && words.contains { text.starts(with: $0.utf8) } ? code : nil
    }

    /// A line of a log without the content of the push.
    private static func note(_ text: ArraySlice<UInt8>) -> String? {
        if text.has("c2dm.intent.RECEIVE".utf8), text.has("CANCELLED".utf8) {
            return """
                a line of the log that Android cancelled the broadcast of a push: the app is force-stopped, and runs \
                again when the user starts it; the extras are not printed
                """
        }
        let contentless = [
            ("RemoteMessage@", "getData()"), ("Instance of 'RemoteMessage'", "message.toMap()"),
            ("[object Object]", "JSON.stringify(message)"), ("<UNNotification", "request.content.userInfo"),
            ("Intent { ", "getExtras(), after extras.keySet()"),
        ]
        return contentless.first { text.has($0.0.utf8) }.map { mark, remedy in
            "the message is printed without its content: have the app print \(remedy)"
        }
    }

    /// A part of a file of a project.
    private static func nameOfPart(_ text: ArraySlice<UInt8>) -> String? {
        let parts = [
            ("<manifest", "an AndroidManifest.xml"), ("<application", "an AndroidManifest.xml"),
            ("<service", "an AndroidManifest.xml"), ("<receiver", "an AndroidManifest.xml"),
            ("<meta-data", "an AndroidManifest.xml"), ("<uses-permission", "an AndroidManifest.xml"),
            ("<activity", "an AndroidManifest.xml"), ("<intent-filter", "an AndroidManifest.xml"),
            ("<key>", "a property list such as Info.plist"), ("implementation ", "a build.gradle"),
            ("apply plugin", "a build.gradle"), ("dependencies {", "a build.gradle"), ("plugins {", "a build.gradle"),
            ("buildscript {", "a build.gradle"), ("pod '", "a Podfile"), ("target '", "a Podfile"),
        ]
        return parts.first { text.starts(with: $0.0.utf8) }.map { "a part of \($0.1), not a push" }
    }

    private static func nameOfTable(_ text: ArraySlice<UInt8>) -> String? {
        let commas = text.count { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: ";") }
        // A sentence has spaces behind its commas.
        let isSentence = text.has(", ".utf8)
        let isTable =
            commas >= 2 && !isSentence && !text.contains { "{}[]()=".utf8.contains($0) }
            && !PayloadStart.isLog(Array(text))
        return isTable ? "a table (CSV), not a push: give one payload as JSON" : nil
    }
}
