import PushModel

/// A web push payload: the object that a service worker reads from the event.
///
/// The views belong to the document next to them.
final class WebPayload: PlatformPayload {
    private let payload: JSONNode
    let messageID: String?
    let validateOnly: Bool
    /// The header `TTL` of an FCM v1 message.
    let timeToLive: TimeToLive?
    /// The object; `nil` for an FCM v1 send body without data.
    let object: JSONObject?
    /// Whether the object is the data of an FCM v1 message for all platforms.
    let isDataOfAll: Bool

    var transport: Transport { .webPush }

    init(_ payload: JSONNode, named id: String? = nil) throws(PayloadError) {
        self.payload = payload
        let view = payload.view
        messageID = PushRouter.messageID(of: view, platform: .web) ?? id
        if let message = V1Message.message(in: view, platform: .web) {
            let v1 = try V1Message(view, message: message)
            validateOnly = v1.validateOnly
            timeToLive = v1.webSecondsToLive.map(TimeToLive.seconds)
            object = v1.webData.map(JSONObject.init)
            isDataOfAll = v1.ownWebData == nil
        } else {
            validateOnly = false
            timeToLive = nil
            object = JSONObject(view)
            isDataOfAll = false
        }
    }

    var app: String? { nil }

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
        guard !isDataOfAll else { return [] }
        var warnings: [Warning] = []
        for (key, platform) in [("_ab", Platform.android), ("aps", .ios)] where object?[key] != nil {
            warnings.append(.keyOfAnotherPlatform(key, platform))
        }
        return warnings
    }
}
