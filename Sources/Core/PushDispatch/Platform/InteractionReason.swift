public import PushModel

/// One step of the decision on an interaction, for people who know Android and iOS. The text is computed on each read,
/// without any text of the payload: reasons reach the journal.
public enum InteractionReason: Hashable, Sendable, CaseIterable, CustomStringConvertible {
    // Android.
    case brazePushClicked, brazeActionClicked, brazePushDeleted
    case intentStarted, intentOfDismissalStarted
    // iOS.
    case defaultAction, customAction, noCategory
    case dismissAction, dismissalWithoutCategory, dismissalOfOtherCategory, dismissalOfUnknownCategory
    // The web.
    case notificationClick, notificationAction, notificationClose, brazeIgnoresClose
    // Any.
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
    /// The code of the reason, for programs.
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

    /// The reason of an outcome.
    public var ofOutcome: OutcomeReason { OutcomeReason(code, description) }
}
