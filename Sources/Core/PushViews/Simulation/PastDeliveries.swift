import PushModel
import PushRouter

/// A simulation's substitute for the ledger: the deliveries, for interactions that name them by number or message id.
/// It holds the latest ones.
struct PastDeliveries {
    /// The deliveries by number. The other indices lead to these numbers.
    private var bySeq: [SequenceNumber: PastDelivery] = [:]
    private var byMessage: [String: [SequenceNumber]] = [:]
    /// The number of the latest delivery by the request's id.
    private var byID: [String: SequenceNumber] = [:]
    /// The outcome and reason of deliveries that reached no code of the app.
    private var fates: [SequenceNumber: String] = [:]
    private var oldestFirst = Queue<SequenceNumber>()
    private let capacity: Int

    init(capacity: Int = 100_000) { self.capacity = capacity }

    /// Stores an accepted delivery.
    ///
    /// - Parameters:
    ///   - deliver: the delivery in the request.
    ///   - accepted: the accepted request, with missing fields filled in.
    ///   - first: its first invocation.
    mutating func add(_ deliver: DeliverRequest, _ accepted: AcceptedRequest, _ first: InvocationRecord) {
        bySeq[accepted.seq] = PastDelivery(accepted: accepted, provider: first.provider, request: deliver)
        if let id = accepted.id { byID[id] = accepted.seq }
        if first.callback == .none, let result = first.result {
            fates[accepted.seq] = result.outcome.rawValue + (result.reason.map { ", \($0)" } ?? "")
        }
        if let message = accepted.messageID, !accepted.isTracked {
            byMessage[message, default: []].append(accepted.seq)
        }
        oldestFirst.append(accepted.seq)
        if bySeq.count > capacity { forgetOldest() }
    }

    /// Returns the referenced delivery as the ledger would: for a message id the latest that the tracker does not have.
    func delivery(_ reference: DeliveryReference) -> PastDelivery? {
        switch reference.name {
        case .seq(let seq): return bySeq[seq].flatMap { reference.admits($0.accepted) ? $0 : nil }
        case .message(let message):
            let candidates = byMessage[message]?.reversed().lazy.compactMap { bySeq[$0] }
            return candidates?.first { reference.admits($0.accepted) }
        }
    }

    /// Returns the delivery that an interaction names; `nil` if none is known, or if it names a payload.
    func delivery(of subject: InteractRequest.Subject) -> PastDelivery? {
        switch subject {
        case .delivery(let seq): bySeq[seq]
        case .message(let name): (byMessage[name]?.last ?? byID[name]).flatMap { bySeq[$0] }
        case .payload: nil
        }
    }

    /// Returns the number of the latest delivery whose request had this id.
    func seq(id: String) -> SequenceNumber? { byID[id] }

    /// Whether a delivery matches the device and the app of a target, as far as the target names them.
    func isOn(_ target: Target, _ seq: SequenceNumber) -> Bool {
        guard let accepted = bySeq[seq]?.accepted else { return false }
        return (target.device ?? accepted.device) == accepted.device && (target.app ?? accepted.app) == accepted.app
    }

    /// Returns the platform of a delivery.
    func platform(of seq: SequenceNumber) -> Platform? { bySeq[seq]?.accepted.platform }

    /// Whether a delivery has this message id.
    func hasMessage(_ id: String) -> Bool { byMessage[id] != nil }

    /// Returns the outcome and reason of a delivery that reached no code of the app; `nil` for others.
    func fate(_ seq: SequenceNumber) -> String? { fates[seq] }

    private mutating func forgetOldest() {
        guard let seq = oldestFirst.popFirst(), let past = bySeq.removeValue(forKey: seq) else { return }
        fates[seq] = nil
        if let id = past.accepted.id, byID[id] == seq { byID[id] = nil }
        guard let message = past.accepted.messageID, !past.accepted.isTracked else { return }
        byMessage[message]?.removeAll { $0 == seq }
        if byMessage[message]?.isEmpty == true { byMessage[message] = nil }
    }
}
