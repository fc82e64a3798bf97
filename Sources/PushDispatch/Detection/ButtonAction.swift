import PushModel

/// What a button of a Braze notification does. The raw values are the wire names of `button_action_type`.
public enum ButtonAction: String, Sendable, CaseIterable {
    /// Opens an http or https address.
    case uri
    /// Opens a link of another scheme.
    case deepLink = "deep_link"
    /// Opens the app.
    case none
    /// Closes the notification: no direct open.
    case close

    /// What a button with this target does. An address without a scheme is one of the site's own.
    init(opening target: String) {
        guard let colon = target.firstIndex(of: ":"), !target[..<colon].contains("/") else {
            self = .uri
            return
        }
        self = ["http", "https"].contains(target[..<colon].lowercased()) ? .uri : .deepLink
    }

    /// What a button of one of Braze's types does; `nil` for an unknown type: the click is logged, nothing else happens.
    fileprivate init?(type: String, target: String?) {
        switch type {
        case "ab_uri": self = target.map(ButtonAction.init(opening:)) ?? .none
        case "ab_open": self = .none
        case "ab_none": self = .close
        default: return nil
        }
    }
}

/// The buttons of a Braze notification, as the payload that the platform hands back describes them.
struct BrazeButtons: Sendable {
    /// What each does, by its identifier; `nil` for a type that Braze's SDK does not know.
    private(set) var actions: [String: ButtonAction?] = [:]
    /// Whether the payload names all buttons; on the web those without an address are not named.
    private(set) var isComplete = true

    /// Android: `ab_a*_a` is the type, `ab_a*_id` the identifier, `ab_a*_uri` the target; counted from 0 without a gap.
    init(_ payload: AndroidPayload) {
        var n = 0
        while let type = payload.map?["ab_a\(n)_a"]?.string {
            if let id = payload.map?["ab_a\(n)_id"]?.string {
                actions[id] = .some(ButtonAction(type: type, target: payload.map?["ab_a\(n)_uri"]?.string))
            }
            n += 1
        }
    }

    /// iOS: the buttons of the category, with what `ab.ab_cat` says of them. The values of `a_t` are not public: what is
    /// none of Android's types is told by the target.
    init(_ payload: ApplePayload) {
        let described = payload["ab"]?["ab_cat"]?.members ?? []
        let category = payload.category.flatMap { BrazeCategory(rawValue: $0) }
        for id in category?.buttons ?? [] { actions[id] = Self.appleAction(id, nil) }
        for (id, button) in described { actions[id] = Self.appleAction(id, button) }
        isComplete = category != nil || !described.isEmpty
    }

    /// The web: `actionTargets` has the address of every button that has one; a button of the type `ab_none` has none.
    init(ofWebNotification data: JSONNode) {
        for (id, target) in data["actionTargets"]?.members ?? [] {
            let address = target.string.flatMap { $0.isEmpty ? nil : $0 }
            actions[id] = .some(address.map(ButtonAction.init(opening:)) ?? .close)
        }
        isComplete = false
    }

    /// Nothing is known of the payload.
    init() { isComplete = false }

    /// What the button with this identifier does.
    func action(_ id: String, platform: Platform) -> ButtonAction? {
        if let known = actions[id] { return known }
        switch platform {
        case .android: return nil
        case .ios: return BrazeCategory.allCases.contains { $0.buttons.contains(id) } ? Self.appleAction(id, nil) : nil
        case .web: return isComplete ? nil : .close
        }
    }

    private static func appleAction(_ id: String, _ button: JSONNode?) -> ButtonAction {
        if BrazeCategory.closing.contains(id) { return .close }
        let target = button?["a_uri"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        let type = button?["a_t"]?.string.flatMap { ButtonAction(type: $0, target: target) }
        return type ?? target.map(ButtonAction.init(opening:)) ?? .none
    }
}
