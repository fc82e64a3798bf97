public import PushModel

/// What a reviewer would say about a payload that is delivered all the same. The text is made when asked for.
public enum Warning: Hashable, Sendable, CustomStringConvertible {
    /// FCM data values are strings; this one is not.
    case dataValueIsNoString(key: String, kind: String)
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
            "data.\(key) is \(kind): FCM data values are strings; it counts as present and equals no text"
        case .brazeMarkerCase:
            #"data._ab is "true" in another case: Braze's FCM service compares exactly and passes it on, its receiver does not"#
        case .brazeExtraUnreadable:
            "data.extra is not a JSON object in a string: Braze's SDK takes it as empty"
        case .brazeBesideNotification:
            "a Braze payload beside a notification block: in the background the system shows that, Braze never sees the payload, and the open is lost"
        case .brazeAlertAndContentAvailable:
            "an alert beside content-available: Braze documents its behavior as undefined; its SDK takes it as silent, iOS shows it"
        case .apsMissing: "there is no aps: a real push has one"
        case .androidPreview: "android_v2 is a preview: dispatched as FCM does for clients that do not know it"
        case .stateOfAnotherPlatform(.forceQuit): "force_quit is a state of iOS: taken as terminated"
        case .stateOfAnotherPlatform(.forceStopped): "force_stopped is a state of Android: taken as force_quit"
        case .stateOfAnotherPlatform(let state): "\(state.rawValue) is no state of this platform"
        case .apsValueOfAnotherType(let key, let kind):
            "aps.\(key.rawValue) is \(kind) rather than \(key.type): \(key.readingOfAnotherType)"
        case .keyOfAnotherPlatform(let key, let platform):
            "\(key) belongs to payloads for \(platform.name): is the platform right?"
        case .refusedByAPNs(let refusal): refusal.description
        case .lockedHasNoEffect(let platform):
            "locked changes nothing on \(platform.name), only state counts: an app behind the lock screen is in the background"
        case .sdkHasNoEffect(.ios): "sdk changes nothing: the payload is not Braze's"
        case .sdkHasNoEffect(let platform): "sdk changes nothing on \(platform.name): only iOS apps have it"
        case .sdkMissing: "sdk is nil: the app has no Braze instance when the callback runs, so the open is lost"
        case .sdkDelayed:
            "sdk is delayed: prepareForDelayedInitialization queues the push's analytics until the app makes its Braze instance"
        }
    }
}

extension AndroidPayload {
    func warnings(state: AppState, braze: BrazeFacts?) -> [Warning] {
        var warnings: [Warning] = []
        if state == .forceQuit { warnings.append(.stateOfAnotherPlatform(state)) }
        if isPreview { warnings.append(.androidPreview) }
        if braze == nil, map?["_ab"]?.string?.lowercased() == "true" { warnings.append(.brazeMarkerCase) }
        if braze != nil, notification != .absent { warnings.append(.brazeBesideNotification) }
        if braze != nil, let extra = map?["extra"], BrazeExtra(extra) == nil { warnings.append(.brazeExtraUnreadable) }
        for (key, value) in map?.members ?? [] where value.kind != .string && self[key] != nil {
            warnings.append(.dataValueIsNoString(key: key, kind: value.kind.name))
        }
        return warnings
    }
}
