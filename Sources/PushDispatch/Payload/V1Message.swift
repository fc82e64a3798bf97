import PushModel

/// The body of a send request of FCM HTTP v1, checked as FCM checks it, for every platform that it has a part for.
///
/// Source: the discovery document, revision 20261023; the mapping to what a device gets, `AndroidConfig` and `ApnsConfig`
/// there. Both of protobuf JSON's spellings are accepted.
struct V1Message: Sendable {
    /// `validate_only`: FCM checks the message and sends nothing.
    let validateOnly: Bool
    private let message: JSONNode

    /// Checks the whole body, `message` in it and the parts for other platforms, as the server does.
    init(_ body: JSONNode, message: JSONNode) throws(PayloadError) {
        self.message = message
        let flag = body.protobufField("validate_only", "validateOnly")
        if let flag, flag.kind != .bool {
            throw PayloadError(
                field: "payload.validate_only", message: "this has to be a boolean; it is \(flag.kind.name)")
        }
        validateOnly = flag?.bool == true
        try checkTarget()
        try checkParts()
    }

    /// The message of a send body, if `payload` is one. On iOS and the web an object called `message` may be the app's
    /// own: there it needs a name that a v1 message has, and no `aps` beside it.
    static func message(in payload: JSONNode, platform: Platform) -> JSONNode? {
        guard let message = payload["message"], message.kind == .object else { return nil }
        guard platform != .android else { return message }
        let isBody = payload["aps"] == nil && (targets + parts).contains { message[$0] != nil }
        return isBody ? message : nil
    }

    /// What an Android app gets as data: `android.data` replaces `data`, it is not merged with it.
    var androidData: JSONNode? {
        androidPart?.protobufField("data") ?? message.protobufField("data")
    }

    /// Whether an Android app gets a notification message: the two blocks are merged field by field, so one is enough.
    var hasAndroidNotification: Bool {
        if message.protobufField("notification") != nil || androidPart?.protobufField("notification") != nil {
            return true
        }
        guard let remote = androidV2?.protobufField("remote_notification", "remoteNotification") else { return false }
        return remote.protobufField("use_as_v1_data_message", "useAsV1DataMessage")?.bool != true
    }

    /// The preview generation of `android`. FCM translates it for clients that do not know it.
    var androidV2: JSONNode? { message.protobufField("android_v2", "androidV2") }

    /// What an iOS app gets as `userInfo`.
    var applePayload: JSONNode? { message.protobufField("apns")?.protobufField("payload") }

    /// The headers of the request to APNs.
    var appleHeaders: JSONNode? { message.protobufField("apns")?.protobufField("headers") }

    /// The data, which FCM puts beside the keys of the APNs payload (UNVERIFIED).
    var data: JSONNode? { message.protobufField("data") }

    /// Whether FCM makes an alert for iOS of the notification block.
    var hasNotification: Bool { message.protobufField("notification") != nil }

    /// What a service worker gets: `webpush.data` replaces `data`.
    var webData: JSONNode? { message.protobufField("webpush")?.protobufField("data") ?? data }

    private static let targets = ["fid", "token", "topic", "condition"]
    private static let parts = ["data", "notification", "android", "apns", "webpush"]

    private var androidPart: JSONNode? { message.protobufField("android") ?? androidV2 }

    private func checkTarget() throws(PayloadError) {
        var found: String?
        for name in Self.targets {
            guard let target = message.protobufField(name) else { continue }
            _ = try target.requiringString("payload.message.\(name)")
            if let found {
                throw PayloadError(
                    field: "payload.message",
                    message: "FCM v1 takes one of fid, token, topic and condition; this has \(found) and \(name)")
            }
            found = name
        }
        guard found != nil else {
            throw PayloadError(
                field: "payload.message",
                message: "FCM v1 takes one of fid, token, topic and condition; this has none")
        }
    }

    private func checkParts() throws(PayloadError) {
        try checkStrings(of: message, "data", at: "payload.message")
        try checkObjects(of: message, ["notification"], at: "payload.message")
        if let android = try object("android") {
            guard androidV2 == nil else {
                throw PayloadError(
                    field: "payload.message.android_v2", message: "FCM v1 takes android or android_v2, not both")
            }
            try checkStrings(of: android, "data", at: "payload.message.android")
            try checkObjects(of: android, ["notification"], at: "payload.message.android")
        }
        if let androidV2 = try androidV2?.requiringObject("payload.message.android_v2") {
            try checkStrings(of: androidV2, "data", at: "payload.message.android_v2")
        }
        if let apns = try object("apns") {
            try checkStrings(of: apns, "headers", at: "payload.message.apns")
            try checkObjects(of: apns, ["payload"], at: "payload.message.apns")
            // The server's own words, as fcm-cloudflare-workers#10 has them.
            if let payload = apns.protobufField("payload"), payload["aps"] == nil {
                throw PayloadError(
                    field: "payload.message.apns.payload.aps",
                    message: "FCM v1: Payload of Apple Push Notification Service must contain an [aps] key")
            }
        }
        if let webpush = try object("webpush") {
            try checkStrings(of: webpush, "headers", at: "payload.message.webpush")
            try checkStrings(of: webpush, "data", at: "payload.message.webpush")
            try checkObjects(of: webpush, ["notification"], at: "payload.message.webpush")
        }
    }

    private func object(_ name: String) throws(PayloadError) -> JSONNode? {
        try message.protobufField(name)?.requiringObject("payload.message.\(name)")
    }

    private func checkObjects(of part: JSONNode, _ names: [String], at path: String) throws(PayloadError) {
        for name in names {
            _ = try part.protobufField(name)?.requiringObject("\(path).\(name)")
        }
    }

    /// A map of strings, as FCM wants its data and headers.
    private func checkStrings(of part: JSONNode, _ name: String, at path: String) throws(PayloadError) {
        guard let map = try part.protobufField(name)?.requiringObject("\(path).\(name)") else { return }
        for (key, value) in map.members where value.kind != .string {
            throw PayloadError(
                field: "\(path).\(name).\(key)",
                message: "FCM v1 \(name) values are strings; this is \(value.kind.name)")
        }
    }
}

extension JSONNode {
    /// The member under a name that both spellings share. In protobuf JSON `null` is as good as absent.
    func protobufField(_ name: String) -> JSONNode? {
        guard let value = self[name], value.kind != .null else { return nil }
        return value
    }

    /// The member under either of protobuf JSON's spellings.
    func protobufField(_ snakeCase: String, _ lowerCamelCase: String) -> JSONNode? {
        protobufField(snakeCase) ?? protobufField(lowerCamelCase)
    }
}
