import PushModel

extension ApplePayload {
    /// Everything that APNs would refuse the payload for.
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

    /// A header's value; names of headers have no case.
    func header(_ name: APNsHeader) -> String? {
        headers?.members.first { $0.key.text.lowercased() == name.rawValue }?.value.string
    }
}
