import PushModel

extension AndroidPayload {
    func warnings(braze: BrazeFacts?) -> [Warning] {
        var warnings: [Warning] = []
        if hasAppleObject { warnings.append(.keyOfAnotherPlatform("aps", .ios)) }
        if case .v1(let message) = form, message.androidV2 != nil { warnings.append(.androidPreview) }
        if braze == nil, let mark = map?.member("_ab"), mark.textLength == 4, !mark.equals("true"),
            mark.string?.lowercased() == "true"
        {
            warnings.append(.brazeMarkerCase)
        }
        if braze != nil {
            let (text, extra) = (map?.member("a"), map?.member("extra"))
            if notification != .absent { warnings.append(.brazeBesideNotification) }
            if let extra, extra.objectInText == nil { warnings.append(.brazeExtraUnreadable) }
            let bytes = (text?.text.utf8.count ?? 0) + (extra?.text.utf8.count ?? 0)
            if bytes > 4000 { warnings.append(.brazeTooLarge(bytes: bytes)) }
        }
        if let ttl = remoteMessage?.ttl, ttl > V1Duration.longestTTL { warnings.append(.lifeTooLong(seconds: ttl)) }
        return warnings + dataWarnings + notificationWarnings
    }

    private var dataWarnings: [Warning] {
        guard let map else { return [] }
        var warnings: [Warning] = []
        var bytes = 0
        for (key, value) in map.view.members {
            // In an intent FCM's own keys are in the right place.
            if Self.isReserved(key), !isIntent { warnings.append(.reservedKey(key.text)) }
            guard isVisible(key) else { continue }
            guard isInData(value) else {
                warnings.append(.extraIsNoString(key: key.text, kind: value.kind.name))
                continue
            }
            bytes += key.textLength + value.text.utf8.count
            if !value.isString { warnings.append(.dataValueIsNoString(key: key.text, kind: value.kind.name)) }
        }
        if bytes > 4096 { warnings.append(.tooLarge(bytes: bytes)) }
        return warnings
    }

    /// Warnings about values that `NotificationParams` ignores.
    private var notificationWarnings: [Warning] {
        guard notification != .absent else { return [] }
        return NotificationGetter.all.compactMap { getter in
            guard case .number(_, let range) = getter.reading, let value = notificationExtra(getter.name),
                !value.isEmpty, !getter.reads(value)
            else { return nil }
            return .notificationValueUnused(name: getter.name, range: range)
        }
    }

    private var isIntent: Bool {
        switch form {
        case .intent, .amazonIntent: true
        case .v1, .remoteMessage, .dataMap: false
        }
    }
}
