import PushModel

extension ApplePayload {
    /// Everything that APNs would refuse the payload for.
    var refusals: [APNsRefusal] {
        var refusals = APNsRefusal.ofHeaders(header)
        // A payload for the simulator does not go to APNs.
        let limit = APNsRefusal.longestPayload(ofType: header("apns-push-type"))
        if app == nil, let userInfo, userInfo.view.rawBytes.count > limit {
            let length = userInfo.view.text.utf8.count
            if length > limit { refusals.append(.payloadTooLarge(length: length, limit: limit)) }
        }
        return refusals
    }

    /// A header's value; names of headers have no case.
    private func header(_ name: String) -> String? {
        headers?.members.first { $0.key.text.lowercased() == name }?.value.string
    }
}
