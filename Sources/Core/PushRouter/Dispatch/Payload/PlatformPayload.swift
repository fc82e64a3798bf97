public import PushModel

/// A payload in any accepted form, read as the platform's code would read it.
///
/// A class, because it is parsed once and immutable. It keeps its document alive; a caller that uses its views must
/// keep it alive.
protocol PlatformPayload: AnyObject, ConditionSubject, Sendable {
    /// The service that carried the payload.
    var transport: Transport { get }
    /// FCM's priorities of the message, as sent and as delivered; `nil` if not stated.
    var priorities: (original: MessagePriority?, delivered: MessagePriority?) { get }
    /// The payload's own id.
    var messageID: String? { get }
    /// The app that the payload names.
    var app: String? { get }
    /// Whether it is a send body that FCM only validates.
    var validateOnly: Bool { get }

    /// The place of the dashboard's key-values. Parses the text that contains them, if any.
    var dashboardPairs: DashboardPairs { get }

    /// The id for the platform's list of recent messages; `nil` if the platform has no such list, or the payload no id.
    var duplicateID: String? { get }
    /// The time for which the service keeps the message; `nil` if not stated.
    var timeToLive: TimeToLive? { get }
    /// The values of the getters of FCM's `RemoteMessage`; `nil` if there is no message.
    var remoteMessage: RemoteMessage? { get }

    /// The change of the push token, if the payload is an intent about one; `nil` otherwise.
    var tokenChange: TokenChange? { get }

    /// A digest of the payload that the platform hands back on a tap; equal for equal payloads, in every run (rule
    /// T15). `nil` if the platform hands back nothing that identifies the payload.
    var digest: UInt64? { get }

    /// The objects with the top-level keys, including keys that the app does not see.
    var keyHolders: (JSONObject?, JSONObject?) { get }

    /// Returns the facts about a Braze payload; appends the reason of its kind.
    func brazeFacts(_ settings: DetectionSettings, because reasons: inout [Reason]) -> BrazeFacts
    /// Calls `isEnough` with each button of a Braze notification in order, until it returns true.
    func forEachButton(until isEnough: (BrazeButton) -> Bool)
    /// The link that a tap on a Braze notification opens; `nil`: a tap opens the app.
    var brazeLink: String? { get }
    /// The reason why Braze's shipped rule does not match; `nil` for an intent about a token.
    var reasonAgainstBraze: Reason? { get }
    /// Returns the platform's treatment of the payload; appends the reasons.
    func fate(of delivery: Delivery, _ settings: DetectionSettings, because reasons: inout [Reason]) -> Fate
    /// Whether the user sees a Braze payload of this kind and fate, if notifications are allowed.
    func shows(_ kind: BrazeFacts.Kind, under fate: Fate) -> Bool
    /// Returns warnings about the payload.
    func warnings(braze: BrazeFacts?) -> [Warning]
}

extension PlatformPayload {
    var priorities: (original: MessagePriority?, delivered: MessagePriority?) { (nil, nil) }
    var duplicateID: String? { nil }
    var tokenChange: TokenChange? { nil }
    var remoteMessage: RemoteMessage? { nil }
}

/// The place of the dashboard's key-values. Indirect, because it is passed along with the keys and seldom read.
indirect enum DashboardPairs: Sendable {
    /// The payload has none.
    case none
    /// The pairs are among the keys of this object, next to the provider's own. A list of the pairs leaves out the
    /// provider's keys.
    case ownKeys(of: JSONView, isProviders: @Sendable (JSONView) -> Bool)
    /// The members of an object in the payload.
    case object(JSONView)
    /// The members of the JSON object in a text of the payload.
    case text(JSONDocument)
}

/// A web push payload: the object that a service worker reads from the event.
///
/// FCM wraps what it carries: the object has `data`, `notification`, `from` and `fcmMessageId`, as
/// `internal-message-payload.ts` of firebase-js-sdk declares. The views belong to the document next to them.
final class WebPayload: PlatformPayload {
    private let payload: JSONNode
    /// The object that FCM makes of a send body.
    private let event: JSONDocument?
    let messageID: String?
    let validateOnly: Bool
    /// The header `TTL` of an FCM v1 message.
    let timeToLive: TimeToLive?
    /// The object of the event.
    let object: JSONObject?
    /// Whether FCM carries it.
    let isOfFCM: Bool
    /// Whether a click on the notification that FCM's worker shows opens a page.
    let hasLink: Bool

    var transport: Transport { .webPush }

    init(_ payload: JSONNode, named id: String? = nil) throws(PayloadError) {
        self.payload = payload
        let view = payload.view
        messageID = PushRouter.messageID(of: view, platform: .web) ?? id
        if let message = V1Message.message(in: view, platform: .web) {
            let v1 = try V1Message.of(view, message: message)
            validateOnly = v1.validateOnly
            timeToLive = v1.webSecondsToLive.map(TimeToLive.seconds)
            event = try? JSONDocument(scanning: v1.webEvent(id: messageID), limits: JSONLimits(depth: .max))
            object = (event?.root.view).map(JSONObject.init)
            isOfFCM = true
            hasLink = v1.hasWebLink
        } else {
            validateOnly = false
            timeToLive = nil
            event = nil
            object = JSONObject(view)
            isOfFCM = view.member("fcmMessageId") != nil
            hasLink =
                view["fcmOptions"]?["link"] != nil || view.member("notification")?["click_action"] != nil
                || view.member("data")?["link"] != nil
        }
    }

    var app: String? { nil }

    /// Whether FCM's worker shows a notification of its own.
    var hasFCMNotification: Bool { isOfFCM && object?.member("notification")?.isObject == true }

    /// Whether it is a declarative web push, which a browser may show without the worker.
    ///
    /// Source: W3C, Push API (Working Draft of 2025-09-10), "declarative push message parser": the member `web_push` is
    /// 8030, and `notification` has the texts `title` and `navigate`; a message without them is one for the worker.
    var isDeclarative: Bool { isMarkedDeclarative && keyMissingInDeclaration == nil }

    /// Whether a browser with declarative web push starts the worker with the declared notification.
    ///
    /// Source: as above, the member `mutable`; Apple, WWDC 2025, session 235. WebKit, "Meet Declarative Web Push", has the
    /// versions of iOS, and "WebKit Features in Safari 18.5" that of macOS.
    var isMutable: Bool { object?.member("mutable")?.bool == true }

    /// Whether it is a text alone, as a web push of plain text is delivered (``WebPushText``).
    var isText: Bool { !isOfFCM && keyCount == 1 && object?.member("text")?.isString == true }

    /// Whether it has the form of Angular's service worker (ngsw), which shows `notification`.
    var isForAngular: Bool {
        !isOfFCM && !isMarkedDeclarative && object?.member("notification")?.member("title")?.isString == true
    }

    /// Whether it says what a click does in Angular's service worker.
    var hasAngularClick: Bool { object?.member("notification")?.member("data")?["onActionClick"]?.isObject == true }

    /// Whether `web_push` says that it is a declarative web push.
    private var isMarkedDeclarative: Bool { object?.member("web_push")?.int64 == 8030 }

    /// The key without which a browser reads no declaration.
    private var keyMissingInDeclaration: String? {
        let block = object?.member("notification")
        if block?.member("title")?.isString != true { return "title" }
        return block?.member("navigate")?.isString == true ? nil : "navigate"
    }

    /// Whether the object has no members.
    var isEmpty: Bool { object?.view.count == 0 }

    subscript(key: String) -> JSONView? { object?[key] }

    /// The service worker hands back only its ids. The campaign is the only one that the payload has, so payloads
    /// without a campaign have equal digests.
    var digest: UInt64? {
        guard let campaign = object?.member("cid"), campaign.isString else { return stableDigest("".utf8) }
        return campaign.withText { stableDigest($0) }
    }

    var keyHolders: (JSONObject?, JSONObject?) { (object, nil) }

    func hasKey(ofLength length: Int, where isWanted: (JSONView) -> Bool) -> Bool {
        object?.view.hasKey(ofLength: length, where: isWanted) == true
    }

    var keyCount: Int { object?.view.count ?? 0 }

    var dashboardPairs: DashboardPairs { object?.member("e").map(DashboardPairs.object) ?? .none }
}

extension WebPayload {
    func warnings(braze: BrazeFacts?) -> [Warning] {
        guard !isOfFCM else { return [] }
        var warnings: [Warning] = []
        if isMarkedDeclarative, let key = keyMissingInDeclaration { warnings.append(.declarationLacks(key)) }
        for (key, platform) in [("_ab", Platform.android), ("aps", .ios)] where object?[key] != nil {
            warnings.append(.keyOfAnotherPlatform(key, platform))
        }
        return warnings
    }
}

/// The text of a web push in the form of a payload. A service worker reads an object by `event.data.json()`, and any
/// other text as it is.
public struct WebPushText: Sendable {
    /// The most bytes of a text that fit into a body that every service takes (RFC 8291, 4).
    public static let max = 3993
    /// The key of a text that is no object.
    static let key = "text"

    /// The object in the text. An empty text becomes an empty object. Any other text, and a send body of FCM, becomes
    /// an object with the text, or with its bytes in base64url if they are no UTF-8.
    public let payload: JSONNode
    /// The form that a handler gets instead of an object, for people; `nil` for an object, and without a text.
    public let remark: String?

    /// Reads a text.
    public init(_ text: [UInt8], limits: JSONLimits) {
        let root = try? JSONDocument(scanning: text, limits: limits).root
        let isText = String(validating: text, as: UTF8.self)
        if let root, root.kind == .object {
            let isBody = V1Body.isBody(root, on: .web)
            payload = isBody ? Self.wrapped(Self.key, isText ?? "") : root
            remark = isBody ? "the text has the form of a send body of FCM: handlers get it as text" : nil
        } else if text.isEmpty {
            (payload, remark) = (Self.wrapped(nil, ""), nil)
        } else {
            let key = isText == nil ? "base64url" : Self.key
            payload = Self.wrapped(key, isText ?? Base64URL.encoded(text))
            remark = "the text is no JSON object: handlers get it as \(key)"
        }
    }

    /// An object with a text under a key, or with nothing.
    public static func wrapped(_ key: String?, _ text: String) -> JSONNode {
        var writer = JSONWriter()
        writer.object { writer in if let key { writer.member(key, text) } }
        // The writer's JSON is always valid.
        guard let root = try? JSONDocument(scanning: writer.bytes).root else { preconditionFailure("invalid JSON") }
        return root
    }
}

/// Base64 with the alphabet for URLs, without padding (RFC 4648, 5).
public enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// Encodes bytes, without padding.
    public static func encoded(_ bytes: [UInt8]) -> String {
        var digits: [UInt8] = []
        digits.reserveCapacity(bytes.count / 3 * 4 + 4)
        var bits: UInt32 = 0
        var count: UInt32 = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 6 {
                count -= 6
                digits.append(alphabet[Int(bits >> count & 63)])
            }
        }
        if count > 0 { digits.append(alphabet[Int(bits << (6 - count) & 63)]) }
        return String(decoding: digits, as: UTF8.self)
    }

    /// Whether a byte is one of its digits.
    public static func isDigit(_ byte: UInt8) -> Bool { value(of: byte) != nil }

    /// Decodes a text; `nil` if it is invalid. Accepts padding, which some clients send.
    public static func decoded(_ text: some Collection<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3 + 2)
        var bits: UInt32 = 0
        var count = 0
        let padding = text.reversed().prefix(2).prefix { $0 == UInt8(ascii: "=") }.count
        let digits = text.dropLast(padding)
        guard digits.count % 4 != 1 else { return nil }
        for digit in digits {
            guard let value = value(of: digit) else { return nil }
            bits = bits << 6 | UInt32(value)
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        }
        // The unused bits of the last digit must be zero.
        guard bits & (1 << UInt32(count) - 1) == 0 else { return nil }
        return bytes
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): digit - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0") + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
