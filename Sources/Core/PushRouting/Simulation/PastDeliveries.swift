import PushModel

/// What the ledger would know of the deliveries of a simulation, for the interactions that name them by number or message
/// id. The latest are remembered.
struct PastDeliveries {
    /// A delivery, and the other ids that lead to it.
    private var bySeq: [SequenceNumber: PastDelivery] = [:]
    private var byMessage: [String: [SequenceNumber]] = [:]
    private var oldestFirst = Queue<SequenceNumber>()
    private let capacity: Int

    init(capacity: Int = 100_000) { self.capacity = capacity }

    /// Remembers a delivery that was accepted.
    ///
    /// - Parameters:
    ///   - deliver: what was asked.
    ///   - accepted: the same, with what it left out.
    ///   - provider: whose payload it is.
    mutating func add(_ deliver: DeliverRequest, _ accepted: AcceptedRequest, provider: String?) {
        bySeq[accepted.seq] = PastDelivery(accepted: accepted, provider: provider, request: deliver)
        if let message = accepted.messageID, !accepted.isTracked {
            byMessage[message, default: []].append(accepted.seq)
        }
        oldestFirst.append(accepted.seq)
        if bySeq.count > capacity { forgetOldest() }
    }

    /// The delivery that is named, as the ledger finds it: with a message id the latest one that was not the tracker's.
    func delivery(_ reference: DeliveryReference) -> PastDelivery? {
        switch reference.name {
        case .seq(let seq): return bySeq[seq].flatMap { reference.admits($0.accepted) ? $0 : nil }
        case .message(let message):
            let candidates = byMessage[message]?.reversed().lazy.compactMap { bySeq[$0] }
            return candidates?.first { reference.admits($0.accepted) }
        }
    }

    private mutating func forgetOldest() {
        guard let seq = oldestFirst.popFirst(), let past = bySeq.removeValue(forKey: seq) else { return }
        guard let message = past.accepted.messageID, !past.accepted.isTracked else { return }
        byMessage[message]?.removeAll { $0 == seq }
        if byMessage[message]?.isEmpty == true { byMessage[message] = nil }
    }
}
