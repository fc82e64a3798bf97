public import PushModel

/// What a reviewer would say about a payload that is delivered all the same. The text is made when asked for.
public enum Warning: Hashable, Sendable, CustomStringConvertible {
    /// FCM data values are strings; this one is not.
    case dataValueIsNoString(key: String, kind: String)
    /// An extra of FCM's intent that is no string, so that FCM leaves it out of the data.
    case extraIsNoString(key: String, kind: String)
    /// `_ab` is `true` but for its case.
    case brazeMarkerCase
    /// `extra` is no JSON object in a string.
    case brazeExtraUnreadable
    /// A Braze payload beside a notification block.
    case brazeBesideNotification
    /// A Braze payload with an alert and `content-available`.
    case brazeAlertAndContentAvailable
    /// No `aps`.
    case apsMissing
    /// `android_v2`, a preview.
    case androidPreview
    /// Data has a key that FCM keeps for itself.
    case reservedKey(String)
    /// An Android payload whose data is larger than FCM takes.
    case tooLarge(bytes: Int)
    /// Braze's text and key-values are larger than its API takes.
    case brazeTooLarge(bytes: Int)
    /// A parameter of the notification that FCM does not use, because it is no whole number of this range.
    case notificationValueUnused(name: String, range: String)
    /// The rules of several providers match: the titles of the owner and of the others.
    case twoOwners(String, others: [String])
    /// A state that this platform does not know.
    case stateOfAnotherPlatform(AppState)
    /// A key of `aps` whose value has another type than Apple documents.
    case apsValueOfAnotherType(APSKey, kind: String)
    /// A key by which another platform's payload is known.
    case keyOfAnotherPlatform(String, Platform)
    /// APNs would refuse the request.
    case refusedByAPNs(APNsRefusal)
    /// `locked` where only the state counts.
    case lockedHasNoEffect(Platform)
    /// `sdk` where the payload or the platform has nothing to do with it.
    case sdkHasNoEffect(Platform)
    /// `sdk` is `nil`: what needs a Braze instance is lost.
    case sdkMissing
    /// `sdk` is `delayed`.
    case sdkDelayed

    public var description: String {
        switch self {
        case .dataValueIsNoString(let key, let kind):
            "data.\(key) is \(kind): FCM data values are strings; `present` conditions match it, `equals` never does"
        case .extraIsNoString(let key, let kind):
            "extras.\(key) is \(kind): FCM puts only strings into the data, so the app does not find it there"
        case .brazeMarkerCase:
            #"data._ab is "true" in another case: Braze's FCM service compares exactly and passes it on, its receiver does not"#
        case .brazeExtraUnreadable:
            "data.extra is not a JSON object in a string: Braze's SDK treats it as empty"
        case .brazeBesideNotification:
            "a Braze payload beside a notification block: in the background the system shows it, Braze never sees the payload, and the open is lost"
        case .brazeAlertAndContentAvailable:
            "an alert beside content-available: Braze documents its behavior as undefined; its SDK treats it as silent, and iOS shows it"
        case .apsMissing: "aps is missing: every real push has it"
        case .androidPreview: "android_v2 is a preview: dispatched as FCM does for clients that do not know it"
        case .reservedKey(let key):
            "data.\(key): FCM keeps this key for itself, and on a device no app finds it in the data"
        case .tooLarge(let bytes): "\(bytes) bytes of keys and values: FCM takes at most 4096"
        case .brazeTooLarge(let bytes):
            "data.a and data.extra have \(bytes) bytes together: Braze's API takes at most 4000"
        case .notificationValueUnused(let name, let range):
            "gcm.n.\(name) is not a whole number \(range): FCM shows the notification without it"
        case .twoOwners(let owner, let others):
            "two owners: the rules of \(owner) and \(others.joined(separator: " and ")) match; \(owner) comes first and has the payload, the handlers of \(others.joined(separator: " and ")) do not get it"
        case .stateOfAnotherPlatform(.forceQuit): "force_quit is a state of iOS: treated as terminated"
        case .stateOfAnotherPlatform(.forceStopped): "force_stopped is a state of Android: treated as force_quit"
        case .stateOfAnotherPlatform(let state): "\(state.rawValue) is not a state of this platform"
        case .apsValueOfAnotherType(let key, let kind):
            "aps.\(key.rawValue) is \(kind) rather than \(key.type): \(key.readingOfAnotherType)"
        case .keyOfAnotherPlatform(let key, let platform):
            "\(key) belongs to payloads for \(platform.name), and this looks like one: is the platform right?"
        case .refusedByAPNs(let refusal): refusal.description
        case .lockedHasNoEffect(let platform):
            "locked has no effect on \(platform.name); only state counts: an app behind the lock screen is in the background"
        case .sdkHasNoEffect(.ios): "sdk has no effect: the payload is not Braze's"
        case .sdkHasNoEffect(let platform): "sdk has no effect on \(platform.name): only iOS apps have it"
        case .sdkMissing:
            "sdk is nil: the app has no Braze instance when the callback runs, so Braze never sees the call; a later tap is counted"
        case .sdkDelayed:
            "sdk is delayed: prepareForDelayedInitialization queues the push's analytics until the app makes its Braze instance"
        }
    }
}

extension AndroidPayload {
    func warnings(state: AppState, braze: BrazeFacts?) -> [Warning] {
        var warnings: [Warning] = []
        if state == .forceQuit { warnings.append(.stateOfAnotherPlatform(state)) }
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
        return warnings + dataWarnings + notificationWarnings
    }

    private var dataWarnings: [Warning] {
        guard let map else { return [] }
        var warnings: [Warning] = []
        var bytes = 0
        for (key, value) in map.view.members {
            // In an intent FCM's own keys are where they belong.
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

    /// Values that `NotificationParams` leaves out.
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
