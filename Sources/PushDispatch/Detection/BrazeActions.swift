import PushModel

// The buttons of Braze's notifications where they are not Android's.

extension ApplePayload {
    /// The buttons of a default category, with what `ab.ab_cat` says of them, then the others that it describes.
    ///
    /// The values of `a_t` are not public (UNVERIFIED): where it is none of Android's types, the address decides. The
    /// app has the buttons' titles.
    func forEachButton(until isEnough: (BrazeButton) -> Bool) {
        let described = member("ab")?.member("ab_cat")
        let category = category.flatMap { BrazeCategory(rawValue: $0) }?.buttons ?? []
        for id in category where isEnough(BrazeButton(registered: id, described?[id])) { return }
        guard let described else { return }
        for (key, button) in described.members where !category.contains(where: BrazeButton.Name.text(key).equals) {
            if isEnough(BrazeButton(.text(key), isClosing: BrazeCategory.isClosing(key), button)) { return }
        }
    }
}

extension WebPayload {
    /// The buttons of `pab`.
    func forEachButton(until isEnough: (BrazeButton) -> Bool) {
        guard let buttons = object?.member("pab") else { return }
        for button in buttons.elements {
            let target = button.member("u").flatMap { $0.textLength > 0 ? $0 : nil }
            let action: BrazeButton.Action =
                if let type = button.member("a") {
                    if type.equals("ab_none") {
                        .does(.close)
                    } else if type.equals("ab_open") {
                        .does(.open)
                    } else if type.equals("ab_uri") {
                        target.map(BrazeButton.Action.opensOnSite) ?? .does(.open)
                    } else {
                        .does(.unknown)
                    }
                } else {
                    .does(.unknown)
                }
            let id = button.member("action").flatMap { $0.isString ? BrazeButton.Name.text($0) : nil }
            if isEnough(BrazeButton(id: id, action: action, title: button.member("title"), uri: target)) { return }
        }
    }
}

extension BrazeButton {
    /// A button of a category that Braze's SDK registers on iOS.
    fileprivate init(registered id: String, _ button: JSONView?) {
        self.init(.registered(id), isClosing: BrazeCategory.closing.contains(id), button)
    }

    /// A button on iOS with its object in `ab.ab_cat`, if it has one.
    fileprivate init(_ id: Name, isClosing: Bool, _ button: JSONView?) {
        let target = button?.member("a_uri").flatMap { $0.textLength > 0 ? $0 : nil }
        let type = button?.member("a_t")
        let action: Action =
            if isClosing || type?.equals("ab_none") == true {
                .does(.close)
            } else if type?.equals("ab_open") == true {
                .does(.open)
            } else {
                target.map(Action.opens) ?? .does(.open)
            }
        self.init(id: id, action: action, uri: target)
    }
}

extension BrazeFacts.Action {
    /// A button of one of Braze's default categories on iOS, where no payload describes it; `nil` for any other.
    init?(defaultID id: String) {
        guard BrazeCategory.allCases.contains(where: { $0.buttons.contains(id) }) else { return nil }
        self.init(id: id, kind: BrazeCategory.closing.contains(id) ? .close : .open)
    }
}
