import PushModel

/// A web push payload: the object that a service worker reads from the event.
///
/// Keeps the document alive, to which its views refer.
final class WebPayload: PlatformPayload {
    private let payload: JSONNode
    let messageID: String?
    let validateOnly: Bool
    /// The object; `nil` for a send body of FCM v1 without data.
    let object: JSONObject?
    /// Whether the object is the data of a message of FCM v1, which goes to all platforms.
    let isDataOfAll: Bool

    var transport: Transport { .webPush }

    init(_ payload: JSONNode, named id: String? = nil) throws(PayloadError) {
        self.payload = payload
        let view = payload.view
        messageID = PushDispatch.messageID(of: view, platform: .web) ?? id
        if let message = V1Message.message(in: view, platform: .web) {
            let v1 = try V1Message(view, message: message)
            validateOnly = v1.validateOnly
            object = v1.webData.map(JSONObject.init)
            isDataOfAll = v1.ownWebData == nil
        } else {
            validateOnly = false
            object = JSONObject(view)
            isDataOfAll = false
        }
    }

    var app: String? { nil }

    /// Whether it is empty to the service worker.
    var isEmpty: Bool { object?.view.count == 0 }

    subscript(key: String) -> JSONView? { object?[key] }

    /// Braze's service worker hands back its ids alone, of which only the campaign is in the payload; payloads without
    /// a campaign have the same digest.
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
