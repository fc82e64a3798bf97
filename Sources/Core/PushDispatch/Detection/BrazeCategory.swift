/// The categories that Braze's SDK registers in every app on iOS. The raw values are the category identifiers.
///
/// Source: braze-swift-sdk, `Braze.Notifications.categories`; ABKPushUtils registers them with `customDismissAction`.
enum BrazeCategory: String, Sendable, CaseIterable {
    case acceptDecline = "ab_cat_accept_decline"
    case yesNo = "ab_cat_yes_no"
    case confirmCancel = "ab_cat_confirm_cancel"
    case more = "ab_cat_more"

    /// The identifiers of its buttons.
    var buttons: [String] {
        switch self {
        case .acceptDecline: ["ab_pb_accept", "ab_pb_decline"]
        case .yesNo: ["ab_pb_yes", "ab_pb_no"]
        case .confirmCancel: ["ab_pb_confirm", "ab_pb_cancel"]
        case .more: ["ab_pb_more"]
        }
    }

    /// The buttons that only close the notification.
    static let closing: Set<String> = ["ab_pb_decline", "ab_pb_no", "ab_pb_cancel"]
}
