/// One step of the decision on an interaction, for people who know Android and iOS. The text is made when asked for.
public enum InteractionReason: Hashable, Sendable, CustomStringConvertible {
    // Android.
    case brazePushClicked, brazeActionClicked(String), brazePushDeleted
    case intentStarted, intentOfDismissalStarted
    // iOS.
    case defaultAction, customAction(String), noCategory, dismissAction(String)
    /// `category` is the notification's, if it has one; `isKnown` is whether the payload is there to tell.
    case dismissalUntold(category: String?, isKnown: Bool)
    // The web.
    case notificationClick, notificationAction(String), notificationClose, brazeIgnoresClose
    // Any.
    case textInput
    /// A button of a Braze notification that its payload does not name.
    case unknownButton(String, known: [String])

    public var description: String {
        switch self {
        case .brazePushClicked: "a tap on the body: Braze's receiver gets PUSH_CLICKED"
        case .brazeActionClicked(let id): "the button \(id): Braze's receiver gets ACTION_CLICKED"
        case .brazePushDeleted: "dismissed: Braze's receiver gets PUSH_DELETED, which it logs nowhere"
        case .intentStarted: "the tap starts the activity or receiver that the notification names; no push callback runs"
        case .intentOfDismissalStarted:
            "dismissed: Android sends the intent that the notification has for it, if it has one; no push callback runs"

        case .defaultAction: "a tap on the body: iOS calls didReceiveResponse with \(UserAct.defaultAction)"
        case .customAction(let id): "the button \(id): iOS calls didReceiveResponse with it"
        case .noCategory: "aps has no category, and without one iOS shows no buttons: taken as pressed all the same"
        case .dismissAction(let category):
            "dismissed, and category \(category) has customDismissAction: iOS calls didReceiveResponse with \(UserAct.dismissAction)"
        case .dismissalUntold(let category?, _):
            "dismissed, and category \(category) has no customDismissAction (DismissActionCategories= does not name it): iOS tells the app nothing"
        case .dismissalUntold(nil, isKnown: true):
            "dismissed, and aps has no category, so none with customDismissAction: iOS tells the app nothing"
        case .dismissalUntold(nil, isKnown: false):
            "dismissed, and without the payload its category is not known: taken as one without customDismissAction, so iOS tells the app nothing"

        case .notificationClick: "a click on the body: the service worker gets notificationclick without an action"
        case .notificationAction(let id): "the button \(id): the service worker gets notificationclick with it as action"
        case .notificationClose: "dismissed: the service worker gets notificationclose"
        case .brazeIgnoresClose: "Braze's service worker does not listen to notificationclose"

        case .textInput: "with a text, which is handed over beside the button"
        case .unknownButton(let id, let known):
            "action is unknown: the payload has \(known.isEmpty ? "no buttons" : "the buttons " + known.joined(separator: ", ")), not \(id)"
        }
    }
}
