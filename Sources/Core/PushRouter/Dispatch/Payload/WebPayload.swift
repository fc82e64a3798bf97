import PushModel

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
        } else {
            validateOnly = false
            timeToLive = nil
            event = nil
            object = JSONObject(view)
            isOfFCM = view.member("fcmMessageId") != nil
        }
    }

    var app: String? { nil }

    /// Whether FCM's worker shows a notification of its own.
    var hasFCMNotification: Bool { isOfFCM && object?.member("notification")?.isObject == true }

    /// Whether it is a declarative web push, which a browser may show without the worker.
    ///
    /// Source: "Declarative Web Push" of WebKit: the member `web_push` is 8030.
    var isDeclarative: Bool { object?.member("web_push")?.int64 == 8030 }

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
        for (key, platform) in [("_ab", Platform.android), ("aps", .ios)] where object?[key] != nil {
            warnings.append(.keyOfAnotherPlatform(key, platform))
        }
        return warnings
    }
}
