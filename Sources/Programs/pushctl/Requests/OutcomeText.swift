import PushModel
import PushViews
import Store

/// The outcome of an invocation for a person who waited for it.
enum OutcomeText {
    /// The line, with its line feed.
    ///
    /// - Parameters:
    ///   - handler: the handler of the invocation; `nil`: it has none, or is the tracker's.
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

extension Session {
    /// The last output of an invocation's handlers to standard error, for people; empty if there is none. A ledger that
    /// cannot be read is noted once.
    func outputs(of id: InvocationID) -> String {
        do throws(Failure) {
            let story = try reading { ledger throws(StoreError) in try ledger.story(of: id.seq) }
            guard let story, let invocation = story.invocations.first(where: { $0.id == id }) else { return "" }
            return story.outputs(of: invocation)
        } catch {
            output.noteOnce("the handler's standard error is not shown, for want of the ledger: \(error.message)")
            return ""
        }
    }
}
