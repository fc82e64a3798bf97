import PushModel

/// Who completes a callback, and with what: exactly once, on every path.
enum Completions {
    /// What the host app answers in `willPresent` when the owner says nothing: the options of the provider's own
    /// example for iOS 14 and later.
    static let presentation = ["banner", "list", "sound"]

    /// The tracker took the payload. Its foreground handler never completes, so the host does.
    static func tracker(_ callback: Callback) -> Completion? {
        switch callback {
        case .none: nil
        case .willPresent: Completion(by: .default, result: .noData, options: presentation)
        default: Completion(by: .tracker, result: .noData)
        }
    }

    /// The handler answered.
    static func handler(_ callback: Callback, _ reply: HandlerAnswer.Reply) -> Completion? {
        guard callback != .none else { return nil }
        let spoke = reply.result != nil || reply.options != nil
        let options = callback == .willPresent ? reply.options ?? presentation : []
        return Completion(by: spoke ? .handler : .default, result: reply.result ?? .noData, options: options)
    }

    /// Nobody answered: the host completes. At the deadline iOS is told `failed`.
    static func host(_ callback: Callback, outcome: Outcome) -> Completion? {
        guard callback != .none else { return nil }
        let failed = callback == .didReceiveRemoteNotification && outcome.isMissed
        return Completion(
            by: .default, result: failed ? .failed : .noData, options: callback == .willPresent ? presentation : [])
    }
}
