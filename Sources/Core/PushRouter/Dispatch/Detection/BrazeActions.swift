import PushModel

// The buttons of Braze's notifications on iOS and the web.

extension ApplePayload {
    /// Calls a closure for the buttons of a default category, each with its object in `ab.ab_cat` if it has one, and
    /// then for the other buttons in `ab.ab_cat`.
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

/// A button of a Braze notification, as its place in the payload: each property parses the payload on access.
///
/// It consists of views of the payload, so the caller must keep the payload alive.
enum BrazeButton {
    /// The keys `ab_aN_...` of an Android payload, and the value of the type key.
    case android(JSONObject, number: Int, type: JSONView)
    /// A button of a category on iOS, with its object in `ab.ab_cat` if it has one.
    case apple(Name, JSONView?)
    /// An element of `pab` on the web.
    case web(JSONView)

    /// The id with which the SDK reports a press on a button.
    enum Name {
        /// A text in the payload.
        case text(JSONView)
        /// An id that Braze's SDK registers.
        case registered(String)
    }

    /// The id; `nil` if the payload gives none.
    var id: Name? {
        switch self {
        case .android(let map, let number, _): map.text(ofButton: number, "id").map(Name.text)
        case .apple(let id, _): id
        case .web(let button): button.member("action").flatMap { $0.isString ? .text($0) : nil }
        }
    }

    /// The effect of a press.
    var kind: BrazeFacts.Action.Kind {
        switch self {
        case .android(_, _, let type): androidKind(type)
        case .apple(let id, let button): id.isClosing ? .close : appleKind(button)
        case .web(let button): webKind(button.member("a"))
        }
    }

    /// The title; `nil` on iOS, where the app has it.
    var title: JSONView? {
        switch self {
        case .android(let map, let number, _): map.text(ofButton: number, "t")
        case .apple: nil
        case .web(let button): button.member("title")
        }
    }

    /// The link of the button.
    var uri: JSONView? {
        switch self {
        case .android(let map, let number, _): map.text(ofButton: number, "uri")
        case .apple(_, let button): button?.member("a_uri")?.orNilIfEmpty
        case .web(let button): button.member("u")?.orNilIfEmpty
        }
    }

    /// The button as a decoded value.
    var decoded: BrazeFacts.Action {
        BrazeFacts.Action(id: id?.string, kind: kind, title: title?.string, uri: uri?.string)
    }

    private func androidKind(_ type: JSONView) -> BrazeFacts.Action.Kind {
        // Without a link the press opens the app.
        if type.equals("ab_uri") { return uri.map(BrazeFacts.Action.Kind.init(opening:)) ?? .open }
        if type.equals("ab_open") { return .open }
        return type.equals("ab_none") ? .close : .unknown
    }

    /// The values of `a_t` are not public (UNVERIFIED): if it is none of Android's types, the link decides.
    private func appleKind(_ button: JSONView?) -> BrazeFacts.Action.Kind {
        let type = button?.member("a_t")
        if type?.equals("ab_none") == true { return .close }
        if type?.equals("ab_open") == true { return .open }
        return uri.map(BrazeFacts.Action.Kind.init(opening:)) ?? .open
    }

    private func webKind(_ type: JSONView?) -> BrazeFacts.Action.Kind {
        guard let type else { return .unknown }
        if type.equals("ab_none") { return .close }
        if type.equals("ab_open") { return .open }
        guard type.equals("ab_uri") else { return .unknown }
        return (uri?.string).map(BrazeFacts.Action.Kind.init(webTarget:)) ?? .open
    }
}

extension BrazeButton.Name {
    var string: String? {
        switch self {
        case .text(let text): text.string
        case .registered(let id): id
        }
    }

    /// Whether it is one of the buttons on iOS that only close the notification.
    fileprivate var isClosing: Bool {
        switch self {
        case .text(let id): id.equals("ab_pb_decline") || id.equals("ab_pb_no") || id.equals("ab_pb_cancel")
        case .registered(let id): BrazeCategory.closing.contains(id)
        }
    }

    /// Whether the id equals a text, by the rules of `String`.
    func equals(_ id: String) -> Bool {
        switch self {
        case .text(let text):
            // Only characters beyond ASCII have several spellings.
            let isPlain = text.withText { $0.allSatisfy { $0 < 0x80 } } && id.utf8.allSatisfy { $0 < 0x80 }
            return isPlain ? text.withText { $0.elementsEqual(id.utf8) } : text.string == id
        case .registered(let registered): return registered == id
        }
    }

    /// Calls `body` with the id in UTF-8.
    func withUTF8<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        switch self {
        case .text(let text): return text.withText(body)
        case .registered(var id): return id.withUTF8(body)
        }
    }
}

extension PlatformPayload {
    /// The most buttons that are read. The SDKs set no limit; the four kilobytes of FCM and APNs have room for fewer
    /// buttons, because keys and type take at least eleven bytes each.
    static var buttonsMax: Int { 400 }

    /// The decoded buttons of a Braze notification, in order.
    var brazeActions: [BrazeFacts.Action] {
        var actions: [BrazeFacts.Action] = []
        forEachButton { button in
            actions.append(button.decoded)
            return false
        }
        return actions
    }

    /// Returns the first button of a Braze notification with this id.
    func brazeButton(_ id: String) -> BrazeButton? {
        var found: BrazeButton?
        forEachButton { button in
            if button.id?.equals(id) == true { found = button }
            return found != nil
        }
        return found
    }
}

extension BrazeFacts.Action.Kind {
    /// The effect of a button with a link.
    fileprivate init(opening uri: JSONView) {
        let isWebAddress = uri.withText { text -> Bool? in
            let colon = text.firstIndex(of: UInt8(ascii: ":"), from: 0) ?? text.count
            let isWeb = text.isSame(as: "https", length: colon) || text.isSame(as: "http", length: colon)
            guard isWeb else { return false }
            // A combining mark after the colon changes the character: the initializer for `String` decides.
            return colon + 1 >= text.count || text[colon + 1] < 0x80 ? true : nil
        }
        self = isWebAddress.map { $0 ? .uri : .deepLink } ?? Self(opening: uri.string)
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether the first bytes equal this text of lower-case letters, ignoring case.
    fileprivate func isSame(as letters: StaticString, length: Int) -> Bool {
        guard length == letters.utf8CodeUnitCount else { return false }
        for index in 0..<length where self[index] | 0x20 != letters.utf8Start[index] || self[index] < 0x40 {
            return false
        }
        return true
    }
}

extension JSONView {
    /// The view itself; `nil` for an empty string and for any value that is no string.
    var orNilIfEmpty: JSONView? { textLength > 0 ? self : nil }
}

extension JSONObject {
    /// Returns the string `ab_aN_...` of an Android payload; `nil` if it is missing or empty.
    func text(ofButton number: Int, _ name: StaticString) -> JSONView? {
        // The capacity suffices for the longest number and the longest name.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 40) { key in
            guard let start = key.baseAddress else { return nil }
            var end = start.writing("ab_a")
            if number < 10 {
                end.pointee = UInt8(ascii: "0") + UInt8(number)
                end += 1
            } else {
                for digit in String(number).utf8 {
                    end.pointee = digit
                    end += 1
                }
            }
            end = end.writing("_").writing(name)
            return view.member(UnsafeBufferPointer(start: start, count: end - start))?.orNilIfEmpty
        }
    }
}

extension UnsafeMutablePointer<UInt8> {
    /// Writes a text, and returns the position after it.
    @inline(__always)
    fileprivate func writing(_ text: StaticString) -> UnsafeMutablePointer<UInt8> {
        initialize(from: text.utf8Start, count: text.utf8CodeUnitCount)
        return self + text.utf8CodeUnitCount
    }
}

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
