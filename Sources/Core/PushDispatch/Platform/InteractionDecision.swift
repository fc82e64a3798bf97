public import PushModel

/// What a person did with a notification, as the platform tells its code.
public enum UserAct: Hashable, Sendable {
    /// Tapped the body.
    case opened
    /// Pressed the button with this identifier, and typed `text` if it has a text field.
    case button(id: String, text: String?)
    /// Swept it away.
    case dismissed

    /// The identifier that iOS hands over for a tap on the body: `UNNotificationDefaultActionIdentifier`.
    public static let defaultAction = "com.apple.UNNotificationDefaultActionIdentifier"
    /// The identifier that iOS hands over for a dismissal: `UNNotificationDismissActionIdentifier`.
    public static let dismissAction = "com.apple.UNNotificationDismissActionIdentifier"

    /// - Parameters:
    ///   - kind: what `op: interact` says.
    ///   - action: the button's identifier; without one `action` is a tap on the body. Apple's identifiers for body and
    ///     dismissal are taken for what they mean.
    ///   - text: what was typed.
    public init(_ kind: InteractRequest.Kind, action: String?, text: String?) {
        switch (kind, action) {
        case (.opened, _), (.action, nil), (.action, Self.defaultAction): self = .opened
        case (.dismissed, _), (.action, Self.dismissAction): self = .dismissed
        case (.action, let id?): self = .button(id: id, text: text)
        }
    }
}

/// What the platform does when a person acts on a notification.
public struct InteractionDecision: Hashable, Sendable {
    /// The callback that runs; `none` on Android, where an activity or a receiver starts, and where no code runs.
    public var callback: Callback
    /// `swallowed` where it ends without anybody's code. `nil`: the payload's owner gets it, the tracker what is Braze's,
    /// a route what is another's.
    public var outcome: Outcome?
    /// Why, in order; the last one explains `outcome`.
    public var reasons: [InteractionReason]
}

/// Decides which callback runs when a person acts on a notification, and whether any does.
///
/// Depends on nothing but its arguments.
/// - Parameters:
///   - act: what the person did.
///   - payload: what the platform hands back; `nil` when the notification is only named by an id.
///   - provider: whose notification it is, as the payload or the tracker's memory says.
///   - platform: the device's platform.
///   - rules: what the app has registered.
public func decide(
    _ act: UserAct, on payload: HandedBackPayload?, of provider: String?, platform: Platform,
    rules: InteractionRules = InteractionRules()
) -> InteractionDecision {
    let isBraze = provider == ProviderRule.brazeName
    switch platform {
    case .android: return decideOnAndroid(act, payload, isBraze: isBraze)
    case .ios: return decideOnApple(act, payload, isBraze: isBraze, rules)
    case .web: return decideOnWeb(act, payload, isBraze: isBraze)
    }
}

// Source: braze-android-sdk 43.0.0, BrazePushReceiver: PUSH_CLICKED, ACTION_CLICKED, PUSH_DELETED. What other providers
// attach to their notifications starts code of theirs too.
private func decideOnAndroid(
    _ act: UserAct, _ payload: HandedBackPayload?, isBraze: Bool
) -> InteractionDecision {
    var decision = InteractionDecision(callback: .none, reasons: [])
    switch act {
    case .opened: decision.reasons = [isBraze ? .brazePushClicked : .intentStarted]
    case .dismissed: decision.reasons = [isBraze ? .brazePushDeleted : .intentOfDismissalStarted]
    case .button(let id, let text):
        decision.press(id, text, payload, isBraze: isBraze)
        decision.reasons.append(isBraze ? .brazeActionClicked : .intentStarted)
    }
    return decision
}

// Source: Apple's documentation of userNotificationCenter(_:didReceive:withCompletionHandler:),
// UNNotificationDismissActionIdentifier and UNTextInputNotificationResponse.
private func decideOnApple(
    _ act: UserAct, _ payload: HandedBackPayload?, isBraze: Bool, _ rules: InteractionRules
) -> InteractionDecision {
    var decision = InteractionDecision(callback: .didReceiveResponse, reasons: [])
    switch act {
    case .opened:
        decision.reasons = [.defaultAction]
    case .button(let id, let text):
        decision.press(id, text, payload, isBraze: isBraze)
        decision.reasons.append(.customAction)
        if payload != nil, payload?.category == nil { decision.reasons.append(.noCategory) }
    case .dismissed:
        if let category = payload?.category, rules.tellsOfDismissal(category) {
            decision.reasons = [.dismissAction]
        } else {
            decision.callback = .none
            decision.outcome = .swallowed
            let hasCategory = payload?.category != nil
            let reason: InteractionReason = hasCategory ? .dismissalOfOtherCategory : .dismissalWithoutCategory
            decision.reasons = [payload == nil ? .dismissalOfUnknownCategory : reason]
        }
    }
    return decision
}

// Source: the Notifications API; the service worker 3.5.1 of braze-web-sdk, which listens to clicks alone.
private func decideOnWeb(
    _ act: UserAct, _ payload: HandedBackPayload?, isBraze: Bool
) -> InteractionDecision {
    var decision = InteractionDecision(callback: .notificationclick, reasons: [])
    switch act {
    case .opened: decision.reasons = [.notificationClick]
    case .button(let id, let text):
        decision.press(id, text, payload, isBraze: isBraze)
        decision.reasons.append(.notificationAction)
    case .dismissed:
        decision.callback = .notificationclose
        decision.outcome = isBraze ? .swallowed : nil
        decision.reasons = [isBraze ? .brazeIgnoresClose : .notificationClose]
    }
    return decision
}

extension InteractionRules {
    /// Whether iOS tells the app of a dismissal of a notification of this category.
    fileprivate func tellsOfDismissal(_ category: String) -> Bool {
        BrazeCategory(rawValue: category) != nil || dismissActionCategories.contains { $0.matches(category) }
    }
}

extension InteractionDecision {
    fileprivate init(callback: Callback, reasons: [InteractionReason]) {
        self.init(callback: callback, outcome: nil, reasons: reasons)
    }

    /// What is the same of a button on all platforms.
    fileprivate mutating func press(_ id: String, _ text: String?, _ payload: HandedBackPayload?, isBraze: Bool) {
        if text != nil { reasons.append(.textInput) }
        if isBraze, let payload, payload.hasAllActions, payload.action(id) == nil { reasons.append(.unknownButton) }
    }
}

/// What an app has registered with the platform, which no payload tells and which decides what it hears of the person.
public struct InteractionRules: Hashable, Sendable {
    /// The categories, beside Braze's, that an iOS app registers with `customDismissAction`: iOS tells it of a dismissal.
    public var dismissActionCategories: [Glob]

    /// - Parameter dismissActionCategories: patterns of the category identifiers.
    public init(dismissActionCategories: [Glob] = []) { self.dismissActionCategories = dismissActionCategories }
}
