public import PushModel

/// A person's act on a notification, as the platform reports it.
public enum UserAct: Hashable, Sendable {
    /// A tap on the body.
    case opened
    /// A press on the button with this identifier; `text`: the input, if it has a text field.
    case button(id: String, text: String?)
    /// Dismissed the notification.
    case dismissed

    /// The identifier that iOS passes for a tap on the body: `UNNotificationDefaultActionIdentifier`.
    static let defaultAction = "com.apple.UNNotificationDefaultActionIdentifier"
    /// The identifier that iOS passes for a dismissal: `UNNotificationDismissActionIdentifier`.
    static let dismissAction = "com.apple.UNNotificationDismissActionIdentifier"

    /// - Parameters:
    ///   - kind: the kind in `op: interact`.
    ///   - action: the button's identifier; without one, `action` is a tap on the body. Apple's identifiers for body
    ///     and dismissal have their own meaning.
    ///   - text: the typed text.
    public init(_ kind: InteractRequest.Kind, action: String?, text: String?) {
        switch (kind, action) {
        case (.opened, _), (.action, nil), (.action, Self.defaultAction): self = .opened
        case (.dismissed, _), (.action, Self.dismissAction): self = .dismissed
        case (.action, let id?): self = .button(id: id, text: text)
        }
    }
}

/// The platform's reaction to a person's act on a notification.
public struct InteractionDecision: Hashable, Sendable {
    /// The callback that runs; `none` on Android, where an activity or a receiver starts, and if no code runs.
    public var callback: Callback
    /// `swallowed` if no provider's code gets it. `nil`: the payload's owner gets it: the tracker for Braze, a route
    /// for others.
    public var outcome: Outcome?
    /// The reasons in order; the last one explains `outcome`.
    public var reasons: [InteractionReason]
}

/// Decides whether a callback runs for a person's act on a notification, and which one.
///
/// The result depends only on the arguments.
/// - Parameters:
///   - act: the act.
///   - payload: the payload that the platform hands back; `nil` if the interaction names the notification by an id.
///   - provider: the provider according to the payload or the tracker's memory.
///   - platform: the device's platform.
///   - rules: the app's registrations.
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

// Source: braze-android-sdk 43.0.0, BrazePushReceiver: PUSH_CLICKED, ACTION_CLICKED, PUSH_DELETED. The intents of other
// providers' notifications start code of those providers too.
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
        if let category = payload?.category, rules.reportsDismissal(category) {
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

// Source: the Notifications API; the service worker 3.5.1 of braze-web-sdk, which listens only to clicks.
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
    /// Whether iOS reports a dismissal of a notification of this category to the app.
    fileprivate func reportsDismissal(_ category: String) -> Bool {
        BrazeCategory(rawValue: category) != nil || dismissActionCategories.contains { $0.matches(category) }
    }
}

extension InteractionDecision {
    fileprivate init(callback: Callback, reasons: [InteractionReason]) {
        self.init(callback: callback, outcome: nil, reasons: reasons)
    }

    /// Adds the reasons of a button that all platforms share.
    fileprivate mutating func press(_ id: String, _ text: String?, _ payload: HandedBackPayload?, isBraze: Bool) {
        if text != nil { reasons.append(.textInput) }
        if isBraze, let payload, payload.hasAllActions, payload.action(id) == nil { reasons.append(.unknownButton) }
    }
}

/// The app's registrations with the platform; no payload has them, and they decide what the app receives.
public struct InteractionRules: Hashable, Sendable {
    /// The categories, other than Braze's, that an iOS app registers with `customDismissAction`, so that iOS reports a
    /// dismissal to the app.
    public var dismissActionCategories: [Glob]
    /// The Android apps with a receiver of FCM's broadcast beside their messaging service.
    public var receiverApps: [Glob] = []

    /// - Parameter dismissActionCategories: patterns of the category identifiers.
    public init(dismissActionCategories: [Glob] = []) { self.dismissActionCategories = dismissActionCategories }

    /// Returns the callbacks of a delivery that observers see: the platform's callbacks. For a message that the system
    /// shows, they are `onMessageReceived` if the app has a receiver beside its messaging service.
    ///
    /// Source: ReactNativeFirebaseMessagingReceiver.java of react-native-firebase and FlutterFirebaseMessagingReceiver.java
    /// of FlutterFire, both for com.google.android.c2dm.intent.RECEIVE.
    public func observed(_ decision: Decision) -> [Callback] {
        guard decision.outcome == .shownBySystem, decision.transport == .fcm, let app = decision.app,
            receiverApps.contains(where: { $0.matches(app) })
        else { return decision.callbacks }
        return [.onMessageReceived]
    }
}

/// One step of the decision on an interaction, for people who know Android and iOS. The text is made on each access,
/// and has no part of the payload: reasons reach the journal.
public enum InteractionReason: Hashable, Sendable, CaseIterable, CustomStringConvertible {
    // Android.
    case brazePushClicked, brazeActionClicked, brazePushDeleted
    case intentStarted, intentOfDismissalStarted
    // iOS.
    case defaultAction, customAction, noCategory
    case dismissAction, dismissalWithoutCategory, dismissalOfOtherCategory, dismissalOfUnknownCategory
    // The web.
    case notificationClick, notificationAction, notificationClose, brazeIgnoresClose
    // All platforms.
    case textInput, unknownButton

    public var description: String {
        switch self {
        case .brazePushClicked: "a tap on the body: Braze's receiver gets PUSH_CLICKED"
        case .brazeActionClicked: "a button: Braze's receiver gets ACTION_CLICKED"
        case .brazePushDeleted: "dismissed: Braze's receiver gets PUSH_DELETED and logs nothing"
        case .intentStarted:
            "the tap starts the activity or receiver that the notification names; no push callback runs"
        case .intentOfDismissalStarted:
            "dismissed: Android sends the notification's delete intent, if it has one; no push callback runs"

        case .defaultAction: "a tap on the body: iOS calls didReceiveResponse with \(UserAct.defaultAction)"
        case .customAction: "a button: iOS calls didReceiveResponse with its identifier"
        case .noCategory: "aps has no category, and without one iOS shows no buttons: treated as pressed anyway"
        case .dismissAction:
            "dismissed; the category has customDismissAction: iOS calls didReceiveResponse with \(UserAct.dismissAction)"
        case .dismissalWithoutCategory:
            "dismissed; aps has no category, and only categories have customDismissAction: iOS does not tell the app"
        case .dismissalOfOtherCategory:
            "dismissed; DismissActionCategories= does not name aps.category, so it has no customDismissAction: iOS does not tell the app"
        case .dismissalOfUnknownCategory:
            "dismissed; the payload is unknown, so its category is treated as one without customDismissAction: iOS does not tell the app"

        case .notificationClick: "a click on the body: the service worker gets notificationclick without an action"
        case .notificationAction: "a button: the service worker gets notificationclick with its action"
        case .notificationClose: "dismissed: the service worker gets notificationclose"
        case .brazeIgnoresClose: "dismissed: Braze's service worker does not listen to notificationclose"

        case .textInput: "the user typed a text, which the app gets with the button"
        case .unknownButton: "action is none of the payload's buttons: treated as pressed anyway"
        }
    }
}

extension InteractionReason {
    /// The reason code.
    public var code: ReasonCode {
        switch self {
        case .brazePushClicked: .brazePushClicked
        case .brazeActionClicked: .brazeActionClicked
        case .brazePushDeleted: .brazePushDeleted
        case .intentStarted: .intentStarted
        case .intentOfDismissalStarted: .intentOfDismissalStarted
        case .defaultAction: .defaultAction
        case .customAction: .customAction
        case .noCategory: .noCategory
        case .dismissAction: .dismissAction
        case .dismissalWithoutCategory: .dismissalWithoutCategory
        case .dismissalOfOtherCategory: .dismissalOfOtherCategory
        case .dismissalOfUnknownCategory: .dismissalOfUnknownCategory
        case .notificationClick: .notificationClick
        case .notificationAction: .notificationAction
        case .notificationClose: .notificationClose
        case .brazeIgnoresClose: .brazeIgnoresClose
        case .textInput: .textInput
        case .unknownButton: .unknownButton
        }
    }

    /// Returns the reason of an outcome.
    var ofOutcome: OutcomeReason { OutcomeReason(code, description) }
}
