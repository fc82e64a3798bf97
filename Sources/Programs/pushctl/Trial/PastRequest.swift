import PushModel
import PushViews
import Store

/// A delivery of the ledger that a handler gets once more: the unchanged payload, and its target as the daemon resolved
/// it.
struct PastRequest {
    let seq: SequenceNumber
    let request: Request
    let deliver: DeliverRequest
    let platform: Platform
    /// The callback that the handler ran for, otherwise the first one of any handler; `nil`: no handler ran.
    let callback: Callback?
    /// The request, its target and its outcome, for people.
    let summary: String

    /// - Parameters:
    ///   - story: the request in the ledger.
    ///   - handler: the handler that gets it.
    ///   - zone: the zone of the times.
    /// - Throws: when there is no payload for a handler, with the reason.
    init(_ story: RequestStory, handler: String, zone: LocalZone) throws(Failure) {
        let accepted = story.request
        seq = accepted.seq
        func failure(_ reason: String) -> Failure { Failure(.badData, "request \(accepted.seq): \(reason)") }
        guard !accepted.isErased else {
            throw failure("\"pushctl erase\" removed its payload, so there is no payload for a handler")
        }
        var template = RequestTemplate(platform: accepted.platform.rawValue)
        template.add("app", accepted.app, to: [.deliver])
        template.add("device", accepted.device, to: [.deliver])
        template.add("external_id", accepted.externalID, to: [.deliver])
        do {
            let body = try JSONDocument(scanning: accepted.body, limits: JSONLimits(depth: .max))
            request = try Request(acceptedLine: template.line(for: body.root, isAPNs: false))
        } catch {
            throw failure("the ledger is damaged: \(error)")
        }
        guard case .deliver(let deliver) = request.action else {
            throw failure("only a deliver request can be given to a handler; this is \(accepted.operation.rawValue)")
        }
        self.deliver = deliver
        platform = accepted.platform
        let ran = story.invocations.filter { $0.handler != nil && $0.callback.isOfDelivery }
        let invocation = ran.first { $0.handler == handler } ?? ran.first
        callback = invocation?.callback
        let facts: [(String, String?)] = [
            ("app", accepted.app), ("device", accepted.device), ("user", accepted.externalID),
            ("state", deliver.state.rawValue), ("callback", callback?.rawValue),
        ]
        let given = facts.compactMap { name, value in value.map { "\(name) \($0)" } }.joined(separator: ", ")
        summary =
            "given as request \(accepted.seq) of \(zone.text(accepted.acceptedAt.wall, milliseconds: true)) was: \(given)"
            + (invocation.map { "; \($0.end)" } ?? "; no handler got the request")
    }
}

extension InvocationRecord {
    /// The outcome in a few words.
    fileprivate var end: String {
        guard let result else { return "\(handler ?? "-") has the request now" }
        let reason = result.reason.map { ": \($0)" } ?? ""
        return "\(handler ?? "-") ended \(result.outcome.rawValue) after \(result.total.milliseconds) ms\(reason)"
    }
}
