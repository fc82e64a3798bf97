import PushDispatch
import PushModel

/// The value of a JSON text.
func json(_ text: String) throws -> JSONNode {
    try JSONDocument(scanning: Array(text.utf8)).root
}

/// The decision on a payload written as JSON.
func decision(
    _ platform: Platform, _ payload: String, state: AppState = .background, locked: Bool = false,
    notifications: NotificationPermission = .allowed, app: String? = nil
) throws -> Decision {
    try decide(
        Delivery(
            platform: platform, app: app, state: state, locked: locked, notifications: notifications,
            payload: json(payload)))
}

/// What `decide` throws for a payload, or `nil`.
func refusal(_ platform: Platform, _ payload: String) throws -> PayloadError? {
    let delivery = Delivery(platform: platform, payload: try json(payload))
    do throws(PayloadError) {
        _ = try decide(delivery)
        return nil
    } catch {
        return error
    }
}

extension Decision {
    /// The callbacks alone.
    var callbacks: [Callback] { invocations.map(\.callback) }
}
