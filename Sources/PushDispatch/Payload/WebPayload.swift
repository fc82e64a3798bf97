import PushModel

/// A web push payload: the object that a service worker reads from the event.
struct WebPayload: PlatformPayload {
    let messageID: String?
    let validateOnly: Bool
    /// The object; `nil` for a send body of FCM v1 that carries no data.
    let object: JSONNode?

    init(_ payload: JSONNode) throws(PayloadError) {
        messageID = PushDispatch.messageID(of: payload, platform: .web)
        if let message = V1Message.message(in: payload, platform: .web) {
            let v1 = try V1Message(payload, message: message)
            validateOnly = v1.validateOnly
            object = v1.webData
        } else {
            validateOnly = false
            object = payload
        }
    }

    var app: String? { nil }

    /// Whether the service worker finds nothing in it.
    var isEmpty: Bool { object?.count == 0 }

    subscript(key: String) -> JSONNode? { object?[key] }

    /// The worker hands back its ids alone, of which the campaign is the only one that was in the payload.
    var digest: UInt64? { (object?["cid"]?.string).map { stableDigest($0.utf8) } }

    var keySketch: KeySketch { KeySketch(keysOf: object) }

    func hasKey(beginningWith prefix: String) -> Bool {
        object?.hasKey(beginningWith: prefix) { _ in true } == true
    }

    var keyCount: Int { object?.count ?? 0 }

    func dashboardValue(_ key: String) -> JSONNode? { object?["e"]?[key] }
}
