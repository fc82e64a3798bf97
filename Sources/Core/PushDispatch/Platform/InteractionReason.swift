public import PushModel

/// One step of the decision on an interaction, for people who know Android and iOS. The text is made when asked for, and
/// has nothing of the payload's: reasons reach the journal.
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
        case .brazePushDeleted: "dismissed: Braze's receiver gets PUSH_DELETED, and logs nothing"
        case .intentStarted:
            "the tap starts the activity or receiver that the notification names; no push callback runs"
        case .intentOfDismissalStarted:
            "dismissed: Android sends the intent that the notification has for it, if it has one; no push callback runs"

        case .defaultAction: "a tap on the body: iOS calls didReceiveResponse with \(UserAct.defaultAction)"
        case .customAction: "a button: iOS calls didReceiveResponse with its identifier"
        case .noCategory: "aps has no category, and without one iOS shows no buttons: taken as pressed all the same"
        case .dismissAction:
            "dismissed, and the category has customDismissAction: iOS calls didReceiveResponse with \(UserAct.dismissAction)"
        case .dismissalWithoutCategory:
            "dismissed, and aps has no category, so none with customDismissAction: iOS tells the app nothing"
        case .dismissalOfOtherCategory:
            "dismissed, and DismissActionCategories= does not name aps.category, so it is without customDismissAction: iOS tells the app nothing"
        case .dismissalOfUnknownCategory:
            "dismissed, and without the payload its category is not known: taken as one without customDismissAction, so iOS tells the app nothing"

        case .notificationClick: "a click on the body: the service worker gets notificationclick without an action"
        case .notificationAction: "a button: the service worker gets notificationclick with its action"
        case .notificationClose: "dismissed: the service worker gets notificationclose"
        case .brazeIgnoresClose: "dismissed: Braze's service worker does not listen to notificationclose"

        case .textInput: "with a text, which is handed over beside the button"
        case .unknownButton: "action is none of the payload's buttons: taken as pressed all the same"
        }
    }
}

extension InteractionReason {
    /// The same for programs.
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
