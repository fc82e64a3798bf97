public import PushModel

extension DetectionSettings {
    /// The campaign of a delivery that never reached the tracker, as its payload names it; `nil`: it names none, the request is no
    /// delivery, or its payload was erased.
    ///
    /// - Parameter line: the request as the ledger has it.
    public func campaign(ofLine line: [UInt8], _ platform: Platform) -> String? {
        // Limits may have been higher when the daemon accepted the line.
        guard let request = try? Request(acceptedLine: line), case .deliver(let deliver) = request.action else {
            return nil
        }
        return (try? decide(Delivery(deliver, platform: platform), settings: self))?.braze?.campaignID
    }
}
