import PushModel

extension WebPayload {
    /// The browser starts the service worker for every push, in any state of the page.
    func fate(of delivery: Delivery, _ settings: DetectionSettings, because reasons: inout [Reason]) -> Fate {
        if isDeclarative { reasons.append(.declarativeWebPush) }
        if hasFCMNotification { reasons.append(.webNotification) }
        reasons.append(.serviceWorker)
        return .callbacks([.push])
    }
}
