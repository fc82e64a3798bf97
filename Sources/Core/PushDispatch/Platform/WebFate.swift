import PushModel

extension WebPayload {
    /// Returns the callback of the service worker, which the browser starts for every push, in any state of the page.
    func fate(of delivery: Delivery, _ settings: DetectionSettings, because reasons: inout [Reason]) -> Fate {
        reasons.append(.serviceWorker)
        return .callbacks([.push])
    }
}
