/// What a press on a button of a Braze notification is to the tracker (T1). The raw values are the wire names of
/// `button_action_type`.
public enum ButtonAction: String, Sendable, CaseIterable {
    /// Opens an http or https address.
    case uri
    /// Opens a link of another scheme.
    case deepLink = "deep_link"
    /// Opens the app.
    case none
    /// Closes the notification: no direct open.
    case close

    /// `nil` for a button that the SDK does not know: the press is logged, nothing else happens.
    public init?(_ kind: BrazeFacts.Action.Kind) {
        switch kind {
        case .uri: self = .uri
        case .deepLink: self = .deepLink
        case .open: self = .none
        case .close: self = .close
        case .unknown: return nil
        }
    }
}
