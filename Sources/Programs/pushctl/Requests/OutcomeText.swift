import PushModel
import PushQuery
import Store

/// The outcome of an invocation for somebody who waited for it.
enum OutcomeText {
    /// The line, with its line feed.
    ///
    /// - Parameters:
    ///   - handler: whose work it was; `nil`: nobody's, or the tracker's.
    ///   - milliseconds: from acceptance to the outcome.
    static func line(
        seq: SequenceNumber, callback: String, handler: String?, isObserver: Bool, outcome: String,
        milliseconds: Int64, reason: String?
    ) -> String {
        let owner = handler.map { " -> \($0)" } ?? ""
        let parts = [
            "seq \(seq)", callback + owner, isObserver ? "observer" : nil, outcome, "\(milliseconds) ms", reason,
        ]
        return parts.compactMap { $0?.showingControls() }.joined(separator: "  ") + "\n"
    }
}

extension Outcome {
    /// Whether the work is done.
    var isSuccess: Bool { self == .handled || self == .handedToTracker }
}

extension Session {
    /// The ends of what handlers wrote to standard error in an invocation, for people; empty where there is none, and where
    /// the user may not read the ledger.
    func outputs(of id: InvocationID) -> String {
        let story = try? reading { ledger throws(StoreError) in try ledger.story(of: id.seq) }
        guard let story, let invocation = story.invocations.first(where: { $0.id == id }) else { return "" }
        return story.outputs(of: invocation)
    }
}
