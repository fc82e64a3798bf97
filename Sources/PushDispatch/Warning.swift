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
    /// The rules of several providers match: the titles of the owner and of the others.
    case twoOwners(String, others: [String])
    /// A state that this platform does not know.
    case stateOfAnotherPlatform(AppState)

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
        case .twoOwners(let owner, let others):
            "two owners: the rules of \(owner) and \(others.joined(separator: " and ")) match; \(owner) comes first and has the payload, the handlers of \(others.joined(separator: " and ")) do not get it"
        case .stateOfAnotherPlatform(.forceQuit): "force_quit is a state of iOS: taken as terminated"
        case .stateOfAnotherPlatform(.forceStopped): "force_stopped is a state of Android: taken as force_quit"
        case .stateOfAnotherPlatform(let state): "\(state.rawValue) is no state of this platform"
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

extension ApplePayload {
    func warnings(state: AppState, braze: BrazeFacts?) -> [Warning] {
        var warnings: [Warning] = []
        if state == .forceStopped { warnings.append(.stateOfAnotherPlatform(state)) }
        if aps == nil, !hasFCMNotification { warnings.append(.apsMissing) }
        if braze != nil, hasAlert, isContentAvailable { warnings.append(.brazeAlertAndContentAvailable) }
        return warnings
    }
}

extension WebPayload {
    func warnings(state: AppState, braze: BrazeFacts?) -> [Warning] {
        state == .forceQuit || state == .forceStopped ? [.stateOfAnotherPlatform(state)] : []
    }
}
