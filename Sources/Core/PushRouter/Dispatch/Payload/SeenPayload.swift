public import PushModel

extension Decision {
    /// The payload as code of the app gets it, as members of an object: `data` and `notification` of a `RemoteMessage`
    /// on Android, `userInfo` on iOS, `event` on the web, the object that the service worker reads.
    ///
    /// - Parameter content: the content of the notification, which FCM makes an alert on iOS.
    /// - Returns: `nil` if no app gets such a payload: a value of Android's data map that is no string.
    public func seenByApp(_ content: NotificationContent?) -> [UInt8]? {
        let payload = keys.payload
        defer { withExtendedLifetime(payload) {} }
        var (names, values): ([String], [String: JSONView]) = ([], [:])
        for holder in [payload.keyHolders.0, payload.keyHolders.1].compactMap(\.self) {
            for (key, _) in holder.view.members {
                let name = key.text
                // The holders include keys that the app does not see.
                guard values[name] == nil, let value = payload[name] else { continue }
                names.append(name)
                values[name] = value
            }
        }
        if platform.hasDataMap, values.values.contains(where: { !$0.isString }) { return nil }
        let alert = (payload as? ApplePayload)?.hasFCMNotification == true ? content : nil
        if alert != nil, values["aps"] == nil { names.append("aps") }
        var writer = JSONWriter(reserving: 1024)
        writer.object { writer in
            writer.member(
                platform.seenName,
                object: { object in
                    for name in names {
                        if name == "aps", let alert {
                            object.member(name, object: { Self.write(values[name], alert, to: &$0) })
                        } else {
                            object.member(name, raw: values[name]?.compactBytes ?? [])
                        }
                    }
                })
            guard platform.hasDataMap else { return }
            writer.key("notification")
            guard let notification = message?.notification else { return writer.null() }
            writer.object { fields in notification.forEach { fields.member($0.name, $0.text) } }
        }
        return writer.bytes
    }

    /// Writes the members of `aps`, with the alert that FCM makes unless they have one.
    private static func write(_ aps: JSONView?, _ alert: NotificationContent, to writer: inout JSONWriter) {
        for (key, value) in aps?.isObject == true ? Array(aps?.members.map(\.self) ?? []) : [] {
            writer.member(key.text, raw: value.compactBytes)
        }
        guard aps?.member("alert") == nil else { return }
        writer.member(
            "alert",
            object: {
                $0.member("title", alert.title)
                $0.member("body", alert.body)
            })
    }
}

extension Platform {
    /// The app's name of the object with a payload's keys.
    public var seenName: String {
        switch self {
        case .android: "data"
        case .ios: "userInfo"
        case .web: "event"
        }
    }

    /// Whether the app gets a map of strings, with a notification beside it.
    fileprivate var hasDataMap: Bool {
        switch self {
        case .android: true
        case .ios, .web: false
        }
    }
}
