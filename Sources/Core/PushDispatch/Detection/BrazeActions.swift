import PushModel

// The buttons of Braze's notifications on iOS and the web.

extension ApplePayload {
    /// The buttons of a default category, with their objects in `ab.ab_cat`, then the other buttons in it.
    func forEachButton(until isEnough: (BrazeButton) -> Bool) {
        let described = member("ab")?.member("ab_cat")
        let category = category.flatMap { BrazeCategory(rawValue: $0) }?.buttons ?? []
        for id in category where isEnough(.apple(.registered(id), described?[id])) { return }
        guard let described else { return }
        for (key, button) in described.members.prefix(Self.buttonsMax) where !category.contains(where: key.hasText) {
            if isEnough(.apple(.text(key), button)) { return }
        }
    }
}

extension WebPayload {
    /// Calls a closure for the buttons of `pab`.
    func forEachButton(until isEnough: (BrazeButton) -> Bool) {
        guard let buttons = object?.member("pab") else { return }
        for button in buttons.elements.prefix(Self.buttonsMax) where isEnough(.web(button)) { return }
    }
}
