import PushModel

/// What the ledger would know of the deliveries of a simulation, for the interactions that name them by number or message
/// id. The latest are remembered.
struct PastDeliveries {
    /// A delivery, and the other ids that lead to it.
    private var bySeq: [SequenceNumber: PastDelivery] = [:]
    private var byMessage: [String: [SequenceNumber]] = [:]
    /// By the id of the request; of the same id the latest.
    private var byID: [String: SequenceNumber] = [:]
    /// How those ended that no code of the app got.
    private var fates: [SequenceNumber: String] = [:]
    private var oldestFirst = Queue<SequenceNumber>()
    private let capacity: Int

    init(capacity: Int = 100_000) { self.capacity = capacity }

    /// Remembers a delivery that was accepted.
    ///
    /// - Parameters:
    ///   - deliver: what was asked.
    ///   - accepted: the same, with what it left out.
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

    /// The delivery that is named, as the ledger finds it: with a message id the latest one that was not the tracker's.
    func delivery(_ reference: DeliveryReference) -> PastDelivery? {
        switch reference.name {
        case .seq(let seq): return bySeq[seq].flatMap { reference.admits($0.accepted) ? $0 : nil }
        case .message(let message):
            let candidates = byMessage[message]?.reversed().lazy.compactMap { bySeq[$0] }
            return candidates?.first { reference.admits($0.accepted) }
        }
    }

    /// The number of the latest delivery whose request had this id.
    func seq(id: String) -> SequenceNumber? { byID[id] }

    /// Whether a delivery went to the device and the app of a target, as far as it names them.
    func isOn(_ target: Target, _ seq: SequenceNumber) -> Bool {
        guard let accepted = bySeq[seq]?.accepted else { return false }
        return (target.device ?? accepted.device) == accepted.device && (target.app ?? accepted.app) == accepted.app
    }

    /// The platform that a delivery was taken for.
    func platform(of seq: SequenceNumber) -> Platform? { bySeq[seq]?.accepted.platform }

    /// Whether a delivery has this message id.
    func hasMessage(_ id: String) -> Bool { byMessage[id] != nil }

    /// How a delivery ended, and why, if no code of the app got it.
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
