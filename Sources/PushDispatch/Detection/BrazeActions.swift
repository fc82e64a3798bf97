import PushModel

// The buttons of Braze's notifications where they are not Android's.

extension ApplePayload {
    /// The buttons of a default category, with what `ab.ab_cat` says of them, then the others that it describes.
    ///
    /// The values of `a_t` are not public (UNVERIFIED): where it is none of Android's types, the address decides. The
    /// app has the buttons' titles.
    var brazeActions: [BrazeFacts.Action] {
        let described = self["ab"]?["ab_cat"]?.members ?? []
        let category = category.flatMap { BrazeCategory(rawValue: $0) }?.buttons ?? []
        let others = described.filter { !category.contains($0.key) }
        return category.map { id in BrazeFacts.Action(appleID: id, described.first { $0.key == id }?.value) }
            + others.map { BrazeFacts.Action(appleID: $0.key, $0.value) }
    }
}

extension WebPayload {
    /// The buttons of `pab`.
    var brazeActions: [BrazeFacts.Action] {
        (object?["pab"]?.elements ?? []).map { button in
            let target = button["u"]?.nonEmptyString
            let kind: BrazeFacts.Action.Kind =
                switch button["a"]?.string {
                case "ab_none": .close
                case "ab_open": .open
                case "ab_uri": target.map(BrazeFacts.Action.Kind.init(webTarget:)) ?? .open
                default: .unknown
                }
            return BrazeFacts.Action(
                id: button["action"]?.string, kind: kind, title: button["title"]?.string, uri: target)
        }
    }
}

extension BrazeFacts.Action {
    /// A button of one of Braze's default categories on iOS, where no payload describes it; `nil` for any other.
    init?(defaultID id: String) {
        guard BrazeCategory.allCases.contains(where: { $0.buttons.contains(id) }) else { return nil }
        self.init(appleID: id, nil)
    }

    /// A button with its object in `ab.ab_cat`, if it has one.
    fileprivate init(appleID id: String, _ button: JSONNode?) {
        let target = button?["a_uri"]?.nonEmptyString
        let kind: Kind =
            switch button?["a_t"]?.string {
            case _ where BrazeCategory.closing.contains(id), "ab_none": .close
            case "ab_open": .open
            default: target == nil ? .open : Kind(opening: target)
            }
        self.init(id: id, kind: kind, uri: target)
    }

    /// The buttons of a notification on the web, by what the worker leaves in its data: `actionTargets` has the address
    /// of every button that opens one. A button of the type `ab_none` has none.
    static func inWebNotification(_ data: JSONNode) -> [BrazeFacts.Action] {
        (data["actionTargets"]?.members ?? []).map { id, target in
            let address = target.nonEmptyString
            return BrazeFacts.Action(id: id, kind: address.map(Kind.init(webTarget:)) ?? .close, uri: address)
        }
    }
}

extension BrazeFacts.Action.Kind {
    /// An address without a scheme is one of the site's own.
    fileprivate init(webTarget: String) {
        let scheme = webTarget.prefix { $0 != ":" }
        self = scheme == webTarget || scheme.contains("/") ? .uri : Self(opening: webTarget)
    }
}
