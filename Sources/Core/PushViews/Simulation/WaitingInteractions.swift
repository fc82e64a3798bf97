import PushModel
import PushRouter

/// The interactions of a simulation that the tracker holds until their push comes, for reports of their verdicts to
/// people.
struct WaitingInteractions {
    /// The verdict on an interaction that found its push, or waited in vain.
    struct End {
        /// The request with the interaction.
        let cause: SequenceNumber
        /// The id of its request.
        let id: String?
        /// The tracker's verdict.
        let verdict: Interaction.Verdict
        /// The delivery that the interaction is about; `nil`: none was found.
        let delivery: SequenceNumber?
        /// The reason why the interaction is not counted; `nil` if it is.
        let reason: String?
    }

    private var requests: [SequenceNumber: Request] = [:]

    mutating func add(_ request: Request, _ seq: SequenceNumber) { requests[seq] = request }

    /// The requests of the interactions that still wait, in order.
    var causes: [SequenceNumber] { requests.keys.sorted() }

    /// Removes an interaction that no longer waits.
    ///
    /// - Returns: its end; `nil` if the outcome of its request already reported it.
    mutating func end(
        _ cause: SequenceNumber, _ verdict: Interaction.Verdict, delivery: SequenceNumber?, past: PastDeliveries
    ) -> End? {
        let request = requests.removeValue(forKey: cause)
        guard request != nil || verdict.isLost else { return nil }
        return End(
            cause: cause, id: request?.id, verdict: verdict, delivery: delivery,
            reason: Self.reason(cause, verdict, delivery, request, past))
    }

    private static func reason(
        _ cause: SequenceNumber, _ verdict: Interaction.Verdict, _ delivery: SequenceNumber?, _ request: Request?,
        _ past: PastDeliveries
    ) -> String? {
        let push = delivery.map { "push \($0)" } ?? "its push"
        switch verdict {
        case .opened, .closed, .unattributed, .dismissed: return nil
        case .duplicate: return "\(push) was opened before"
        case .unknownAction: return "\(push) has no such button"
        case .elsewhere: return "\(push) went to another device or app than the interaction names"
        case .unmatched: break
        }
        guard case .interact(let interact)? = request?.action else { return "no push matches" }
        let place = interact.target.device.map { " on the device \($0)" } ?? ""
        switch interact.subject {
        case .payload: return "no Braze push with this payload came\(place)"
        case .delivery(let seq):
            return "the tracker has no push \(seq)" + (past.fate(seq).map { ": \($0)" } ?? "")
        case .message(let name):
            guard let seq = past.seq(id: name) else {
                return "no push has the message id \(name), and no delivery before this line has the id \(name)"
            }
            if seq < cause, past.isOn(interact.target, seq), let fate = past.fate(seq) {
                return "the tracker has no push \(seq), with the id \(name): \(fate)"
            }
            return seq > cause
                ? "push \(seq), with the id \(name), came after it"
                : "push \(seq), with the id \(name), went to another device or app than the interaction names"
        }
    }
}

extension Interaction.Verdict {
    /// Whether the tracker found no push for the interaction.
    var isLost: Bool {
        switch self {
        case .unmatched, .elsewhere: true
        case .opened, .closed, .duplicate, .unattributed, .dismissed, .unknownAction: false
        }
    }
}
