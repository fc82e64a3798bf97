import PushModel

/// A button of a Braze notification where it stands in the payload: nothing of it is decoded until somebody asks.
///
/// It consists of views of the payload, and is for whoever holds on to that.
struct BrazeButton {
    /// The id under which a press on a button is reported.
    enum Name {
        /// A text of the payload; not empty.
        case text(JSONView)
        /// One that Braze's SDK registers.
        case registered(String)
    }

    /// What a press on a button does.
    enum Action {
        /// Just that.
        case does(BrazeFacts.Action.Kind)
        /// It opens an address.
        case opens(JSONView)
        /// It opens an address that, without a scheme, is one of the site's own.
        case opensOnSite(JSONView)
    }

    /// The id; `nil` when the payload gives it none.
    let id: Name?
    /// What a press on it does.
    let action: Action
    /// The text on it.
    var title: JSONView?
    /// Where it leads.
    var uri: JSONView?

    /// What a press on it does.
    var kind: BrazeFacts.Action.Kind {
        switch action {
        case .does(let kind): kind
        case .opens(let address): address.isPlainWebAddress ? .uri : .init(opening: address.string)
        case .opensOnSite(let address): .init(webTarget: address.string ?? "")
        }
    }

    /// The same as it is told.
    var told: BrazeFacts.Action {
        BrazeFacts.Action(id: id?.string, kind: kind, title: title?.string, uri: uri?.string)
    }
}

extension BrazeButton.Name {
    var string: String? {
        switch self {
        case .text(let text): text.string
        case .registered(let id): id
        }
    }

    /// Whether the id is this one, as `String` has it.
    func equals(_ id: String) -> Bool {
        switch self {
        case .text(let text):
            // Only characters beyond ASCII have other spellings.
            let isPlain = text.withText { $0.allSatisfy { $0 < 0x80 } } && id.utf8.allSatisfy { $0 < 0x80 }
            return isPlain ? text.withText { $0.elementsEqual(id.utf8) } : text.string == id
        case .registered(let registered): return registered == id
        }
    }

    /// Shows the id in UTF-8.
    func withUTF8<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        switch self {
        case .text(let text): return text.withText(body)
        case .registered(var id): return id.withUTF8(body)
        }
    }
}

extension PlatformPayload {
    /// The buttons of a Braze notification in their order, decoded.
    var brazeActions: [BrazeFacts.Action] {
        var actions: [BrazeFacts.Action] = []
        forEachButton { button in
            actions.append(button.told)
            return false
        }
        return actions
    }

    /// The first button of a Braze notification with this id.
    func brazeButton(_ id: String) -> BrazeButton? {
        var found: BrazeButton?
        forEachButton { button in
            if button.id?.equals(id) == true { found = button }
            return found != nil
        }
        return found
    }
}

extension JSONView {
    /// Whether the text begins with `http:` or `https:` in any case, and an ASCII character follows: nothing that could
    /// make another character of the colon.
    fileprivate var isPlainWebAddress: Bool {
        withText { text in
            for scheme in ["http:", "https:"] as [StaticString] where text.count > scheme.utf8CodeUnitCount {
                let length = scheme.utf8CodeUnitCount
                let isSame = (0..<length).allSatisfy {
                    // Of what `| 0x20` makes a letter of, or a colon, the others are control characters.
                    text[$0] | 0x20 == scheme.utf8Start[$0] && text[$0] >= 0x20
                }
                if isSame, text[length] < 0x80 { return true }
            }
            return false
        }
    }
}
