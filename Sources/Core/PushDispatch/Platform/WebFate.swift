import PushModel

extension WebPayload {
    /// The browser starts the service worker for every push, whatever the page was doing.
    func fate(of delivery: Delivery, _ settings: DetectionSettings, because reasons: inout [Reason]) -> Fate {
        reasons.append(.serviceWorker)
        return .callbacks([.push])
    }
}
