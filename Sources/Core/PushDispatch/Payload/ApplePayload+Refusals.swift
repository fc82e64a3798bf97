import PushModel

extension ApplePayload {
    /// The reasons why APNs would refuse the payload.
    var refusals: [APNsRefusal] {
        var refusals = APNsRefusal.ofHeaders { header($0) }
        // A payload for the simulator does not go to APNs.
        let limit = APNsRefusal.longestPayload(ofType: header(APNsHeader.pushType))
        if app == nil, let userInfo, userInfo.view.rawBytes.count > limit {
            let length = userInfo.view.text.utf8.count
            if length > limit { refusals.append(.payloadTooLarge(length: length, limit: limit)) }
        }
        return refusals
    }

    /// Returns a header's value; names of headers ignore case.
    func header(_ name: APNsHeader) -> String? {
        headers?.members.first { $0.key.text.lowercased() == name.rawValue }?.value.string
    }
}
