/// What a button of a notification does. The raw values are the wire names of `button_action_type`.
public enum ButtonAction: String, Sendable, CaseIterable {
    /// Opens an http or https address.
    case uri
    /// Opens a link of another scheme.
    case deepLink = "deep_link"
    /// Opens the app.
    case none
    /// Closes the notification: no direct open.
    case close
}
